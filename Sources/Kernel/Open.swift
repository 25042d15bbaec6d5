internal import CLinux
internal import Paths

#if canImport(Glibc)
  internal import Glibc
#endif

/// How `openat2(2)` may walk a path.
package struct Resolve: OptionSet, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Never onto another mount; nothing is asked of the file system there, and no automounter woken.
  package static let sameMount = Resolve(rawValue: 0x01)
  /// No magic links such as `/proc/self/fd/3`.
  package static let noMagicLinks = Resolve(rawValue: 0x02)
  /// No symbolic link anywhere in the path.
  package static let noSymlinks = Resolve(rawValue: 0x04)
  /// Never above the starting directory, by `..`, by an absolute path or by a link: that is an error.
  package static let beneath = Resolve(rawValue: 0x08)
  /// The starting directory is the root for `..`, absolute paths and links.
  package static let inRoot = Resolve(rawValue: 0x10)
}

/// Flags of `open(2)`. Values differ between architectures, and some are hidden behind `_GNU_SOURCE`, so C tells them.
package struct OpenFlags: OptionSet, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let read: OpenFlags = []
  package static let write = OpenFlags(rawValue: 1)
  package static let readWrite = OpenFlags(rawValue: 2)
  package static let create = OpenFlags(rawValue: UInt64(O_CREAT))
  package static let exclusive = OpenFlags(rawValue: UInt64(O_EXCL))
  package static let truncate = OpenFlags(rawValue: UInt64(O_TRUNC))
  package static let append = OpenFlags(rawValue: UInt64(O_APPEND))
  package static let nonBlocking = OpenFlags(rawValue: UInt64(O_NONBLOCK))
  package static let noControllingTerminal = OpenFlags(rawValue: UInt64(O_NOCTTY))
  package static let directory = OpenFlags(rawValue: ambit_open_flag_directory())
  package static let noFollow = OpenFlags(rawValue: ambit_open_flag_nofollow())
  /// A location only: nothing is read, no device or pipe is woken.
  package static let path = OpenFlags(rawValue: ambit_open_flag_path())
  /// The location of the file at a path, also of a link.
  package static let place: OpenFlags = [.path, .noFollow]
}

extension Descriptor {
  /// The process's current directory, as a starting point for ``open(_:below:flags:mode:resolve:)``.
  private static var currentDirectory: CInt { AT_FDCWD }

  /// Opens a path (`openat2(2)`), close-on-exec.
  ///
  /// - Parameters:
  ///   - directory: where a relative path starts; `nil` is the current directory.
  ///   - mode: permission bits of a file that is created.
  package static func open(
    _ path: String, below directory: Descriptor? = nil, flags: OpenFlags, mode: UInt64 = 0, resolve: Resolve = []
  ) throws(KernelError) -> Descriptor {
    let raw = try KernelError.checkNegative("open", path) {
      unsafe ambit_openat2(
        directory?.rawValue ?? currentDirectory, path.kernel, flags.rawValue,
        // The kernel refuses a mode where nothing is created.
        flags.contains(.create) ? mode : 0, resolve.rawValue)
    }
    return Descriptor(owning: raw)
  }

  /// A program that this process becomes, or starts, has it as well.
  package func keepAcrossExec() throws(KernelError) {
    try KernelError.check("fcntl", "F_SETFD") { fcntl(rawValue, F_SETFD, 0) }
  }

  /// The path that the kernel has for this descriptor now, or `nil` when it has none: unlinked, or an inode that
  /// was opened by handle and has not been reached by a path since.
  package var currentPath: String? {
    // Each start of a scope asks: on the stack, and nothing of it is written to that is not read.
    let path = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer -> String? in
      let length = unsafe ambit_descriptor_path(rawValue, buffer.baseAddress, buffer.count)
      guard length > 0 else { return nil }
      return unsafe String(kernel: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<length]))
    }
    guard let path, path.isAbsolutePath else { return nil }
    // A file may have the name that the kernel gives where it has no path.
    guard path != "/", path.utf8.last != UInt8(ascii: ")") || !path.hasSuffix(" (deleted)") else {
      return stands(at: path) ? path : nil
    }
    return path
  }

  private func stands(at path: String) -> Bool {
    guard let found = try? Descriptor.open(path, flags: [.path, .noFollow]), let mine = try? status(),
      let its = try? found.status()
    else { return false }
    return mine.inode == its.inode && mine.device == its.device
  }
}

