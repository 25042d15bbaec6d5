internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The space that a file system has given out (`fstatfs(2)`), to all its users.
package struct FileSystemUsage: Equatable, Sendable {
  package var bytes: Int
  /// Where a file system does not count its files, their least possible size tells how many there can be more.
  package var files: Int
  /// Bytes of all of it, and the rest for programs without privilege.
  package var size: Int
  package var left: Int
}

extension Descriptor {
  package func fileSystemUsage() throws(KernelError) -> FileSystemUsage {
    var found = ambit_space()
    try KernelError.checkNegative("fstatfs", "descriptor \(rawValue)") {
      unsafe ambit_file_system_space(rawValue, &found)
    }
    func bytes(_ blocks: UInt64) -> Int {
      let (bytes, overflow) = blocks.multipliedReportingOverflow(by: found.block)
      return overflow ? Int.max : Int(clamping: bytes)
    }
    let taken = bytes(found.blocks &- found.free_blocks)
    // The smallest entry of a folder and the smallest inode together.
    return FileSystemUsage(
      bytes: taken, files: found.files > 0 ? Int(clamping: found.files &- found.free_files) : taken / 256,
      size: bytes(found.blocks), left: bytes(found.available_blocks))
  }
}

/// The content of folders and of those below them: bytes on the disk, and how many files. Measured in parts, so that the
/// measuring thread can do something else in between.
///
/// By descriptor, never following a link and never into another mount; but into subvolumes, which have device numbers of their
/// own and which any user can make (btrfs). A file that the folder's owner changes meanwhile may be counted as it was or as it
/// is. A file with several names counts once.
@safe package final class FolderMeasurement {
  package private(set) var bytes = 0
  /// The folders themselves are not counted.
  package private(set) var files = 0
  /// The content of very deep folders is not counted: more folders would be open at a time than a launcher may have.
  package private(set) var isTooDeep = false

  /// Of the folders that it has been in.
  private var devices: Set<dev_t> = []
  private var open: [OpaquePointer] = unsafe []
  private var linked: [dev_t: Set<ino_t>] = [:]

  /// Deeper than any program of use makes folders.
  package static let deepest = 200

  /// - Parameter folders: open folders; locations (`O_PATH`) will do.
  package init(of folders: [Descriptor]) throws(KernelError) {
    for folder in folders {
      _ = try folder.status()
      _ = unsafe enter(".", in: folder.rawValue)
    }
  }

  deinit { unsafe open.forEach { unsafe closedir($0) } }

  /// Measures on until all is measured or the time is over.
  ///
  /// - Parameter deadline: of ``Clock/monotonic()``.
  /// - Returns: whether all is measured.
  package func proceed(until deadline: Int64) -> Bool {
    var count = 0
    while let folder = unsafe open.last {
      guard let entry = unsafe readdir(folder) else {
        unsafe closedir(folder)
        unsafe open.removeLast()
        continue
      }
      count += 1
      unsafe take(entry, in: dirfd(folder))
      // A clock costs about as much as a file.
      if count % 32 == 0, Clock.monotonic() >= deadline { return false }
    }
    return true
  }

  private func take(_ entry: UnsafeMutablePointer<dirent>, in folder: Int32) {
    unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
      unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { name in
        let first = unsafe name[0]
        let second = unsafe first == 0 ? 0 : name[1]
        let third = unsafe second == 0 ? 0 : name[2]
        let dot = CChar(bitPattern: UInt8(ascii: "."))
        if first == dot, second == 0 || (second == dot && third == 0) { return }
        var status = stat()
        guard unsafe fstatat(folder, name, &status, CInt(AT_SYMLINK_NOFOLLOW)) == 0 else { return }
        let isKnown = devices.contains(status.st_dev)
        guard status.st_mode & S_IFMT == S_IFDIR else {
          let isNew = status.st_nlink < 2 || linked[status.st_dev, default: []].insert(status.st_ino).inserted
          if isKnown, isNew { count(status) }
          return
        }
        if isKnown { count(status) }
        if unsafe open.count >= Self.deepest {
          isTooDeep = true
        } else if unsafe enter(name, in: folder), !isKnown {
          count(status)
        }
      }
    }
  }

  private func count(_ status: stat) {
    files += 1
    bytes += Int(status.st_blocks) * 512
  }

  /// Gone, replaced, or not readable: then it is not counted.
  ///
  /// - Returns: whether it is one to look into.
  private func enter(_ name: UnsafePointer<CChar>, in folder: Int32) -> Bool {
    let flags: OpenFlags = [.read, .directory, .noFollow]
    let raw = unsafe ambit_openat2(folder, name, flags.rawValue, 0, Resolve.sameMount.rawValue)
    guard raw >= 0 else { return false }
    var status = stat()
    guard unsafe fstat(raw, &status) == 0, let stream = unsafe fdopendir(raw) else {
      close(raw)
      return false
    }
    devices.insert(status.st_dev)
    unsafe open.append(stream)
    return true
  }
}
