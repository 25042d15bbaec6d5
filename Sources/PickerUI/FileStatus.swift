import Glibc
import Kernel

/// The part of the result of `fstat(2)` that the picker needs.
struct FileStatus: Sendable {
  let device: UInt64
  let inode: UInt64
  let kind: EntryKind
  let isLink: Bool
  let size: Int64
  let modified: Int64
  /// The same in nanoseconds, as far as the number has room.
  let modifiedNanoseconds: Int64

  /// Of an open descriptor; `O_PATH` will do.
  init(of descriptor: Int32, subject: @autoclosure () -> String = "") throws(KernelError) {
    var status = stat()
    try KernelError.check("fstat", subject()) { unsafe fstat(descriptor, &status) }
    self.init(status)
  }

  /// Of a name in an open folder, following symbolic links but mounting nothing.
  init(of name: FileName, in folder: Int32) throws(KernelError) {
    var status = stat()
    try KernelError.check("fstatat", name.text) {
      unsafe fstatat(folder, name.cString, &status, AT_NO_AUTOMOUNT)
    }
    self.init(status)
  }

  private init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec)
    let (seconds, isTooLarge) = modified.multipliedReportingOverflow(by: 1_000_000_000)
    modifiedNanoseconds =
      isTooLarge ? (modified < 0 ? -Int64.max : Int64.max) : seconds &+ Int64(status.st_mtim.tv_nsec)
    let format = status.st_mode & S_IFMT
    isLink = format == S_IFLNK
    kind = format == S_IFREG ? .file : format == S_IFDIR ? .folder : format == S_IFLNK ? .broken : .special
  }

  func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}
