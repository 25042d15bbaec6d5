internal import Folders
package import Kernel
internal import SystemPackage

/// A content that is being kept: it is copied first, and becomes a version when it is whole.
package struct VersionDraft: Sendable {
  private let document: FoundDocument
  private let folder: Descriptor
  let name: String
  private let largest: UInt64
  private let open: Descriptor?

  init(document: FoundDocument, open: Descriptor?, folder: Descriptor, name: String, largest: UInt64) {
    (self.document, self.open, self.folder, self.name, self.largest) = (document, open, folder, name, largest)
  }

  package var isPackage: Bool { document.kind == .folder }

  /// Copies the content, and waits until it is on the disk; from any thread. The document may have no name any more.
  ///
  /// - Parameter isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  /// - Returns: bytes, and when the document was written last, in nanoseconds since 1970.
  /// - Throws: `EFBIG` if it is too large.
  package func fill(while isWanted: @escaping () -> Bool) throws(KernelError) -> (size: UInt64, modified: Int64) {
    let facts = try copy(while: isWanted)
    try synchronize()
    return facts
  }

  /// The same without the wait for the disk: the document may be written over from here on, and ``synchronize()`` has to follow.
  package func copy(while isWanted: @escaping () -> Bool) throws(KernelError) -> (size: UInt64, modified: Int64) {
    do throws(KernelError) {
      let status = try document.descriptor.status()
      if document.kind == .folder { return (try fillFolder(isWanted), status.modified) }
      guard status.size <= largest else { throw KernelError("copy", name, errno: .fileTooLarge) }
      let copy = try Descriptor.open(
        name, below: folder, flags: [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
      if let open {
        _ = try open.copyContent(over: copy, size: status.size) { () throws(KernelError) in isWanted() }
      } else {
        try document.descriptor.reopened([.read, .nonBlocking]).copyContent(to: copy, while: isWanted)
      }
      return (try copy.status().size, status.modified)
    } catch {
      remove()
      throw error
    }
  }

  /// Waits until a copied file is on the disk. A package's files are there when they are copied.
  package func synchronize() throws(KernelError) {
    if isPackage { return }
    do throws(KernelError) {
      try Descriptor.open(name, below: folder, flags: [.read, .noFollow]).synchronize()
    } catch {
      remove()
      throw error
    }
  }

  private func remove() {
    if (try? folder.removeFile(name)) == nil { try? folder.removeTree(name) }
  }

  private func fillFolder(_ isWanted: @escaping () -> Bool) throws(KernelError) -> UInt64 {
    let source = try document.descriptor.reopened([.read, .directory])
    var left = largest
    try Self.measure(source, &left, depth: 64)
    try folder.makeDirectory(name, mode: 0o700)
    let copy = try Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow])
    var copying = PackageCopy(owner: folder, while: isWanted)
    try copying.fill(copy, from: source, like: nil)
    return largest - left
  }

  private static func measure(_ folder: Descriptor, _ left: inout UInt64, depth: Int) throws(KernelError) {
    guard depth > 0 else { throw KernelError("copy", "package", errno: .argListTooLong) }
    for entry in try DirectoryReader.entries(of: folder, limit: 100_000) {
      let item = try Descriptor.open(entry.name, below: folder, flags: .place)
      let status = try item.status()
      switch status.kind {
      case .regular:
        guard status.size <= left else { throw KernelError("copy", entry.name, errno: .fileTooLarge) }
        left -= status.size
      case .directory: try measure(item, &left, depth: depth - 1)
      case .symlink, .other: break
      }
    }
  }
}
