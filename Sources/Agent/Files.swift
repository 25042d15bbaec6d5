internal import AmbitKit
internal import CAgent
internal import Foundation

/// What the kernel answers to one call on a path, by the name of its errno.
enum Files {
  static func symbol(_ code: Int32) -> String {
    POSIXErrorCode(rawValue: code).map { "\($0)" } ?? "errno \(code)"
  }

  static func result(_ value: Int32) -> [String: Any] {
    let code = errno
    return value == -1 ? ["done": false, "errno": symbol(code)] : ["done": true]
  }
}

extension Session {
  /// The path of a named URL, or a path that the request gives.
  private func path(_ request: [String: Any]) throws -> String {
    if let path = request["path"] as? String { return path }
    return try url(request).path
  }

  /// A plain act, which the C agent carries out: the path of a named URL is told to it.
  func plainAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    var request = request
    if request["path"] == nil, request["of"] is String { request["path"] = try url(request).path }
    // Without a path these mean the memory that is mapped, and a connection to the broker.
    if request["path"] == nil, ["mapWrite", "connect"].contains(act) { return nil }
    if act == "environment", request["name"] == nil { return nil }
    let line = String(decoding: try JSONSerialization.data(withJSONObject: request), as: UTF8.self)
    var answer: UnsafeMutablePointer<CChar>?
    guard unsafe agent_answer(line, &answer) == 1, let answer = unsafe answer else { return nil }
    defer { unsafe free(answer) }
    return try JSONSerialization.jsonObject(with: Data(unsafe String(cString: answer).utf8)) as? [String: Any]
  }

  mutating func fileAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    switch act {
    case "replace":
      try FileManager.default.replaceDocument(
        at: URL(fileURLWithPath: try path(request)), withItemAt: URL(fileURLWithPath: try self.text("with", request)))
      return ["done": true]
    // As programs do that know nothing of Ambit: what is to come in is made where Foundation wants it.
    case "foundationReplace":
      let document = URL(fileURLWithPath: try path(request))
      let item = URL(fileURLWithPath: try self.text("with", request))
      _ = try FileManager.default.replaceItemAt(document, withItemAt: item)
      return ["done": true]
    case "foundationWrite":
      try Data(try text("text", request).utf8).write(to: URL(fileURLWithPath: try path(request)), options: .atomic)
      return ["done": true]
    case "foundationRead":
      return ["done": true, "text": try String(contentsOf: URL(fileURLWithPath: try path(request)), encoding: .utf8)]
    case "descriptors":
      let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      return [
        "names": numbers.compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        .sorted()
      ]
    case "mounts":
      // Foundation asks for a file's size first, and a file of /proc has none.
      let table = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/mountinfo")).readToEnd()
      return ["text": String(decoding: table ?? Data(), as: UTF8.self)]
    case "environment": return ["environment": ProcessInfo.processInfo.environment]
    case "exit": exit(Int32(request["status"] as? Int ?? 0))
    default: return nil
    }
  }
}
