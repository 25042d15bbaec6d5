@_spi(_Unicode) internal import Swift

/// The class of a character, on which fzf's bonuses depend. The order matters: from `delimiter` on, a character may begin a word.
enum NameClass {
  static let white: UInt8 = 0
  static let other: UInt8 = 1
  static let delimiter: UInt8 = 2
  static let lower: UInt8 = 3
  static let upper: UInt8 = 4
  static let letter: UInt8 = 5
  static let number: UInt8 = 6

  /// Of each ASCII character.
  static let ascii: [UInt8] = (0..<128).map { code in
    switch UInt8(code) {
    case 0x61...0x7A: lower
    case 0x41...0x5A: upper
    case 0x30...0x39: number
    case 0x20, 0x09...0x0D: white
    case 0x2F, 0x2C, 0x3A, 0x3B, 0x7C: delimiter
    default: other
    }
  }
}

/// One character's forms for a comparison without regard to case or accents.
struct ScalarForms: Sendable {
  let lower: UInt32
  /// Without accents: “é” is “e”. Letters that are no others with an accent (“ø”) stay.
  let bare: UInt32
  let bareLower: UInt32
  let kind: UInt8

  init(_ code: UInt32) {
    guard code >= 0x80, let scalar = Unicode.Scalar(code) else {
      let isUpper = (0x41...0x5A).contains(code)
      lower = isUpper ? code | 0x20 : code
      (bare, bareLower) = (code, lower)
      kind = code < 0x80 ? NameClass.ascii[Int(code)] : NameClass.other
      return
    }
    lower = scalar.properties.lowercaseMapping.unicodeScalars.first?.value ?? code
    bare = Self.bare(code)
    bareLower = Self.bare(lower)
    switch scalar.properties.generalCategory {
    case .lowercaseLetter: kind = NameClass.lower
    case .uppercaseLetter: kind = NameClass.upper
    case .decimalNumber, .letterNumber, .otherNumber: kind = NameClass.number
    case .titlecaseLetter, .modifierLetter, .otherLetter: kind = NameClass.letter
    default: kind = scalar.properties.isWhitespace ? NameClass.white : NameClass.other
    }
  }

  private static func bare(_ code: UInt32) -> UInt32 {
    guard code >= 0xC0, let scalar = Unicode.Scalar(code) else { return code }
    let parts = Array(String(scalar)._nfd)
    guard parts.count > 1, parts.dropFirst().allSatisfy({ $0.properties.generalCategory == .nonspacingMark }) else {
      return code
    }
    return parts[0].value
  }
}

/// Forms that were looked up before: the tables of Unicode are slow.
struct ScalarCache: Sendable {
  private var known: [UInt32: ScalarForms] = [:]
  private var latin: [ScalarForms] = []
  private static let direct: UInt32 = 0x600
  private static let most = 20_000

  mutating func forms(_ code: UInt32) -> ScalarForms {
    if code < Self.direct {
      if latin.isEmpty { latin = (0..<Self.direct).map { ScalarForms($0) } }
      return latin[Int(code)]
    }
    if let forms = known[code] { return forms }
    let forms = ScalarForms(code)
    if known.count >= Self.most { known = [:] }
    known[code] = forms
    return forms
  }
}

extension String {
  /// The characters that a filter goes by: composed, so that “é” is one.
  var composedScalars: [UInt32] {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.map { UInt32($0) } }
    return _nfc.map(\.value)
  }
}
