internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Reads folders for callers that want a few entries of very many: a name becomes a text only on request.
package struct FolderScan {
  private var buffer: [UInt8]

  /// - Parameter room: bytes that are read at a time; a name takes up to 280 of them.
  package init(room: Int = 65536) { buffer = [UInt8](repeating: 0, count: room) }

  /// From the beginning of an open folder, independent of earlier reads of it; but for `.` and `..`.
  ///
  /// - Parameters:
  ///   - goesOn: asked before each part of a long folder is read, with how many entries have been.
  ///   - isWanted: told the inode number, and the kind as the folder itself tells it (`nil` where it does not).
  /// - Returns: the entries that are wanted, and how many there were in all. `isWhole` is `false` if it did not go on.
  package mutating func read(
    _ folder: Descriptor, while goesOn: (Int) -> Bool = { _ in true },
    where isWanted: (UInt64, FileStatus.Kind?) -> Bool
  ) throws(KernelError) -> (entries: [DirectoryReader.Entry], count: Int, isWhole: Bool) {
    try KernelError.check("lseek", "folder") { lseek(folder.rawValue, 0, SEEK_SET) }
    var wanted: [DirectoryReader.Entry] = []
    var count = 0
    while goesOn(count) {
      let filled = unsafe buffer.withUnsafeMutableBytes {
        unsafe ambit_read_folder(folder.rawValue, $0.baseAddress, $0.count)
      }
      guard filled >= 0 else { throw KernelError("getdents64", "folder", errno: .init(rawValue: Int32(-filled))) }
      if filled == 0 { return (wanted, count, true) }
      unsafe buffer.withUnsafeBytes { bytes in
        unsafe FolderPart.forEach(in: UnsafeRawBufferPointer(rebasing: bytes[..<filled])) { name, inode, type in
          count += 1
          let kind = DirectoryReader.kind(type)
          guard isWanted(inode, kind) else { return }
          let text = unsafe String(kernel: name)
          if text != ".", text != ".." { wanted.append(.init(name: text, inode: inode, kind: kind)) }
        }
      }
    }
    return (wanted, count, false)
  }

  /// Hands on the entries of an open folder but `.` and `..`, part by part from its beginning: a long folder need not be read to
  /// its end.
  ///
  /// - Parameter goesOn: works on a part; `false` ends it.
  /// - Returns: whether it was read to its end.
  package mutating func eachPart(
    of folder: Descriptor, _ goesOn: ([DirectoryReader.Entry]) -> Bool
  ) throws(KernelError) -> Bool {
    try KernelError.check("lseek", "folder") { lseek(folder.rawValue, 0, SEEK_SET) }
    while true {
      let filled = unsafe buffer.withUnsafeMutableBytes {
        unsafe ambit_read_folder(folder.rawValue, $0.baseAddress, $0.count)
      }
      guard filled >= 0 else { throw KernelError("getdents64", "folder", errno: .init(rawValue: Int32(-filled))) }
      if filled == 0 { return true }
      var part: [DirectoryReader.Entry] = []
      unsafe buffer.withUnsafeBytes { bytes in
        unsafe FolderPart.forEach(in: UnsafeRawBufferPointer(rebasing: bytes[..<filled])) { name, inode, type in
          let text = unsafe String(kernel: name)
          if text == "." || text == ".." { return }
          part.append(.init(name: text, inode: inode, kind: DirectoryReader.kind(type)))
        }
      }
      guard goesOn(part) else { return false }
    }
  }
}
