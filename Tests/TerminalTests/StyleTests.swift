import Testing

@testable import Terminal

@Suite struct `Styles` {
  struct Row: Sendable {
    let environment: [String: String]
    let isTerminal: Bool
    let isWanted: Bool
  }

  @Test(
    "colour follows the environment, the strongest wish first",
    arguments: [
      Row(environment: ["TERM": "xterm-256color"], isTerminal: true, isWanted: true),
      Row(environment: ["TERM": "xterm-256color"], isTerminal: false, isWanted: false),
      Row(environment: [:], isTerminal: true, isWanted: false),
      Row(environment: ["TERM": ""], isTerminal: true, isWanted: false),
      Row(environment: ["TERM": "dumb"], isTerminal: true, isWanted: false),
      Row(environment: ["TERM": "xterm", "NO_COLOR": "1"], isTerminal: true, isWanted: false),
      Row(environment: ["TERM": "xterm", "NO_COLOR": ""], isTerminal: true, isWanted: true),
      Row(environment: ["TERM": "xterm", "CLICOLOR": "0"], isTerminal: true, isWanted: false),
      Row(environment: ["TERM": "xterm", "CLICOLOR": "1"], isTerminal: false, isWanted: false),
      Row(environment: ["CLICOLOR_FORCE": "1"], isTerminal: false, isWanted: true),
      Row(environment: ["CLICOLOR_FORCE": "0", "TERM": "xterm"], isTerminal: false, isWanted: false),
      Row(environment: ["CLICOLOR_FORCE": "1", "TERM": "dumb"], isTerminal: false, isWanted: true),
      Row(environment: ["CLICOLOR_FORCE": "1", "CLICOLOR": "0"], isTerminal: false, isWanted: true),
      Row(environment: ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], isTerminal: true, isWanted: false),
    ])
  func wishes(row: Row) {
    #expect(Style.isWanted(environment: row.environment, isTerminal: row.isTerminal) == row.isWanted)
  }

  @Test func `attributes are switched on before the text and off after it`() {
    let style = Style(isEnabled: true)
    #expect(style.red("no") == "\u{1b}[31mno\u{1b}[0m")
    #expect(style.apply([.bold, .cyan], to: "title") == "\u{1b}[1;36mtitle\u{1b}[0m")
    #expect(style.bold("") == "")
    #expect(style.apply([], to: "plain") == "plain")
  }

  @Test(arguments: Style.Attribute.allCases)
  func `without colour the text stays as it is`(attribute: Style.Attribute) {
    #expect(Style(isEnabled: false).apply([attribute], to: "text") == "text")
  }
}
