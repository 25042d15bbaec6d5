internal import AppModel

/// One step from the top of a document to a value in it.
enum PathStep: Hashable, Sendable {
  case key(String)
  case index(Int)
}

/// Walks over a TOML document before the parser does: checks its structure, and finds the places of its keys and values.
///
/// Three reasons to look twice. The parser does not say where it found a value. It walks dotted keys of any depth by recursion. And
/// it asserts, rather than complains, about some text that is no TOML (`[=]`), so that a damaged file could end the program. So
/// this knows TOML's grammar, and leaves the other checks to the parser: whether a number fits, a date exists, and no key is given
/// twice.
struct TOMLScanner {
  struct Failure: Error {
    let position: SourcePosition
    let message: String
  }

  /// Where a key is written, for every table and value.
  private(set) var keys: [[PathStep]: SourcePosition] = [:]
  /// Where a value begins, for every value that is not a table with a header.
  private(set) var values: [[PathStep]: SourcePosition] = [:]

  /// How deep a document may be nested.
  static let maximumDepth = 32
  /// Bytes of a key. The paths that are made of keys are looked up for each line.
  static let longestKey = 256

  private let text: [UInt8]
  private var offset = 0
  private var line = 1
  private var column = 1
  /// How many tables each array of tables has so far.
  private var tables: [[PathStep]: Int] = [:]

  init(_ text: some Sequence<UInt8>) { self.text = Array(text) }

  /// Walks over the whole text.
  mutating func scan() throws(Failure) {
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    var table: [PathStep] = []
    while true {
      try skipLines()
      guard let byte = peek else { return }
      if byte == UInt8(ascii: "[") {
        table = try header()
      } else {
        try pair(in: table)
      }
      skipSpaces()
      guard peek == nil || peek == UInt8(ascii: "#") || isAtNewline else { throw unexpected("the end of the line") }
    }
  }

  // MARK: - Expressions

  /// `[a.b]` or `[[a.b]]`; answers the path of the table that it opens.
  private mutating func header() throws(Failure) -> [PathStep] {
    advance()
    let isArray = peek == UInt8(ascii: "[")
    if isArray { advance() }
    let parts = try dottedKey()
    var path: [PathStep] = []
    for (number, part) in parts.enumerated() {
      path.append(.key(part.name))
      try checkDepth(path, part.position)
      note(path, part.position)
      let count = tables[path, default: 0]
      if isArray && number == parts.count - 1 {
        tables[path] = count + 1
        path.append(.index(count))
      } else if count > 0 {
        // A header means the newest table of an array of tables.
        path.append(.index(count - 1))
      }
      note(path, part.position)
    }
    for _ in 0..<(isArray ? 2 : 1) { try take("]") }
    return path
  }

  /// `a.b = value`.
  private mutating func pair(in table: [PathStep]) throws(Failure) {
    var path = table
    for part in try dottedKey() {
      path.append(.key(part.name))
      try checkDepth(path, part.position)
      note(path, part.position)
    }
    try take("=")
    skipSpaces()
    try value(at: path)
  }

