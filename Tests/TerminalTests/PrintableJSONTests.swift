import Foundation
import Testing

@testable import Terminal

@Suite struct `JSON on a terminal` {
  @Test(
    "what a terminal would obey, and what hides itself, is escaped as JSON has it",
    arguments: [
      ("exe.\u{202e}fdp", #"exe.\u202efdp"#), ("\u{2066}a\u{2069}", #"\u2066a\u2069"#),
      ("\u{200e}\u{61c}", #"\u200e\u061c"#),
      ("\u{9b}31m", #"\u009b31m"#), ("\u{85}\u{80}", #"\u0085\u0080"#), ("\u{7f}", #"\u007f"#),
      ("\u{2028}", #"\u2028"#),
      ("tag\u{e0041}", #"tag\udb40\udc41"#),
    ])
  func hazards(text: String, expected: String) throws {
    let encoder = JSONEncoder()
    let json = String(decoding: try encoder.encode([text, "日本語 é 👩\u{200d}👧"]), as: UTF8.self)
    let shown = printableJSON(json)
    #expect(shown.contains(expected), "\(shown)")
    #expect(!shown.unicodeScalars.contains(where: isHazardous))
    #expect(try JSONDecoder().decode([String].self, from: Data(shown.utf8)) == [text, "日本語 é 👩\u{200d}👧"])
  }

  @Test(arguments: ["", "{}", "{\n  \"a\" : [\"b\\n\"]\n}\n", "[\"日本語\",\"می\u{200c}خواهم\"]"])
  func `what is harmless stays as it is, white space between the members too`(json: String) {
    #expect(printableJSON(json) == json)
  }
}
