internal import Foundation
internal import Kernel

/// The probes about the observer of an app's calls, which runs in the launcher. Under any policy, it is switched on here.
extension Battery {
  private static let observing = ["--trace"]
  /// Nothing that a sandbox shows.
  private var hidden: String { "/srv/ambit-\(stage.token)" }

  func runObserved() throws {
    try spell()
    try killObservers()
  }

  // MARK: E9

  /// Opens files of the host under all spellings but their names: a refusal has to be reported with the file that was meant.
  private func spell() throws {
    let status = "\(stage.folder)/status"
    let file = try Descriptor.open(status, flags: [.write, .create, .truncate], mode: 0o600)
    let program = try launch(
      ["spell", "/home/user", hidden], inherited: [3: file], more: Self.observing + ["--json-status-fd", "3"])
    _ = try program.finish()
    let spellings = Spelling.read(program.outputText)
    guard let spellings else { throw BatteryError("the battery does not run under an observer. \(program.said)") }
    let text = String(decoding: FileManager.default.contents(atPath: status) ?? Data(), as: UTF8.self)
    let reported = Set(text.split(separator: "\n").compactMap { Self.denied(String($0)) })
    inside += spellings.map { $0.attempt(reported: reported) }

    // The control: without an obstacle, each of them leads to its file.
    let target = "\(stage.victim)/spelt"
    for spelling in spellings where spelling.name != "create" { try stage.write("x", "\(target)-\(spelling.name)") }
    defer { stage.clearVictim() }
    let plain = try launchUnconfined(["spell", stage.container, target])
    _ = try plain.finish()
    for spelling in Spelling.read(plain.outputText) ?? [] where spelling.answer == "ok" {
      controls.append(Attempt("E9", spelling.name, .reached, "it leads there"))
    }
  }

  /// The path in a report of a refusal.
  private static func denied(_ line: String) -> String? {
    struct Event: Decodable {
      let event: String
      let path: String?
    }
    guard let event = try? JSONDecoder().decode(Event.self, from: Data(line.utf8)), event.event == "denied" else {
      return nil
    }
    return event.path
  }

  // MARK: E10

  /// The launcher, and with it the observer, killed while processes wait for its answers.
  private func killObservers() throws {
    let rounds = 8
    for isInside in [true, false] {
      let arguments = ["ask", hidden]
      var fault: String?
      for round in 0..<rounds where fault == nil {
        let program = isInside ? try launch(arguments, more: Self.observing) : try launchUnconfined(arguments)
        guard try program.readLine() == "ready" else {
          throw BatteryError("the battery does not run under an observer. \(program.said)")
        }
        usleep(UInt32(round) * 3_000)
        program.kill()
        _ = try program.finish()
        if try !program.isSilent(within: .seconds(1)) { fault = "processes go on without their observer" }
        if program.outputText.contains("through") { fault = "a call went through that nobody had answered" }
        try end(program)
      }
      let attempt =
        fault.map { Attempt("E10", "kill", .reached, $0) }
        ?? Attempt(
          "E10", "kill", .refused, "killed \(rounds) times in the middle of calls: nothing went through, nobody left")
      if isInside { inside.append(attempt) } else { controls.append(attempt) }
    }
  }
}

/// The spelling of a file that must not be opened, and the result.
struct Spelling: Equatable {
  let name: String
  /// The target of the spelling.
  let target: String
  /// `ok` or an errno.
  let answer: String

  /// Reads the output of the battery's program; nil if it did not come to its end.
  static func read(_ text: String) -> [Spelling]? {
    let lines = text.split(separator: "\n").map(String.init)
    guard lines.last == "done" else { return nil }
    return lines.compactMap { line in
      let fields = line.split(separator: "\t").map(String.init)
      return fields.count == 3 ? Spelling(name: fields[0], target: fields[1], answer: fields[2]) : nil
    }
  }

  /// - Parameter reported: the paths of all refusals that were reported.
  func attempt(reported: Set<String>) -> Attempt {
    if answer == "ok" { return Attempt("E9", name, .reached, "\(target) was opened") }
    return reported.contains(target)
      ? Attempt("E9", name, .refused, error: answer, "reported as what was meant")
      : Attempt("E9", name, .reached, "\(answer), and nobody was told that it leads to \(target)")
  }
}
