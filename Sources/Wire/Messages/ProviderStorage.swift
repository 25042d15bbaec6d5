internal import Paths

/// Where the content of a provider's item lies in the extension's container.
package enum ProviderStorage {
  /// In the container, the folder for documents.
  package static let folder = "File Provider Storage"
  /// Beside a content whose identifier is too long for the folder's name: the identifier.
  package static let note = ".identifier"

  /// Below the container. An identifier may have any letters, and a file name may not.
  package static func path(identifier: String, filename: String) -> String {
    let plain = identifier.utf8.map { byte in
      let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
      return isPlain ? String(UnicodeScalar(byte)) : (byte < 16 ? "_0" : "_") + String(byte, radix: 16)
    }.joined()
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
    var bytes: [UInt8] = []
    var rest = Array(names[1].utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "_") else {
        guard (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) else { return nil }
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
