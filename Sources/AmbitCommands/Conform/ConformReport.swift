internal import Conformance
internal import Foundation
internal import Rulebook
internal import Scenario
internal import Terminal
internal import Wire

/// A run of the suite, told in the ways that people and programs read.
struct ConformReport {
  let suite: Suite
  /// The scenarios that were played.
  let items: [Suite.Item]
  let runs: [SystemRun]
  /// Whether all of the suite was played: only then a gap is a gap.
  let isWhole: Bool

  /// `--list`: each scenario with its statement.
  static func list(_ items: [Suite.Item], _ style: Style, width: Int?) -> String {
    let table = Table(
      [Table.Column("SCENARIO"), Table.Column("", maxWidth: 1), Table.Column("STATEMENT", keeping: .start)],
      style: style,
      width: width)
    return table.render(
      items.map { [Table.Cell($0.name), Table.Cell($0.entry.strength), Table.Cell($0.entry.statement)] })
  }

  /// One line about one system.
  static func line(_ run: SystemRun, _ style: Style) -> String {
    let name = run.system.padding(toLength: max(14, run.system.count), withPad: " ", startingAt: 0)
    if let absent = run.absent { return "\(style.dim(name))  \(style.dim("not here: " + printable(absent)))\n" }
    let seconds = String(format: "%5.1f s", run.seconds)
    return "\(style.bold(name))  \(counts(run, style))  \(style.dim(seconds + (run.isModelled ? ", modelled" : "")))\n"
  }

  private static func counts(_ run: SystemRun, _ style: Style) -> String {
    func count(_ verdict: ScenarioOutcome.Verdict, _ paint: (String) -> String) -> String {
      let number = run.count(verdict)
      let text = String(format: "%4d %@", number, verdict.rawValue)
      return number == 0 ? style.dim(text) : paint(text)
    }
    return [
      count(.passed, style.green), count(.failed, style.red), count(.error, style.yellow), count(.notApplicable) { $0 },
    ].joined(separator: " ")
  }

  // MARK: - For people

  func pretty(_ style: Style, width: Int) -> String {
    var text = ""
    for run in runs where run.absent == nil {
      let failed = run.outcomes.filter { $0.verdict == .failed || $0.verdict == .error }
      for outcome in failed where runs.count == 1 || run.system == "ambit" { text += failure(outcome, style, width) }
    }
    if runs.count == 1, let run = runs.first { text += table(run, style, width) }
    if isWhole { text += gaps(style, width) }
    if runs.count == 1, let run = runs.first { text += "\n" + Self.line(run, style) }
    return text
  }

  private func failure(_ outcome: ScenarioOutcome, _ style: Style, _ width: Int) -> String {
    let mark = outcome.verdict == .failed ? style.red("✘") : style.yellow("!")
    var text = "\(mark) \(style.bold(outcome.name)) \(style.dim("as " + outcome.user))\n"
    if case .rule(let rule, _)? = Rulebook.named(outcome.id) {
      for line in wrapped(rule.statement, to: width - 4) { text += "    \(line)\n" }
    }
    for line in wrapped(printable(outcome.reason), to: width - 4) { text += "    \(style.dim(line))\n" }
    return text + "\n"
  }

  /// Areas by strength: statements shown, of statements in force.
  private func table(_ run: SystemRun, _ style: Style, _ width: Int) -> String {
    var rows: [[Table.Cell]] = []
    let table = Table(
      [Table.Column("AREA")] + Rule.Strength.allCases.map { Table.Column($0.rawValue, alignment: .trailing) }
        + ["PASSED", "FAILED", "N/A", "STATEMENTS"].map { Table.Column($0, alignment: .trailing) }
        + [Table.Column("ABOUT")], style: style, width: width)
    for family in Rulebook.families {
      let outcomes = run.outcomes.filter { $0.id.hasPrefix(family.id + "-") }
      guard !outcomes.isEmpty else { continue }
      let shown = Set(outcomes.filter { $0.verdict == .passed }.map(\.id))
      let inForce = family.rules.filter { $0.state == .inForce }
      var cells = [Table.Cell(family.id, .bold)]
      for strength in Rule.Strength.allCases {
        let of = inForce.filter { $0.strength == strength }
        cells.append(Table.Cell(of.isEmpty ? "" : "\(of.count { shown.contains($0.id) })/\(of.count)"))
      }
      let failed = outcomes.count { $0.verdict == .failed || $0.verdict == .error }
      cells.append(Table.Cell("\(outcomes.count { $0.verdict == .passed })", .green))
      cells.append(failed > 0 ? Table.Cell("\(failed)", .red) : Table.Cell("0", .dim))
      cells.append(Table.Cell("\(outcomes.count { $0.verdict == .notApplicable })", .dim))
      cells.append(Table.Cell("\(inForce.count { shown.contains($0.id) })/\(inForce.count)"))
      cells.append(Table.Cell(family.title, .dim))
      rows.append(cells)
    }
    return table.render(rows)
  }

