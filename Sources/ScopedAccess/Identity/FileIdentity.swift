package import Folders
package import Kernel
internal import SystemPackage

/// The identity of a file under any name and at any place: all four must agree, or it is another file.
///
/// The handle holds the inode's generation, so a reused inode number is told apart; the birth time guards file
/// systems whose handles have no generation (`BMK-1`, `BMK-3`).
package struct FileIdentity: Hashable, Sendable {
  /// Sixteen bytes, stable across reboots; see ``Kernel/Descriptor/volumeIdentity()``.
  package let volume: [UInt8]
  package let handle: FileHandle
  package let inode: UInt64
  /// Nanoseconds since 1970; 0 where the file system records none, or another one after the first write (overlayfs).
  package let birth: Int64

  package init(volume: [UInt8], handle: FileHandle, inode: UInt64, birth: Int64) {
    self.volume = volume
    self.handle = handle
    self.inode = inode
    // A file of a lower layer that is written to for the first time becomes a copy in the upper layer, with a birth of its own.
    // The handle goes on naming the lower file, by number and generation (`ovl_encode_fh`): it alone says which one it is.
    self.birth = handle.isOfLowerLayer ? 0 : birth
  }

  /// Asks the kernel about an open file.
  package init(of descriptor: Descriptor) throws(KernelError) {
    try self.init(of: descriptor, status: try descriptor.status())
  }

  init(of descriptor: Descriptor, status: FileStatus) throws(KernelError) {
    self.init(
      volume: try descriptor.volumeIdentity(onMount: status.mount), handle: try FileHandle(of: descriptor),
      inode: status.inode, birth: status.birth)
  }
}

/// The access that a grant allows.
package enum AccessRights: String, Codable, Sendable {
  case readOnly, readWrite
}

/// A document as it was found: open, and, if the kernel knows one, by a path.
package struct FoundDocument: Sendable {
  /// Opened with ``Kernel/OpenFlags/path``.
  package let descriptor: Descriptor
  package let identity: FileIdentity
  package let kind: DocumentKind
  /// Bytes, when it was found.
  package let size: UInt64
  /// Where it is on the host now; `nil` while no path has led to it since it was opened by its handle.
  package let path: String?

  /// Looks at an open file or folder; anything else is no document.
  package init(_ descriptor: Descriptor) throws(KernelError) {
    try self.init(descriptor, at: descriptor.currentPath)
  }

  /// - Parameter path: its descriptor's, as it was a moment ago.
  package init(_ descriptor: Descriptor, at path: String?) throws(KernelError) {
    try self.init(descriptor, status: try descriptor.status(), at: path)
  }

  /// - Parameter status: of the same descriptor.
  init(_ descriptor: Descriptor, status: FileStatus) throws(KernelError) {
    try self.init(descriptor, status: status, at: descriptor.currentPath)
  }

  private init(_ descriptor: Descriptor, status: FileStatus, at path: String?) throws(KernelError) {
    self.descriptor = descriptor
    self.path = path
    size = status.size
    switch status.kind {
    case .regular: kind = .file
    case .directory: kind = .folder
    default: throw KernelError("open", "not a file and not a folder", errno: .invalidArgument)
    }
    identity = try FileIdentity(of: descriptor, status: status)
  }

  /// When the content was changed last, in nanoseconds since 1970; of a folder, when something directly in it was.
  package func modified() throws(KernelError) -> Int64 {
    let own = try descriptor.status().modified
    guard kind == .folder,
      let folder = try? Descriptor.open(".", below: descriptor, flags: [.read, .directory]),
      let entries = try? DirectoryReader.entries(of: folder, limit: Self.mostEntries)
    else { return own }
    return entries.reduce(own) { latest, entry in
      max(latest, (try? Descriptor.open(entry.name, below: folder, flags: .place).status().modified) ?? 0)
    }
  }

  /// That ``modified()`` looks at.
  private static let mostEntries = 1000

  private init(_ other: FoundDocument, path: String?) {
    (descriptor, identity, kind, size) = (other.descriptor, other.identity, other.kind, other.size)
    self.path = path
  }

  /// The same, where its path is none that leads to it.
  var withoutPath: FoundDocument { FoundDocument(self, path: nil) }
}
