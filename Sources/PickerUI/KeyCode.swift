/// A key by its code and its modifiers, as terminals send it that were told to tell all keys apart.
///
/// `CSI code[:shifted] ; modifiers[:event] ; text u` is kitty's form and `CSI 27 ; modifiers ; code ~` xterm's (modifyOtherKeys).
struct KeyCode: Sendable, Equatable {
  let key: Key?

  /// - Returns: nil for other sequences.
  init?(_ parameters: [UInt8], _ final: UInt8) {
    let fields = Self.fields(parameters)
    // Only numbers: with a sign before them it is a terminal's answer.
    guard let first = fields.first?.first, let code = first else { return nil }
    switch final {
    case 0x75:
      let shifted = fields[0].count > 1 ? fields[0][1] : nil
      let text = fields.count > 2 ? fields[2].first ?? nil : nil
      key = Self.isRelease(parameters) ? nil : Self.key(code, Self.modifiers(fields), shifted: text ?? shifted)
    case 0x7E where code == 27 && fields.count == 3:
      key = (fields[2].first ?? nil).flatMap { Self.key($0, Self.modifiers(fields), shifted: nil) }
    default: return nil
    }
  }

  /// Whether a sequence says that a key was let go of (`CSI 1 ; 1:3 A`).
  static func isRelease(_ parameters: [UInt8]) -> Bool {
    let fields = fields(parameters)
    return fields.count > 1 && fields[1].count > 1 && fields[1][1] == 3
  }

  private static func fields(_ parameters: [UInt8]) -> [[UInt32?]] {
    String(decoding: parameters, as: UTF8.self).split(separator: ";", omittingEmptySubsequences: false).map { field in
      field.split(separator: ":", omittingEmptySubsequences: false).map { UInt32($0) }
    }
  }

  private struct Modifiers: OptionSet {
    let rawValue: UInt32
    static let shift = Modifiers(rawValue: 1)
    static let alt = Modifiers(rawValue: 2)
    static let control = Modifiers(rawValue: 4)
    /// Super, hyper and meta: keys of the desktop's, and none of the picker's.
    static let others = Modifiers(rawValue: 8 | 16 | 32)
  }

  /// Sent as the sum and one.
  private static func modifiers(_ fields: [[UInt32?]]) -> Modifiers {
    guard fields.count > 1, let sum = fields[1].first ?? nil, sum > 0 else { return [] }
    return Modifiers(rawValue: sum - 1)
  }

  private static func key(_ code: UInt32, _ modifiers: Modifiers, shifted: UInt32?) -> Key? {
    switch code {
    case 27: return .escape
    case 13, 10, 57414: return .enter
    case 9: return modifiers.contains(.shift) ? .backTab : .tab
    case 8, 127: return modifiers.contains(.alt) ? .control("w") : .backspace
    case 57417: return .left
    case 57418: return .right
    case 57419: return .up
    case 57420: return .down
    case 57421: return .pageUp
    case 57422: return .pageDown
    case 57423: return .home
    case 57424: return .end
    case 57426: return .delete
    // Other keys of kitty's, for which Unicode has no character.
    case 0xE000...0xF8FF: return nil
    default: break
    }
    guard let scalar = Unicode.Scalar(code), scalar.properties.generalCategory != .control,
      modifiers.isDisjoint(with: .others)
    else { return nil }
    if modifiers.contains(.control) { return control(scalar) }
    if modifiers.contains(.alt) { return .alt(scalar) }
    if let shifted, let text = Unicode.Scalar(shifted), text.properties.generalCategory != .control {
      return .text(text)
    }
    guard modifiers.contains(.shift) else { return .text(scalar) }
    return .text(scalar.properties.uppercaseMapping.unicodeScalars.first ?? scalar)
  }

  /// As the terminal would have sent it as one byte.
  private static func control(_ scalar: Unicode.Scalar) -> Key? {
    switch scalar {
    case "[", "3": return .escape
    case "m", "M": return .enter
    case "i", "I": return .tab
    case "a"..."z": return .control(scalar)
    case "A"..."Z": return .control(Unicode.Scalar(scalar.value + 0x20) ?? scalar)
    default: return nil
    }
  }
}
