internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Putting one file in the place of another.
extension Descriptor {
  /// Renames from one folder to another, over a file that may be there (`renameat2(2)`).
  package func move(_ name: String, to folder: Descriptor, as new: String) throws(KernelError) {
    try KernelError.checkNegative("renameat2", new) {
      unsafe ambit_rename(rawValue, name.kernel, folder.rawValue, new.kernel, 0)
    }
  }

  /// The same, and never over anything.
  package func moveAside(_ name: String, to folder: Descriptor, as new: String) throws(KernelError) {
    try KernelError.checkNegative("renameat2", new) {
      unsafe ambit_rename(rawValue, name.kernel, folder.rawValue, new.kernel, UInt32(AMBIT_RENAME_NOREPLACE))
    }
  }

  /// Lets two files change places, in one step (`RENAME_EXCHANGE`).
  package func exchange(_ name: String, with other: String, in folder: Descriptor) throws(KernelError) {
    try KernelError.checkNegative("renameat2", other) {
      unsafe ambit_rename(rawValue, name.kernel, folder.rawValue, other.kernel, UInt32(AMBIT_RENAME_EXCHANGE))
    }
  }

  /// The same by paths, as a program does that has no descriptor.
  package static func exchange(_ path: String, with other: String) throws(KernelError) {
    try KernelError.checkNegative("renameat2", other) {
      unsafe ambit_rename(AT_FDCWD, path.kernel, AT_FDCWD, other.kernel, UInt32(AMBIT_RENAME_EXCHANGE))
    }
  }

  /// Opens the file that this place (`O_PATH`) is of, as this process may.
  package func reopened(_ flags: OpenFlags) throws(KernelError) -> Descriptor {
    try Descriptor.open("/proc/self/fd/\(rawValue)", flags: flags)
  }

  /// Copies a whole file, open at its start, into an empty one; the two share their blocks where the file system can do that. What is
  /// added to it meanwhile is not copied: a writer could go on for ever. The disk writes the first parts while the rest is copied: a
  /// synchronization finds little left.
  ///
  /// - Parameter isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  package func copyContent(to copy: Descriptor, while isWanted: () -> Bool = { true }) throws(KernelError) {
    if ambit_share_content(rawValue, copy.rawValue) == 0 { return }
    // Some file systems do not tell the size.
    let size = try status().size
    var left = size == 0 ? Self.mostOfUnknown : Int(clamping: size)
    var unwritten = 0
    while left > 0 {
      let count = try KernelError.checkNegative("copy_file_range") { ambit_copy_part(rawValue, copy.rawValue) }
      if count == 0 { return }
      left -= Int(count)
      unwritten += Int(count)
      if unwritten >= Self.writtenAtOnce {
        ambit_begin_writing(copy.rawValue)
        unwritten = 0
      }
      guard isWanted() else { throw KernelError("copy_file_range", errno: .canceled) }
    }
  }

  private static var mostOfUnknown: Int { 16 << 20 }
  /// Bytes.
  private static var writtenAtOnce: Int { 32 << 20 }

  /// Copies so many bytes of a file over the beginning of another's content; the offsets of both stay. Holes become zeros.
  ///
  /// - Parameters:
  ///   - size: bytes, of which there may be fewer.
  ///   - isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  /// - Returns: the bytes that were there.
  package func copyContent(
    over other: Descriptor, size: UInt64, while isWanted: () throws(KernelError) -> Bool
  ) throws(KernelError) -> UInt64 {
    var done: UInt64 = 0
    while done < size {
      let count = try KernelError.checkNegative("copy_file_range") {
        ambit_copy_over(rawValue, other.rawValue, off_t(done), Int(min(size - done, 1 << 20)))
      }
      if count == 0 { break }
      done += UInt64(count)
      guard try isWanted() else { throw KernelError("copy_file_range", errno: .canceled) }
    }
    return done
  }

  /// Has the blocks of a file's first bytes ready, so that writing them needs no more room; its size stays (`fallocate(2)`).
  ///
  /// - Throws: `ENOSPC`. A file system that has no such call says nothing.
  package func reserve(_ size: UInt64) throws(KernelError) {
    let result = ambit_reserve(rawValue, off_t(clamping: size))
    guard result < 0, Errno(rawValue: -result) != .notSupportedOnSocket else { return }
    throw KernelError("fallocate", "descriptor \(rawValue)", errno: Errno(rawValue: -result))
  }

  /// Reads from its beginning again (`lseek(2)`).
  package func rewind() throws(KernelError) { try seek(to: 0) }

  /// Reads and writes from an offset on (`lseek(2)`).
  package func seek(to offset: UInt64) throws(KernelError) {
    try KernelError.check("lseek", "descriptor \(rawValue)") { lseek(rawValue, off_t(clamping: offset), SEEK_SET) }
  }

  /// Gives another file this one's owner, group, mode, access control list and user attributes, as far as this process
  /// may; attributes that cannot be kept are left out so that no user gets more rights than before. Set-id bits are not
  /// kept: the content is another.
  package func copyAttributes(to other: Descriptor) throws(KernelError) {
    try KernelError.checkNegative("chmod", "descriptor \(other.rawValue)") {
      ambit_copy_attributes(rawValue, other.rawValue)
    }
  }

  /// Gives another file or folder this one's mode and user attributes, and the owner and group of a third.
  package func adopt(_ other: Descriptor, as owner: Descriptor) throws(KernelError) {
    try KernelError.checkNegative("chmod", "descriptor \(other.rawValue)") {
      ambit_adopt(rawValue, other.rawValue, owner.rawValue)
    }
  }

  /// Makes a link in this folder with the target of another one, which is open as a place; of the owner of a third.
  package func copyLink(_ link: Descriptor, as name: String, owner: Descriptor) throws(KernelError) {
    var text = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let room = text.count - 1
    try KernelError.checkNegative("readlinkat", name) {
      unsafe text.withUnsafeMutableBufferPointer { unsafe CInt(ambit_link_text(link.rawValue, $0.baseAddress, room)) }
    }
    try KernelError.checkNegative("symlinkat", name) {
      unsafe ambit_make_link(text, rawValue, name.kernel, owner.rawValue)
    }
  }

  /// Makes a symbolic link in this folder. The name must be free.
  package func makeLink(_ text: String, as name: String) throws(KernelError) {
    try KernelError.check("symlinkat", name) { unsafe symlinkat(text.kernel, rawValue, name.kernel) }
  }

  /// Whether another open file description holds a record lock in a range of bytes (`F_OFD_GETLK`).
  package func isLocked(_ bytes: Range<Int64>) throws(KernelError) -> Bool {
    try KernelError.checkNegative("fcntl", "F_OFD_GETLK") {
      ambit_is_locked(rawValue, off_t(bytes.lowerBound), off_t(bytes.count))
    } == 1
  }

  /// Waits until the file's content is on the disk (`fdatasync(2)`).
  package func synchronize() throws(KernelError) {
    try KernelError.checkNegative("fdatasync", "descriptor \(rawValue)") { ambit_sync_data(rawValue) }
  }

  /// Waits until everything on the file's file system is on the disk (`syncfs(2)`).
  package func synchronizeFileSystem() throws(KernelError) {
    try KernelError.checkNegative("syncfs", "descriptor \(rawValue)") { ambit_sync_file_system(rawValue) }
  }

  /// A file in this folder that has no name yet, open for reading and writing (`O_TMPFILE`).
  package func makeUnnamedFile() throws(KernelError) -> Descriptor {
    Descriptor(owning: try KernelError.checkNegative("open", "O_TMPFILE") { ambit_unnamed_file(rawValue) })
  }

  /// Gives such a file a name, which must be free.
  package func name(_ file: Descriptor, _ name: String) throws(KernelError) {
    try KernelError.checkNegative("linkat", name) { unsafe ambit_name_file(file.rawValue, rawValue, name.kernel) }
  }
}

