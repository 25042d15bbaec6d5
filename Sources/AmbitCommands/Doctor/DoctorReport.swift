internal import Foundation
package import Terminal

/// The doctor's report: the checks as rows, and under each lack its cost and its remedy, and the limits that a feature always has.
package struct DoctorReport: Sendable {
  package let checks: [Check]

  package init(_ checks: [Check]) {
    self.checks = checks
  }

  /// Whether everything that running an app takes is there.
  package var isReady: Bool { checks.allSatisfy(\.isMet) }

  /// For people. Words are wrapped at `width` columns; nil: not at all.
  package func table(style: Style, width: Int?) -> String {
    let table = Table([.init("", minWidth: 1), .init("CHECK"), .init("FOUND")], style: style, width: width)
    let layout = table.layout(checks.map(row))
    var lines = [layout.header]
    let indent = String(repeating: " ", count: layout.widths[0] + 2)
    for check in checks {
      lines.append(layout.line(row(check)))
      for (label, sentence) in [("costs", check.cost), ("mend", check.remedy), ("limits", check.limits)] {
        guard let sentence else { continue }
        let room = width.map { max(20, $0 - indent.count - 7) }
        for (index, part) in wrapped(printable(sentence), to: room).enumerated() {
          let margin = index == 0 ? style.cyan(label) + String(repeating: " ", count: 7 - label.count) : "       "
          lines.append(indent + margin + style.dim(part))
        }
      }
    }
    return (lines + ["", verdict(style: style)]).joined(separator: "\n") + "\n"
  }

  /// For programs: one object a line, one line a check.
  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try checks.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
  }

  private func row(_ check: Check) -> [Table.Cell] {
    let mark: Table.Cell =
      switch check.status {
      case .full: .init("✓", .green)
      case .partial: .init("~", .yellow)
      case .missing: check.required ? .init("✗", .red, .bold) : .init("✗", .yellow)
      }
    return [mark, .init(check.name, .bold), .init(check.found)]
  }

  private func verdict(style: Style) -> String {
    let unmet = checks.filter { !$0.isMet }.map(\.name)
    if !unmet.isEmpty { return style.red("Ambit cannot run apps here: \(unmet.joined(separator: ", ")).") }
    let less = checks.count { $0.status != .full }
    if less == 0 { return style.green("Everything that Ambit uses is here.") }
    return style.green("Everything that Ambit needs is here.")
      + " \(less) of \(checks.count) checks found something less."
  }
}

/// Breaks text between words. A word that is longer than a line keeps a line to itself: it is likely a command.
func wrapped(_ text: String, to width: Int?) -> [String] {
  guard let width else { return [text] }
  var lines: [String] = []
  var line = ""
  for word in text.split(separator: " ") {
    if !line.isEmpty && displayWidth(line) + 1 + displayWidth(String(word)) > width {
      lines.append(line)
      line = ""
    }
    line += line.isEmpty ? word : " " + word
  }
  if !line.isEmpty { lines.append(line) }
  return lines
}
