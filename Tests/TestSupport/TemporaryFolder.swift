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
    if mode & 0o111 != 0 { try Self.awaitWriters(of: "\(path)/\(name)") }
    return "\(path)/\(name)"
  }

  /// Waits until nobody has a program open for writing, or it could not be run (`ETXTBSY`): a child that is being started has for
  /// a moment what its parent had open. The kernel gives a lease for reading only then (`fcntl(2)`, `F_SETLEASE`).
  package static func awaitWriters(of path: String) throws {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw HarnessError("open \(path): errno \(errno)") }
    defer { close(file) }
    let setLease: Int32 = 1024
    try Deadline.wait(for: "nobody to write \(path)") {
      fcntl(file, setLease, Int32(F_RDLCK)) == 0 || errno != EAGAIN
    }
    _ = fcntl(file, setLease, Int32(F_UNLCK))
  }

  /// The permissions of what is in it.
  package func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.posixPermissions] as? Int
  }
}