extension DetachedTree {
  /// Makes the tree appear beneath the mount on the target: it shows when that is detached, and at no moment is there nothing.
  /// `EINVAL` before Linux 6.5.
  package func move(beneath target: Descriptor, path: String) throws(KernelError) {
    try KernelError.checkNegative("move_mount", path) {
      ambit_move_mount_beneath(descriptor.rawValue, target.rawValue)
    }
  }
}

/// Tells of files that come to stand in folders, and of those that leave them (`inotify(7)`).
package struct FolderWatcher: Watcher {
  package struct Event: Hashable, Sendable {
    /// The number that ``watch(_:)`` answered; -1: events were lost.
    package let watch: Int32
    package let name: String
  }

  package let descriptor: Descriptor

  package init() throws(KernelError) {
    descriptor = Descriptor(owning: try KernelError.checkNegative("inotify_init1") { ambit_watcher() })
  }

  /// - Returns: a number; the same one for the same folder.
  package func watch(_ folder: Descriptor) throws(KernelError) -> Int32 {
    try KernelError.checkNegative("inotify_add_watch") { ambit_watch_folder(descriptor.rawValue, folder.rawValue) }
  }

  /// The same for names that leave and come by a move, and for the folder's own moves and end, which have no name.
  package func watchMoves(_ folder: Descriptor) throws(KernelError) -> Int32 {
    try KernelError.checkNegative("inotify_add_watch") { ambit_watch_moves(descriptor.rawValue, folder.rawValue) }
  }

  package func unwatch(_ watch: Int32) { _ = ambit_unwatch(descriptor.rawValue, watch) }

  /// The events since the last question, or the first of them: a process that makes files without end in a folder must not keep
  /// the watcher busy. The descriptor stays readable then.
  package func events() -> Set<Event> {
    var events: Set<Event> = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = unsafe read(descriptor.rawValue, &buffer, buffer.count)
    guard count > 0 else { return events }
    unsafe buffer.withUnsafeBytes { bytes in
      // struct inotify_event: watch, mask, cookie, the name's room, the name with zeros behind it.
      var at = 0
      while at + 16 <= count {
        let watch = unsafe bytes.loadUnaligned(fromByteOffset: at, as: Int32.self)
        let room = Int(unsafe bytes.loadUnaligned(fromByteOffset: at + 12, as: UInt32.self))
        guard at + 16 + room <= count else { break }
        let name = unsafe bytes[(at + 16)..<(at + 16 + room)].prefix { $0 != 0 }
        events.insert(Event(watch: watch, name: unsafe String(kernel: name)))
        at += 16 + room
      }
    }
    return events
  }
}
