internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

package enum DirectoryReader {
  package struct Entry: Sendable {
    package let name: String
    package let inode: UInt64
    /// As the folder itself tells it; `nil` where the file system does not.
    package let kind: FileStatus.Kind?
  }

  /// The entries of an open folder but `.` and `..` (`readdir(3)`).
  ///
  /// - Parameter limit: how many of them at most, where the folder's writer is not to decide that.
  package static func entries(of folder: Descriptor, limit: Int = .max) throws(KernelError) -> [Entry] {
    let copy = try Descriptor.open(".", below: folder, flags: [.read, .directory])
    // fdopendir takes the descriptor over, closedir closes it: give it one of its own.
    let raw = try KernelError.check("dup", "folder") { dup(copy.rawValue) }
    guard let stream = unsafe fdopendir(raw) else {
      close(raw)
      throw KernelError.last("fdopendir")
    }
    defer { unsafe closedir(stream) }
    var entries: [Entry] = []
    while entries.count < limit {
      // The end of the folder is told from an error by that alone.
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        if errno != 0 { throw KernelError.last("readdir") }
        break
      }
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(kernel: $0) }
      }
      if name == "." || name == ".." { continue }
      let kind = kind(unsafe entry.pointee.d_type)
      entries.append(Entry(name: name, inode: unsafe UInt64(entry.pointee.d_ino), kind: kind))
    }
    return entries
  }

  /// `d_type` of readdir(3).
  static func kind(_ type: UInt8) -> FileStatus.Kind? {
    switch Int(type) {
    case Int(DT_REG): .regular
    case Int(DT_DIR): .directory
    case Int(DT_LNK): .symlink
    case Int(DT_UNKNOWN): nil
    default: .other
    }
  }
}

extension Descriptor {
  /// Opens a regular file for reading: any that a user, a policy or an app names. A pipe that stands there
  /// keeps no caller waiting.
  ///
  /// - Parameter followsLink: opens the target of a link at the path's end; otherwise a link is an error (`ELOOP`).
  /// - Throws: `EISDIR` for a folder, `EINVAL` for anything else but a regular file.
  package static func regularFile(_ path: String, followsLink: Bool = true) throws(KernelError) -> Descriptor {
    var flags: OpenFlags = [.read, .nonBlocking, .noControllingTerminal]
    if !followsLink { flags.insert(.noFollow) }
    let file = try open(path, flags: flags)
    let kind = try file.status().kind
    guard kind == .regular else {
      throw KernelError("read", path, errno: kind == .directory ? .isDirectory : .invalidArgument)
    }
    return file
  }

  /// The content of a regular file, as ``regularFile(_:followsLink:)`` opens it.
  ///
  /// - Throws: `EFBIG` where it holds more than `limit` bytes.
  package static func content(
    ofFile path: String, limit: Int, followsLink: Bool = true
  ) throws(KernelError) -> [UInt8] {
    let content = try regularFile(path, followsLink: followsLink).readAll(limit: limit + 1)
    guard content.count <= limit else { throw KernelError("read", path, errno: .fileTooLarge) }
    return content
  }

  /// Everything from the current offset to the end.
  package func readAll(limit: Int = 16 << 20) throws(KernelError) -> [UInt8] {
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while content.count < limit {
      let count = try KernelError.check("read", "descriptor \(rawValue)") {
        unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(rawValue, $0.baseAddress, $0.count) }
      }
      if count == 0 { break }
      content += buffer[..<count]
    }
    return content
  }

  /// Everything up to the first newline, or to the end.
  package func readLine() throws(KernelError) -> [UInt8] {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while line.count < 65536 {
      let count = try KernelError.check("read", "descriptor \(rawValue)") { unsafe Glibc.read(rawValue, &byte, 1) }
      if count == 0 || byte == UInt8(ascii: "\n") { break }
      line.append(byte)
    }
    return line
  }

  /// Writes all of it at the current offset.
  package func writeAll(_ bytes: [UInt8]) throws(KernelError) {
    var written = 0
    while written < bytes.count {
      written += try KernelError.check("write", "descriptor \(rawValue)") {
        unsafe bytes.withUnsafeBytes { all in
          guard let base = all.baseAddress else { return 0 }
          return unsafe Glibc.write(rawValue, base + written, all.count - written)
        }
      }
    }
  }
}

extension Descriptor {
  /// Makes a folder in this one (`mkdirat(2)`). The mode is exactly this one, independent of the umask.
  ///
  /// This folder may be an app's, which can put a link in the new one's place at once; so the mode is set on the folder that was
  /// opened without following one, not on the name.
  package func makeDirectory(_ name: String, mode: UInt32) throws(KernelError) {
    try KernelError.check("mkdirat", name) { unsafe mkdirat(rawValue, name.kernel, 0o700) }
    let made = try Descriptor.open(name, below: self, flags: [.read, .directory, .noFollow])
    try KernelError.check("fchmod", name) { fchmod(made.rawValue, mode_t(mode)) }
  }

  /// Removes a file from this folder (`unlinkat(2)`).
  package func removeFile(_ name: String) throws(KernelError) {
    try KernelError.check("unlinkat", name) { unsafe unlinkat(rawValue, name.kernel, 0) }
  }

  /// Removes an empty folder from this one.
  package func removeDirectory(_ name: String) throws(KernelError) {
    try KernelError.check("unlinkat", name) { unsafe unlinkat(rawValue, name.kernel, CInt(AT_REMOVEDIR)) }
  }
}

extension Descriptor {
  /// Renames within this folder, never over anything (`renameat2(2)`, `RENAME_NOREPLACE`).
  package func rename(_ name: String, to new: String) throws(KernelError) {
    try moveAside(name, to: self, as: new)
  }
}

extension Descriptor {
  /// Another number for the same open file (`fcntl(2)`, `F_DUPFD_CLOEXEC`), which the caller closes.
  package func duplicated() throws(KernelError) -> Int32 {
    try KernelError.check("fcntl", "F_DUPFD_CLOEXEC") { fcntl(rawValue, F_DUPFD_CLOEXEC, 3) }
  }

  /// `fchmod(2)`.
  package func changeMode(_ mode: UInt32) throws(KernelError) {
    try KernelError.check("fchmod", "descriptor \(rawValue)") { fchmod(rawValue, mode) }
  }

  /// Gives an open file or folder to a user (`fchown(2)`).
  ///
  /// - Parameter group: `nil`: the group of the same number.
  package func changeOwner(_ identity: UInt32, group: UInt32? = nil) throws(KernelError) {
    try KernelError.check("fchown", "descriptor \(rawValue)") { fchown(rawValue, identity, group ?? identity) }
  }
}
