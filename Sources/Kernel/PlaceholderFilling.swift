internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A placeholder that gets its content. No program can read it before all of it is there; one that is given up is a placeholder again.
package struct PlaceholderFilling: Sendable {
  private let file: Descriptor
  private let size: UInt64
  private let modified: Int

  /// Its first content is empty.
  ///
  /// - Parameters:
  ///   - place: the file, opened by `O_PATH`.
  ///   - size: bytes that it has to have.
  ///   - modified: nanoseconds since 1970.
  /// - Throws: `EEXIST`: it has a content that can be read, which is never written over. A mode that somebody has given a placeholder goes.
  package init(_ place: Descriptor, size: Int, modified: Int) throws(KernelError) {
    if try place.status().mode & 0o577 != 0 {
      guard try !place.hasBlocks else { throw KernelError("write", "a content", errno: .fileExists) }
      try KernelError.check("chmod", "a placeholder") { unsafe chmod("/proc/self/fd/\(place.rawValue)", 0) }
    }
    (self.size, self.modified) = (UInt64(max(0, size)), modified)
    file = try Self.openForWriting(place)
    try file.changeMode(Placeholder.unfinished)
    try file.cut(at: 0)
  }

  /// Its owner, too, may only write it meanwhile. Root needs no mode.
  static func openForWriting(_ place: Descriptor) throws(KernelError) -> Descriptor {
    if let file = try? place.reopened([.write]) { return file }
    let path = "/proc/self/fd/\(place.rawValue)"
    try KernelError.check("chmod", "a placeholder") { unsafe chmod(path, Placeholder.unfinished | 0o200) }
    let file = try place.reopened([.write])
    try file.changeMode(Placeholder.unfinished)
    return file
  }

  /// Whether ``copy(_:from:while:)`` shares the blocks of such a content with it, and so takes no time. What was copied before goes.
  package func shares(_ content: Descriptor) throws(KernelError) -> Bool {
    let isShared = ambit_share_content(content.rawValue, file.rawValue) == 0
    if isShared { try file.cut(at: 0) }
    return isShared
  }

  /// Writes a piece (`pwrite(2)`).
  package func write(_ bytes: [UInt8], at offset: UInt64) throws(KernelError) {
    try file.writeBytes(bytes, at: offset)
  }

  /// Starts the writing to the disk: a later synchronization is short then.
  package func beginWriting() { ambit_begin_writing(file.rawValue) }

  /// Copies a content from an offset on to its end.
  ///
  /// - Parameter isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  package func copy(
    _ content: Descriptor, from offset: UInt64, while isWanted: () -> Bool
  ) throws(KernelError) {
    try content.seek(to: offset)
    try file.seek(to: offset)
    try content.copyContent(to: file, while: isWanted)
  }

  /// Lets programs read it.
  ///
  /// - Parameters:
  ///   - isWritable: whether its owner may write it.
  ///   - beforeDisk: called before it waits for the disk.
  /// - Throws: `EIO`: it has another size. It stays out of sight.
  package func finish(isWritable: Bool, beforeDisk: () -> Void) throws(KernelError) {
    guard try file.status().size == size else { throw KernelError("copy_file_range", errno: .ioError) }
    try file.setModified(modified)
    beforeDisk()
    try file.synchronizeFully()
    try file.changeMode(isWritable ? 0o600 : 0o400)
  }

  /// It takes no room then.
  package func giveUp() {
    try? file.cut(at: 0)
    try? file.cut(at: size)
    try? file.setModified(modified)
    try? file.changeMode(0)
  }
}
