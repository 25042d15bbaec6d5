internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The kind of file of a descriptor that another process opened, and its possible uses.
package struct StreamFacts: Equatable, Sendable {
  package enum Kind: Sendable, CaseIterable { case file, folder, pipe, socket, character, block, other }

  package var kind: Kind
  package var reads: Bool
  package var writes: Bool
  /// A place only (`O_PATH`): nothing is read or written through it, but anything can be opened from it.
  package var isPlace: Bool

  package init(kind: Kind, reads: Bool, writes: Bool, isPlace: Bool = false) {
    self.kind = kind
    self.reads = reads
    self.writes = writes
    self.isPlace = isPlace
  }

  package init(of descriptor: Descriptor) throws(KernelError) {
    let flags = try KernelError.check("fcntl", "F_GETFL, \(descriptor.rawValue)") {
      fcntl(descriptor.rawValue, F_GETFL)
    }
    let access = flags & O_ACCMODE
    kind =
      switch try descriptor.status().mode & UInt32(S_IFMT) {
      case UInt32(S_IFREG): .file
      case UInt32(S_IFDIR): .folder
      case UInt32(S_IFIFO): .pipe
      case UInt32(S_IFSOCK): .socket
      case UInt32(S_IFCHR): .character
      case UInt32(S_IFBLK): .block
      default: .other
      }
    isPlace = UInt64(UInt32(bitPattern: flags)) & OpenFlags.path.rawValue != 0
    reads = access != O_WRONLY
    writes = access != O_RDONLY
  }
}

extension Descriptor {
  /// A pipe (`pipe2(2)`), as large as the user's quota of pipes lets it be.
  package static func pipe() throws(KernelError) -> (reading: Descriptor, writing: Descriptor) {
    var ends: [Int32] = [-1, -1]
    try KernelError.checkNegative("pipe2") { unsafe ambit_pipe(&ends) }
    return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
  }

  /// Bytes that wait in a pipe.
  package var unread: Int { max(0, Int(ambit_pipe_content(rawValue))) }

  /// Whether two descriptors share one opening, and so its offset. Where the kernel does not say so (`kcmp(2)`), those of one file
  /// count as one.
  package func isSameOpening(as other: Descriptor) -> Bool {
    let answer = ambit_is_same_opening(rawValue, other.rawValue)
    if answer >= 0 { return answer == 0 }
    guard let mine = try? status(), let its = try? other.status() else { return false }
    return mine.inode == its.inode && mine.device == its.device
  }

  /// Opens a regular file anew, for reading, on a mount of its own that hangs nowhere and is read-only: also a process that opens
  /// it once more, through `/proc/self/fd`, cannot write to it, nor change its mode. The offset is the same at first.
  ///
  /// - Throws: also where the file has no path on a mount of this process's (unlinked, in memory, another namespace's).
  package func readOnlyOpening() throws(KernelError) -> Descriptor {
    let own = try status()
    let tree: DetachedTree
    do throws(KernelError) {
      tree = try DetachedTree(cloning: self, recursive: false, path: "descriptor \(rawValue)")
    } catch {
      // It was opened in another mount namespace. If the same file is at its path here, that one is as good.
      guard let path = currentPath else { throw error }
      tree = try DetachedTree(cloning: try Descriptor.open(path, flags: .place), recursive: false, path: path)
    }
    try tree.restrict(MountAttributes.data.union(.readOnly), recursive: false)
    let opened = try Descriptor.open("/proc/self/fd/\(tree.descriptor.rawValue)", flags: .read)
    let found = try opened.status()
    guard found.inode == own.inode, found.device == own.device else {
      throw KernelError("open", "descriptor \(rawValue)", errno: .staleNFSFileHandle)
    }
    let offset = try KernelError.check("lseek", "descriptor \(rawValue)") { lseek(rawValue, 0, SEEK_CUR) }
    try KernelError.check("lseek") { lseek(opened.rawValue, offset, SEEK_SET) }
    return opened
  }
}
