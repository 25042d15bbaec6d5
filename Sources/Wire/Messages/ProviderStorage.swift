/// Where the content of a provider's item lies in the extension's container.
package enum ProviderStorage {
  /// In the container, the folder for documents.
  package static let folder = "File Provider Storage"

  /// Below the container. An identifier may have any letters, and a file name may not.
  package static func path(identifier: String, filename: String) -> String {
    let plain = identifier.utf8.map { byte in
      let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
      return isPlain ? String(UnicodeScalar(byte)) : "_" + String(byte, radix: 16)
    }.joined()
    // A long one is cut, and told from others by a number that depends on all of it.
    let name =
      plain.utf8.count <= 120
      ? plain : "\(plain.prefix(100))-\(String(plain.utf8.reduce(UInt64(5381)) { $0 &* 33 &+ UInt64($1) }, radix: 36))"
    return "\(folder)/\(name)/\(filename)"
  }
}
