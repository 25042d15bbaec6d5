import Paths
import Testing

@Suite struct `Rows of combining marks` {
  private let above = "\u{345}"
  private let below = "\u{334}"

  @Test func `texts as people write them pass, in any script`() {
    let texts = [
      "", "letter", String(repeating: "e\u{301}", count: 1000), String(repeating: "བཀྲ་ཤིས", count: 500),
      String(repeating: "สวัสดี", count: 500), String(repeating: "👩‍👩‍👧‍👦", count: 500),
      "a" + String(repeating: above, count: 127),
    ]
    for text in texts {
      #expect(!text.hasLongMarkRow)
      #expect(text.withoutLongMarkRows.utf8.elementsEqual(text.utf8))
    }
  }

  @Test(arguments: ["\u{345}", "\u{334}", "\u{344}", "\u{F73}", "\u{F75}", "\u{F81}"])
  func `a long row is found wherever it stands, and cut`(_ mark: String) {
    let row = String(repeating: mark, count: 200)
    for text in [row, "name" + row, row + "é", "é/" + row + "/é"] {
      #expect(text.hasLongMarkRow)
      #expect(!text.withoutLongMarkRows.hasLongMarkRow)
      #expect(text.withoutLongMarkRows.unicodeScalars.count == text.unicodeScalars.count - 72)
    }
  }

  @Test func `rows of several marks count as one`() {
    #expect(String(repeating: above + below, count: 65).hasLongMarkRow)
    #expect(!String(repeating: above + below + "-", count: 65).hasLongMarkRow)
  }
}