/// The facts that `statx(2)` tells of an open file.
package struct FileStatus: Equatable, Sendable {
  package enum Kind: Sendable { case regular, directory, symlink, other }

  package var inode: UInt64
  package var device: UInt64
  /// Bytes.
  package var size: UInt64
  package var links: UInt64
  package var mode: UInt32
  package var userID: UInt32
  package var groupID: UInt32
  /// Nanoseconds since 1970, or 0 where the file system records none.
  package var birth: Int64
  /// Nanoseconds since 1970.
  package var modified: Int64
  /// When the file or its attributes were changed last (`st_ctime`), in nanoseconds since 1970. No program sets it.
  package var changed: Int64
  /// The mount that it was opened on: a number that no other has before the next boot. `nil` before Linux 6.8.
  package var mount: UInt64?

  /// Of a character device's node: which device it is, with its major number above its minor one. Else `nil`.
  package var characterDevice: UInt64?

  package var isSocket: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFSOCK) }

  package var kind: Kind {
    switch mode & UInt32(S_IFMT) {
    case UInt32(S_IFREG): .regular
    case UInt32(S_IFDIR): .directory
    case UInt32(S_IFLNK): .symlink
    default: .other
    }
  }
}

extension Descriptor {
  package func status() throws(KernelError) -> FileStatus {
    var found = ambit_stat()
    try KernelError.checkNegative("statx", "descriptor \(rawValue)") {
      unsafe ambit_stat_descriptor(rawValue, &found)
    }
    return FileStatus(found)
  }

  /// The same of an entry of this folder, which is not opened. No link at the end is followed.
  package func status(of name: String) throws(KernelError) -> FileStatus {
    var found = ambit_stat()
    try KernelError.checkNegative("statx", name) { unsafe ambit_stat_entry(rawValue, name.kernel, &found) }
    return FileStatus(found)
  }
}

extension FileStatus {
  fileprivate init(_ found: ambit_stat) {
    self.init(
      inode: found.inode, device: found.device, size: found.size, links: found.links, mode: found.mode,
      userID: found.uid, groupID: found.gid,
      birth: found.birth_seconds &* 1_000_000_000 &+ Int64(found.birth_nanoseconds),
      modified: found.modified_seconds &* 1_000_000_000 &+ Int64(found.modified_nanoseconds),
      changed: found.changed_seconds &* 1_000_000_000 &+ Int64(found.changed_nanoseconds),
      mount: found.mount == 0 ? nil : found.mount,
      characterDevice: found.mode & UInt32(S_IFMT) == UInt32(S_IFCHR) ? found.represents : nil)
  }
}

/// The access that mode bits and access lists are asked for (`access(2)`).
package struct AccessBits: OptionSet, Sendable, Hashable {
  package let rawValue: Int32
  package init(rawValue: Int32) { self.rawValue = rawValue }

  package static let execute = AccessBits(rawValue: X_OK)
  package static let write = AccessBits(rawValue: W_OK)
  package static let read = AccessBits(rawValue: R_OK)
}

extension Descriptor {
  /// Whether mode bits and access lists let another user do this with the file: one that has a group of the same number, and is in
  /// no other (`faccessat2(2)`). Only root can ask. Where the kernel does not say, they do not.
  package func admits(_ user: UInt32, _ bits: AccessBits) -> Bool { ambit_admits(rawValue, user, bits.rawValue) == 1 }
}

extension Descriptor {
  /// Whether a regular file stands in this folder under a name. A link is none.
  package func hasRegularFile(_ name: String) -> Bool { unsafe ambit_is_regular(rawValue, name.kernel) == 1 }

  /// The text of a symbolic link that was opened with ``OpenFlags/path`` and ``OpenFlags/noFollow``.
  package func linkText() throws(KernelError) -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = try KernelError.check("readlinkat", "descriptor \(rawValue)") {
      unsafe buffer.withUnsafeMutableBytes { bytes in
        guard let base = bytes.baseAddress else { return 0 }
        return unsafe readlinkat(rawValue, "", base.assumingMemoryBound(to: CChar.self), bytes.count)
      }
    }
    return String(kernel: buffer[..<length])
  }
}
