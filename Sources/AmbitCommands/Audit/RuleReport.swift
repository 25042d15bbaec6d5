internal import Foundation
internal import Review
internal import Terminal

/// The answers of a log to rules, for people and for programs.
struct RuleReport: Encodable {
  struct Rule: Encodable {
    let name, kind, words: String
    let verdict: String
    let judged, violationCount, unknownCount: Int
    let violations, unknowns: [Finding]
  }

  struct Finding: Encodable {
    let entry: Int64
    let sentence: String
  }

  let holds: Bool
  let rules: [Rule]

  /// - Parameter mayLackEntries: the log may go on, and nothing can be said to hold then.
  init(_ answers: [RuleAnswer], mayLackEntries: Bool = false) {
    holds = !mayLackEntries && answers.allSatisfy { $0.verdict == .holds }
    rules = answers.map { answer in
      if mayLackEntries, answer.verdict == .holds { return Self.unknown(answer) }
      return Rule(
        name: answer.rule.name, kind: answer.rule.kind.word, words: answer.rule.words,
        verdict: answer.verdict.rawValue, judged: answer.judged, violationCount: answer.violationCount,
        unknownCount: answer.unknownCount,
        violations: answer.violations.map { Finding(entry: $0.sequence, sentence: $0.sentence) },
        unknowns: answer.unknowns.map { Finding(entry: $0.sequence, sentence: $0.sentence) })
    }
  }

  private static func unknown(_ answer: RuleAnswer) -> Rule {
    Rule(
      name: answer.rule.name, kind: answer.rule.kind.word, words: answer.rule.words,
      verdict: RuleAnswer.Verdict.unknown.rawValue, judged: answer.judged, violationCount: 0, unknownCount: 1,
      violations: [],
      unknowns: [
        Finding(entry: 0, sentence: "nothing violates it in what is here, and the log may lack its newest entries")
      ])
  }

  /// 1: one is violated; 2: none is, and one cannot be judged.
  var status: Int32 {
    rules.contains { $0.violationCount > 0 } ? 1 : holds ? 0 : 2
  }

  func json() throws -> String { try Self.json(self) }

  private static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  // MARK: For people

  func text(style: Style) -> String {
    rules.map { rule in
      let (mark, colour): (String, Style.Attribute) =
        switch rule.verdict {
        case "holds": ("✓", .green)
        case "violated": ("✗", .red)
        default: ("?", .yellow)
        }
      var lines = [style.apply([colour], to: "\(mark) \(printable(rule.name))") + ": \(conclusion(rule))"]
      lines += findings(rule.violations, of: rule.violationCount)
      if rule.violationCount > 0, rule.unknownCount > 0 { lines.append("  cannot be judged:") }
      lines += findings(rule.unknowns, of: rule.unknownCount)
      return lines.map { $0 + "\n" }.joined()
    }.joined()
  }

  private func conclusion(_ rule: Rule) -> String {
    switch rule.verdict {
    case "holds": rule.judged == 0 ? "holds; nothing that it is about happened" : "holds"
    case "violated": "violated, \(rule.violationCount == 1 ? "once" : "\(rule.violationCount) times")"
    default: "cannot be judged"
    }
  }

  private func findings(_ findings: [Finding], of count: Int) -> [String] {
    let lines = findings.map {
      $0.entry > 0 ? "  entry \($0.entry): \(printable($0.sentence))" : "  \(printable($0.sentence))"
    }
    return lines + (count > findings.count ? ["  … and \(count - findings.count) more (--limit)"] : [])
  }

  // MARK: The rules themselves

  static func explanation(_ rules: LogRules, _ format: OutputFormat) throws -> String {
    struct Explained: Encodable { let name, kind, words: String }
    switch format {
    case .json:
      return printableJSON(
        try json(rules.rules.map { Explained(name: $0.name, kind: $0.kind.word, words: $0.words) }) + "\n")
    case .table:
      return rules.rules.map { "\(printable($0.name)) (\($0.kind.word))\n  \(printable($0.words))\n" }.joined()
    }
  }
}
