import Testing

@testable import AmbitCommands

/// What a program that draws a stranger's picture can say to the terminal.
@Suite struct `Drawings in the terminal` {
  private func shown(_ text: String, columns: Int = 20, rows: Int = 5) -> String {
    DrawnText.harmless(Array(text.utf8), columns: columns, rows: rows)
  }

  @Test func `Colours, weight and reversal pass, and end with the drawing`() {
    #expect(
      shown("\u{1B}[0m\u{1B}[38;2;1;2;3;48;5;9m▀▄\n\u{1B}[07ma\u{1B}[m\n")
        == "\u{1B}[0m\u{1B}[38;2;1;2;3;48;5;9m▀▄\n\u{1B}[7ma\u{1B}[0m\u{1B}[0m\n")
    #expect(shown("ab\ncd") == "ab\ncd\n")
    #expect(shown("") == "")
  }

  @Test(arguments: [
    "\u{1B}[2J", "\u{1B}[10;10H", "\u{1B}]0;title\u{7}", "\u{1B}Pq\u{1B}\\", "\u{1B}[?1049h", "\u{1B}c", "\u{9B}2J",
    "\u{1B}[38;2;1;2;3\u{1B}[2J", "\u{1B}[38;2;300;2;3m", "\u{1B}[5m", "\u{1B}[8m", "a\u{202E}b", "\r\u{8}",
    "\u{1B}[\u{1B}[2J", "\u{1B}[38:2:1:2:3m", "\u{1B}[99999999999999999999m", "\u{1B}[>4;2m", "\u{1B}[38;5m", "\u{1B}",
  ])
  func `Nothing else reaches the terminal`(text: String) {
    let shown = shown(text + "a", columns: 80)
    let controls = shown.unicodeScalars.filter { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    #expect(controls.map(\.value) == [0x0A] && !shown.contains("\u{202E}") && shown.hasSuffix("a\n"))
  }

  @Test func `A drawing keeps to its columns and rows`() {
    #expect(shown("abcdef\n日本語\nc\nd", columns: 3, rows: 3) == "abc\n日\nc\n")
    #expect(shown("abc\u{1B}[31md\nx", columns: 3) == "abc\u{1B}[31m\nx\u{1B}[0m\n")
  }
}
