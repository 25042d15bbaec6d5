/// How many columns of a terminal the text takes: an approximation of `wcwidth(3)` that does not depend on the locale.
///
/// East Asian wide characters and emoji take two columns, combining marks none. Counted by characters as a reader sees
/// them, so a family of four joined into one emoji takes two columns, as current terminals draw it. Controls count as
/// none: text goes through `printable(_:)` first.
package func displayWidth(_ text: String) -> Int {
  // Printing ASCII, which is nearly all text, needs no table.
  if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
  return text.reduce(0) { $0 + displayWidth($1) }
}

/// How many columns one character takes: 0, 1 or 2.
package func displayWidth(_ character: Character) -> Int {
  var width = 0
  for scalar in character.unicodeScalars {
    // U+FE0F asks for the emoji form of the character before it, and that is wide.
    if scalar.value == 0xFE0F && width == 1 { return 2 }
    width = max(width, scalarWidth(scalar))
  }
  return width
}

/// The text cut to a number of columns; `…` stands in the place of the rest.
package func truncated(_ text: String, to width: Int, keeping side: TruncationSide = .start) -> String {
  guard displayWidth(text) > width else { return text }
  guard width > 0 else { return "" }
  switch side {
  case .start: return String(fitting(text, into: width - 1)) + "…"
  case .end: return "…" + String(fitting(text.reversed(), into: width - 1).reversed())
  }
}

/// Which part of a text is worth more when it has to be cut: a sentence's start, a path's end.
package enum TruncationSide: Sendable {
  case start
  case end
}

/// The first characters that fit. An array, because joining characters to a string in another order may change where
/// one ends and the next begins.
private func fitting(_ characters: some Sequence<Character>, into columns: Int) -> [Character] {
  var left = columns
  return Array(
    characters.prefix { character in
      left -= displayWidth(character)
      return left >= 0
    })
}

/// How many columns a scalar takes by itself: 0, 1 or 2.
package func scalarWidth(_ scalar: Unicode.Scalar) -> Int {
  let value = scalar.value
  if value < 0x20 || (0x7F..<0xA0).contains(value) { return 0 }
  if value < 0x300 { return value == 0xAD ? 0 : 1 }
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: return 0
  case .format: return isVisibleFormat(scalar) ? 1 : 0
  default: break
  }
  // Hangul vowels and final consonants are drawn into the syllable that their first consonant began.
  if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) { return 0 }
  if scalar.properties.isEmojiPresentation { return 2 }
  return isWide(value) ? 2 : 1
}

/// The blocks that UAX #11 calls wide or full-width; unassigned places within a block count as the block does.
private let wide: [ClosedRange<UInt32>] = [
  0x1100...0x115F,  // Hangul first consonants
  0x2329...0x232A,  // angle brackets
  0x2630...0x2637,  // trigrams
  0x268A...0x268F,  // monograms, digrams
  0x2E80...0x303E,  // radicals, Kangxi, CJK punctuation
  0x3041...0xA4CF,  // kana, Bopomofo, Hangul letters, ideographs, hexagrams, Yi
  0xA960...0xA97F,  // Hangul extended A
  0xAC00...0xD7A3,  // Hangul syllables
  0xF900...0xFAFF,  // compatibility ideographs
  0xFE10...0xFE19,  // vertical forms
  0xFE30...0xFE6F,  // compatibility and small forms
  0xFF01...0xFF60,  // full-width ASCII
  0xFFE0...0xFFE6,  // full-width signs
  0x16FE0...0x18DFF,  // Tangut, Khitan
  0x1AFF0...0x1B2FF,  // kana supplements, Nushu
  0x1D300...0x1D376,  // Tai Xuan Jing symbols, counting rods
  0x1F200...0x1F2FF,  // enclosed ideographs
  0x20000...0x3FFFD,  // ideographic planes
]

private func isWide(_ value: UInt32) -> Bool {
  guard value >= 0x1100 else { return false }
  var low = 0
  var high = wide.count
  while low < high {
    let middle = (low + high) / 2
    if wide[middle].contains(value) { return true }
    if value < wide[middle].lowerBound { high = middle } else { low = middle + 1 }
  }
  return false
}
