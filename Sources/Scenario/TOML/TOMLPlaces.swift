/// Finds where each key and each array element of a TOML file stands.
///
/// The text is known to be good TOML, so this follows only what tells one value from the next: strings, brackets,
/// headers and comments. A column counts characters.
struct TOMLPlaces {
  enum Step: Hashable {
    case key(String)
    case index(Int)
  }

  static func find(in text: String) -> [[Step]: Place] {
    var scanner = TOMLPlaces(text: Array(text))
    scanner.document()
    return scanner.places
  }

  private let text: [Character]
  private var position = 0
  private var line = 1
  private var lineStart = 0
  private var places: [[Step]: Place] = [:]
  /// How many `[[tables]]` each array of tables has so far, by its path.
  private var counts: [[Step]: Int] = [:]

  private init(text: [Character]) { self.text = text }

  private var next: Character? { position < text.count ? text[position] : nil }
  private var here: Place { Place(line: line, column: position - lineStart + 1) }

  private mutating func advance(_ count: Int = 1) {
    for _ in 0..<count where position < text.count {
      let isLineEnd = text[position].isNewline
      position += 1
      if isLineEnd {
        line += 1
        lineStart = position
      }
    }
  }

  private mutating func skipBlank() {
    while let character = next {
      if character == "#" {
        while let character = next, !character.isNewline { advance() }
      } else if character.isWhitespace || character == "," {
        advance()
      } else {
        return
      }
    }
  }

  private mutating func document() {
    var base: [Step] = []
    while true {
      skipBlank()
      guard next != nil else { return }
      let before = position
      if next == "[" { base = header() } else { pair(under: base) }
      // Nothing that TOMLKit accepts stands still here; a text that would must not be read for ever.
      if position == before { advance() }
    }
  }

  /// `[a.b]` or `[[a.b]]`: the path that the pairs after it belong to.
  private mutating func header() -> [Step] {
    let place = here
    advance()
    let isArray = next == "["
    if isArray { advance() }
    let keys = dottedKey()
    while next == "]" { advance() }
    var path: [Step] = []
    for (number, key) in keys.enumerated() {
      path.append(.key(key))
      if number == keys.count - 1, isArray { counts[path, default: 0] += 1 }
      if places[path] == nil { places[path] = place }
      if let count = counts[path] { path.append(.index(count - 1)) }
    }
    places[path] = place
    return path
  }

  private mutating func pair(under base: [Step]) {
    let place = here
    let path = base + dottedKey().map(Step.key)
    for length in base.count + 1..<max(path.count, base.count + 1) where places[Array(path.prefix(length))] == nil {
      places[Array(path.prefix(length))] = place
    }
    places[path] = place
    guard next == "=" else { return }
    advance()
    skipBlank()
    value(at: path)
  }

  private mutating func dottedKey() -> [String] {
    var keys: [String] = []
    while let character = next {
      if character == " " || character == "\t" || character == "." {
        advance()
      } else if character == "\"" || character == "'" {
        keys.append(string())
      } else if character == "=" || character == "]" || character.isNewline {
        break
      } else {
        var key = ""
        while let character = next, character.isLetter || character.isNumber || character == "_" || character == "-" {
          key.append(character)
          advance()
        }
        guard !key.isEmpty else { break }
        keys.append(key)
      }
    }
    return keys
  }

  private mutating func value(at path: [Step]) {
    switch next {
    case "\"", "'": _ = string()
    case "[":
      advance()
      var index = 0
      while true {
        skipBlank()
        guard let character = next, character != "]" else { break }
        let before = position
        places[path + [.index(index)]] = here
        value(at: path + [.index(index)])
        index += 1
        if position == before { advance() }
      }
      advance()
    case "{":
      advance()
      while true {
        skipBlank()
        guard let character = next, character != "}" else { break }
        let before = position
        pair(under: path)
        if position == before { advance() }
      }
      advance()
    default:
      while let character = next, !character.isWhitespace, !",]}#".contains(character) { advance() }
    }
  }

  /// Passes a string of any of the four kinds and answers its text, escapes left as they are.
  private mutating func string() -> String {
    guard let quote = next else { return "" }
    let isLong = text[position...].prefix(3).allSatisfy { $0 == quote } && text.count - position >= 3
    let length = isLong ? 3 : 1
    advance(length)
    let start = position
    while next != nil {
      if quote == "\"", next == "\\" {
        advance(2)
      } else if text[position...].prefix(length).count == length,
        text[position...].prefix(length).allSatisfy({ $0 == quote })
      {
        let content = String(text[start..<position])
        advance(length)
        // A long string may end in one or two quotes of its own.
        while isLong, next == quote { advance() }
        return content
      } else {
        advance()
      }
    }
    return String(text[start...])
  }
}
