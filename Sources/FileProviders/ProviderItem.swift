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
  package var capabilities: Capabilities
  /// Why it is in the working set (`PRV-11`).
  package var marks: Marks

  package struct Marks: NamedOptions {
    package static let words = ["recent", "tagged", "favorite", "shared", "trashed"]
    package static let recent = Marks(rawValue: 1)
    package static let trashed = Marks(rawValue: 16)

    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    /// Unknown words are none.
    package init(words: [String]) { rawValue = Self.bits(of: words) }
  }

  /// The broker enforces these; the provider need not.
  package struct Capabilities: NamedOptions {
    package static let words = [
      "reading", "writing", "renaming", "reparenting", "trashing", "deleting", "evicting", "addingSubItems",
      "contentEnumerating",
    ]
    package static let reading = Capabilities(rawValue: 1)
    package static let writing = Capabilities(rawValue: 2)
    package static let renaming = Capabilities(rawValue: 4)
    package static let reparenting = Capabilities(rawValue: 8)
    package static let trashing = Capabilities(rawValue: 16)
    package static let deleting = Capabilities(rawValue: 32)
    package static let evicting = Capabilities(rawValue: 64)
    package static let addingSubItems = Capabilities(rawValue: 128)
    package static let contentEnumerating = Capabilities(rawValue: 256)

    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    /// Unknown words are none.
    package init(words: [String]) { rawValue = Self.bits(of: words) }
  }

  package init(
    identifier: String, parent: String = root, filename: String, isFolder: Bool = false, contentType: String? = nil,
    size: Int = 0, modified: Int = 0, version: String = "1",
    capabilities: Capabilities = [.reading, .writing, .evicting], marks: Marks = []
  ) {
    (self.identifier, self.parent, self.filename) = (identifier, parent, filename)
    (self.isFolder, self.contentType, self.size) = (isFolder, contentType, size)
    (self.modified, self.version, self.capabilities, self.marks) = (modified, version, capabilities, marks)
  }

  /// Whether the provider says the same of it, and allows the same, apart from its content and its place.
  func isDescribed(as other: ProviderItem) -> Bool {
    capabilities == other.capabilities && marks == other.marks && contentType == other.contentType
  }

  /// Whether nothing that is shown of it differs. The date goes with the version.
  func isShown(as other: ProviderItem) -> Bool {
    identifier == other.identifier && parent == other.parent && filename == other.filename
      && isFolder == other.isFolder && size == other.size && version == other.version && isDescribed(as: other)
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
    if name.hasControlCharacter { return .init("filename", "a name has no control characters in it") }
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

extension String {
  /// Up to U+001F, and U+007F to U+009F.
  fileprivate var hasControlCharacter: Bool {
    var before: UInt8 = 0
    for byte in utf8 {
      // U+0080 to U+009F have two bytes, of which this is the first.
      if byte < 0x20 || byte == 0x7F || before == 0xC2 && byte < 0xA0 { return true }
      before = byte
    }
    return false
  }
}
