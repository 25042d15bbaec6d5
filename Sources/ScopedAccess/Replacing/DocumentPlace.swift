package import Kernel
internal import Paths

/// A folder of the host's and a name in it: the place of a document, even if the folder's own path has changed.
package struct DocumentPlace: Sendable {
  /// Opened with ``Kernel/OpenFlags/path``.
  package let folder: Descriptor
  package let name: String

  /// Where a document stands that the kernel knows a path of; `nil` if there is none, or another file stands there.
  package init?(of document: FoundDocument) { self.init(of: document, at: document.descriptor.currentPath) }

  /// - Parameter path: its descriptor's, as it was a moment ago.
  package init?(of document: FoundDocument, at path: String?) {
    guard let (parent, name) = path?.parentAndName,
      let folder = try? Descriptor.open(parent, flags: [.path, .directory], resolve: .noSymlinks),
      let mine = try? document.descriptor.status(),
      let there = try? Descriptor.open(name, below: folder, flags: [.path, .noFollow], resolve: .noSymlinks).status(),
      mine.inode == there.inode, mine.device == there.device
    else { return nil }
    (self.folder, self.name) = (folder, name)
  }

  /// Where a document stood that is gone: the folder of its last path, if that is the folder of its recorded place.
  package init?(lastOf document: FoundDocument, recorded: Place?) {
    guard let recorded, let (parent, name) = document.path?.parentAndName, name.isSamePath(as: recorded.name),
      let folder = try? Descriptor.open(parent, flags: [.path, .directory], resolve: .noSymlinks),
      (try? FileIdentity(of: folder)) == recorded.folder
    else { return nil }
    (self.folder, self.name) = (folder, name)
  }

  /// - Parameter folder: opened with ``Kernel/OpenFlags/path``.
  package init(_ folder: Descriptor, _ name: String) { (self.folder, self.name) = (folder, name) }

  /// Whether a document that was just found under its path stands here, as far as paths tell: under this name, in this very folder.
  package func holds(_ document: FoundDocument) -> Bool {
    guard let (parent, name) = document.path?.parentAndName else { return false }
    return name.isSamePath(as: self.name) && folder.currentPath.isSamePath(as: parent)
  }

  /// The file or folder that stands here now. No link is followed.
  package var present: FoundDocument? { Self.document(name, in: folder) }

  /// Whether the file here is on the folder's own volume, and nothing that was mounted over the name.
  package func isOnItsVolume(_ document: FoundDocument) -> Bool {
    document.descriptor.mount == folder.mount
      && (try? FileIdentity(of: folder))?.volume == document.identity.volume
  }

  static func document(_ name: String, in folder: Descriptor) -> FoundDocument? {
    (try? Descriptor.open(name, below: folder, flags: [.path, .noFollow])).flatMap { try? FoundDocument($0) }
  }
}
