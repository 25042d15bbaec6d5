/// One uniform type, as it is declared.
package struct TypeDeclaration: Hashable, Sendable {
  /// The source of a declaration. The first wins (`TYP-2`).
  package enum Origin: Hashable, Sendable, Comparable {
    /// The system's own types.
    case system
    /// An app's own type, by the app's identifier.
    case exported(by: String)
    /// The database of shared-mime-info.
    case mimeDatabase
    /// A type of somebody else that an app knows.
    case imported(by: String)
    /// Of a tag that no declaration has.
    case dynamic

    private var rank: Int {
      switch self {
      case .system: 0
      case .exported: 1
      case .mimeDatabase: 2
      case .imported: 3
      case .dynamic: 4
      }
    }

    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
  }

  package let identifier: String
  /// Its direct parents.
  package var conformsTo: [String]
  /// Without dot, lower-case; the preferred one first.
  package var extensions: [String]
  package var mimeTypes: [String]
  package var description: String?
  package var origin: Origin
  package var isExported: Bool { if case .exported = origin { true } else { false } }
  package var referenceURL: String?

  package init(
    identifier: String, conformsTo: [String] = [], extensions: [String] = [], mimeTypes: [String] = [],
    description: String? = nil, origin: Origin = .system, referenceURL: String? = nil
  ) {
    (self.identifier, self.conformsTo) = (identifier, conformsTo)
    (self.extensions, self.mimeTypes) = (extensions.map { $0.lowercased() }, mimeTypes)
    (self.description, self.origin, self.referenceURL) = (description, origin, referenceURL)
  }

  /// The classes of tags, by Apple's names.
  package enum TagClass: String, CaseIterable, Sendable {
    case filenameExtension = "public.filename-extension"
    case mimeType = "public.mime-type"
  }

  package func tags(_ tagClass: TagClass) -> [String] {
    switch tagClass {
    case .filenameExtension: extensions
    case .mimeType: mimeTypes
    }
  }

  /// The problem of an identifier, as the end of a sentence (`TYP-6`). Identifiers are compared without regard to case.
  package static func problem(ofIdentifier text: String) -> String? {
    if text.isEmpty { return "it is empty" }
    if text.utf8.count > 255 { return "it has more than 255 bytes" }
    let allowed = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
        true
      // Apple takes other letters; control characters and separators are in no name.
      default: byte >= 0x80
      }
    }
    return allowed ? nil : "it has other characters than letters, digits, '.' and '-'"
  }
}

extension TypeDeclaration {
  /// A declaration of a bundle, if an app can declare it: reserved names and impossible ones declare nothing (`TYP-6`).
  package static func ofApp(
    identifier: String, conformsTo: [String], extensions: [String], mimeTypes: [String], description: String?,
    origin: Origin, referenceURL: String? = nil
  ) -> TypeDeclaration? {
    guard problem(ofIdentifier: identifier) == nil, !reserved.contains(where: identifier.lowercased().hasPrefix) else {
      return nil
    }
    return TypeDeclaration(
      identifier: identifier, conformsTo: conformsTo,
      extensions: extensions.filter { !$0.isEmpty && $0.utf8.count <= 64 },
      mimeTypes: mimeTypes, description: description, origin: origin, referenceURL: referenceURL)
  }

  /// The beginnings of names that no app may declare.
  package static let reserved = ["public.", "dyn.", "com.apple."]
}
