/// Types of tags that no declaration has (`TYP-3`): their identifier says all that is known, so that it means the same everywhere.
///
/// The form is Apple's: `dyn.a` and a text of conformance and tags, in letters and digits of 5 bits each.
package enum DynamicType {
  private static let alphabet = Array("abcdefghkmnpqrstuvwxyz0123456789".utf8)
  private static let prefix = "dyn.a"
  /// Names that are written as one character.
  private static let short: [(Character, String)] = [
    ("0", "UTTypeConformsTo"), ("1", "public.filename-extension"), ("2", "com.apple.ostype"), ("3", "public.mime-type"),
    ("6", "public.item"), ("7", "public.data"), ("8", "public.directory"), ("9", "com.apple.package"),
  ]

  /// A type of files or folders with a tag.
  package static func declaration(_ tagClass: TypeDeclaration.TagClass, _ tag: String, in parent: String)
    -> TypeDeclaration
  {
    let tag = tag.lowercased()
    let identifier = prefix + encode("?0=\(shortened(parent)):\(shortened(tagClass.rawValue))=\(escaped(tag))")
    return TypeDeclaration(
      identifier: identifier, conformsTo: [parent], extensions: tagClass == .filenameExtension ? [tag] : [],
      mimeTypes: tagClass == .mimeType ? [tag] : [], origin: .dynamic)
  }

  /// - Returns: `nil` if it is no dynamic type's identifier.
  package static func declaration(of identifier: String) -> TypeDeclaration? {
    guard identifier.hasPrefix(prefix), let text = decode(identifier.dropFirst(prefix.count)), text.first == "?" else {
      return nil
    }
    var declaration = TypeDeclaration(identifier: identifier, origin: .dynamic)
    for part in text.dropFirst().split(separator: ":") {
      guard let equals = part.firstIndex(of: "=") else { return nil }
      let values = part[part.index(after: equals)...].split(separator: ",").map(String.init)
      switch lengthened(String(part[..<equals])) {
      case "UTTypeConformsTo": declaration.conformsTo = values.map(lengthened)
      case TypeDeclaration.TagClass.filenameExtension.rawValue: declaration.extensions = values.map(unescaped)
      case TypeDeclaration.TagClass.mimeType.rawValue: declaration.mimeTypes = values.map(unescaped)
      default: break
      }
    }
    return declaration.conformsTo.isEmpty ? nil : declaration
  }

  private static func shortened(_ name: String) -> String { short.first { $0.1 == name }.map { String($0.0) } ?? name }
  private static func lengthened(_ name: String) -> String {
    name.count == 1 ? short.first { $0.0 == name.first }?.1 ?? name : name
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { if "\\,:=?".contains($1) { $0.append("\\" + "\(hex($1))") } else { $0.append($1) } }
  }

  private static func hex(_ character: Character) -> String {
    String(character.asciiValue.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() } ?? "")
  }

  private static func unescaped(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      if character == "\\", let value = UInt8(rest.prefix(2), radix: 16) {
        result.unicodeScalars.append(Unicode.Scalar(value))
        rest = rest.dropFirst(2)
      } else {
        result.append(character)
      }
    }
    return result
  }

  private static func encode(_ text: String) -> String {
    var (bits, held): (UInt32, UInt32) = (0, 0)
    var result: [UInt8] = []
    for byte in text.utf8 {
      bits = bits << 8 | UInt32(byte)
      held += 8
      while held >= 5 {
        held -= 5
        result.append(alphabet[Int(bits >> held & 31)])
      }
      bits &= (1 << held) - 1
    }
    if held > 0 { result.append(alphabet[Int(bits << (5 - held) & 31)]) }
    return String(decoding: result, as: UTF8.self)
  }

  private static func decode(_ text: Substring) -> String? {
    var (bits, held): (UInt32, UInt32) = (0, 0)
    var bytes: [UInt8] = []
    for character in text.utf8 {
      guard let value = alphabet.firstIndex(of: character) else { return nil }
      bits = bits << 5 | UInt32(value)
      held += 5
      if held >= 8 {
        held -= 8
        bytes.append(UInt8(bits >> held & 0xff))
        bits &= (1 << held) - 1
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
