import TestSupport
import Testing

@testable import Terminal

@Suite struct `Printable text` {
  @Test(
    "what a terminal would obey, and what hides itself, becomes visible",
    arguments: [
      ("\u{1b}[2J", "\\u{1b}[2J"),
      ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
      ("\u{0}", "\\u{00}"),
      ("bell\u{7}", "bell\\u{07}"),
      ("\u{7f}", "\\u{7f}"),
      ("\u{9b}31m", "\\u{9b}31m"),
      ("\u{85}", "\\u{85}"),
      ("exe.\u{202e}fdp", "exe.\\u{202e}fdp"),
      ("\u{2066}a\u{2069}", "\\u{2066}a\\u{2069}"),
      ("\u{200f}", "\\u{200f}"),
      ("zero\u{200b}width", "zero\\u{200b}width"),
      ("\u{feff}bom", "\\u{feff}bom"),
      ("line\u{2028}line\u{2029}", "line\\u{2028}line\\u{2029}"),
      ("soft\u{ad}hyphen", "soft\\u{ad}hyphen"),
      ("tag\u{e0041}", "tag\\u{e0041}"),
      // An accent on the escape character makes the two one character of a Swift string; it is found all the same.
      ("\u{1b}\u{301}[31m", "\\u{1b}\u{301}[31m"),
    ])
  func hazards(text: String, expected: String) {
    #expect(printable(text) == expected)
  }

  @Test(
    "what people write stays as it is",
    arguments: [
      "", "notes.txt", "C:\\u{1b}", "Grüße.md", "résumé", "re\u{301}sume\u{301}", "日本語.txt", "한국어", "ملف.txt",
      "می\u{200c}خواهم", "👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}", "🇩🇪", "non\u{a0}breaking", "\u{600}1",
    ])
  func harmless(text: String) {
    #expect(printable(text) == text)
    #expect(Array(printable(text).unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test func `random text never keeps a control or a bidirectional override, and loses nothing else`() {
    // Written as numbers, apart from the categories that the function goes by.
    let forbidden: [ClosedRange<UInt32>] = [
      0x00...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069,
    ]
    func isForbidden(_ scalar: Unicode.Scalar) -> Bool { forbidden.contains { $0.contains(scalar.value) } }
    var generator = Seeded(seed: 1)
    var seen = 0
    for _ in 0..<3000 {
      let scalars = (0..<Int.random(in: 0..<12, using: &generator)).compactMap { _ in
        let bound: UInt32 = [0x80, 0x300, 0x2100, 0x110000].randomElement(using: &generator) ?? 0x80
        return Unicode.Scalar(UInt32.random(in: 0..<bound, using: &generator))
      }
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      let result = printable(String(text))
      seen += scalars.filter(isForbidden).count
      #expect(!result.unicodeScalars.contains(where: isForbidden))
      #expect(printable(result) == result)
      if !scalars.contains(where: { isForbidden($0) || $0.properties.generalCategory == .format }) {
        #expect(Array(result.unicodeScalars) == scalars)
      }
    }
    #expect(seen > 1000, "the generator makes enough of what is looked for")
  }
}
