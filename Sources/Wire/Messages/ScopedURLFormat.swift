internal import Paths

/// The URL of a granted document: `file:///documents/<grant>/<name>#ambit-scope=<token>`.
///
/// The scope travels in the fragment, so that copies of a URL keep it (`TOK-8`) and its path alone does not have it
/// (`TOK-7`).
package struct ScopedURLFormat: Equatable, Sendable {
  /// Where granted documents appear in a sandbox.
  package static let root = "/documents"
  /// The text before the token in the fragment.
  package static let fragmentPrefix = "ambit-scope="

  package let grant: String
  /// The document's file name; for something in a granted folder, the folder's name.
  package let name: String
  package let scope: String

  package init(grant: String, name: String, scope: String) {
    self.grant = grant
    self.name = name
    self.scope = scope
  }

  package var path: String { "\(Self.root)/\(grant)/\(name)" }

  package var url: String { url(inside: "") }

  /// The URL of something in the folder, by its path from there on.
  package func url(inside path: String) -> String {
    let components = [grant, name] + path.pathNames
    return "file://\(Self.root)/" + components.map(Self.encoded).joined(separator: "/")
      + "#\(Self.fragmentPrefix)\(Self.encoded(scope))"
  }

  /// Reads a scoped URL; nil when it is none. A URL of something inside a granted folder is one too, with the scope of
  /// the folder: the rest behind the folder's name is left out.
  package init?(url: String) {
    let prefix = "file://\(Self.root)/"
    guard url.hasPrefix(prefix), let hash = url.firstIndex(of: "#") else { return nil }
    let components = String(url[..<hash].dropFirst(prefix.count)).pathParts
    guard components.count >= 2, let grant = Self.decoded(components[0]), let name = Self.decoded(components[1]),
      let scope = Self.scope(fragment: String(url[url.index(after: hash)...]), decoding: true),
      Self.isComponent(grant), Self.isComponent(name)
    else { return nil }
    self.init(grant: grant, name: name, scope: scope)
  }

  /// The token in a URL's fragment; nil when the fragment holds none.
  ///
  /// - Parameter decoding: the fragment is still percent-encoded.
  package static func scope(fragment: String, decoding: Bool = false) -> String? {
    guard fragment.hasPrefix(fragmentPrefix) else { return nil }
    let token = fragment.dropFirst(fragmentPrefix.count)
    guard let scope = decoding ? decoded(token) : String(token), !scope.isEmpty else { return nil }
    return scope
  }

  private static func isComponent(_ text: String) -> Bool {
    !text.isEmpty && text != "." && text != ".." && !text.hasSlash && !text.utf8.contains(0)
  }

  /// Everything but RFC 3986's unreserved characters is encoded.
  private static func encoded(_ text: String) -> String {
    var result: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) {
        result.append(byte)
      } else {
        result.append(UInt8(ascii: "%"))
        result.append(hexDigits[Int(byte >> 4)])
        result.append(hexDigits[Int(byte & 0xF)])
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func decoded(_ text: some StringProtocol) -> String? {
    var result: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        result.append(byte)
        continue
      }
      guard let high = hexValue(rest.popFirst()), let low = hexValue(rest.popFirst()) else { return nil }
      result.append(high << 4 | low)
    }
    return String(validating: result, as: UTF8.self)
  }

  private static let hexDigits = Array("0123456789ABCDEF".utf8)

  private static func hexValue(_ byte: UInt8?) -> UInt8? {
    switch byte {
    case let byte? where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte): byte - UInt8(ascii: "0")
    case let byte? where (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte): byte - UInt8(ascii: "A") + 10
    case let byte? where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
