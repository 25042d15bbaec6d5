import Glibc
import Kernel

/// Paths as the kernel knows them.
enum KernelPath {
  /// Where an open file is now (`/proc/self/fd`), without symbolic links. A file that was deleted, or that is out of
  /// reach of this process's root, has a text here that does not lead to it: compare before believing.
  static func bytes(of descriptor: Int32, subject: String) throws(KernelError) -> [UInt8] {
    try link(AT_FDCWD, FileName("/proc/self/fd/\(descriptor)"), subject: subject)
  }

  /// The text of a symbolic link.
  static func link(_ folder: Int32, _ name: FileName, subject: String) throws(KernelError) -> [UInt8] {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let length = try KernelError.check("readlinkat", subject) {
      unsafe readlinkat(folder, name.cString, &buffer, buffer.count)
    }
    return buffer.prefix(length).map(UInt8.init(bitPattern:))
  }

  static func open(
    _ name: FileName, in folder: Int32 = AT_FDCWD, _ flags: Int32, subject: String
  ) throws(KernelError) -> Descriptor {
    let number = try KernelError.check("openat", subject) { unsafe openat(folder, name.cString, flags | O_CLOEXEC) }
    return Descriptor(owning: number)
  }
}

/// glibc has these behind `_GNU_SOURCE`, which a Swift import does not set. The same on every architecture of Swift's.
// swift-format-ignore: AlwaysUseLowerCamelCase
let O_PATH: Int32 = 0o10_000_000
// swift-format-ignore: AlwaysUseLowerCamelCase
let AT_NO_AUTOMOUNT: Int32 = 0x800
