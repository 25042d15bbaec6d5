internal import Foundation

/// The instance's socket without AmbitKit in between, for what a well-meaning library would never send.
package struct RawBroker {
  private let socket: Int32
  private var received: [UInt8] = []
  package var descriptor: Int32 { socket }

  /// A connection that another process has made.
  init(inherited descriptor: Int32) { socket = descriptor }

  package init() throws {
    let address = ProcessInfo.processInfo.environment["AMBIT_ADDRESS"] ?? ""
    guard address.hasPrefix("unix:") else { throw Session.Usage(sentence: "AMBIT_ADDRESS is not set") }
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    let path = Array(address.dropFirst(5).utf8)
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path) }
    let connected = unsafe withUnsafePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard connected == 0 else {
      let code = errno
      close(socket)
      throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    unsafe setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  package func end() { close(socket) }

  /// - Returns: whether all of it went out; the broker may have hung up.
  package func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.send(socket, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }

  /// One message, without its final zero; `nil` when the broker hung up.
  package mutating func receive() -> String? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let end = received.firstIndex(of: 0) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      let count = unsafe recv(socket, &buffer, buffer.count, 0)
      if count <= 0 { return nil }
      received += buffer[..<count]
    }
  }

  package enum Heard { case answer, silence, hungUp }

  /// Takes whatever comes within some milliseconds, and forgets it.
  package func hear(patience: Int32) -> Heard {
    var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, patience) > 0 else { return .silence }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count > 0 ? .answer : count == -1 && errno == EAGAIN ? .silence : .hungUp
  }

  /// `{"do": "raw", "text": …}`: sends the text and a zero on a connection of its own and answers what comes back. With
  /// `"toTheEnd": true` also whether the broker then hangs up.
  static func exchange(_ request: [String: Any]) throws -> [String: Any] {
    guard let text = request["text"] as? String else { throw Session.Usage(sentence: "“text” is missing") }
    var broker = try RawBroker()
    defer { broker.end() }
    guard broker.send(Array(text.utf8) + [0]) else { return ["closed": true] }
    guard let reply = broker.receive() else { return ["closed": true] }
    return ["reply": reply, "closed": request["toTheEnd"] as? Bool == true && broker.isAtEnd()]
  }

  /// Whether the broker has hung up. Waits for it a moment: a hang-up comes right after the last answer or not at all.
  private func isAtEnd() -> Bool {
    var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, 2000) > 0 else { return false }
    var byte: UInt8 = 0
    return unsafe recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) == 0
  }
}
