package import Kernel

/// A folder of the host's and a name in it: where a document stands, whatever the folder's own path is by now.
package struct DocumentPlace: Sendable {
  /// Opened with ``Kernel/OpenFlags/path``.
  package let folder: Descriptor
  package let name: String

  /// Where a document stands that the kernel knows a path of; `nil` if there is none, or another file stands there.
  package init?(of document: FoundDocument) {
    guard let path = document.descriptor.currentPath, let slash = path.lastIndex(of: "/") else { return nil }
    let parent = slash == path.startIndex ? "/" : String(path[..<slash])
    guard
      let folder = try? Descriptor.open(parent, flags: [.path, .directory], resolve: .noSymlinks)
    else { return nil }
    self.folder = folder
    name = String(path[path.index(after: slash)...])
    guard present?.identity == document.identity else { return nil }
  }

  private init(folder: Descriptor, name: String) {
    self.folder = folder
    self.name = name
  }

  /// The same without anything open; `nil` if the folder has been deleted.
  package var remembered: RememberedPlace? {
    guard let path = folder.currentPath, let identity = try? FileIdentity(of: folder) else { return nil }
    return RememberedPlace(path: path, folder: identity, name: name)
  }

  fileprivate static func find(_ place: RememberedPlace) -> DocumentPlace? {
    guard let folder = try? Descriptor.open(place.path, flags: [.path, .directory], resolve: .noSymlinks),
      (try? FileIdentity(of: folder)) == place.folder
    else { return nil }
    return DocumentPlace(folder: folder, name: place.name)
  }

  /// The file or folder that stands here now. No link is followed.
  package var present: FoundDocument? { Self.document(name, in: folder) }

  static func document(_ name: String, in folder: Descriptor) -> FoundDocument? {
    (try? Descriptor.open(name, below: folder, flags: [.path, .noFollow])).flatMap { try? FoundDocument($0) }
  }
}

/// Where a document stood.
package struct RememberedPlace: Equatable, Sendable {
  fileprivate let path: String
  fileprivate let folder: FileIdentity
  fileprivate let name: String

  /// The place, if that folder is still the one at its path.
  package var found: DocumentPlace? { DocumentPlace.find(self) }
}
