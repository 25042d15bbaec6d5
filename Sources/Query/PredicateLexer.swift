/// Takes the text of a predicate apart.
struct PredicateLexer {
  enum Token: Equatable {
    case word(String)
    /// A key that would be a reserved word without the `#` before it.
    case escaped(String)
    case text(String)
    case integer(Int64)
    case number(Double)
    /// `%K`, `%@`, `%d` and so on; the letter.
    case placeholder(Character)
    case symbol(String)
    case end
  }

  private let scalars: [Unicode.Scalar]
  private(set) var position = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  static func beginsWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }

  static func isInWord(_ scalar: Unicode.Scalar) -> Bool {
    beginsWord(scalar) || scalar == "." || isDigit(scalar)
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
    scalars.indices.contains(position + ahead) ? scalars[position + ahead] : nil
  }

  mutating func skipSpace() {
    while let next = peek(), next.properties.isWhitespace { position += 1 }
  }

  mutating func next() throws(PredicateFault) -> (token: Token, at: Int) {
    skipSpace()
    let start = position
    guard let first = peek() else { return (.end, start) }
    if Self.beginsWord(first) { return (.word(word()), start) }
    switch first {
    case "#":
      position += 1
      guard let next = peek(), Self.beginsWord(next) else { throw error("a key follows “#”", start) }
      return (.escaped(word()), start)
    case "\"", "'": return (.text(try text(first)), start)
    case "%": return (.placeholder(try placeholder()), start)
    case "@": throw PredicateFault(.unsupported("a collection operator (“@…”)"), at: start)
    case "$": throw PredicateFault(.unsupported("a variable (“$…”)"), at: start)
    case "0"..."9": return (try number(negative: false), start)
    case "-", ".":
      guard let next = peek(1), Self.isDigit(next) || next == "." else {
        throw PredicateFault(.unsupported("arithmetic"), at: start)
      }
      return (try number(negative: first == "-"), start)
    case "+", "*", "/": throw PredicateFault(.unsupported("arithmetic"), at: start)
    default: break
    }
    for symbol in ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "=", "<", ">", "!", "(", ")", "{", "}", ","] {
      let count = symbol.unicodeScalars.count
      if position + count <= scalars.count, scalars[position..<(position + count)].elementsEqual(symbol.unicodeScalars)
      {
        position += count
        return (.symbol(symbol), start)
      }
    }
    throw error("“\(first)” means nothing here", start)
  }

  private func error(_ words: String, _ at: Int) -> PredicateFault { PredicateFault(.syntax(words), at: at) }

  private mutating func word() -> String {
    let start = position
    while let next = peek(), Self.isInWord(next) { position += 1 }
    // “UTI-CONFORMS-TO” is one word, which is told apart from arithmetic.
    if String(String.UnicodeScalarView(scalars[start..<position])).uppercased() == "UTI" {
      while let next = peek(), next == "-" || Self.isInWord(next) { position += 1 }
    }
    return String(String.UnicodeScalarView(scalars[start..<position]))
  }

  private mutating func text(_ quote: Unicode.Scalar) throws(PredicateFault) -> String {
    let start = position
    position += 1
    var result = String.UnicodeScalarView()
    while let next = peek() {
      position += 1
      if next == quote { return String(result) }
      guard next == "\\" else {
        result.append(next)
        continue
      }
      guard let escape = peek() else { break }
      position += 1
      switch escape {
      case "n": result.append("\n")
      case "t": result.append("\t")
      case "r": result.append("\r")
      case "u":
        var value: UInt32 = 0
        for _ in 0..<4 {
          guard let digit = peek(), let number = Character(digit).hexDigitValue else {
            throw error("“\\u” has four digits", position)
          }
          value = value << 4 | UInt32(number)
          position += 1
        }
        guard let scalar = Unicode.Scalar(value) else { throw error("this is no character", position - 4) }
        result.append(scalar)
      default: result.append(escape)
      }
    }
    throw error("a quotation mark is missing", start)
  }

  private mutating func number(negative: Bool) throws(PredicateFault) -> Token {
    let start = position
    if negative { position += 1 }
    var isInteger = true
    while let next = peek() {
      if Self.isDigit(next) {
        position += 1
      } else if next == ".", isInteger {
        isInteger = false
        position += 1
      } else if next == "e" || next == "E", let after = peek(1),
        Self.isDigit(after) || (after == "-" || after == "+") && peek(2).map(Self.isDigit) == true
      {
        isInteger = false
        position += 2
      } else {
        break
      }
    }
    let text = String(String.UnicodeScalarView(scalars[start..<position]))
    if let next = peek(), Self.beginsWord(next) { throw error("“\(text)\(next)” is no number", start) }
    if isInteger {
      guard let value = Int64(text) else { throw error("“\(text)” is too large a number", start) }
      return .integer(value)
    }
    guard let value = Double(text), value.isFinite else { throw error("“\(text)” is no number", start) }
    return .number(value)
  }

  private mutating func placeholder() throws(PredicateFault) -> Character {
    let start = position
    position += 1
    // Lengths, as printf(3) has them, make no difference to a value that is passed as an object.
    while let next = peek(), ["l", "h", "q", "z", "t", "j", "L"].contains(next) { position += 1 }
    guard let letter = peek(), "@Kdiuxoefgc".unicodeScalars.contains(letter) else {
      throw error("there is no such placeholder", start)
    }
    position += 1
    return Character(letter)
  }

  /// The options in brackets that may follow an operator at once.
  mutating func options() throws(PredicateFault) -> TextOptions {
    guard peek() == "[" else { return [] }
    let start = position
    position += 1
    var options: TextOptions = []
    while let next = peek(), next != "]" {
      switch next {
      case "c", "C": options.insert(.caseInsensitive)
      case "d", "D": options.insert(.diacriticInsensitive)
      case "n", "N", "l", "L", "w", "W": throw PredicateFault(.unsupported("the option [\(next)]"), at: start)
      default: throw error("the options are [c], [d] and [cd]", start)
      }
      position += 1
    }
    guard peek() == "]" else { throw error("a bracket is missing", start) }
    position += 1
    return options
  }
}
