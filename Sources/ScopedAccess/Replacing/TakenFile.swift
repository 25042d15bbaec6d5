package import Kernel
internal import SystemPackage

/// A file that was taken out of an app's reach: the app can change names in its own folder at any moment, so a file is first moved
/// and only then looked at.
package struct TakenFile: Sendable {
  /// Out of every app's reach, on the file system of the app's folder.
  private let area: Descriptor
  private let name: String
  /// Opened with ``Kernel/OpenFlags/path``. The app may have it open as well.
  private let file: Descriptor

  /// Takes a file out of an app's folder. If that fails the file is where it was.
  ///
  /// - Parameter taken: a name in the area that is free, or has something of a replacement that failed.
  /// - Throws: `EPERM` if it is no regular file.
  package init(
    _ name: String, from folder: Descriptor, through area: Descriptor, as taken: String
  ) throws(KernelError) {
    (self.area, self.name) = (area, taken)
    try? area.removeFile(taken)
    try folder.move(name, to: area, as: taken)
    do throws(KernelError) {
      file = try Descriptor.open(taken, below: area, flags: [.path, .noFollow])
      guard try file.status().kind == .regular else {
        throw KernelError("rename", "no regular file", errno: .notPermitted)
      }
    } catch {
      try? area.moveAside(taken, to: folder, as: name)
      throw error
    }
  }

  /// Opens its content for reading.
  package func open() throws(KernelError) -> Descriptor { try file.reopened(.read) }

  /// When its content was copied.
  ///
  /// - Parameter content: open for reading, where it still is.
  package func remove(reading content: Descriptor? = nil) {
    // An open file stays whole. Its blocks are freed when it is closed last, which takes long for a large one.
    try? area.removeFile(name)
    guard let size = try? file.status().size, size > Self.large else { return }
    DirectoryReaper.shared.close([file, content].compactMap { $0 })
  }

  /// Bytes of a file that is closed by a thread.
  private static let large: UInt64 = 64 << 20

  /// Gives the app its file back; it is removed where another one has its name by now.
  package func giveBack(to folder: Descriptor, as former: String) {
    if (try? area.moveAside(name, to: folder, as: former)) == nil { remove() }
  }
}
