/// Lines of a preview as they came from the process that makes them, made fit for the screen.
///
/// Of its sequences only colours, weight and reversal (SGR) are kept, and written anew; every character is shown as any stranger's is
/// (``DisplayText``), and no line is wider or longer than its pane.
package enum PreviewText {
  /// More bytes than any pane needs: 500 columns and 200 rows with two colours a cell.
  static let mostBytes = 4 << 20
  private static let longestSequence = 64

  static func lines(_ bytes: [UInt8], columns: Int, rows: Int) -> [Line] {
    var lines: [Line] = []
    var pen = Pen()
    for part in bytes.prefix(mostBytes).split(separator: 0x0A, omittingEmptySubsequences: false).prefix(rows) {
      lines.append(line(Array(part), columns, &pen))
    }
    while lines.last?.width == 0 { lines.removeLast() }
    return lines
  }

  private static func line(_ bytes: [UInt8], _ columns: Int, _ pen: inout Pen) -> Line {
    var line = Line()
    var index = 0
    while index < bytes.count {
      if bytes[index] == 0x1B, let end = sequence(bytes, index) {
        if bytes[end] == UInt8(ascii: "m") { pen.take(bytes[(index + 2)..<end]) }
        index = end + 1
        continue
      }
      var end = index + 1
      while end < bytes.count, bytes[end] != 0x1B { end += 1 }
      let text = DisplayText(String(decoding: bytes[index..<end], as: UTF8.self))
      for glyph in text.glyphs {
        // One that has no room ends the line; nothing after it moves up.
        guard line.width + glyph.width <= columns else { return line }
        line.add(DisplayText(glyphs: [glyph]), pen.style)
      }
      index = end
    }
    return line
  }

  /// Where a sequence (`CSI … letter`) ends; nil: it is none, and its first byte is shown as any other control.
  package static func sequence(_ bytes: [UInt8], _ start: Int) -> Int? {
    guard start + 1 < bytes.count, bytes[start + 1] == 0x5B else { return nil }
    var index = start + 2
    while index < bytes.count, index - start <= longestSequence {
      if (0x40...0x7E).contains(bytes[index]) { return index }
      guard (0x20...0x3F).contains(bytes[index]) else { return nil }
      index += 1
    }
    return nil
  }

  /// The colours and looks that are on.
  private struct Pen {
    private var front: [UInt8] = []
    private var back: [UInt8] = []
    private var isBold = false
    private var isDim = false
    private var isReverse = false

    var style: Style {
      var style = Style(bold: isBold, dim: isDim, reverse: isReverse)
      let codes = front + (front.isEmpty || back.isEmpty ? [] : [0x3B]) + back
      if !codes.isEmpty { style.codes = String(decoding: codes, as: UTF8.self) }
      return style
    }

    mutating func take(_ parameters: ArraySlice<UInt8>) {
      let fields = parameters.split(separator: 0x3B, omittingEmptySubsequences: false).map { field -> Int? in
        field.isEmpty ? 0 : field.count <= 3 ? Int(String(decoding: field, as: UTF8.self)) : nil
      }
      var index = 0
      while index < fields.count {
        switch fields[index] {
        case 0: self = Pen()
        case 1: isBold = true
        case 2: isDim = true
        case 7: isReverse = true
        case 22: (isBold, isDim) = (false, false)
        case 27: isReverse = false
        case 39: front = []
        case 49: back = []
        case let code? where (30...37).contains(code) || (90...97).contains(code): front = Array("\(code)".utf8)
        case let code? where (40...47).contains(code) || (100...107).contains(code): back = Array("\(code)".utf8)
        case let code? where code == 38 || code == 48:
          let count = index + 1 < fields.count ? (fields[index + 1] == 5 ? 2 : fields[index + 1] == 2 ? 4 : 0) : 0
          guard count > 0, index + count < fields.count else { return }
          let values = fields[(index + 1)...(index + count)].compactMap { $0 }
          guard values.count == count, values.allSatisfy({ (0...255).contains($0) }) else { return }
          let codes = Array(([code] + values).map(String.init).joined(separator: ";").utf8)
          if code == 38 { front = codes } else { back = codes }
          index += count
        default: break
        }
        index += 1
      }
    }
  }
}
