internal import Folders
package import Kernel
internal import SystemPackage

/// A content that is being kept: it is copied first, and becomes a version when it is whole.
package struct VersionDraft: Sendable {
  /// Of the version that it becomes.
  package let id: String
  private let document: FoundDocument
  private let folder: Descriptor
  private let largest: UInt64
  private let open: Descriptor?
  private let removals: VersionRemovals

  init(
    _ id: String, of document: FoundDocument, open: Descriptor?, in folder: Descriptor, largest: UInt64,
    besides removals: VersionRemovals
  ) {
    (self.id, self.document, self.open, self.folder) = (id, document, open, folder)
    (self.largest, self.removals) = (largest, removals)
  }

  package var isPackage: Bool { document.kind == .folder }

  /// The content's name while it is copied.
  private var beginning: String { ".new-\(id)" }

  /// The names that the content may have.
  var names: [String] { [beginning, id] }

  /// Bytes that the content takes at most.
  var room: UInt64 {
    let found = names.compactMap { try? folder.status(of: $0) }
    return found.map { $0.kind == .directory ? largest : $0.size }.max() ?? 0
  }

  /// Copies the content, and waits until it is on the disk; from any thread. The document may have no name any more.
  ///
  /// - Parameter isWanted: asked from time to time; where it says no, the error is `ECANCELED`.
  /// - Returns: bytes, with 4 KiB for each entry of a package; and when the document was written last, in nanoseconds since 1970.
  /// - Throws: `EFBIG` if it is too large.
  package func fill(while isWanted: @escaping () -> Bool) throws(KernelError) -> (size: UInt64, modified: Int64) {
    let facts = try copy(while: isWanted)
    try synchronize()
    guard isWanted() else {
      remove()
      throw KernelError("copy", id, errno: .canceled)
    }
    return facts
  }

  /// The same without the wait for the disk: the document may be written over from here on, and ``synchronize()`` has to follow.
  package func copy(while isWanted: @escaping () -> Bool) throws(KernelError) -> (size: UInt64, modified: Int64) {
    guard !removals.areTooMuch else {
      throw KernelError("copy", "earlier contents are still being removed", errno: .noSpace)
    }
    do throws(KernelError) {
      let status = try document.descriptor.status()
      if isPackage { return (try fillFolder(isWanted), status.modified) }
      guard status.size <= largest else { throw KernelError("copy", id, errno: .fileTooLarge) }
      let copy = try Descriptor.open(
        beginning, below: folder, flags: [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
      if let open {
        let size = try open.copyContent(over: copy, size: status.size) { () throws(KernelError) in isWanted() }
        return (size, status.modified)
      }
      let content = try document.descriptor.reopened([.read, .nonBlocking])
      return (try content.copyContent(to: copy, atMost: largest, while: isWanted), status.modified)
    } catch {
      remove()
      throw error
    }
  }

  /// Gives the copied content its version's name, and waits until all of it is on the disk. The version's row may follow: content
  /// without a row is removed by the next broker, a row without content would be a lie.
  package func synchronize() throws(KernelError) {
    do throws(KernelError) {
      // A package's files are there when they are copied.
      if !isPackage { try Descriptor.open(beginning, below: folder, flags: [.read, .noFollow]).synchronize() }
      try folder.move(beginning, to: folder, as: id)
      try folder.synchronizeFully()
    } catch {
      remove()
      throw error
    }
  }

  private func remove() {
    for name in names where (try? folder.removeFile(name)) == nil { try? folder.removeTree(name) }
  }

  private func fillFolder(_ isWanted: @escaping () -> Bool) throws(KernelError) -> UInt64 {
    let source = try document.descriptor.reopened([.read, .directory])
    try folder.makeDirectory(beginning, mode: 0o700)
    let copy = try Descriptor.open(beginning, below: folder, flags: [.read, .directory, .noFollow])
    var copying = PackageCopy(owner: folder, atMost: largest, while: isWanted)
    try copying.fill(copy, from: source, like: nil)
    return copying.size
  }
}
