import Testing
import Wire

@testable import Launcher

@Suite struct `A question on a terminal` {
  static let question = LauncherInterface.Question(
    kind: .identity, text: "This is not\u{1B}[2J the \u{202E}app.\u{9B}31m",
    choices: [.init("new", "run it as a new app"), .init("replace", "replace it"), .init("refuse", "not at all")])

  private func answer(_ typed: String...) -> String? {
    var form = QuestionForm(Self.question, eraseByte: 0x7F)
    for text in typed { if let choice = form.take(Array(text.utf8)).choice { return choice } }
    return nil
  }

  @Test func `shows its text and choices with nothing that a terminal would obey`() {
    let opening = QuestionForm(Self.question, eraseByte: 0x7F).opening
    #expect(opening.contains("[n] run it as a new app\r\n"))
    // Two begin with the same letter.
    #expect(opening.contains("[2] replace it\r\n") && opening.contains("[3] not at all\r\n"))
    #expect(opening.unicodeScalars.allSatisfy { !["\u{1B}", "\u{202E}", "\u{9B}"].contains($0) })
  }

  @Test func `takes a letter, a number or a word, and Enter`() {
    #expect(answer("n\r") == "new" && answer("N", "\n") == "new" && answer("1\r") == "new")
    #expect(answer("replace\r") == "replace" && answer("2\r") == "replace" && answer("3\r") == "refuse")
    #expect(answer("x\u{7F}n\r") == "new" && answer("q\r", "n\r") == "new")
  }

  @Test func `takes the last choice for the end of the input, Ctrl-C and Esc`() {
    #expect(answer("\u{03}") == "refuse" && answer("n\u{04}") == "refuse" && answer("\u{1B}") == "refuse")
  }

  /// A line that was pasted for the shell is no answer.
  @Test func `takes nothing else for an answer`() {
    #expect(answer("r\r") == nil && answer("new app\r") == nil && answer("n") == nil && answer("\r") == nil)
    #expect(answer("0\r") == nil && answer("4\r") == nil && answer("\u{1B}[A") == nil && answer("-1\r") == nil)
    #expect(answer("rm new\rnew one\r") == nil)
  }
}
