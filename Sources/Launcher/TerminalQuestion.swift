internal import Kernel
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// Asks the user something on their own terminal before an app is started, wherever the standard streams lead.
enum TerminalQuestion {
  /// Whether there is a terminal to ask on, and this process is in its foreground.
  static var isPossible: Bool { terminal != nil }

  private static var terminal: Descriptor? {
    guard let terminal = try? Descriptor.open("/dev/tty", flags: [.readWrite]),
      tcgetpgrp(terminal.rawValue) == getpgrp()
    else { return nil }
    return terminal
  }

  /// Shows a question and reads the answer: a choice's letter, number or key, and Enter. The end of the input, Esc, Ctrl-C and
  /// signals that end this process choose the last one.
  ///
  /// - Returns: the key of the choice.
  static func ask(_ question: LauncherInterface.Question) throws -> String {
    guard let terminal, let last = question.choices.last?.key else {
      throw Failure("the broker asks something, and there is no terminal to ask the user on")
    }
    let signals = [SIGTERM, SIGHUP, SIGINT]
    let end = try SignalQueue(signals)
    defer { release(signals) }
    // Earlier input was not meant for this question.
    let raw = try RawTerminal(terminal.rawValue, discardingInput: true, farewell: farewell)
    defer { raw.restore() }
    let output = Output(terminal.rawValue)
    var form = QuestionForm(question, eraseByte: raw.eraseByte)
    try output.write(known + form.opening)
    while true {
      var entries = [PollEntry(terminal, .read), PollEntry(end.descriptor, .read)]
      try Poll.wait(&entries)
      let typed = entries[1].returned.isEmpty ? input(of: terminal) : nil
      let (echo, choice) = typed.map { form.take($0) } ?? ("\r\n", last)
      guard let choice else {
        try output.write(echo)
        continue
      }
      // A terminal that is gone need not be told.
      try? output.write(echo + farewell)
      return choice
    }
  }

  /// - Returns: `nil` if the terminal is gone.
  private static func input(of terminal: Descriptor) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(terminal.rawValue, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR { return [] }
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  private static func release(_ signals: [Int32]) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// A terminal in a known state, regardless of the last program: soft reset (DECSTR), ASCII, no mouse or focus reports, pastes
  /// unmarked, keys as plain characters (`modifyOtherKeys`, kitty's protocol).
  private static let known =
    "\u{1B}[!p\u{1B}(B\u{0F}" + [9, 1000, 1002, 1003, 1004, 2004].map { "\u{1B}[?\($0)l" }.joined()
    + "\u{1B}[>4;0m\u{1B}[>0u"
  /// Takes back the state that ``known`` has put on kitty's stack.
  private static let farewell = "\u{1B}[<u\u{1B}[0m"
}

/// A question as it stands on a terminal, and the input there: knows no terminal.
struct QuestionForm {
  private let text: String
  /// The letter or number of each choice, its key and its label.
  private let choices: [(short: String, key: String, label: String)]
  private let eraseByte: UInt8
  private var typed = ""

  init(_ question: LauncherInterface.Question, eraseByte: UInt8) {
    text = question.text
    let letters = question.choices.map { $0.key.prefix(1) }
    choices = question.choices.enumerated().map { index, choice in
      let isUnique = letters.count { $0 == letters[index] } == 1
      return (isUnique ? String(letters[index]) : "\(index + 1)", choice.key, choice.label)
    }
    self.eraseByte = eraseByte
  }

  /// The first text. Lines end as a raw terminal needs it.
  var opening: String {
    let rows = choices.map { "  [\(printable($0.short))] \(printable($0.label))\r\n" }
    return "\r\nambit: \(printable(text))\r\n" + rows.joined() + Self.prompt
  }

  private static let prompt = "Your choice, and Enter: "

  /// Takes the input.
  ///
  /// - Returns: the text to show for it, and the key of the choice once there is one.
  mutating func take(_ bytes: [UInt8]) -> (echo: String, choice: String?) {
    let last = choices.last?.key ?? ""
    // Esc is alone; keys that begin with it are none of those that are read here.
    if bytes.first == 0x1B { return bytes.count == 1 ? ("\r\n", last) : ("", nil) }
    var echo = ""
    for byte in bytes {
      switch byte {
      case 0x03, 0x04: return (echo + "\r\n", last)
      case 0x0D, 0x0A:
        let word = typed.lowercased()
        typed = ""
        if word.isEmpty { continue }
        let index = choices.firstIndex { $0.short == word || $0.key == word } ?? Int(word).map { $0 - 1 }
        if let index, choices.indices.contains(index) { return (echo + "\r\n", choices[index].key) }
        echo += "\r\nThat is none of the choices. " + Self.prompt
      case eraseByte, 0x7F, 0x08:
        if typed.popLast() != nil { echo += "\u{08} \u{08}" }
      case 0x20...0x7E where typed.utf8.count < 64:
        typed.append(Character(Unicode.Scalar(byte)))
        echo.append(Character(Unicode.Scalar(byte)))
      default: break
      }
    }
    return (echo, nil)
  }
}
