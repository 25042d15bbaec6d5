internal import Kernel
internal import Paths

/// Where a document stands, told by the folder itself and not by the folder's path: a folder that was moved is the
/// same place, and another folder under the same path is another.
package struct Place: Hashable, Sendable {
  package let folder: FileIdentity
  private let key: PathKey

  package init(folder: FileIdentity, name: String) {
    self.folder = folder
    key = PathKey(name)
  }

  /// The document's name in that folder.
  package var name: String { key.text }

  /// The place of an open document; `nil` if no path leads to it now.
  package init?(of document: FoundDocument) {
    guard let place = DocumentPlace(of: document, at: document.path) else { return nil }
    self.init(place)
  }

  /// The same, to be stored.
  package init?(_ place: DocumentPlace) {
    guard let identity = try? FileIdentity(of: place.folder) else { return nil }
    self.init(folder: identity, name: place.name)
  }

  /// As it is stored.
  package var bytes: [UInt8] {
    var writer = BinaryWriter()
    writer.write(self)
    return writer.bytes
  }

  package init?(bytes: [UInt8]) {
    var reader = BinaryReader(bytes)
    guard let place = try? reader.place(), (try? reader.end()) != nil else { return nil }
    self = place
  }
}

extension String {
  /// An absolute path's folder and last component.
  var parentAndName: (parent: String, name: String)? {
    guard let parent = parentPath, let name = pathParts.last, !name.isEmpty, name != ".", name != ".." else {
      return nil
    }
    return (parent, name)
  }

  /// The folders above an absolute path, nearest first, up to the root.
  var ancestors: [String] {
    var components = pathNames.dropLast()
    var result: [String] = []
    while !components.isEmpty {
      result.append("/" + components.joined(separator: "/"))
      components = components.dropLast()
    }
    return result + ["/"]
  }
}
