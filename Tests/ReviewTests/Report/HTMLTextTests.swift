import Terminal
import TestSupport
import Testing

@testable import Pages
@testable import Review

/// Strings that a log can hold because apps and files are called so.
struct HostileText {
  static let pieces = [
    "</script>", "<script>alert(1)</script>", "<!--", "-->", "]]>", "<img src=x onerror=alert(1)>", "\" onload=\"x",
    "' x='",
    "&lt;", "&#60;", "&", "<", ">", "\"", "'", "\u{202e}", "\u{2066}", "\u{200f}", "\u{feff}", "\u{0}", "\u{1b}[2J",
    "\n",
    "\r\n", "\t", "\u{85}", "\u{2028}", "e\u{301}", "é", "👩‍👩‍👧", "שלום", "日本", "javascript:x",
    "data:text/html,",
    "</bdi>", "</svg>", "</title>", "<style>*{}", "⟨U+202E⟩", "U+202E", "\u{e0041}", "\u{ad}", "\u{10ffff}", "/", "a",
    " ",
  ]

  static func random(_ generator: inout Seeded, most: Int = 9) -> String {
    (0..<Int.random(in: 1...most, using: &generator)).reduce(into: "") { text, _ in
      text += pieces.randomElement(using: &generator) ?? ""
    }
  }
}

@Suite("HTML text")
struct HTMLTextTests {
  @Test("Whatever a text of the log's holds, the page has exactly it, and no markup of its making")
  func hostileTextsComeBack() throws {
    var generator = Seeded(seed: 20)
    for _ in 0..<3000 {
      let words = HostileText.random(&generator)
      var html = HTMLText()
      html.element("td") { $0.quote(words, most: 10_000) }
      let root = try PageReader.read(html.text)
      #expect(root.text.unicodeScalars.dropLast().elementsEqual(words.unicodeScalars), "\(words.debugDescription)")
      #expect(Set(root.all.map(\.name)).isSubset(of: ["", "td", "bdi", "span"]))
      #expect(!html.text.dropLast().unicodeScalars.contains(where: isHazardous), "\(words.debugDescription)")
    }
  }

  @Test("In an attribute a text stays within its quotes, with what cannot be seen by number")
  func hostileAttributes() throws {
    var generator = Seeded(seed: 21)
    for _ in 0..<3000 {
      let words = HostileText.random(&generator)
      var html = HTMLText()
      html.empty("rect", ["aria-label": words, "class": "box"])
      let rect = try #require(try PageReader.read(html.text).all("rect").first)
      #expect(rect.attributes.map(\.name) == ["aria-label", "class"])
      #expect(rect["aria-label"]?.unicodeScalars.elementsEqual(HTMLText.plain(words).unicodeScalars) == true)
      #expect(!html.text.dropLast().unicodeScalars.contains(where: isHazardous))
    }
  }

  @Test("A text that is too long keeps its beginning and its end, and says how much is missing")
  func longTexts() {
    let cut = HTMLText.cut("begin" + String(repeating: "x", count: 1000) + "end", to: 100)
    #expect(cut.hasPrefix("beginxxx") && cut.hasSuffix("xxxend") && cut.contains("(908 characters left out)"))
    #expect(HTMLText.cut("short", to: 5) == "short")
  }
}
