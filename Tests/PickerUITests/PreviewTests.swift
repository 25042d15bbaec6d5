import Foundation
import Glibc
import Kernel
import TestSupport
import Testing

@testable import PickerUI

@Suite struct PreviewTests {
  private static func lines(_ text: String, columns: Int = 20, rows: Int = 5) -> [Line] {
    PreviewText.lines(Array(text.utf8), columns: columns, rows: rows)
  }

  /// The characters besides colours and looks. By scalars: a mark after a sequence would be one character with its last letter.
  private static func beyondStyles(_ line: Line) -> [Unicode.Scalar] {
    var rest = Array(line.encoded(colours: true).unicodeScalars)[...]
    var found: [Unicode.Scalar] = []
    while let next = rest.popFirst() {
      guard next == "\u{1B}", rest.first == "[" else {
        found.append(next)
        continue
      }
      let end = rest.dropFirst().firstIndex { !(0x30...0x39).contains($0.value) && $0 != ";" } ?? rest.endIndex
      guard end < rest.endIndex, rest[end] == "m" else {
        found.append(next)
        continue
      }
      rest = rest[(end + 1)...]
    }
    return found
  }

  @Test func `Colours, weight and reversal pass, written anew`() {
    let lines = Self.lines("\u{1B}[38;2;1;2;3;48;5;9mab\u{1B}[7mc\u{1B}[0md\n\u{1B}[1;31me\u{1B}[m")
    #expect(
      lines.map { $0.encoded(colours: true) } == [
        "\u{1B}[38;2;1;2;3;48;5;9mab\u{1B}[0m\u{1B}[7;38;2;1;2;3;48;5;9mc\u{1B}[0md", "\u{1B}[1;31me\u{1B}[0m",
      ])
    #expect(lines[0].encoded(colours: false) == "ab\u{1B}[7mc\u{1B}[0md")
  }

  @Test(arguments: [
    "\u{1B}[2Ja", "\u{1B}[10;10Ha", "\u{1B}]0;title\u{7}a", "\u{1B}Pq\u{1B}\\a", "\u{1B}[?1049ha", "\u{1B}ca",
    "\u{9B}2Ja",
    "\u{1B}[38;2;1;2;3\u{1B}[2Ja", "\u{1B}[38;2;300;2;3ma", "\u{1B}[5;8ma", "a\u{202E}b", "\r\u{8}a",
    "\u{1B}[\u{1B}[2Ja",
    "\u{1B}[38:2:1:2:3ma", "\u{1B}[99999999999999999999ma", "\u{1B}[>4;2ma",
  ])
  func `Nothing else reaches the terminal`(text: String) {
    for line in Self.lines(text) {
      let rest = Self.beyondStyles(line)
      #expect(
        !rest.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.value == 0x202E })
      #expect(!line.encoded(colours: true).contains(/\u{1B}\[(5|8|2J)/), "no blinking, nothing concealed")
    }
  }

  @Test func `A preview keeps to its pane, whatever it is made of`() {
    var random = Seeded(seed: 21)
    let pieces = [
      "a", "日", "\u{1B}[", "31", ";", "m", "\n", "\u{1B}", "e\u{301}", "\u{FF}", "38;5;200m", "▀", "\t", "👨\u{200D}👩",
    ]
    for _ in 0..<300 {
      let text = (0..<Int.random(in: 0...120, using: &random)).compactMap { _ in pieces.randomElement(using: &random) }
        .joined()
      let (columns, rows) = (Int.random(in: 1...30, using: &random), Int.random(in: 1...8, using: &random))
      let lines = Self.lines(text, columns: columns, rows: rows)
      #expect(lines.count <= rows && lines.allSatisfy { $0.width <= columns })
      for line in lines {
        let rest = Self.beyondStyles(line)
        #expect(!rest.contains { $0.value < 0x20 })
      }
    }
  }

  @Test func `The pane is beside the list in a wide window, below it in a narrow one, and nowhere in a small one`() {
    var view = PickerView()
    view.hasPreview = true
    let wide = Layout(request(), ScreenSize(columns: 120, rows: 30), view)
    #expect(wide.preview?.isBeside == true && wide.listColumns + 3 + (wide.preview?.columns ?? 0) == 120)
    let narrow = Layout(request(), ScreenSize(columns: 80, rows: 30), view)
    #expect(narrow.preview?.isBeside == false && narrow.listColumns == 80)
    #expect(
      narrow.listRows + 1 + (narrow.preview?.rows ?? 0) == Layout(request(), ScreenSize(columns: 80, rows: 30)).listRows
    )
    #expect(Layout(request(), ScreenSize(columns: 40, rows: 10), view).preview == nil)
  }

  @Test(arguments: [(120, 30), (100, 12), (80, 24), (60, 16), (24, 8)])
  func `With a preview each line fits, and the list is what it was`(columns: Int, rows: Int) {
    var model = model(request(), entries("Letters/", "notes.txt", "photo.png"))
    _ = model.press(.control("t"))
    model.preview = .lines((0..<50).map { Line(DisplayText("line \($0) " + String(repeating: "x", count: 10))) })
    for key in [Key.down, .control("g"), .control("t"), .text("?")] {
      let layout = Layout(model.request, ScreenSize(columns: columns, rows: rows), model.view)
      model.resize(layout)
      let lines = Screen.lines(model, layout, now: 0, home: nil)
      #expect(lines.count == rows && lines.allSatisfy { $0.width <= columns })
      #expect(lines.contains { $0.plain.contains("▸") })
      #expect(lines.contains { $0.plain.contains("line 0") } == (layout.preview != nil))
      _ = model.press(key)
    }
    let layout = Layout(model.request, ScreenSize(columns: columns, rows: rows), model.view)
    #expect(Screen.lines(model, layout, now: 0, home: nil).count == rows, "the help has the pane's room")
  }

  // MARK: - A picker with a program that makes previews

  @Test func `The preview is of the file under the cursor, harmless, and goes on with the cursor`() throws {
    let folder = try TemporaryFolder()
    try folder.file("one.txt", "the first")
    try folder.file("two.txt", "\u{1B}[2Jthe \u{1B}[31msecond")
    try folder.file("zslow.txt", "never")
    let program = PreviewProgram(
      path: "/bin/sh", words: ["sh", "-c", "grep -q never /proc/self/fd/$0 && sleep 60; cat /proc/self/fd/$0"])
    let terminal = try TestTerminal()
    let picker = TerminalPicker(
      input: terminal.slave.rawValue, output: terminal.slave.rawValue, settling: .zero, environment: [:],
      previews: program)
    let ended = EndFlag()
    Thread.detachNewThread {
      _ = try? picker.run(request(start: folder.path))
      ended.set()
    }
    try #require(terminal.wait(for: "▸ one.txt"))
    try terminal.type("\u{14}")
    #expect(terminal.wait(for: "the first"), "\(terminal.text)")
    try terminal.type("\u{1B}[B")
    #expect(terminal.wait(for: "the second"), "\(terminal.text)")
    #expect(!terminal.text.contains("the first"))
    // One that takes long does not keep keys waiting, and ends with the picker.
    try terminal.type("\u{1B}[B")
    try #require(terminal.wait(for: "▸ zslow.txt"))
    #expect(terminal.wait(for: "…"), "\(terminal.text)")
    try terminal.type("\u{1B}[A")
    #expect(terminal.wait(for: "the second"), "\(terminal.text)")
    try terminal.type("\u{3}")
    #expect(terminal.wait { _ in ended.isSet })
  }
}

private final class EndFlag: Sendable {
  private let pipe = try? Descriptor.pipe()
  func set() { try? pipe?.1.writeAll([1]) }
  var isSet: Bool {
    var waiting = [pollfd(fd: pipe?.0.rawValue ?? -1, events: Int16(POLLIN), revents: 0)]
    return unsafe poll(&waiting, 1, 0) > 0
  }
}
