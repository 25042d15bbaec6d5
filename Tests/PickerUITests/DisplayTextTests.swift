import Testing

@testable import PickerUI

@Suite struct DisplayTextTests {
  @Test(arguments: [
    ("notes.txt", "notes.txt", 9),
    ("evil\u{1B}[31m\nname", "evil␛[31m␊name", 14),
    ("\r\n\t\u{7F}\0", "␍␊␉␡␀", 5),
    ("a\u{202E}txt.exe", "a\u{FFFD}txt.exe", 9),
    ("a\u{200B}b\u{2028}c\u{9B}d", "a\u{FFFD}b\u{FFFD}c\u{FFFD}d", 7),
    ("résumé", "résumé", 6),
    ("re\u{301}sume\u{301}", "re\u{301}sume\u{301}", 6),
    ("日本語", "日本語", 6),
    ("👍", "👍", 2),
    ("👨\u{200D}👩", "👨👩", 4),
    ("❤\u{FE0F}", "❤", 1),
    ("a" + String(repeating: "\u{301}", count: 40), "a" + String(repeating: "\u{301}", count: 4), 1),
  ])
  func `Text is shown harmlessly and with its width`(text: String, shown: String, width: Int) {
    let display = DisplayText(text)
    #expect(Array(display.plain.unicodeScalars) == Array(shown.unicodeScalars))
    #expect(display.width == width)
  }

  @Test func `No scalar that a terminal obeys comes through, whichever it is`() {
    for value in 0...UInt32(0x10FFFF) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let category = scalar.properties.generalCategory
      guard [.control, .format, .lineSeparator, .paragraphSeparator].contains(category) else { continue }
      let shown = DisplayText("x" + String(scalar) + "y").plain
      #expect(!shown.unicodeScalars.contains(scalar), "U+\(String(value, radix: 16))")
      #expect(shown.unicodeScalars.count == 3 || value == 0x200D)
    }
  }

  @Test(arguments: [1, 2, 3, 5, 8, 13, 21])
  func `Cut text is never wider than asked and says that it was cut`(limit: Int) {
    for text in ["a rather long name.txt", "日本語のとても長い名前.txt", "👨\u{200D}👩 and more and more of it"] {
      for cut in [
        DisplayText(text).keepingStart(limit), .init(text).keepingMiddle(limit), .init(text).keepingEnd(limit),
      ] {
        #expect(cut.width <= limit)
        #expect(cut.plain.contains("…"))
      }
    }
  }

  @Test func `The middle goes first, so that the extension stays`() {
    #expect(DisplayText("a-long-name-of-a-letter.txt").keepingMiddle(16).plain == "a-long-nam…r.txt")
    #expect(DisplayText("/home/ann/Documents").keepingEnd(10).plain == "…Documents")
    #expect(DisplayText("short").keepingMiddle(5).plain == "short")
  }

  @Test func `A quoted name cannot close its quotation`() {
    #expect(DisplayText.quoted("a” is safe. “b") == "“a\" is safe. \"b”")
  }
}
