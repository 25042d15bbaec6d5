internal import AmbitKit
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

  /// Opens, does something with the descriptor, and closes it.
  static func opening(_ path: String, _ flags: Int32, _ body: (Int32) -> [String: Any]) -> [String: Any] {
    let descriptor = unsafe open(path, flags | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return result(-1) }
    defer { close(descriptor) }
    return body(descriptor)
  }

  static func read(_ descriptor: Int32) -> [String: Any] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count == -1 { return result(-1) }
      if count == 0 { return ["done": true, "text": String(decoding: bytes, as: UTF8.self)] }
      bytes += buffer[..<count]
    }
  }

  static func write(_ descriptor: Int32, _ text: String) -> [String: Any] {
    let bytes = Array(text.utf8)
    let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
    return count == bytes.count ? ["done": true] : result(-1)
  }
}

extension Session {
  /// The path of a named URL, or a path that the request gives.
  private func path(_ request: [String: Any]) throws -> String {
    if let path = request["path"] as? String { return path }
    return try url(request).path
  }

  mutating func fileAct(_ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    switch act {
    case "read": return Files.opening(try path(request), O_RDONLY, Files.read)
    case "write":
      let text = try text("text", request)
      return Files.opening(try path(request), O_WRONLY | O_TRUNC) { Files.write($0, text) }
    case "append":
      let text = try text("text", request)
      return Files.opening(try path(request), O_WRONLY | O_APPEND) { Files.write($0, text) }
    case "create":
      let text = try text("text", request)
      return Files.opening(try path(request), O_WRONLY | O_CREAT | O_EXCL) { Files.write($0, text) }
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
    case "list":
      let path = try path(request)
      guard let folder = unsafe opendir(path) else { return Files.result(-1) }
      unsafe closedir(folder)
      return ["done": true, "names": try FileManager.default.contentsOfDirectory(atPath: path).sorted()]
    case "readLink":
      return ["text": try FileManager.default.destinationOfSymbolicLink(atPath: try path(request))]
    case "makeFolder": return Files.result(unsafe mkdir(try path(request), 0o755))
    case "link": return Files.result(unsafe symlink(try text("text", request), try path(request)))
    case "rename": return Files.result(unsafe rename(try path(request), try text("to", request)))
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
    case "run":
      var child: pid_t = 0
      let program = try path(request)
      var arguments = unsafe [unsafe strdup(program), nil]
      defer { unsafe free(arguments[0]) }
      errno = unsafe posix_spawn(&child, program, nil, nil, &arguments, environ)
      guard errno == 0 else { return Files.result(-1) }
      var status: Int32 = 0
      while unsafe waitpid(child, &status, 0) == -1 && errno == EINTR {}
      return ["done": true, "status": Int(status >> 8)]
    case "environment": return ["environment": ProcessInfo.processInfo.environment]
    case "exit": exit(Int32(request["status"] as? Int ?? 0))
    default: return nil
    }
  }
}
