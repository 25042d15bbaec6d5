internal import Foundation
package import Terminal

/// The findings, written down.
package struct BatteryReport: Sendable {
  package let findings: [Finding]
  /// The subject of the test: a policy's name, or a launcher's command line.
  package let subject: String

  package init(_ findings: [Finding], subject: String) {
    self.findings = findings
    self.subject = subject
  }

  package var hasEscapes: Bool { findings.contains { $0.verdict == .escaped } }

  private func count(_ verdict: Finding.Verdict) -> Int { findings.count { $0.verdict == verdict } }

  // MARK: For people

  package func table(style: Style, width: Int?) -> String {
    let table = Table(
      [
        .init("", minWidth: 1), .init("ID"), .init("ATTEMPT", minWidth: 20), .init("VERDICT", minWidth: 9),
        .init("EVIDENCE", minWidth: 20),
      ],
      style: style, width: width)
    // The most important texts that the table cuts, in full.
    let escapes = findings.filter { width != nil && $0.verdict == .escaped }.map {
      "\(style.red($0.entry.id)) \(printable($0.evidence))\n"
    }
    return table.render(findings.map(row)) + "\n" + escapes.joined() + summary(style: style) + "\n"
  }

  private func row(_ finding: Finding) -> [Table.Cell] {
    let (mark, verdict): (Table.Cell, Table.Cell) =
      switch finding.verdict {
      case .contained: (.init("✓", .green), .init("contained", .green))
      case .escaped: (.init("✗", .red, .bold), .init("escaped", .red, .bold))
      case .notApplicable: (.init("–", .dim), .init("n/a", .dim))
      }
    let proof = finding.control.map { " [\($0)]" } ?? ""
    let evidence = finding.evidence + proof
    let cell: Table.Cell = finding.verdict == .notApplicable ? .init(evidence, .dim) : .init(evidence)
    return [mark, .init(finding.entry.id, .bold), .init(finding.entry.title), verdict, cell]
  }

  private func summary(style: Style) -> String {
    let counts =
      "\(findings.count) entries under \(printable(subject)): \(count(.contained)) contained, \(count(.escaped)) escaped, \(count(.notApplicable)) not applicable"
    return hasEscapes ? style.red("✗ \(counts)") : style.green("✓ \(counts)")
  }

  // MARK: For programs

  private struct Line: Encodable {
    let id: String
    let title: String
    let verdict: String
    let evidence: String
    let control: String?
  }

  /// One object a line, one line an entry.
  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try findings.map { finding in
      let line = Line(
        id: finding.entry.id, title: finding.entry.title, verdict: finding.verdict.rawValue,
        evidence: finding.evidence, control: finding.control)
      return String(decoding: try encoder.encode(line), as: UTF8.self) + "\n"
    }.joined()
  }

  /// The Test Anything Protocol, version 13: one test point an entry.
  package func tap() -> String {
    var lines = ["TAP version 13", "1..\(findings.count)"]
    for (index, finding) in findings.enumerated() {
      let name = "\(index + 1) - \(finding.entry.id) \(finding.entry.title)"
      // `#` would begin a directive, and a line has one line.
      let evidence = printable(finding.evidence).replacing("#", with: "\\#")
      switch finding.verdict {
      case .contained: lines += ["ok \(name)", "# \(evidence)"]
      case .notApplicable: lines.append("ok \(name) # SKIP \(evidence)")
      case .escaped: lines += ["not ok \(name)", "  ---", "  evidence: \(Self.quoted(finding.evidence))", "  ..."]
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A double-quoted YAML scalar.
  private static func quoted(_ text: String) -> String {
    "\"\(printable(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }
}
