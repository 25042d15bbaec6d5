#if canImport(Glibc)
  import Glibc
#endif

/// The editor's window is one line: a command comes in on standard input, an answer goes out.
struct Window {
  let editor: Editor
  /// At a terminal there is a person, who gets a prompt.
  private let isAtTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1

  init(editor: Editor) { self.editor = editor }

  func run() {
    say(isAtTerminal ? "TextEdit. `help` says what it can do." : "ok TextEdit is ready")
    while let line = nextLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      guard let command = words.first else { continue }
      if command == "quit" {
        if !isAtTerminal { say("ok") }
        return
      }
      if command == "help", isAtTerminal {
        say(Editor.help)
      } else {
        say(editor.perform(command, words.count > 1 ? words[1] : "").line)
      }
    }
  }

  private func nextLine() -> String? {
    if isAtTerminal { say("> ", terminator: "") }
    return readLine()
  }

  /// Prints at once: into a pipe, output would wait until there is much of it.
  private func say(_ text: String, terminator: String = "\n") {
    print(text, terminator: terminator)
    fflush(nil)
  }
}
