/// Lays a scenario file out anew: one blank line between steps, one action a line, one blank around `=`. Comments stay, and so do
/// the values, to the letter.
package struct ScenarioFormatter {
  /// Columns beyond which an array is put on several lines.
  private static let width = 120

  private enum Token: Equatable {
    case text(String)
    case mark(Character)
    case comment(String)
    case newline
  }

  /// - Throws: ``ScenarioError`` when the text is no TOML.
  package static func format(_ text: String, file: String) throws(ScenarioError) -> String {
    let before = try TOMLFile.parse(text, file: file)
    var formatter = ScenarioFormatter(tokens: scan(text)[...])
    let result = formatter.document()
    // Whatever is laid out must still say the same.
    guard let after = try? TOMLFile.parse(result, file: file), after.hasSameValues(as: before) else {
      throw ScenarioError(
        file: file, place: nil, message: "it cannot be laid out without changing it; it stays as it is")
    }
    return result
  }

  private var tokens: ArraySlice<Token>
  private var lines: [String] = []

  private init(tokens: ArraySlice<Token>) { self.tokens = tokens }

  // MARK: - Tokens

  private static func scan(_ text: String) -> [Token] {
    var tokens: [Token] = []
    var rest = Substring(text)
    while let first = rest.first {
      switch first {
      case "\n", "\r\n":
        tokens.append(.newline)
        rest.removeFirst()
      case " ", "\t", "\r": rest.removeFirst()
      case "#":
        let comment = rest.prefix { !$0.isNewline }
        tokens.append(.comment(trimmed(String(comment))))
        rest = rest.dropFirst(comment.count)
      case "=", ",", "{", "}", "[", "]":
        tokens.append(.mark(first))
        rest.removeFirst()
      case "\"", "'":
        let string = self.string(rest, first)
        tokens.append(.text(string))
        rest = rest.dropFirst(string.count)
      default:
        let word = rest.prefix { !$0.isWhitespace && !"=,{}[]#\"'".contains($0) }
        // A dotted key may have quoted parts.
        tokens.append(.text(String(word)))
        rest = rest.dropFirst(max(1, word.count))
      }
    }
    return tokens
  }

  private static func trimmed(_ text: String) -> String {
    var text = text
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }

  /// A string with its quotes, of one line or of several.
  private static func string(_ rest: Substring, _ quote: Character) -> String {
    let three = String(repeating: quote, count: 3)
    var index = rest.startIndex
    func advance(_ count: Int) { index = rest.index(index, offsetBy: count, limitedBy: rest.endIndex) ?? rest.endIndex }
    if rest.hasPrefix(three) {
      advance(3)
      while index < rest.endIndex, !rest[index...].hasPrefix(three) {
        advance(quote == "\"" && rest[index] == "\\" ? 2 : 1)
      }
      advance(3)
      // Up to two quotes may stand before the closing ones.
      while index < rest.endIndex, rest[index] == quote { advance(1) }
    } else {
      advance(1)
      while index < rest.endIndex, rest[index] != quote, !rest[index].isNewline {
        advance(quote == "\"" && rest[index] == "\\" ? 2 : 1)
      }
      advance(1)
    }
    return String(rest[..<index])
  }

  // MARK: - Layout

  private mutating func document() -> String {
    var blank = false
    while let token = tokens.first {
      switch token {
      case .newline:
        tokens.removeFirst()
        // Two in a row are an empty line.
        if tokens.first == .newline { blank = !lines.isEmpty }
      case .comment(let text):
        tokens.removeFirst()
        emit(text, after: &blank)
      case .mark("["):
        blank = !lines.isEmpty && lines.last?.hasPrefix("#") != true
        emit(header(), after: &blank)
      default: emit(pair(indent: 0) + trailingComment(), after: &blank)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private mutating func emit(_ line: String, after blank: inout Bool) {
    if blank { lines.append("") }
    blank = false
    lines.append(line)
  }

  /// `[table]` or `[[step]]`, up to its end.
  private mutating func header() -> String {
    var text = ""
    while let token = tokens.first, token != .newline {
      tokens.removeFirst()
      switch token {
      case .text(let word): text += word
      case .mark(let mark): text.append(mark)
      case .comment(let comment): text += "  \(comment)"
      case .newline: break
      }
    }
    return text
  }

  private mutating func trailingComment() -> String {
    guard case .comment(let text)? = tokens.first else { return "" }
    tokens.removeFirst()
    return "  \(text)"
  }

  /// `key = value`
  private mutating func pair(indent: Int) -> String {
    var key = ""
    while let token = tokens.first, token != .mark("="), token != .newline {
      tokens.removeFirst()
      if case .text(let word) = token { key += word } else if case .mark(let mark) = token { key.append(mark) }
    }
    guard tokens.first == .mark("=") else { return key }
    tokens.removeFirst()
    return "\(key) = \(value(indent: indent, column: indent + key.count + 3))"
  }

  private mutating func value(indent: Int, column: Int) -> String {
    switch tokens.first {
    case .mark("["): return array(indent: indent, column: column)
    case .mark("{"): return table(indent: indent)
    case .text(let text):
      tokens.removeFirst()
      return text
    default:
      if !tokens.isEmpty { tokens.removeFirst() }
      return ""
    }
  }

  private mutating func table(indent: Int) -> String {
    tokens.removeFirst()
    var pairs: [String] = []
    while let token = tokens.first, token != .mark("}") {
      if token == .mark(",") || token == .newline {
        tokens.removeFirst()
        continue
      }
      pairs.append(pair(indent: indent))
    }
    if !tokens.isEmpty { tokens.removeFirst() }
    return pairs.isEmpty ? "{}" : "{ \(pairs.joined(separator: ", ")) }"
  }

  private mutating func array(indent: Int, column: Int) -> String {
    tokens.removeFirst()
    // Each with whether it is a comment of its own line.
    var elements: [(text: String, isComment: Bool)] = []
    var isBroken = false
    while let token = tokens.first, token != .mark("]") {
      switch token {
      case .mark(","): tokens.removeFirst()
      case .newline:
        tokens.removeFirst()
        isBroken = true
      case .comment(let text):
        tokens.removeFirst()
        isBroken = true
        elements.append((text, true))
      default: elements.append((value(indent: indent + 2, column: indent + 2), false))
      }
    }
    if !tokens.isEmpty { tokens.removeFirst() }
    let line = "[\(elements.map(\.text).joined(separator: ", "))]"
    let fits = column + line.count <= Self.width && !line.contains("\n")
    let hasTables = elements.contains { $0.text.hasPrefix("{") }
    let hasComments = elements.contains(where: \.isComment)
    // An author's line ends stay in lists of tables; a list of texts is broken only when it has to be.
    if !hasComments, fits, !(isBroken && hasTables) { return line }
    let margin = String(repeating: " ", count: indent + 2)
    let body = elements.map { $0.isComment ? margin + $0.text : margin + $0.text + "," }
    return "[\n\(body.joined(separator: "\n"))\n\(String(repeating: " ", count: indent))]"
  }
}

extension Node {
  /// Whether both say the same, wherever it stands.
  fileprivate func hasSameValues(as other: Node) -> Bool {
    switch (value, other.value) {
    case (.array(let one), .array(let two)):
      one.count == two.count && zip(one, two).allSatisfy { $0.hasSameValues(as: $1) }
    case (.table(let one), .table(let two)):
      one.count == two.count && one.allSatisfy { key, node in two[key].map { node.hasSameValues(as: $0) } ?? false }
    default: value == other.value
    }
  }
}
