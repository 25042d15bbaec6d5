package import Rulebook
internal import Scenario

/// Systems by statements: the worst verdict of each cell, and its outcomes.
package struct Matrix: Sendable {
  package struct Cell: Equatable, Sendable {
    package var verdict: ScenarioOutcome.Verdict
    package var outcomes: [ScenarioOutcome]
  }

  package struct Row: Sendable {
    package var rule: Rule
    package var family: RuleFamily
    /// By system; a system that was not here has none.
    package var cells: [String: Cell]
  }

  package let runs: [SystemRun]
  package let rows: [Row]

  /// - Parameter items: the scenarios that were played.
  package init(_ items: [Suite.Item], _ runs: [SystemRun]) {
    self.runs = runs
    let played = Set(items.map(\.entry.id))
    var cells: [String: [String: [ScenarioOutcome]]] = [:]
    for run in runs {
      for outcome in run.outcomes { cells[outcome.id, default: [:]][run.system, default: []].append(outcome) }
    }
    rows = Rulebook.families.flatMap { family in
      family.rules.filter { played.contains($0.id) }.map { rule in
        Row(
          rule: rule, family: family,
          cells: (cells[rule.id] ?? [:]).mapValues { Cell(verdict: Self.worst($0), outcomes: $0) })
      }
    }
  }

  /// A fault of the system's hides what it would have shown; a failure counts more than any number of passes.
  private static func worst(_ outcomes: [ScenarioOutcome]) -> ScenarioOutcome.Verdict {
    let order: [ScenarioOutcome.Verdict] = [.failed, .error, .passed, .notApplicable]
    return order.first { verdict in outcomes.contains { $0.verdict == verdict } } ?? .notApplicable
  }

  /// The command that repeats a cell.
  package static func command(_ id: String, under system: String, user: String? = nil) -> String {
    var words = ["ambit", "conform", "--filter", "\(id)-"]
    if system != "ambit" { words += ["--under", system] }
    if let user { words += ["--user", user] }
    return words.joined(separator: " ")
  }

  /// A cell that has another verdict than in an earlier run.
  package struct Change: Equatable, Sendable {
    package var id: String
    package var system: String
    package var before: String
    package var after: String

    package init(id: String, system: String, before: String, after: String) {
      (self.id, self.system, self.before, self.after) = (id, system, before, after)
    }
  }

  /// The cells whose verdict differs from an earlier run's, or that one of the two runs lacks.
  package func changes(since earlier: Matrix) -> [Change] {
    let old = Dictionary(uniqueKeysWithValues: earlier.rows.map { ($0.rule.id, $0.cells) })
    let new = Dictionary(uniqueKeysWithValues: rows.map { ($0.rule.id, $0.cells) })
    let both = Set(runs.map(\.system)).intersection(earlier.runs.map(\.system))
    return Rulebook.families.flatMap(\.rules).flatMap { rule in
      both.sorted().compactMap { system in
        let (before, after) = (old[rule.id]?[system]?.verdict, new[rule.id]?[system]?.verdict)
        guard before != after else { return nil }
        return Change(
          id: rule.id, system: system, before: before?.rawValue ?? "not played", after: after?.rawValue ?? "not played")
      }
    }
  }
}
