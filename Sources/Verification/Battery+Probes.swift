internal import Foundation
internal import Kernel

/// The probes that run inside, and the same outside.
extension Battery {
  /// Those that need a terminal.
  private static let terminalEntries = "A1,A3"
  /// Those that have runs of their own.
  private static let documentEntries = "G4,G6,G9,G11,I4,I10,I13"
  private static let streamEntries = "I6"

  func runInside() throws {
    var arguments = ["probe"] + settings(isInside: true)
    var lender: Program?
    if options.launcher.isAmbit {
      // Another app, which runs meanwhile, and a helper that passes its token and bookmark on.
      let other = try launch(["lend"], picks: [[stage.document]], bundle: stage.lender)
      guard let line = try other.readLine() else {
        throw BatteryError("no sandbox can be made. \(other.said)")
      }
      arguments += Battery.fields(line).map { "\($0.key)=\($0.value)" }
      lender = other
    }
    let left =
      "\(Self.terminalEntries),\(Self.streamEntries)" + (options.launcher.isAmbit ? ",\(Self.documentEntries)" : "")
    let before = stage.fingerprint(stage.document)
    let program = try launch(
      arguments + ["except=\(left)"], picks: [[stage.granted], [stage.document]], inherited: try inherited())
    _ = try program.finish()
    let (attempts, isWhole) = Attempt.read(program.outputText)
    guard isWhole else { throw BatteryError("the battery did not come to its end in the sandbox. \(program.said)") }
    inside += attempts
    let after = stage.fingerprint(stage.document)
    // It may have been changed, or taken away.
    try stage.reset()
    inside.append(
      after == before
        ? Attempt("B14", "seen outside", .refused, "size, mode, owner and time of the document have not changed")
        : Attempt("B14", "seen outside", .reached, "the document has changed"))
    lender?.closeInput()
    _ = try lender?.finish()
  }

  /// Unconfined; attempts that need privilege run once more as root of namespaces of their own.
  func runControls() throws {
    try runControl([])
    controls.append(Attempt("B14", "seen outside", .reached, "the document has changed"))
    guard geteuid() != 0 else { return }
    let worked = Set(controls.filter { $0.outcome == .reached }.map { "\($0.entry) \($0.name)" })
    let open = Set(
      inside.filter { $0.outcome == .refused && !worked.contains("\($0.entry) \($0.name)") }.map(\.entry))
    if open.isEmpty { return }
    try runControl(["ownroot=1", "only=\(open.sorted().joined(separator: ","))"])
  }

  private func runControl(_ more: [String]) throws {
    let arguments =
      ["probe"] + settings(isInside: false) + ["except=\(Self.terminalEntries),\(Self.streamEntries)"] + more
    let program = try launchUnconfined(arguments, inherited: try inherited())
    _ = try program.finish()
    controls += Attempt.read(program.outputText).attempts
    try stage.reset()
  }

  /// On a terminal without a reader: typed input is still there.
  func runOnTerminals() throws {
    let arguments = ["only=\(Self.terminalEntries)"]
    for isInside in [true, false] {
      let terminal = try PseudoTerminal()
      var settings = settings(isInside: isInside)
      settings.removeAll { $0.hasPrefix("broker=") }
      let probe = ["probe"] + settings + arguments
      let program =
        isInside ? try launch(probe, terminal: terminal) : try launchUnconfined(probe, terminal: terminal)
      _ = try program.finish()
      var (attempts, isWhole) = Attempt.read(program.outputText)
      if isWhole {
        attempts.append(
          terminal.waiting > 0
            ? Attempt("A1", "seen outside", .reached, "\(terminal.waiting) characters wait for the user's shell")
            : Attempt("A1", "seen outside", .refused, "nothing waits in the user's terminal"))
      } else {
        attempts = [Attempt("A1", "tty", .unable, "the battery did not come to its end on a terminal. \(program.said)")]
      }
      if isInside { inside += attempts } else { controls += attempts }
    }
  }
}
