extension String {
  /// Whether marks that combine with a letter stand in longer rows than any text has.
  ///
  /// Comparing and hashing texts sorts each row, in a time that grows with the square of its length: some seconds for 64 KiB. So a text
  /// from outside is asked this before it is used as a name, a key or a word.
  package var hasLongMarkRow: Bool {
    var text = self
    // A mark has two bytes or more.
    let isPlain = text.withUTF8 { unsafe $0.count <= 2 * Self.longestMarkRow || $0.allSatisfy { $0 < 0x80 } }
    if isPlain { return false }
    var row = 0
    for scalar in text.unicodeScalars {
      row = Self.isMark(scalar) ? row + 1 : 0
      if row > Self.longestMarkRow { return true }
    }
    return false
  }

  /// A file's name has 127 at most.
  private static let longestMarkRow = 128

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0x300: false
    // Three that are letters by their class, and marks as soon as they are taken apart.
    case 0x0F73, 0x0F75, 0x0F81: true
    default: scalar.properties.canonicalCombiningClass != .notReordered
    }
  }

  /// The text with no more marks in each row than a row may have.
  package var withoutLongMarkRows: String {
    guard hasLongMarkRow else { return self }
    var row = 0
    var kept = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      row = Self.isMark(scalar) ? row + 1 : 0
      if row <= Self.longestMarkRow { kept.append(scalar) }
    }
    return String(kept)
  }
}
