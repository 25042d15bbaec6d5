internal import Foundation
internal import Kernel
internal import Scenario

#if canImport(Glibc)
  internal import Glibc
#endif

/// The learner's shell: bash in a sandbox, which reports each command and shows the answer before its next prompt.
///
/// Two FIFOs in the app's container carry the conversation. The words come from inside a sandbox, so they decide nothing but which
/// hint is shown: whether a task is done, the audit log says.
final class LessonShell {
  enum Message: Equatable {
    /// The shell is up.
    case begin
    /// A command has ended.
    case turn(command: String)
    /// `hint`, `solution`, `next`, `task`, `reset`
    case word(String)
  }

  private let play: Play
  private let app: String
  private let folder: String
  private(set) var child: Child?
  private var ask: Descriptor?
  private var answer: Descriptor?
  private var pending: [UInt8] = []

  /// - Parameter name: the lesson's.
  init(_ name: String, policy: String, in play: Play) throws {
    self.play = play
    identifier = "lesson.\(name)"
    app = "\(play.stage.folder)/Applications/Lesson.app"
    folder = "\(play.stage.containers)/\(identifier)"
    self.policy = policy
    try writeBundle()
  }

  private let identifier: String
  private let policy: String
  var container: String { folder }

  private func writeBundle() throws {
    let manager = FileManager.default
    try manager.createDirectory(atPath: app, withIntermediateDirectories: true)
    let plist = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict>
        <key>CFBundleIdentifier</key><string>\(identifier)</string>
        <key>CFBundleExecutable</key><string>main</string>
        <key>CFBundleName</key><string>The lesson's app</string>
      </dict></plist>

      """
    // The first run makes the container; the second one is the shell.
    let main = """
      #!/bin/bash
      [ "$1" = prepare ] && exec mkdir -p ~/.lesson
      exec /bin/bash --noprofile --rcfile "${0%/*}/rc" -i

      """
    for (file, text) in [("Info.plist", plist), ("main", main), ("rc", Self.startup)] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(app)/\(file)"))
    }
    _ = unsafe chmod("\(app)/main", 0o755)
  }

  /// bash's start-up file. `__lesson` says something to the lesson and shows the answer.
  private static let startup = #"""
    PS1='\[\e[1m\]app$\[\e[0m\] '
    set -o history
    unset HISTFILE
    HISTCONTROL=
    HISTTIMEFORMAT=
    __seen=
    __lesson() {
      local reply text
      printf '%s\n' "$*" >~/.lesson/ask || return
      IFS= read -r -d '' reply <~/.lesson/answer
      text=${reply#*$'\n'}
      [ -n "$text" ] && printf '%s\n' "$text"
      [ "${reply%%$'\n'*}" = leave ] && exit 0
      return 0
    }
    __turn() {
      local line number
      line=$(builtin history 1)
      line=${line#"${line%%[! ]*}"}
      number=${line%%[!0-9]*}
      # Before the first command the newest line is of this file.
      if [ -n "$__seen" ] && [ "$number" != "$__seen" ]; then
        case ${line#"$number"} in
          *" hint" | *" solution" | *" next" | *" task" | *" reset") ;;
          *) [ -n "$number" ] && __lesson turn "${line//$'\n'/ }" ;;
        esac
      fi
      __seen=$number
    }
    for __word in hint solution next task reset; do eval "$__word() { __lesson word $__word; }"; done
    PROMPT_COMMAND=__turn
    __lesson begin
    """#

  /// Starts the shell: on this process's terminal, or for ``type(_:)``.
  ///
  /// - Parameter picks: answers to the app's questions; nil: the learner answers in the picker.
  func launch(picks: [[String]]?) throws {
    if !FileManager.default.fileExists(atPath: "\(folder)/.lesson") {
      let first = try Child(
        name: "the container", executable: play.options.ambit, arguments: ["run", "--policy", policy, app, "prepare"],
        environment: play.environment, directory: play.stage.home)
      let ending: Ending? = try Waiting { _, _ in }.wait(for: first.name, limit: 20, children: [first]) { first.ending }
      guard ending == .exit(0) else {
        throw ScenarioError(
          file: "ambit", place: nil, message: "the lesson's app cannot be launched: \(first.errors.text)")
      }
    }
    ask = try fifo("ask")
    answer = try fifo("answer")
    pending = []
    var arguments = ["run", "--policy", policy]
    if let picks, !picks.isEmpty { arguments += ["--answers", try answers(picks)] }
    arguments.append(app)
    if picks == nil {
      var environment = play.environment
      environment["NO_COLOR"] = nil
      environment["TERM"] = ProcessInfo.processInfo.environment["TERM"]
      child = try Child(
        here: "the shell", executable: play.options.ambit, arguments: arguments, environment: environment,
        directory: play.stage.home)
    } else {
      child = try Child(
        name: "the shell", executable: play.options.ambit, arguments: arguments, environment: play.environment,
        directory: play.stage.home)
    }
  }

  /// A new FIFO each time: in an old one there may be words of a shell that was killed.
  private func fifo(_ name: String) throws -> Descriptor {
    let path = "\(folder)/.lesson/\(name)"
    _ = unsafe unlink(path)
    guard unsafe mkfifo(path, 0o666) == 0, unsafe chmod(path, 0o666) == 0 else {
      throw KernelError.last("mkfifo", path)
    }
    // Both ways, so that neither end waits for the other one to be opened.
    let descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw KernelError.last("open", path) }
    return Descriptor(owning: descriptor)
  }

  private func answers(_ picks: [[String]]) throws -> String {
    let path = "\(play.stage.folder)/answers/lesson-\(play.stage.folder.count)-\(UUID().uuidString).toml"
    let text = picks.map { "[[answer]]\npick = [\($0.map(TOMLText.quoted).joined(separator: ", "))]\n" }.joined()
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  // MARK: - The conversation

  /// A longer line is no command that a learner types.
  private static let longest = 16_384

  /// The next message; nil: there is none yet.
  func next() -> Message? {
    guard let ask else { return nil }
    var buffer = [UInt8](repeating: 0, count: 4096)
    while pending.count < Self.longest {
      let count = unsafe read(ask.rawValue, &buffer, buffer.count)
      guard count > 0 else { break }
      pending += buffer[..<count]
    }
    guard let end = pending.firstIndex(of: 10) else { return nil }
    let line = String(decoding: pending[..<end], as: UTF8.self)
    pending.removeSubrange(...end)
    let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = parts.count > 1 ? parts[1] : ""
    switch parts.first {
    case "turn": return .turn(command: String(rest.drop { $0.isNumber || $0 == " " || $0 == "*" }))
    case "word": return .word(rest)
    default: return .begin
    }
  }

  /// - Parameter leaves: the shell ends after it.
  func reply(_ text: String, leaves: Bool = false) {
    guard let answer else { return }
    var rest = Array("\(leaves ? "leave" : "go")\n\(text)\0".utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(answer.rawValue, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
    }
  }

  /// Types a line, where no learner does.
  func type(_ line: String) { _ = child?.send(ArraySlice(Array((line + "\n").utf8))) }

  var isOver: Bool {
    child?.reap()
    return child?.ending != nil
  }

  /// Waits for a message or the shell's end.
  ///
  /// - Parameter limit: seconds; nil: as long as it takes.
  func wait(limit: Double?) throws -> Message? {
    guard let child else { return nil }
    let clock = ContinuousClock()
    let start = clock.now
    while true {
      if let message = next() { return message }
      child.drain()
      if isOver { return next() }
      if let signal = Interruption.signal { throw Interrupted(signal: signal) }
      if let limit, start.duration(to: clock.now) / .seconds(1) > limit { return nil }
      // The FIFO wakes this up; the shell's end, and its output, are looked for now and then.
      var descriptors = ([ask?.rawValue].compactMap { $0 } + child.readable)
        .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      _ = unsafe poll(&descriptors, nfds_t(descriptors.count), 50)
    }
  }

  func end() {
    guard let child else { return }
    child.closeInput()
    for signal in [0, 15, 9] as [Int32] {
      if signal > 0 { child.signal(signal) }
      let ended = try? Waiting { _, _ in }.wait(
        for: "the shell", limit: 3, children: [child], isInterruptible: false
      ) { child.ending }
      if ended != nil { break }
    }
    self.child = nil
  }
}
