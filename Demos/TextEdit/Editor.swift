#if canImport(Glibc)
  import Glibc
#endif

/// A text editor with one line for a window: a command comes in, an answer goes out.
///
/// Everything it can do to a document it does with the document's path and the system's plain calls, so that its
/// answers show what the sandbox lets through.
struct Editor {
  /// At a terminal there is a person, who gets a prompt and no protocol.
  private let isAtTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1

  mutating func run() {
    say(isAtTerminal ? "TextEdit. `help` lists what it can do." : "ok TextEdit is ready")
    while let line = nextLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      guard let command = words.first else { continue }
      if command == "quit" { break }
      say(perform(command, words.count > 1 ? words[1] : "").line)
    }
  }

  private func nextLine() -> String? {
    if isAtTerminal {
      say("> ", terminator: "")
    }
    return readLine()
  }

  /// Prints at once: into a pipe, output would wait until there is much of it.
  private func say(_ text: String, terminator: String = "\n") {
    print(text, terminator: terminator)
    fflush(nil)
  }

  private mutating func perform(_ command: String, _ argument: String) -> Answer {
    do {
      switch command {
      case "help": return .ok(Self.help)
      case "open": return .ok("\(try TextFile.read(argument).utf8.count) bytes")
      case "write": return try write(argument)
      default: return .error(symbol: "EINVAL", message: "there is no command \(command); `help` lists them")
      }
    } catch {
      return error.answer
    }
  }

  private static let help = "open PATH, write PATH TEXT, quit"

  private func write(_ argument: String) throws(SystemError) -> Answer {
    let words = argument.split(separator: " ", maxSplits: 1).map(String.init)
    guard words.count == 2 else { return .error(symbol: "EINVAL", message: "write PATH TEXT") }
    try TextFile.replace(words[0], with: words[1] + "\n")
    return .ok("\(words[1].utf8.count + 1) bytes")
  }
}
