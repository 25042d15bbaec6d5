internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

/// A folder that everybody may use, and that is removed with everything in it when the last reference goes.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appendingPathComponent("ambit-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
  }

  deinit {
    _ = unsafe chmod(path, 0o700)
    try? FileManager.default.removeItem(atPath: path)
  }

  @discardableResult
  package func folder(_ name: String) throws -> String {
    let made = "\(path)/\(name)"
    try FileManager.default.createDirectory(atPath: made, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: made)
    return made
  }

  @discardableResult
  package func write(_ name: String, _ content: String, mode: Int = 0o644) throws -> String {
    try Data(content.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(path)/\(name)")
    return "\(path)/\(name)"
  }

  /// The permissions of what is in it.
  package func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.posixPermissions] as? Int
  }
}
