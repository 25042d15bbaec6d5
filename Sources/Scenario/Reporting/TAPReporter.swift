/// The Test Anything Protocol, version 13: one test point a step, failures with a YAML block.
package final class TAPReporter: ScenarioReporter {
  private let write: (String) -> Void
  private var count = 0
  private var hasBegun = false

  package init(write: @escaping (String) -> Void) { self.write = write }

  private func line(_ text: String) {
    if !hasBegun { write("TAP version 13\n") }
    hasBegun = true
    write(text + "\n")
  }

  package func began(_ scenario: Scenario) { comment(scenario.title) }

  package func ended(_ step: StepResult) {
    guard step.verdict != .narrated else { return comment(step.step.say) }
    count += 1
    let name = Self.escaped(step.step.say)
    switch step.verdict {
    case .skipped: line("ok \(count) - \(name) # SKIP a step before it failed")
    case .failed:
      line("not ok \(count) - \(name)")
      describe(step)
    case .passed, .narrated:
      line("ok \(count) - \(name)")
      for check in step.checks { comment(([check.what] + check.evidence).joined(separator: " | ")) }
    }
  }

  private func describe(_ step: StepResult) {
    guard let check = step.checks.last, let failure = check.failure else { return }
    line("  ---")
    line("  check: \(Self.quoted(check.what))")
    line("  expected: \(Self.quoted(failure.expected))")
    line("  seen: \(Self.quoted(failure.seen))")
    if !failure.context.isEmpty { line("  context: [\(failure.context.map(Self.quoted).joined(separator: ", "))]") }
    line("  line: \(check.place.line)")
    line("  ...")
  }

  package func ended(_ result: ScenarioResult) {
    for note in result.notes { comment(note) }
  }

  package func finished(_ results: [ScenarioResult]) { line("1..\(count)") }

  private func comment(_ text: String) {
    for part in text.split(separator: "\n") { line("# \(part)") }
  }

  /// A description is one line, and `#` in it would begin a directive.
  static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("#", with: "\\#").replacing("\n", with: " ")
  }

  /// A double-quoted YAML scalar.
  static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
  }
}