  private mutating func value(at path: [PathStep]) throws(Failure) {
    try checkDepth(path, position)
    if values[path] == nil { values[path] = position }
    switch peek {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): _ = try string()
    case UInt8(ascii: "["): try array(at: path)
    case UInt8(ascii: "{"): try inlineTable(at: path)
    default: try scalar()
    }
  }

  /// A number, boolean or date: a word, or for a date with its time two with one space between.
  private mutating func scalar() throws(Failure) {
    let start = position
    let from = offset
    skipWord()
    guard offset > from else { throw unexpected("a value") }
    let isDate = TOMLScalar.isDate(text[from..<offset])
    if isDate, peek == UInt8(ascii: " "), offset + 1 < text.count, Self.isDigit(text[offset + 1]) {
      advance()
      skipWord()
    }
    guard TOMLScalar.isWellFormed(text[from..<offset]) else {
      let word = String(decoding: text[from..<offset], as: UTF8.self)
      throw invalid(start, "\(word.quoted) is no number, boolean or date; if it is text, put quotes around it")
    }
  }

  private mutating func skipWord() {
    while let byte = peek, Self.isScalar(byte) { advance() }
  }

  private mutating func array(at path: [PathStep]) throws(Failure) {
    advance()
    var index = 0
    try skipLines()
    while peek != UInt8(ascii: "]") {
      try value(at: path + [.index(index)])
      index += 1
      try skipLines()
      if peek == UInt8(ascii: ",") {
        advance()
        try skipLines()
      } else if peek != UInt8(ascii: "]") {
        throw unexpected("',' or ']'")
      }
    }
    advance()
  }

  private mutating func inlineTable(at path: [PathStep]) throws(Failure) {
    advance()
    skipSpaces()
    while peek != UInt8(ascii: "}") {
      try pair(in: path)
      skipSpaces()
      if peek == UInt8(ascii: ",") {
        advance()
        skipSpaces()
      } else if peek != UInt8(ascii: "}") {
        throw unexpected("',' or '}'")
      }
    }
    advance()
  }

  // MARK: - Words

  private mutating func dottedKey() throws(Failure) -> [(name: String, position: SourcePosition)] {
    var parts: [(name: String, position: SourcePosition)] = []
    while true {
      skipSpaces()
      let start = position
      guard parts.count <= Self.maximumDepth else { throw tooDeep(start) }
      if peek == UInt8(ascii: "\"") || peek == UInt8(ascii: "'") {
        parts.append((try string(), start))
      } else {
        let from = offset
        while let byte = peek, Self.isBare(byte) { advance() }
        guard offset > from else { throw unexpected("a key") }
        parts.append((String(decoding: text[from..<offset], as: UTF8.self), start))
      }
      guard parts.last?.name.utf8.count ?? 0 <= Self.longestKey else {
        throw invalid(start, "a key is longer than \(Self.longestKey) bytes; is it the right file?")
      }
      skipSpaces()
      guard peek == UInt8(ascii: ".") else { return parts }
      advance()
    }
  }

  /// A string of any of the four kinds; returns its value.
  private mutating func string() throws(Failure) -> String {
    let start = position
    let quote = text[offset]
    let isLiteral = quote == UInt8(ascii: "'")
    let isLong = offset + 2 < text.count && text[offset + 1] == quote && text[offset + 2] == quote
    for _ in 0..<(isLong ? 3 : 1) { advance() }
    var bytes: [UInt8] = []
    while let byte = peek, isLong || byte != UInt8(ascii: "\n") {
      if byte == quote {
        // A long string ends with three quotes, and up to two of its own may stand directly before them.
        var run = 0
        while peek == quote, run < (isLong ? 5 : 1) {
          advance()
          run += 1
        }
        let closing = isLong ? 3 : 1
        bytes += Array(repeating: quote, count: run >= closing ? run - closing : run)
        if run >= closing { return String(decoding: bytes, as: UTF8.self) }
      } else if byte == UInt8(ascii: "\\") && !isLiteral {
        try escape(into: &bytes, isLong: isLong)
      } else {
        bytes.append(byte)
        advance()
      }
    }
    throw invalid(start, "a string begins here and does not end")
  }

  private mutating func escape(into bytes: inout [UInt8], isLong: Bool) throws(Failure) {
    let start = position
    advance()
    guard let letter = peek else { throw invalid(start, "a string ends in the middle of an escape") }
    switch letter {
    case UInt8(ascii: "b"): bytes.append(8)
    case UInt8(ascii: "t"): bytes.append(9)
    case UInt8(ascii: "n"): bytes.append(10)
    case UInt8(ascii: "f"): bytes.append(12)
    case UInt8(ascii: "r"): bytes.append(13)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(letter)
    case UInt8(ascii: "u"), UInt8(ascii: "U"):
      advance()
      bytes += Array(String(try codePoint(digits: letter == UInt8(ascii: "u") ? 4 : 8, start)).utf8)
      return
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "), UInt8(ascii: "\t"):
      // The end of a line that a long string goes on after. Keys are never long, so their value is not needed.
      guard isLong else { fallthrough }
    default:
      throw invalid(start, "a string has an escape that TOML does not know; write \\\\ for a backslash")
    }
    advance()
  }

  private mutating func codePoint(digits: Int, _ start: SourcePosition) throws(Failure) -> Unicode.Scalar {
    var code: UInt32 = 0
    for _ in 0..<digits {
      guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw invalid(start, "an escape for a character needs \(digits) hexadecimal digits")
      }
      code = code << 4 | UInt32(digit)
      advance()
    }
    guard let scalar = Unicode.Scalar(code) else { throw invalid(start, "there is no character with this number") }
    // The parser hands strings over as C has them, which would end this one here without a word.
    if code == 0 { throw Failure(position: start, message: "a string cannot hold the character NUL; take it out") }
    return scalar
  }

  // MARK: - Bytes

  private var peek: UInt8? { offset < text.count ? text[offset] : nil }
  private var position: SourcePosition { SourcePosition(line: line, column: column) }

  private mutating func advance() {
    let byte = text[offset]
    offset += 1
    if byte == UInt8(ascii: "\n") {
      line += 1
      column = 1
    } else if offset == text.count || text[offset] & 0xC0 != 0x80 {
      // Only the last byte of a scalar moves on by a column.
      column += 1
    }
  }

  private mutating func skipSpaces() {
    while peek == UInt8(ascii: " ") || peek == UInt8(ascii: "\t") { advance() }
  }

  /// Skips spaces, comments and the ends of lines.
  private mutating func skipLines() throws(Failure) {
    while true {
      skipSpaces()
      if peek == UInt8(ascii: "#") {
        while peek != nil, !isAtNewline { advance() }
      }
      guard isAtNewline else { return }
      if peek == UInt8(ascii: "\r") { advance() }
      advance()
    }
  }

  private var isAtNewline: Bool {
    switch peek {
    case UInt8(ascii: "\n"): true
    case UInt8(ascii: "\r"): offset + 1 < text.count && text[offset + 1] == UInt8(ascii: "\n")
    default: false
    }
  }

  private mutating func take(_ character: Unicode.Scalar) throws(Failure) {
    guard peek == UInt8(ascii: character) else { throw unexpected("'\(character)'") }
    advance()
  }

  private static func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
    case UInt8(ascii: "_"), UInt8(ascii: "-"): true
    default: isDigit(byte)
    }
  }

  private static func isScalar(_ byte: UInt8) -> Bool { isBare(byte) || "+.:".utf8.contains(byte) }
  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  // MARK: - Places and errors

  private mutating func note(_ path: [PathStep], _ position: SourcePosition) {
    if keys[path] == nil { keys[path] = position }
  }

  private func checkDepth(_ path: [PathStep], _ position: SourcePosition) throws(Failure) {
    if path.count > Self.maximumDepth { throw tooDeep(position) }
  }

  private func tooDeep(_ position: SourcePosition) -> Failure {
    Failure(position: position, message: "tables are nested deeper than the \(Self.maximumDepth) levels allowed")
  }

  private func invalid(_ position: SourcePosition, _ message: String) -> Failure {
    Failure(position: position, message: "this is not valid TOML: \(message)")
  }

  /// The text at this place is not the expected one.
  private func unexpected(_ expected: String) -> Failure {
    guard peek != nil else { return invalid(position, "expected \(expected), and the file ends") }
    if peek == UInt8(ascii: "\n") { return invalid(position, "expected \(expected), and the line ends") }
    let found = String(decoding: text[offset...].prefix(4), as: UTF8.self).unicodeScalars.prefix(1)
    return invalid(position, "expected \(expected), found \(String(String.UnicodeScalarView(found)).quoted)")
  }
}
