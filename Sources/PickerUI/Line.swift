/// How a piece of text looks.
struct Style: Sendable, Equatable {
  enum Colour: Int, Sendable {
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case purple = 35
    case cyan = 36
    case grey = 90
    /// Of the 256 colours.
    case orange = 208
  }

  var bold = false
  var dim = false
  var underline = false
  var reverse = false
  var colour: Colour?
  /// The app's accent, in the colour's place.
  var tint: PickerRequest.Tint?
  /// Codes of a preview's colours (SGR), in the colour's place.
  var codes: String?

  static let plain = Style()
  static let bold = Style(bold: true)
  static let dim = Style(dim: true)

  /// The sequence that turns it on after a reset. `NO_COLOR` is about colours: weight and reversal stay.
  func sequence(colours: Bool) -> String {
    var codes: [Int] = []
    if bold { codes.append(1) }
    if dim { codes.append(2) }
    if underline { codes.append(4) }
    if reverse { codes.append(7) }
    if colours, let colour { codes += colour == .orange ? [38, 5, 208] : [colour.rawValue] }
    if colours, let tint { codes += [38, 2] + tint.parts.map { Int($0) } }
    let texts = codes.map(String.init) + (colours ? self.codes.map { [$0] } ?? [] : [])
    return texts.isEmpty ? "" : "\u{1B}[" + texts.joined(separator: ";") + "m"
  }
}

/// One line of the screen: styled pieces from the left, nothing in them that a terminal would obey.
struct Line: Sendable, Equatable {
  struct Span: Sendable, Equatable {
    var text: String
    var style: Style
  }

  private(set) var spans: [Span] = []
  private(set) var width = 0

  init() {}

  init(_ text: DisplayText, _ style: Style = .plain) { add(text, style) }

  mutating func add(_ text: DisplayText, _ style: Style = .plain, emphasis: Style? = nil) {
    for glyph in text.glyphs {
      let look = glyph.emphasised ? emphasis ?? style : style
      if let last = spans.last, last.style == look {
        spans[spans.count - 1].text += glyph.text
      } else {
        spans.append(Span(text: glyph.text, style: look))
      }
      width += glyph.width
    }
  }

  mutating func append(_ other: Line) {
    spans += other.spans
    width += other.width
  }

  mutating func add(_ text: String, _ style: Style = .plain) { add(DisplayText(text), style) }

  /// Spaces up to a column.
  mutating func fill(to column: Int, _ style: Style = .plain) {
    if column > width { add(String(repeating: " ", count: column - width), style) }
  }

  var plain: String { spans.map(\.text).joined() }

  func encoded(colours: Bool) -> String {
    spans.map { span in
      let on = span.style.sequence(colours: colours)
      return on.isEmpty ? span.text : on + span.text + "\u{1B}[0m"
    }.joined()
  }
}
