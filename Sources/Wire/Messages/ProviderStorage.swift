internal import Paths

/// Where the content of a provider's item lies in the extension's container.
package enum ProviderStorage {
  /// In the container, the folder for documents.
  package static let folder = "File Provider Storage"
  /// Beside a content whose identifier is too long for the folder's name: the identifier.
  package static let note = ".identifier"

  /// Below the container. An identifier may have any letters, and a file name may not.
  package static func path(identifier: String, filename: String) -> String {
    let plain = ByteEscape.name.escaped(identifier.utf8)
    // A long one is cut, and told from others by a number that depends on all of it. No plain one has a hyphen.
    let name =
      plain.utf8.count <= 120
      ? plain : "\(plain.prefix(100))-\(String(plain.utf8.reduce(UInt64(5381)) { $0 &* 33 &+ UInt64($1) }, radix: 36))"
    return "\(folder)/\(name)/\(filename)"
  }

  /// Where the picture of an item is put, below the container.
  package static func picture(identifier: String) -> String {
    "File Provider Pictures/\(path(identifier: identifier, filename: "picture.png").pathNames[1]).png"
  }

  /// The identifier that a path below the container stands for; `nil`: none, or one that was cut.
  package static func identifier(atPath path: String) -> String? {
    let names = path.pathNames
    guard names.count == 3, names[0] == folder else { return nil }
    // An identifier has one form.
    guard let bytes = ByteEscape.name.bytes(of: names[1].utf8), ByteEscape.name.escaped(bytes) == names[1] else {
      return nil
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
