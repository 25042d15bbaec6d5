/// A document or a folder, as its provider describes it. Everything in it is a stranger's.
package struct ProviderItem: Sendable, Equatable {
  /// The top of a provider's tree.
  package static let root = "root"
  package static let workingSet = "NSFileProviderWorkingSetContainerItemIdentifier"
  package static let trash = "NSFileProviderTrashContainerItemIdentifier"
  /// Identifiers that no item has (`PRV-10`).
  package static let reserved: Set<String> = [root, "NSFileProviderRootContainerItemIdentifier", workingSet, trash]

  package var identifier: String
  package var parent: String
  package var filename: String
  package var isFolder: Bool
  /// A uniform type identifier.
  package var contentType: String?
  /// In bytes.
  package var size: Int
  /// Nanoseconds since 1970.
  package var modified: Int
  /// Another one means other content.
  package var version: String
  package var capabilities: Set<Capability>
  /// Why it is in the working set (`PRV-11`).
  package var marks: Set<Mark>

  /// The working set.
  package enum Mark: String, Sendable, CaseIterable { case recent, tagged, favorite, shared, trashed }

  /// The broker enforces these; the provider need not.
  package enum Capability: String, Sendable, CaseIterable {
    case reading, writing, renaming, reparenting, trashing, deleting, evicting, addingSubItems, contentEnumerating
  }

  package init(
    identifier: String, parent: String = root, filename: String, isFolder: Bool = false, contentType: String? = nil,
    size: Int = 0, modified: Int = 0, version: String = "1",
    capabilities: Set<Capability> = [.reading, .writing, .evicting],
    marks: Set<Mark> = []
  ) {
    (self.identifier, self.parent, self.filename) = (identifier, parent, filename)
    (self.isFolder, self.contentType, self.size) = (isFolder, contentType, size)
    (self.modified, self.version, self.capabilities, self.marks) = (modified, version, capabilities, marks)
  }

  /// Whether the provider says the same of it, and allows the same, apart from its content and its place.
  func isDescribed(as other: ProviderItem) -> Bool {
    capabilities == other.capabilities && marks == other.marks && contentType == other.contentType
  }

  /// Bytes of a text that the broker keeps: an identifier, a type.
  package static let longestText = 1024
  /// Bytes in memory, apart from its texts.
  private static let frame = 192

  /// The bytes that it takes in memory, about.
  package var bytes: Int {
    let names = identifier.utf8.count + parent.utf8.count + filename.utf8.count
    return Self.frame + names + (contentType?.utf8.count ?? 0) + version.utf8.count
  }

  /// Bytes of a document.
  package static let largest = 1 << 43

  /// Why this cannot be shown as a file; `nil`: it can.
  package var fault: ItemFault? {
    if identifier.isEmpty || identifier.utf8.count > Self.longestText {
      return .init("identifier", "an identifier has 1 to \(Self.longestText) bytes")
    }
    if Self.reserved.contains(identifier) { return .init("identifier", "“\(identifier)” is reserved") }
    if identifier.utf8.contains(0) { return .init("identifier", "an identifier has no NUL in it") }
    if parent.utf8.count > Self.longestText {
      return .init("parent", "the identifier of a folder has \(Self.longestText) bytes at most")
    }
    if let type = contentType, type.utf8.count > Self.longestText {
      return .init("contentType", "a type has \(Self.longestText) bytes at most")
    }
    let name = filename
    if name.isEmpty || name == "." || name == ".." { return .init("filename", "a file is not named “\(name)”") }
    if name.utf8.contains(UInt8(ascii: "/")) { return .init("filename", "a name has no slash in it") }
    if name.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) {
      return .init("filename", "a name has no control characters in it")
    }
    if name.utf8.count > 255 {
      return .init("filename", "a name has 255 bytes at most; this one has \(name.utf8.count)")
    }
    if name.hasPrefix(".ambit-") { return .init("filename", "names beginning with “.ambit-” are Ambit's own") }
    if size < 0 || size > Self.largest {
      return .init("size", "a size is 0 to \(Self.largest) bytes; this one is \(size)")
    }
    // PRV-16
    if version.utf8.count > 1000 { return .init("version", "a version has 1,000 bytes at most") }
    return nil
  }
}

/// A rule of the contract that an item breaks.
package struct ItemFault: Error, Sendable, Equatable, CustomStringConvertible {
  package let field: String
  /// A sentence without its full stop.
  package let reason: String

  package init(_ field: String, _ reason: String) { (self.field, self.reason) = (field, reason) }
  package var description: String { "\(field): \(reason)" }
}
