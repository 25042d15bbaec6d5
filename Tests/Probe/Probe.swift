internal import Foundation

/// Runs inside sandboxes for the tests, as an app does that was written against AmbitKit: reads one request a line,
/// `{"do": "start", "of": "a"}`, and answers one JSON object a line. URLs stay here, under names, because a URL that
/// went through a string is exactly what some tests must be able to tell from one that did not.
///
/// A request that makes no sense is answered with `usage`; everything else with what Foundation and the kernel said.
@main
struct Probe {
  static func main() {
    if CommandLine.arguments.count > 1 { exit(once(CommandLine.arguments[1])) }
    var session = Session()
    while let line = readLine() {
      answer(session.answer(to: line))
    }
  }

  /// What small tests need: one act, without a conversation.
  private static func once(_ act: String) -> Int32 {
    switch act {
    case "crash":
      kill(getpid(), SIGSEGV)
      return 1
    case "spin":
      // Starts and stops without end, for launchers and brokers that are killed meanwhile.
      var session = Session()
      answer(session.answer(to: #"{"do": "pick", "as": "a"}"#))
      while true {
        _ = session.answer(to: #"{"do": "start", "of": "a"}"#)
        _ = session.answer(to: #"{"do": "stop", "of": "a"}"#)
      }
    default: return 64
    }
  }

  static func answer(_ object: [String: Any]) {
    let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    // Straight to the descriptor: the test waits for the line.
    try? FileHandle.standardOutput.write(contentsOf: (data ?? Data(#"{"usage": "no JSON"}"#.utf8)) + Data("\n".utf8))
  }
}
