internal import Kernel
internal import Terminal

/// Text as the terminal may show it: every character with its width in columns, and none that could move the
/// cursor, hide text or turn its direction.
///
/// File names and apps' texts are bytes from strangers; a picker is only as honest as its screen.
struct DisplayText: Sendable, Equatable {
  struct Glyph: Sendable, Equatable {
    var text: String
    var width: Int
    var emphasised = false
  }

  var glyphs: [Glyph]

  init(glyphs: [Glyph]) { self.glyphs = glyphs }

  /// - Parameter emphasis: offsets of characters of `text` to emphasise.
  init(_ text: String, emphasis: Set<Int> = []) {
    glyphs = []
    for (offset, character) in text.enumerated() {
      let (shown, width) = Self.neutral(character)
      if !shown.isEmpty { glyphs.append(Glyph(text: shown, width: width, emphasised: emphasis.contains(offset))) }
    }
  }

  /// The beginning of a text, at most `limit` columns wide.
  init(_ text: String, limit: Int) { self = DisplayText(text).keepingStart(limit) }

  var width: Int { glyphs.reduce(0) { $0 + $1.width } }
  var plain: String { glyphs.map(\.text).joined() }

  /// A name inside a sentence of ours, in quotation marks that the name cannot close.
  static func quoted(_ text: String, limit: Int = 40) -> String {
    "“" + withoutQuotes(DisplayText(text).keepingMiddle(limit).plain) + "”"
  }

  /// Curly quotation marks become plain ones, so that only ours look like ours.
  static func withoutQuotes(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { (0x201C...0x201F).contains($0.value) ? "\"" : $0 }))
  }

  // MARK: - Cutting to a width

  private static let ellipsis = Glyph(text: "…", width: 1)

  /// The first `limit` columns, with an ellipsis for the rest.
  func keepingStart(_ limit: Int) -> DisplayText { cut(limit, tail: 0) }
  /// The last `limit` columns.
  func keepingEnd(_ limit: Int) -> DisplayText { cut(limit, tail: max(0, limit - 1)) }
  /// Both ends, so that an extension stays in sight.
  func keepingMiddle(_ limit: Int) -> DisplayText { cut(limit, tail: min(12, max(0, limit - 1) / 3)) }

  private func cut(_ limit: Int, tail: Int) -> DisplayText {
    if width <= limit { return self }
    if limit < 1 { return DisplayText(glyphs: []) }
    var end: [Glyph] = []
    var room = tail
    for glyph in glyphs.reversed() {
      if glyph.width > room { break }
      room -= glyph.width
      end.append(glyph)
    }
    var start: [Glyph] = []
    room = limit - 1 - tail
    for glyph in glyphs {
      if glyph.width > room { break }
      room -= glyph.width
      start.append(glyph)
    }
    return DisplayText(glyphs: start + [Self.ellipsis] + end.reversed())
  }
}

// MARK: - One character

extension DisplayText {
  /// How one character is shown, and how many columns it takes (0 to 2).
  static func neutral(_ character: Character) -> (text: String, width: Int) {
    if let ascii = character.asciiValue, ascii >= 0x20, ascii < 0x7F { return (String(character), 1) }
    var shown = String.UnicodeScalarView()
    var width = 0
    var marks = 0
    let isEmoji = character.unicodeScalars.first?.properties.isEmoji ?? false
    for scalar in character.unicodeScalars {
      switch scalar.value {
      case 0x00...0x1F:
        shown.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
        width += 1
      case 0x7F:
        shown.append("\u{2421}")
        width += 1
      case _ where String.byte(escapedAs: scalar) != nil:
        // A byte that is no part of a text.
        let text = String(scalar).shown
        shown.append(contentsOf: text.unicodeScalars)
        width += text.utf8.count
      case 0xFE00...0xFE0F:
        break  // variation selectors: terminals disagree about the width that they make
      case 0x200D where isEmoji:
        break  // a joined emoji is shown as its parts
      default:
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
          shown.append("\u{FFFD}")
          width += 1
        case .nonspacingMark, .enclosingMark,
          .otherLetter where scalarWidth(scalar) == 0:
          // A handful belong to writing (Hangul vowels, too); towers of them would be drawn over the neighbouring lines.
          marks += 1
          if marks <= 4 { shown.append(scalar) }
        default:
          shown.append(scalar)
          width += scalarWidth(scalar)
        }
      }
    }
    return (String(shown), width)
  }
}