  /// Statements that no scenario shows, and why.
  private func gaps(_ style: Style, _ width: Int) -> String {
    var text = ""
    let exceptions = suite.exceptions.sorted { $0.key.localizedStandardCompare($1.key) == .orderedAscending }
    if !exceptions.isEmpty { text += "\nShown elsewhere, not by a scenario:\n" }
    for (id, reason) in exceptions {
      for (index, line) in wrapped(reason, to: width - 10).enumerated() {
        let name = index == 0 ? id.padding(toLength: 8, withPad: " ", startingAt: 0) : "        "
        text += "  \(style.cyan(name))\(style.dim(line))\n"
      }
    }
    let uncovered = suite.uncovered()
    if !uncovered.isEmpty {
      text += "\n\(style.yellow("Neither shown nor excused:")) \(uncovered.map(\.id).joined(separator: ", "))\n"
    }
    return text
  }

  // MARK: - For programs

  var json: JSONObject {
    [
      "systems": .array(
        runs.map { run in
          [
            "system": .string(run.system), "version": .string(run.version), "modelled": .bool(run.isModelled),
            "absent": run.absent.map { .string($0) } ?? .null,
            "seconds": .double((run.seconds * 100).rounded() / 100),
            "outcomes": .array(run.outcomes.map { .object($0.json) }),
          ]
        }),
      "exceptions": .object(exceptionsJSON),
      "uncovered": .array(suite.uncovered().map { .string($0.id) }),
    ]
  }

  private var exceptionsJSON: JSONObject {
    var object = JSONObject()
    for (id, reason) in suite.exceptions.sorted(by: { $0.key < $1.key }) { object[id] = .string(reason) }
    return object
  }

  private var rows: [(run: SystemRun, outcome: ScenarioOutcome)] {
    runs.flatMap { run in run.outcomes.map { (run, $0) } }
  }

  var tap: String {
    var text = "TAP version 13\n1..\(rows.count)\n"
    for (index, row) in rows.enumerated() {
      let isGood = row.outcome.verdict == .passed || row.outcome.verdict == .notApplicable
      let skip = row.outcome.verdict == .notApplicable ? " # SKIP \(Self.line(row.outcome.reason))" : ""
      text += "\(isGood ? "ok" : "not ok") \(index + 1) - \(Self.name(row))\(skip)\n"
      if !isGood { text += "# \(Self.line(row.outcome.reason))\n" }
    }
    return text
  }

  private static func name(_ row: (run: SystemRun, outcome: ScenarioOutcome)) -> String {
    "\(row.outcome.name) under \(row.run.system) as \(row.outcome.user)"
  }

  private static func line(_ text: String) -> String {
    printable(text).replacing("#", with: "\\#").split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  var junit: String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
    for run in runs {
      text +=
        "  <testsuite name=\"\(XMLText.escaped(run.system))\" tests=\"\(run.outcomes.count)\" "
        + "failures=\"\(run.count(.failed))\" errors=\"\(run.count(.error))\" skipped=\"\(run.count(.notApplicable))\">\n"
      for outcome in run.outcomes {
        let reason = XMLText.escaped(outcome.reason)
        text +=
          "    <testcase classname=\"\(XMLText.escaped(run.system)).\(outcome.user)\" "
          + "name=\"\(XMLText.escaped(outcome.name))\" time=\"\(String(format: "%.3f", outcome.seconds))\">"
        switch outcome.verdict {
        case .passed: break
        case .failed: text += "<failure message=\"\(reason)\"/>"
        case .error: text += "<error message=\"\(reason)\"/>"
        case .notApplicable: text += "<skipped message=\"\(reason)\"/>"
        }
        text += "</testcase>\n"
      }
      text += "  </testsuite>\n"
    }
    return text + "</testsuites>\n"
  }
}
