internal import AmbitKit
internal import Foundation

/// Another process of the app: this program anew, which is talked to as the first one is. It has what its parent left open for it.
final class Relative {
  let pid: pid_t
  private let input: Int32
  private let output: Int32

  init() throws {
    let (down, up) = (try Self.pipe(), try Self.pipe())
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, down[0], 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, up[1], 1)
    var argv: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("agent"), nil]
    defer { unsafe argv.forEach { unsafe free($0) } }
    var pid: pid_t = 0
    let code = unsafe posix_spawn(&pid, "/proc/self/exe", &actions, nil, &argv, environ)
    close(down[0])
    close(up[1])
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
    (self.pid, input, output) = (pid, down[1], up[0])
  }

  /// Neither end is for another process: the agent makes them one after the other.
  private static func pipe() throws -> [Int32] {
    var ends: [Int32] = [0, 0]
    guard unsafe Glibc.pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }

  func send(_ line: String) throws {
    let bytes = Array((line + "\n").utf8)
    guard unsafe write(input, bytes, bytes.count) == bytes.count else { throw POSIXError(.EPIPE) }
  }

  func receive() throws -> [String: Any] {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while unsafe read(output, &byte, 1) == 1 {
      if byte == 10 { return try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] ?? [:] }
      line.append(byte)
    }
    throw POSIXError(.EPIPE)
  }

  /// Ends it, by a signal or by itself, and waits until it is nobody's any more.
  func end(_ signal: Int32) {
    close(input)
    if signal > 0 { kill(pid, signal) }
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) == -1, errno == EINTR {}
    close(output)
  }
}

extension Session {
  /// `second`: makes another process. `tell`, `tellAll`: has it, or every one of them at once, carry a request out.
  mutating func relativeAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    switch act {
    case "pid": return ["pid": Int(getpid())]
    case "second":
      let made = try Relative()
      relatives[try text("who", request)] = made
      return ["pid": Int(made.pid)]
    case "tell":
      let relative = try relative(request)
      try relative.send(try Self.line(request["request"]))
      return try relative.receive()
    case "tellAll":
      let line = try Self.line(request["request"])
      for relative in relatives.values { try relative.send(line) }
      return ["answers": try relatives.mapValues { try $0.receive() }]
    case "endSecond":
      try relative(request).end(Int32(request["signal"] as? Int ?? 0))
      relatives[try text("who", request)] = nil
      return ["done": true]
    case "become":
      // The same process goes on, with another program, which happens to be this one.
      Agent.print(["done": true])
      var argv: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("agent"), nil]
      _ = unsafe execv("/proc/self/exe", &argv)
      return ["usage": "exec failed"]
    case "connect":
      let socket = try RawBroker()
      sockets.append(socket)
      return ["descriptor": Int(socket.descriptor)]
    case "exchangeOn":
      var broker = RawBroker(inherited: Int32(request["descriptor"] as? Int ?? -1))
      let bytes = Array(try text("text", request).utf8)
      // Part of a message: somebody else sends its end.
      if request["part"] as? Bool == true { return ["done": broker.send(bytes)] }
      guard broker.send(bytes + [0]) else { return ["closed": true] }
      return broker.receive().map { ["reply": $0] } ?? ["closed": true]
    case "forge":
      let code = RawBroker(inherited: Int32(request["descriptor"] as? Int ?? -1)).forge(
        Array(try text("text", request).utf8) + [0], as: Int32(request["pid"] as? Int ?? 0))
      return code == 0 ? ["done": true] : ["done": false, "errno": Files.symbol(code)]
    default: return nil
    }
  }

  private func relative(_ request: [String: Any]) throws -> Relative {
    guard let found = relatives[try text("who", request)] else { throw Usage(sentence: "there is no such process") }
    return found
  }

  private static func line(_ request: Any?) throws -> String {
    guard let request = request as? [String: Any] else { throw Usage(sentence: "“request” is missing") }
    return String(decoding: try JSONSerialization.data(withJSONObject: request), as: UTF8.self)
  }
}

extension RawBroker {
  /// Sends bytes and says that another process did (`SCM_CREDENTIALS`).
  ///
  /// - Returns: the kernel's answer, 0 if it was sent.
  func forge(_ bytes: [UInt8], as pid: Int32) -> Int32 {
    // struct cmsghdr: length, level, type; struct ucred: process, user, group.
    var control = [UInt8](repeating: 0, count: 32)
    unsafe control.withUnsafeMutableBytes { space in
      unsafe space.storeBytes(of: 28, toByteOffset: 0, as: Int.self)
      unsafe space.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
      unsafe space.storeBytes(of: 2, toByteOffset: 12, as: Int32.self)
      unsafe space.storeBytes(of: pid, toByteOffset: 16, as: Int32.self)
      unsafe space.storeBytes(of: getuid(), toByteOffset: 20, as: UInt32.self)
      unsafe space.storeBytes(of: getgid(), toByteOffset: 24, as: UInt32.self)
    }
    var bytes = bytes
    let sent = unsafe bytes.withUnsafeMutableBytes { text in
      unsafe control.withUnsafeMutableBytes { space in
        var part = unsafe iovec(iov_base: text.baseAddress, iov_len: text.count)
        return unsafe withUnsafeMutablePointer(to: &part) { part in
          var message = unsafe msghdr()
          unsafe message.msg_iov = part
          unsafe message.msg_iovlen = 1
          unsafe message.msg_control = space.baseAddress
          unsafe message.msg_controllen = space.count
          return unsafe sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
        }
      }
    }
    return sent < 0 ? errno : 0
  }
}
