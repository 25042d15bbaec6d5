import Testing

@testable import Launcher

/// Sentences of Ambit's on a terminal, with names in them that others have chosen.
@Suite struct `Sentences about failures` {
  @Test(
    "a name in one commands no terminal and begins no line",
    arguments: [
      (
        "not granted: /home/u/\u{1b}[2J\u{1b}]0;title\u{7}.txt",
        "not granted: /home/u/\\u{1b}[2J\\u{1b}]0;title\\u{07}.txt"
      ),
      ("x\nambit: all is well\r", "x\\nambit: all is well\\r"),
      ("x\r\ny", "x\\r\\ny"),
      ("exe.\u{202e}fdp", "exe.\\u{202e}fdp"),
      ("\u{9b}31m", "\\u{9b}31m"),
      // A byte that is not UTF-8.
      ("caf\u{10fee9}", "caf\\xE9"),
      ("“Grüße.md” says: 日本語", "“Grüße.md” says: 日本語"),
    ])
  func names(sentence: String, expected: String) {
    #expect(Failure(sentence).shown == "ambit: \(expected)\n")
    // Callers have escaped some names already.
    #expect(Failure(expected).shown == "ambit: \(expected)\n")
  }

  @Test func `several sentences have a line each`() {
    let failure = Failure(sentences: ["one\ttwo", "three"], status: 2)
    #expect(failure.shown == "ambit: one\\ttwo\nthree\n")
    #expect(failure.description == "one\ttwo\nthree" && failure.status == 2)
  }
}
