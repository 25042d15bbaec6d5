/// One attempt of one probe, as the battery's program reported it.
package struct Attempt: Equatable, Sendable {
  package enum Outcome: String, Equatable, Sendable, CaseIterable {
    /// The bad thing could be done.
    case reached
    /// It could not.
    case refused
    /// It could not be tried.
    case unable
    /// Not the attempt itself, but something beside it that has to work for a refusal to mean something, and did.
    case control
  }

  /// The catalogue's identifier, `A1`.
  package var entry: String
  /// Which of the probe's attempts: a word or two, the same wherever the probe runs.
  package var name: String
  package var outcome: Outcome
  /// The kernel's answer to a refused call, by its name.
  package var error: String?
  package var text: String

  package init(_ entry: String, _ name: String, _ outcome: Outcome, error: String? = nil, _ text: String) {
    self.entry = entry
    self.name = name
    self.outcome = outcome
    self.error = error
    self.text = text
  }

  /// Reads one line of the program's output; nil for a line that is no report.
  package init?(line: String) {
    let fields = line.split(separator: "\t", maxSplits: 5, omittingEmptySubsequences: false)
    guard fields.count == 6, fields[0] == "::", let outcome = Outcome(rawValue: String(fields[3])) else { return nil }
    self.init(
      String(fields[1]), String(fields[2]), outcome, error: fields[4] == "-" ? nil : String(fields[4]),
      String(fields[5]))
  }

  /// The reports in an output, and whether it was whole: the program says so at its end.
  package static func read(_ output: String) -> (attempts: [Attempt], isWhole: Bool) {
    // A terminal ends lines with a return as well.
    let lines = output.split(whereSeparator: \.isNewline).map(String.init)
    return (lines.compactMap(Attempt.init(line:)), lines.contains("::\tdone"))
  }
}
