internal import Paths
package import Terminal

/// HTML in the making. Names of elements and attributes are the page's own and can be nothing else; every text may be hostile.
///
/// A text comes out as it is, but for characters that would be obeyed or could not be seen (`isHazardous(_:)`): those become an
/// element with their number, `U+202E`, so that nothing on the page is in another order, or another place, than it says.
package struct HTMLText {
  package private(set) var text = ""

  package init() {}

  package typealias Attributes = KeyValuePairs<StaticString, String>

  package mutating func open(_ name: StaticString, _ attributes: Attributes = [:]) {
    text += "<\(name)"
    for (name, value) in attributes { text += " \(name)=\"\(Self.escaped(Self.plain(value)))\"" }
    text += ">"
  }

  package mutating func close(_ name: StaticString) {
    text += "</\(name)>"
    if !Self.inline.contains("\(name)") { text += "\n" }
  }

  /// Behind these a line's end would be a space to the reader.
  private static let inline: Set<String> = ["a", "bdi", "code", "span", "time", "tspan"]

  /// An element that has neither text nor elements in it: `<path …/>`.
  package mutating func empty(_ name: StaticString, _ attributes: Attributes = [:]) {
    open(name, attributes)
    text.removeLast()
    text += "/>\n"
  }

  /// Words of the page's own.
  package mutating func say(_ words: String) { text += Self.escaped(Self.plain(words)) }

  /// Text of the log's: its letters may run from right to left, and do not carry the words around them along.
  package mutating func quote(_ words: String, most: Int = 400) {
    guard !words.isEmpty else { return element("span", ["class": "quiet"], "(empty)") }
    // In one piece: with places to break it at, a screen reader says a path folder by folder.
    text += "<bdi>"
    for (place, part) in Self.cut(words, to: most).pathParts.enumerated() {
      if place > 0 { text += "/" }
      mark(part, "span")
    }
    text += "</bdi>"
  }

  /// The same within an SVG's text, as much of its beginning or its end as there is room for.
  package mutating func label(_ words: String, columns: Int, keeping side: TruncationSide = .start) {
    func width(_ character: Character) -> Int {
      character.unicodeScalars.contains(where: isHazardous)
        ? character.unicodeScalars.reduce(0) { $0 + (isHazardous($1) ? Self.number($1).count + 1 : 1) }
        : displayWidth(character)
    }
    var room = columns
    let fits = { (character: Character) -> Bool in
      room -= width(character)
      return room >= 0
    }
    if words.reduce(0, { $0 + width($1) }) <= columns { return mark(words, "tspan") }
    room -= 1
    switch side {
    case .start: mark(String(words.prefix(while: fits)) + "…", "tspan")
    case .end: mark("…" + String(Array(words.reversed().prefix(while: fits)).reversed()), "tspan")
    }
  }

  /// Text of the page's own that is not escaped: style and script.
  package mutating func raw(_ content: String) { text += content }

  package mutating func element(_ name: StaticString, _ words: String) { element(name, [:], words) }

  package mutating func element(_ name: StaticString, _ attributes: Attributes, _ words: String) {
    open(name, attributes)
    say(words)
    close(name)
  }

  package mutating func element(_ name: StaticString, _ attributes: Attributes = [:], _ body: (inout HTMLText) -> Void)
  {
    open(name, attributes)
    body(&self)
    close(name)
  }

  private mutating func mark(_ words: String, _ element: StaticString) {
    // Of a name that is nothing but spaces nothing would be seen.
    let isBlank = words.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    guard isBlank || words.unicodeScalars.contains(where: isHazardous) else {
      text += Self.escaped(words)
      return
    }
    for scalar in words.unicodeScalars {
      if isBlank || isHazardous(scalar) {
        text += "<\(element) class=\"u\">\(Self.number(scalar))</\(element)>"
      } else {
        text += Self.escaped(String(Character(scalar)))
      }
    }
  }

  /// For where no element can stand: attributes and titles.
  package static func plain(_ words: String) -> String {
    guard words.unicodeScalars.contains(where: isHazardous) else { return words }
    return words.unicodeScalars.reduce(into: "") { text, scalar in
      if isHazardous(scalar) { text += "⟨\(number(scalar))⟩" } else { text.unicodeScalars.append(scalar) }
    }
  }

  /// The beginning and the end of a text that is too long, with the number of characters between them.
  package static func cut(_ words: String, to most: Int) -> String {
    let count = words.unicodeScalars.count
    guard count > most else { return words }
    let kept = most / 2
    var result = String.UnicodeScalarView(words.unicodeScalars.prefix(kept))
    result.append(contentsOf: " … (\(count - 2 * kept) characters left out) … ".unicodeScalars)
    result.append(contentsOf: words.unicodeScalars.suffix(kept))
    return String(result)
  }

  private static func number(_ scalar: Unicode.Scalar) -> String {
    // A byte of a name that is no text.
    let shown = printable(String(scalar))
    if shown.hasPrefix("\\x") { return shown }
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private static func escaped(_ words: String) -> String {
    guard words.utf8.contains(where: { $0 == 0x26 || $0 == 0x3C || $0 == 0x3E || $0 == 0x22 || $0 == 0x27 }) else {
      return words
    }
    return words.unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "'": text += "&#39;"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}
