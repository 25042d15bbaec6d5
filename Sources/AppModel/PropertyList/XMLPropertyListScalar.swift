/// The texts of `<integer>`, `<real>`, `<date>` and `<data>`. Each answers `nil` for a text that is none.
enum XMLPropertyListScalar {
  static func integer(_ text: String) -> PropertyListNode.Value? {
    var digits = trimmed(text)
    let isNegative = digits.hasPrefix("-")
    if isNegative || digits.hasPrefix("+") { digits = digits.dropFirst() }
    let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
    if isHexadecimal { digits = digits.dropFirst(2) }
    guard digits.utf8.first.map({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) == true,
      let magnitude = UInt64(digits, radix: isHexadecimal ? 16 : 10)
    else { return nil }
    if let number = Int64(exactly: magnitude) { return .integer(isNegative ? -number : number) }
    if !isNegative { return .unsigned(magnitude) }
    return magnitude == Int64.min.magnitude ? .integer(.min) : nil
  }

  static func real(_ text: String) -> Double? { Double(trimmed(text)) }

  /// `YYYY-MM-DDThh:mm:ssZ`: no program writes anything else.
  static func date(_ text: String) -> Double? {
    let bytes = Array(trimmed(text).utf8)
    let pattern = Array("0000-00-00T00:00:00Z".utf8)
    guard bytes.count == pattern.count else { return nil }
    for (byte, expected) in zip(bytes, pattern) {
      if expected == UInt8(ascii: "0") {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      } else if byte != expected {
        return nil
      }
    }
    func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } }
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
    guard year > 0, (1...12).contains(month), (1...length(of: month, year)).contains(day), hour < 24, minute < 60,
      second < 61
    else { return nil }
    let days = days(before: year) + (1..<month).reduce(0) { $0 + length(of: $1, year) } + day - 1 - days(before: 2001)
    return Double(days * 86_400 + hour * 3600 + minute * 60 + second)
  }

  private static func isLeap(_ year: Int) -> Bool {
    year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
  }

  private static func length(of month: Int, _ year: Int) -> Int {
    month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  private static func days(before year: Int) -> Int {
    let past = year - 1
    return past * 365 + past / 4 - past / 100 + past / 400
  }

  static func base64(_ text: String) -> [UInt8]? {
    var result: [UInt8] = []
    var (bits, count, padding) = (0, 0, 0)
    for byte in text.utf8 where !" \t\r\n".utf8.contains(byte) {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"): digit = 62
      case UInt8(ascii: "/"): digit = 63
      case UInt8(ascii: "="):
        padding += 1
        continue
      default: return nil
      }
      guard padding == 0 else { return nil }
      (bits, count) = ((bits << 6 | Int(digit)) & 0xFF_FFFF, count + 1)
      if count == 4 {
        result += [UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
        (bits, count) = (0, 0)
      }
    }
    switch (count, padding) {
    case (0, 0): break
    case (2, 2): result.append(UInt8(bits >> 4 & 0xFF))
    case (3, 1): result += [UInt8(bits >> 10 & 0xFF), UInt8(bits >> 2 & 0xFF)]
    default: return nil
    }
    return result
  }

  private static func trimmed(_ text: String) -> Substring {
    var text = text[...]
    while let first = text.utf8.first, " \t\r\n".utf8.contains(first) { text = text.dropFirst() }
    while let last = text.utf8.last, " \t\r\n".utf8.contains(last) { text = text.dropLast() }
    return text
  }
}
