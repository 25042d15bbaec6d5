import TestSupport
import Testing

@testable import Terminal

@Suite struct `Display width` {
  @Test(
    "text takes the columns that a terminal gives it",
    arguments: [
      ("", 0), ("abc", 3), ("Grüße", 5), ("e\u{301}", 1), ("\u{301}", 0),
      ("日本", 4), ("ﾆﾎﾝ", 3), ("ＡＢ", 4), ("、。", 4), ("한국", 4),
      ("\u{1112}\u{1161}\u{11ab}", 2),  // one Hangul syllable spelt with three letters
      ("😀", 2), ("👍🏽", 2), ("👩\u{200d}👩\u{200d}👧", 2), ("🇩🇪", 2), ("❤", 1), ("❤\u{fe0f}", 2), ("1\u{fe0f}\u{20e3}", 2),
      ("✓", 1), ("✗", 1), ("…", 1), ("│", 1), ("─", 1), ("→", 1), ("☃", 1), ("⌚", 2), ("〈", 2),
      ("สวัสดี", 4), ("नि", 1), ("\u{200d}", 0), ("\u{7}", 0), ("\u{85}", 0), ("\u{20000}", 2), ("\u{e000}", 1),
    ])
  func widths(text: String, width: Int) {
    #expect(displayWidth(text) == width)
  }

  @Test(
    "a text that does not fit keeps its better end",
    arguments: [
      ("notes.txt", 9, TruncationSide.start, "notes.txt"),
      ("notes.txt", 8, .start, "notes.t…"),
      ("notes.txt", 8, .end, "…tes.txt"),
      ("notes.txt", 1, .start, "…"),
      ("notes.txt", 1, .end, "…"),
      ("notes.txt", 0, .start, ""),
      ("notes.txt", -3, .end, ""),
      ("日本語", 5, .start, "日本…"),
      ("日本語", 4, .start, "日…"),
      ("日本語", 4, .end, "…語"),
      ("🇩🇪🇫🇷🇪🇸", 5, .end, "…🇫🇷🇪🇸"),
      ("", 0, .start, ""),
    ])
  func cuts(text: String, width: Int, side: TruncationSide, expected: String) {
    #expect(truncated(text, to: width, keeping: side) == expected)
  }

  @Test func `a cut text fits, and says the start or the end of what was there`() {
    let pieces = ["a", "ß", "日", "e\u{301}", "😀", "👩\u{200d}👧", "🇩🇪", " ", "/", "한"]
    var generator = Seeded(seed: 2)
    for _ in 0..<2000 {
      let text = (0..<Int.random(in: 0..<15, using: &generator))
        .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      let width = Int.random(in: 1..<20, using: &generator)
      let start = truncated(text, to: width)
      let end = truncated(text, to: width, keeping: .end)
      #expect(displayWidth(start) <= width && displayWidth(end) <= width)
      if displayWidth(text) <= width {
        #expect(start == text && end == text)
      } else {
        #expect(start.last == "…" && text.hasPrefix(start.dropLast()))
        #expect(end.first == "…" && text.hasSuffix(end.dropFirst()))
        // Not one more would have fitted: at most one column of a wide character is left over.
        #expect(displayWidth(start) >= width - 1 && displayWidth(end) >= width - 1)
      }
    }
  }
}
