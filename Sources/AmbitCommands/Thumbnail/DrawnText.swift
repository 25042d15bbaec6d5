internal import PickerUI
internal import Terminal

/// Lines of a drawing as they came from the program that drew them, made fit for a terminal: the picture is a stranger's.
///
/// Of its sequences only colours, weight and reversal (SGR) are kept, and written anew. No line is wider than asked for.
enum DrawnText {
  private static let escape: UInt8 = 0x1B

  static func harmless(_ bytes: [UInt8], columns: Int, rows: Int) -> String {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    let text = lines.prefix(rows).map { line(Array($0), columns) }.joined(separator: "\n")
    return text.utf8.contains(escape) ? text + "\u{1B}[0m\n" : text.isEmpty ? "" : text + "\n"
  }

  private static func line(_ bytes: [UInt8], _ columns: Int) -> String {
    var (line, width) = ("", 0)
    var index = 0
    while index < bytes.count {
      if bytes[index] == escape, let end = PreviewText.sequence(bytes, index) {
        if bytes[end] == UInt8(ascii: "m"), let codes = codes(bytes[(index + 2)..<end]) {
          line += "\u{1B}[\(codes.map { "\($0)" }.joined(separator: ";"))m"
        }
        index = end + 1
        continue
      }
      var end = index + 1
      while end < bytes.count, bytes[end] != escape { end += 1 }
      for character in printable(String(decoding: bytes[index..<end], as: UTF8.self)) {
        width += displayWidth(character)
        // The colours go on: they may be for the next line.
        if width <= columns { line.append(character) }
      }
      index = end
    }
    return line
  }

  /// The numbers of a sequence; nil: one of them is no colour, weight or reversal.
  private static func codes(_ parameters: ArraySlice<UInt8>) -> [Int]? {
    var codes: [Int] = []
    for field in parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
      guard field.count <= 3, field.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      codes.append(field.reduce(0) { $0 * 10 + Int($1 - 0x30) })
    }
    var rest = codes[...]
    while let code = rest.popFirst() {
      switch code {
      case 0, 1, 2, 7, 22, 27, 30...37, 39...47, 49, 90...97, 100...107: break
      case 38, 48:
        let count = rest.first == 5 ? 2 : rest.first == 2 ? 4 : 0
        guard count > 0, rest.count >= count, rest.prefix(count).allSatisfy({ $0 <= 255 }) else { return nil }
        rest.removeFirst(count)
      default: return nil
      }
    }
    return codes
  }
}
