import Foundation
import Kernel

@testable import ScopedAccess

/// A folder that is removed with everything in it when the last reference goes. Its path has no link in it, as the
/// paths of documents have none.
final class Folder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appendingPathComponent("ambit-scoped-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    // What a test made read-only has to be opened again first.
    for name in [path] + (FileManager.default.subpaths(atPath: path) ?? []).map({ "\(path)/\($0)" }) {
      var isFolder: ObjCBool = false
      guard unsafe FileManager.default.fileExists(atPath: name, isDirectory: &isFolder), isFolder.boolValue else {
        continue
      }
      try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: name)
    }
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Makes a folder in this one and answers its path.
  @discardableResult
  func folder(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
    return "\(path)/\(name)"
  }

  /// Writes a file and answers its path.
  @discardableResult
  func write(_ name: String, _ content: String = "text") throws -> String {
    try Data(content.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    return "\(path)/\(name)"
  }

  /// Everything in it that is a file, by name.
  func contents() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      contents[name] = FileManager.default.contents(atPath: "\(path)/\(name)")
    }
    return contents
  }
}

func rename(_ path: String, to other: String) throws {
  try KernelError.check("rename", path) { unsafe Foundation.rename(path, other) }
}
