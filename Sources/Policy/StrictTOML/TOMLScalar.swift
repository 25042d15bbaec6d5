/// The forms of TOML's values that are neither text nor made of others: numbers, booleans, dates and times.
///
/// Only the form: whether a number fits and a month exists is for the parser to say.
struct TOMLScalar {
  private var rest: ArraySlice<UInt8>

  /// Whether a word, for a date with its time two words with one space between, is such a value.
  static func isWellFormed(_ word: ArraySlice<UInt8>) -> Bool {
    if word.elementsEqual("true".utf8) || word.elementsEqual("false".utf8) { return true }
    var number = TOMLScalar(rest: word)
    if number.takeNumber(), number.rest.isEmpty { return true }
    var date = TOMLScalar(rest: word)
    return date.takeDateOrTime() && date.rest.isEmpty
  }

  /// Whether a word is a date without a time.
  static func isDate(_ word: ArraySlice<UInt8>) -> Bool {
    var date = TOMLScalar(rest: word)
    return date.takeDate() && date.rest.isEmpty
  }

  private mutating func takeNumber() -> Bool {
    if take("0x") { return takeDigits { Character(Unicode.Scalar($0)).isHexDigit } }
    if take("0o") { return takeDigits { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) } }
    if take("0b") { return takeDigits { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: "1") } }
    _ = take("+") || take("-")
    if take("inf") || take("nan") { return true }
    let isZero = rest.first == UInt8(ascii: "0")
    let start = rest.startIndex
    guard takeDigits(Self.isDigit) else { return false }
    if isZero && rest.startIndex - start > 1 { return false }
    if take("."), !takeDigits(Self.isDigit) { return false }
    if take("e") || take("E") {
      _ = take("+") || take("-")
      return takeDigits(Self.isDigit)
    }
    return true
  }

  /// `1979-05-27`, `07:32:00.5`, or both with `T` or a space between and perhaps `Z` or an offset behind.
  private mutating func takeDateOrTime() -> Bool {
    let whole = rest
    guard takeDate() else {
      rest = whole
      return takeTime()
    }
    if rest.isEmpty { return true }
    guard take("T") || take("t") || take(" "), takeTime() else { return false }
    if take("Z") || take("z") || rest.isEmpty { return true }
    guard take("+") || take("-") else { return false }
    return take(digits: 2) && take(":") && take(digits: 2)
  }

  private mutating func takeDate() -> Bool {
    take(digits: 4) && take("-") && take(digits: 2) && take("-") && take(digits: 2)
  }

  private mutating func takeTime() -> Bool {
    guard take(digits: 2), take(":"), take(digits: 2), take(":"), take(digits: 2) else { return false }
    guard take(".") else { return true }
    guard take(digits: 1) else { return false }
    while take(digits: 1) {}
    return true
  }

  /// Digits with single underscores between them.
  private mutating func takeDigits(_ isDigit: (UInt8) -> Bool) -> Bool {
    repeat {
      guard let first = rest.first, isDigit(first) else { return false }
      rest = rest.drop(while: isDigit)
    } while take("_")
    return true
  }

  private mutating func take(_ text: StaticString) -> Bool {
    guard rest.starts(with: text.description.utf8) else { return false }
    rest = rest.dropFirst(text.utf8CodeUnitCount)
    return true
  }

  private mutating func take(digits count: Int) -> Bool {
    guard rest.count >= count, rest.prefix(count).allSatisfy(Self.isDigit) else { return false }
    rest = rest.dropFirst(count)
    return true
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
