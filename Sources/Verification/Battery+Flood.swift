internal import Foundation

/// One app writes into the log in a loop (I13).
extension Battery {
  /// Nested starts, and as many stops.
  private static let pairs = 1500
  /// So many entries of all these are few: some at first, and one a second of each kind.
  private static let most = 400

  func runFlood() throws {
    let name = "nested starts"
    let before = try scopeEntries()
    let settings = settings(isInside: true)
    let program = try launch(
      ["probe"] + settings + ["only=I13", "pairs=\(Self.pairs)"], picks: [[stage.granted], [stage.document]])
    _ = try program.finish()
    let (attempts, isWhole) = Attempt.read(program.outputText)
    guard isWhole else { throw BatteryError("the battery did not come to its end in the sandbox. \(program.said)") }
    let own = attempts.filter { $0.entry == "I13" }
    inside += own
    guard own.contains(where: { $0.outcome == .control }) else { return }
    let written = try scopeEntries() - before
    inside.append(
      written > Self.most
        ? Attempt("I13", name, .reached, "\(written) entries of the log are its own")
        : Attempt("I13", name, .refused, "\(written) entries of the log say it of \(2 * Self.pairs) starts and stops"))
  }

  /// How many entries the log has of scopes that the battery has started and stopped.
  private func scopeEntries() throws -> Int {
    try ["start", "stop"].map { kind in
      let words = ["audit", "log", "--app", Stage.identifier, "--kind", kind, "--format", "json"]
      let program = try Program([options.ambit] + words, environment: environment)
      guard try program.finish() == .exit(0) else { throw BatteryError("the log cannot be read. \(program.said)") }
      return program.outputText.split(separator: "\n").count
    }.reduce(0, +)
  }
}
