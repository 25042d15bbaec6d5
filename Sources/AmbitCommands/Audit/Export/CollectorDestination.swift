internal import Audit
internal import Foundation
internal import Kernel
internal import Launcher
internal import SystemPackage

/// An OpenTelemetry collector on this machine (OTLP/HTTP, JSON): a request with many records, which counts as delivered
/// when its answer says so.
///
/// Without TLS, and so on loopback alone: events name documents, and only a collector on this machine sends them further.
struct CollectorDestination: ExportDestination {
  let address: CollectorAddress
  /// Called once with a collector's words about records that it did not take.
  private let warn: (String) -> Void

  let canReturn = true

  /// How many records one request has at most; collectors refuse requests that are too large (4 MiB, some).
  private static let batch = 512

  init(_ address: CollectorAddress, warn: @escaping (String) -> Void) {
    self.address = address
    self.warn = warn
  }

  mutating func send(_ events: [AuditEvent], _ encoder: ExportEncoder) throws {
    var rest = events[...]
    while !rest.isEmpty {
      let some = rest.prefix(Self.batch)
      rest = rest.dropFirst(some.count)
      let answer = try post(encoder.request(some))
      switch answer.status {
      case 200..<300:
        if let refused = answer.refusedRecords { warn("The collector at \(address) \(refused)") }
      case 429, 502, 503, 504:
        // The statuses that the specification calls retryable.
        throw ConsumerGone(
          sentence: "The collector at \(address) takes nothing now (HTTP \(answer.status)).", pause: answer.pause)
      default:
        throw Failure(
          "The collector at \(address) refused the events: HTTP \(answer.status)\(answer.detail). Nothing of this request "
            + "was delivered. Its OTLP receiver has to take HTTP with JSON at this address.")
      }
    }
  }

  func settles(within patience: Duration) throws -> Bool { true }
  func finish() throws {}
  func reopen() throws {}

  private func post(_ body: [UInt8]) throws -> HTTPAnswer {
    let head =
      "POST \(address.path) HTTP/1.1\r\nHost: \(address.authority)\r\nContent-Type: application/json\r\n"
      + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    do throws(KernelError) {
      let connection = try Descriptor.loopback(port: address.port, six: address.isSix)
      let bytes = Array(head.utf8) + body
      var offset = 0
      while offset < bytes.count {
        offset += try UnixSocket.send(bytes, from: offset, to: connection, wait: true)
      }
      let received = try connection.readAll(limit: 1 << 20)
      guard let answer = HTTPAnswer(received) else {
        throw KernelError("read", "\(address)", errno: .connectionReset)
      }
      return answer
    } catch {
      throw ConsumerGone(sentence: "No collector answers at \(address) (\(error)).")
    }
  }
}

/// Where a collector of this machine's listens.
struct CollectorAddress: Equatable, CustomStringConvertible {
  /// As it was given, with port and path.
  var description: String { "http://\(authority)\(path)" }
  let authority: String
  let port: UInt16
  let path: String
  let isSix: Bool

  /// Reads `http://127.0.0.1:4318/v1/logs`; the defaults are port 4318 and that path. Nil when it is no address of this machine's
  /// own.
  init?(_ text: String) {
    guard let parts = URLComponents(string: text), parts.scheme == "http", parts.user == nil, parts.query == nil,
      parts.fragment == nil, let host = parts.host, let port = UInt16(exactly: parts.port ?? 4318), port > 0,
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    switch host {
    case "127.0.0.1", "localhost": isSix = false
    case "::1", "[::1]": isSix = true
    default: return nil
    }
    self.port = port
    authority = "\(isSix ? "[::1]" : "127.0.0.1"):\(port)"
    path = parts.path.isEmpty || parts.path == "/" ? "/v1/logs" : parts.percentEncodedPath
  }
}

/// A server's answer to one request.
struct HTTPAnswer: Equatable {
  let status: Int
  private let headers: [String: String]
  let body: [UInt8]

  /// Reads an answer that ends with the connection, at its length, or with its last chunk. Nil when it is none, or not whole.
  init?(_ bytes: [UInt8]) {
    let separator = Array("\r\n\r\n".utf8)
    guard let end = bytes.firstRange(of: separator) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let first = (lines.first ?? "").split(separator: " ")
    guard first.count >= 2, first[0].hasPrefix("HTTP/1."), let status = Int(first[1]), (100..<600).contains(status)
    else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    let rest = bytes[end.upperBound...]
    if headers["transfer-encoding"]?.lowercased() == "chunked" {
      guard let whole = Self.joined(rest) else { return nil }
      body = whole
    } else if let length = headers["content-length"].flatMap({ Int($0) }) {
      guard length >= 0, rest.count >= length else { return nil }
      body = Array(rest.prefix(length))
    } else {
      body = Array(rest)
    }
    self.status = status
    self.headers = headers
  }

  /// `Retry-After` in seconds.
  var pause: Duration? {
    headers["retry-after"].flatMap { Int($0) }.flatMap { (0...3600).contains($0) ? .seconds($0) : nil }
  }

  /// The answer's own message, for people.
  var detail: String {
    let text = String(decoding: body.prefix(300), as: UTF8.self)
    return text.isEmpty ? "" : " (\(text))"
  }

  /// `partialSuccess` of OTLP: records that were not taken, and that may not be sent again.
  var refusedRecords: String? {
    guard let object = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any],
      let partial = object["partialSuccess"] as? [String: Any]
    else { return nil }
    let count = (partial["rejectedLogRecords"] as? String) ?? (partial["rejectedLogRecords"] as? NSNumber)?.stringValue
    guard let count, count != "0" else { return nil }
    return "did not take \(count) records: \(partial["errorMessage"] as? String ?? "it gives no reason")"
  }

  private static func joined(_ chunks: ArraySlice<UInt8>) -> [UInt8]? {
    var (rest, body): (ArraySlice<UInt8>, [UInt8]) = (chunks, [])
    while let end = rest.firstRange(of: [0x0D, 0x0A]) {
      let size = String(decoding: rest[..<end.lowerBound].prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
      guard let count = Int(size, radix: 16), count >= 0 else { return nil }
      rest = rest[end.upperBound...]
      if count == 0 { return body }
      guard count <= rest.count - 2 else { return nil }
      body += rest.prefix(count)
      rest = rest.dropFirst(count + 2)
    }
    return nil
  }
}
