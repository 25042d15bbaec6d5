internal import Audit
internal import Foundation
internal import Kernel
internal import Review
internal import Terminal

/// Prints the findings of a simulation.
struct SimulationLines {
  private struct Difference: Encodable {
    let entry: Int64
    let time, kind, outcome, field, reason: String
    let app, instance, grant, document, operation, rule: String?
    let because: Int64?
  }

  private struct Conclusion: Encodable {
    let policy: String
    let differences, judged: Int
    let byField: [String: Int]
    let notJudged: NotJudged
  }

  private struct NotJudged: Encodable {
    let fields, decisions: [String: Int]
    let launchesWithoutPolicy: Int
    let logIsCut: Bool
  }

  let format: OutputFormat
  let output: Output
  private var count = 0
  private var byField: [String: Int] = [:]
  private let table: Table
  private var layout: Table.Layout?
  /// Clears the progress of the reading from the same terminal.
  private let beginning: String

  init(format: OutputFormat, output: Output) {
    self.format = format
    self.output = output
    beginning = LogProgress.isSeen(beside: output.descriptor) ? LogProgress.cleared : ""
    table = Table(
      [
        .init("ENTRY", alignment: .trailing, minWidth: 6), .init("APP", minWidth: 8, maxWidth: 28, keeping: .end),
        .init("", minWidth: 1), .init("WHAT", minWidth: 8, maxWidth: 18),
        .init("DOCUMENT", minWidth: 8, maxWidth: 48, keeping: .end), .init("WHY", minWidth: 20),
      ], for: output.descriptor)
  }

  mutating func write(_ differences: [SimulatedDifference]) throws {
    guard !differences.isEmpty else { return }
    count += differences.count
    for each in differences { byField[each.field, default: 0] += 1 }
    switch format {
    case .json: try output.write(json: try differences.map { try Self.line(Self.encodable($0)) }.joined())
    case .table:
      let rows = differences.map(Self.row)
      // The first rows settle the columns, with room for the usual values.
      let layout = self.layout ?? table.layout(rows + [Self.typical])
      if self.layout == nil { try output.write(beginning + layout.header + "\n") }
      self.layout = layout
      try output.write(beginning + rows.map { layout.line($0) + "\n" }.joined())
    }
  }

  /// - Parameter policy: its name.
  func finish(_ simulation: Simulation, _ policy: String) throws {
    switch format {
    case .json:
      let gaps = simulation.gaps
      try output.write(
        json: try Self.line(
          Conclusion(
            policy: policy, differences: count, judged: simulation.judged, byField: byField,
            notJudged: NotJudged(
              fields: gaps.fields, decisions: gaps.decisions, launchesWithoutPolicy: gaps.launches,
              logIsCut: gaps.isCut))))
    case .table: try output.write(conclusion(simulation, printable(policy)))
    }
  }

  // MARK: For people

  private func conclusion(_ simulation: Simulation, _ policy: String) -> String {
    let decisions = simulation.judged == 1 ? "decision" : "decisions"
    var text = count > 0 ? "\n" : ""
    text +=
      count == 0
      ? "Under \(policy) all of the \(simulation.judged) \(decisions) that were judged would have been the same.\n"
      : "Under \(policy) \(count) of \(simulation.judged) \(decisions) would have come out differently: "
        + byField.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) by \($0.key)" }
        .joined(separator: ", ") + ".\n"
    let gaps = simulation.gaps
    var missing = gaps.fields.sorted { $0.key < $1.key }.map { field, launches in
      "\(field) differs, in \(launches == 1 ? "1 launch" : "\(launches) launches"): what it decides is not judged"
    }
    missing += gaps.decisions.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value)×)" }
    if gaps.launches > 0 {
      missing.append("launches of which the log does not hold the policy (\(gaps.launches)×): taken as they were")
    }
    if gaps.isCut { missing.append("what was launched and granted before the log begins: taken as it was") }
    guard !missing.isEmpty else { return text }
    return text + "Not judged:\n" + missing.map { "  \(printable($0))\n" }.joined()
  }

  private static func row(_ difference: SimulatedDifference) -> [Table.Cell] {
    let (mark, colour): (String, Style.Attribute) =
      switch difference.outcome {
      case .refused: ("✗", .red)
      case .allowed: ("✓", .green)
      case .narrowed: ("◐", .yellow)
      case .ended: ("■", .red)
      case .kept: ("▶", .green)
      }
    let because = difference.because.map { " (follows from entry \($0))" } ?? ""
    let rule = difference.rule.map { "\($0), " } ?? ""
    return [
      Table.Cell("\(difference.sequence)", .dim), Table.Cell(difference.app ?? "", .cyan), Table.Cell(mark, colour),
      Table.Cell(difference.kind.rawValue),
      Table.Cell(difference.document?.path ?? difference.operation ?? difference.grant ?? ""),
      Table.Cell("\(rule)\(difference.field): \(difference.reason)\(because)"),
    ]
  }

  private static let typical: [Table.Cell] = [
    "100000", "io.ambit.TextEdit", "✗", "bookmarkResolved", "/home/alice/Documents/notes.txt",
    "LIM-1, scopes.limit: all 8 scope slots would have been in use",
  ]

  // MARK: For programs

  private static func encodable(_ difference: SimulatedDifference) -> Difference {
    Difference(
      entry: difference.sequence, time: Timestamp(difference.time).text, kind: difference.kind.rawValue,
      outcome: difference.outcome.rawValue, field: difference.field, reason: difference.reason, app: difference.app,
      instance: difference.instance, grant: difference.grant, document: difference.document?.path,
      operation: difference.operation, rule: difference.rule, because: difference.because)
  }

  private static func line(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
  }
}
