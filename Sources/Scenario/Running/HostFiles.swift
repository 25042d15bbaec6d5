import Foundation
import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// The user's acts outside every sandbox, and their visible results.
extension Play {
  func performOnHost(_ verb: Verb) throws -> [String] {
    let manager = FileManager.default
    switch verb {
    case .write(let paths, let content):
      let content = Data(try variables.expand(content).utf8)
      for path in try expand(paths) {
        try manager.createDirectory(atPath: parent(of: path), withIntermediateDirectories: true)
        try content.write(to: URL(fileURLWithPath: path))
      }
      return ["\(content.count) bytes" + (paths.count > 1 ? " each" : "")]
    case .read(let template, let expect):
      let path = try variables.expand(template)
      let bytes: [UInt8]
      do throws(KernelError) { bytes = try Self.content(path) } catch {
        throw CheckFailure(expected: "a readable file at \(path)", seen: error.fileFault)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      try expect.judge(text, variables)
      return [display.line(text)]
    case .move(let from, let to):
      let (from, to) = (try variables.expand(from), try variables.expand(to))
      try manager.createDirectory(atPath: parent(of: to), withIntermediateDirectories: true)
      try manager.moveItem(atPath: from, toPath: to)
      return []
    case .append(let template, let content):
      let path = try variables.expand(template)
      guard let file = FileHandle(forWritingAtPath: path) else {
        throw CheckFailure(expected: "a file to write at \(path)", seen: "it cannot be opened")
      }
      defer { try? file.close() }
      try file.seekToEnd()
      try file.write(contentsOf: Data(try variables.expand(content).utf8))
      return []
    case .replace(let template, let content):
      // As editors do: the new content under another name, then the old name for it.
      let path = try variables.expand(template)
      let temporary = "\(parent(of: path))/.saved-\(children.count)"
      try Data(try variables.expand(content).utf8).write(to: URL(fileURLWithPath: temporary))
      guard unsafe rename(temporary, path) == 0 else { throw KernelError.last("rename", path) }
      return []
    case .copy(let from, let to):
      let (from, to) = (try variables.expand(from), try variables.expand(to))
      try manager.createDirectory(atPath: parent(of: to), withIntermediateDirectories: true)
      try manager.copyItem(atPath: from, toPath: to)
      return []
    case .trash(let template): return [try trash(try variables.expand(template))]
    case .link(let path, let target):
      let path = try variables.expand(path)
      try manager.createDirectory(atPath: parent(of: path), withIntermediateDirectories: true)
      try manager.createSymbolicLink(atPath: path, withDestinationPath: try variables.expand(target))
      return []
    case .makeFolder(let paths):
      for path in try expand(paths) { try manager.createDirectory(atPath: path, withIntermediateDirectories: true) }
      return []
    case .mode(let template, let bits):
      let path = try variables.expand(template)
      guard unsafe chmod(path, bits) == 0 else { throw KernelError.last("chmod", path) }
      return []
    case .remove(let paths):
      for path in try expand(paths) { try manager.removeItem(atPath: path) }
      return []
    case .present(let paths):
      for path in try expand(paths) where !exists(path) {
        throw CheckFailure(expected: "\(path) to exist", seen: neighbours(of: path))
      }
      return []
    case .absent(let paths):
      for path in try expand(paths) where exists(path) {
        throw CheckFailure(expected: "\(path) not to exist", seen: "it does")
      }
      return []
    default: return []
    }
  }

  /// The user's trash, as the desktops lay it out (the trash specification of freedesktop.org).
  private func trash(_ path: String) throws -> String {
    let trash = "\(stage.home)/.local/share/Trash"
    for part in ["files", "info"] {
      try FileManager.default.createDirectory(atPath: "\(trash)/\(part)", withIntermediateDirectories: true)
    }
    let name = URL(fileURLWithPath: path).lastPathComponent
    let info = "[Trash Info]\nPath=\(path)\nDeletionDate=2026-01-01T00:00:00\n"
    try Data(info.utf8).write(to: URL(fileURLWithPath: "\(trash)/info/\(name).trashinfo"))
    try FileManager.default.moveItem(atPath: path, toPath: "\(trash)/files/\(name)")
    return "\(trash)/files/\(name)"
  }

  /// A policy of the user's, below `AMBIT_HOME`.
  func writePolicy(_ name: String, _ content: Template) throws -> [String] {
    let folder = "\(stage.ambitHome)/config/policies"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(try variables.expand(content).utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).toml"))
    return []
  }

  func pause(_ seconds: Double) throws -> [String] {
    let _: Bool? = try wait(for: "some time to pass", limit: seconds) { nil }
    return []
  }

  private func expand(_ templates: [Template]) throws -> [String] {
    try templates.map { try variables.expand($0) }
  }

  private func parent(of path: String) -> String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

  /// Whether anything has this name, a symbolic link to nowhere too.
  private func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
      || (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
  }

  private func neighbours(of path: String) -> String {
    let folder = parent(of: path)
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      return "there is no folder \(folder) either"
    }
    return names.isEmpty ? "\(folder) is empty" : "\(folder) holds \(names.sorted().joined(separator: ", "))"
  }

  /// A file's content. While a presenter is asked to save it, an open that does not wait is refused (`EAGAIN`): then it is tried again.
  private static func content(_ path: String) throws(KernelError) -> [UInt8] {
    let end = Clock.monotonic() + 40_000_000_000
    while true {
      do throws(KernelError) { return try Descriptor.content(ofFile: path, limit: 1 << 26) } catch {
        guard error.errno.symbol == "EAGAIN", Clock.monotonic() < end else { throw error }
        usleep(10_000)
      }
    }
  }
}
