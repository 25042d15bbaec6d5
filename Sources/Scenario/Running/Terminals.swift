import Foundation

/// Programs in terminals of their own, which tmux emulates.
final class Terminals {
  private let socket: String
  private let settings: String
  private let folder: String
  private(set) var names: Set<String> = []

  /// - Throws: ``NotApplicable`` where tmux is not installed.
  init(folder: String) throws {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    guard let tmux = path.split(separator: ":").map({ "\($0)/tmux" }).first(where: FileManager.default.isExecutableFile)
    else { throw NotApplicable(reason: "needs program:tmux") }
    program = tmux
    self.folder = folder
    socket = "\(folder)/terminals"
    // Else the server leaves with its last session, and the next launch meets one that is on its way out.
    settings = "\(folder)/terminals.conf"
    try Data("set -g exit-empty off\n".utf8).write(to: URL(fileURLWithPath: settings))
  }

  private let program: String

  /// The arguments of a tmux command, for a `Child`.
  func command(_ arguments: [String]) -> (program: String, arguments: [String]) {
    (program, ["-S", socket, "-f", settings] + arguments)
  }

  /// The command that starts a program and leaves its exit status behind.
  func start(_ name: String, _ words: [String], _ size: TerminalSize) -> (program: String, arguments: [String]) {
    names.insert(name)
    try? FileManager.default.removeItem(atPath: statusFile(name))
    let quoted = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
    return command([
      "new-session", "-d", "-x", "\(size.columns)", "-y", "\(size.rows)", "-s", name,
      "\(quoted); echo $? > '\(statusFile(name))'; sleep 1000",
    ])
  }

  private func statusFile(_ name: String) -> String { "\(folder)/\(name).status" }

  /// The exit status; nil while it runs.
  func status(of name: String) -> Int32? {
    (try? String(contentsOfFile: statusFile(name), encoding: .utf8)).flatMap { Int32($0.dropLast()) }
  }

  /// Ends every program.
  func end() {
    let (program, arguments) = command(["kill-server"])
    let child = try? Child(
      name: "tmux", executable: program, arguments: arguments, environment: ["PATH": "/usr/bin:/bin"], directory: "/")
    guard let child else { return }
    let waiting = Waiting { _, _ in }
    _ = try? waiting.wait(for: "tmux", limit: 3, children: [child], isInterruptible: false) { child.ending }
  }
}

extension Play {
  func launch(_ name: String, _ arguments: [String], inTerminal size: TerminalSize) throws -> [String] {
    let terminals = try self.terminals ?? Terminals(folder: stage.folder)
    self.terminals = terminals
    _ = try tmux(terminals.start(name, [options.ambit] + arguments, size))
    return ["\(size.columns) by \(size.rows)"]
  }

  func press(_ keys: [Template], in name: String, isText: Bool) throws -> [String] {
    let terminals = try terminals(of: name)
    let words = try keys.map { try variables.expand($0) }
    _ = try tmux(terminals.command(["send-keys", "-t", name] + (isText ? ["-l"] : []) + words))
    return []
  }

  func look(at name: String, _ expect: TextExpectation) throws -> [String] {
    let screen = try tmux(terminals(of: name).command(["capture-pane", "-p", "-t", name]))
    try expect.judge(screen, variables)
    return display.tail(screen)
  }

  func end(_ name: String, in terminals: Terminals, _ outcome: Outcome, limit: Double) throws -> [String] {
    guard let status = try wait(for: "\(name) to end", limit: limit, { terminals.status(of: name) }) else {
      throw CheckFailure(expected: "\(name) to end within \(seconds(limit))", seen: "it still runs")
    }
    guard Ending.exit(status) == outcome.ending else {
      throw CheckFailure(expected: "\(outcome.ending)", seen: "exit \(status)")
    }
    return ["exit \(status)"]
  }

  /// The terminal goes away, as when its window is closed.
  func close(_ name: String, in terminals: Terminals) throws -> [String] {
    _ = try tmux(terminals.command(["kill-session", "-t", name]))
    return []
  }

  /// The process that tmux has started in a terminal.
  func process(in terminals: Terminals, of name: String) throws -> Int32 {
    let number = try tmux(terminals.command(["list-panes", "-t", name, "-F", "#{pane_pid}"]))
    guard let pid = Int32(number.prefix { $0.isNumber }) else {
      throw CheckFailure(expected: "the process of \(name)", seen: number)
    }
    return pid
  }

  private func terminals(of name: String) throws -> Terminals {
    guard let terminals, terminals.names.contains(name) else {
      throw CheckFailure(expected: "\(name) to be launched with `terminal = true`", seen: "it has no terminal")
    }
    return terminals
  }

  private func tmux(_ command: (program: String, arguments: [String])) throws -> String {
    var environment = self.environment
    environment["TERM"] = "xterm-256color"
    let child = try Child(
      name: "tmux", executable: command.program, arguments: command.arguments, environment: environment,
      directory: stage.home)
    children.append(child)
    guard let ending = try wait(for: "tmux", limit: 10, { child.ending }), ending == .exit(0) else {
      throw CheckFailure(expected: "tmux to do it", seen: child.errors.text)
    }
    return child.takeOutput()
  }
}
