internal import Foundation
internal import Kernel
internal import SystemPackage
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// Writes a file as a whole: under another name beside it, which then takes its place. A reader sees the old one or the new one.
enum ReportFile {
  /// - Throws: the call that failed; the previous file is then still there.
  static func write(_ text: String, to path: String) throws(KernelError) {
    var about = stat()
    let exists = unsafe stat(path, &about) == 0
    if exists, about.st_mode & S_IFMT == S_IFDIR { throw KernelError("open", path, errno: .isDirectory) }
    // A pipe or a device has no place that something could be put into.
    if exists, about.st_mode & S_IFMT != S_IFREG { return try pour(text, into: path) }
    // Behind a symlink it is the file that is replaced, as by a shell's >.
    let place = exists ? resolved(path) : path
    let draft = "\(place).\(getpid()).part"
    // It lists the user's documents: only the user may read it, unless there was a file that others could read.
    let mode: mode_t = exists ? about.st_mode & 0o777 : 0o600
    let descriptor = try KernelError.check("open", draft) {
      unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }
    do throws(KernelError) {
      defer { close(descriptor) }
      try Output(descriptor).write(text)
      try KernelError.check("fchmod", draft) { fchmod(descriptor, mode) }
      try KernelError.check("fsync", draft) { fsync(descriptor) }
      try KernelError.check("rename", place) { unsafe rename(draft, place) }
    } catch {
      unsafe _ = unlink(draft)
      throw error
    }
  }

  /// Whether the item at the path, if there is one, is a file that another one replaces.
  static func replaces(_ path: String) -> Bool {
    var about = stat()
    return unsafe stat(path, &about) != 0 || about.st_mode & S_IFMT == S_IFREG
  }

  private static func pour(_ text: String, into path: String) throws(KernelError) {
    let descriptor = try KernelError.check("open", path) { unsafe open(path, O_WRONLY | O_CLOEXEC) }
    defer { close(descriptor) }
    try Output(descriptor).write(text)
  }

  private static func resolved(_ path: String) -> String {
    guard let real = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}
