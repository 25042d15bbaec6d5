import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// The rows as an aligned table, for people, or as JSON, one object a line.
struct Report {
  var rows: [Row]

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try rows.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
  }

  private func cells(_ row: Row) -> [String] {
    func value(_ number: Double?, or none: String) -> String {
      guard let number else { return none }
      return "\(short(number)) \(row.unit)"
    }
    var ratio = ""
    if let value = row.ratio { ratio = "\(fixed(value, 2)) ×" }
    if let from = row.ratioFrom, let to = row.ratioTo { ratio = "(\(fixed(from, 2))–\(fixed(to, 2))) \(ratio)" }
    let mark: String = if let holds = row.holds { holds ? "✓" : "✗" } else { "" }
    return [
      row.measure, value(row.ambit, or: "–"), value(row.other, or: row.peer.isEmpty ? "" : "–"), row.peer, ratio,
      row.aim ?? "", mark,
    ]
  }

  func table(coloured: Bool) -> String {
    let header = ["MEASURE (MEDIANS)", "AMBIT", "PEER", "", "RATIO", "AIM", ""]
    let cells = rows.map(cells)
    let rightAligned: Set<Int> = [1, 2, 4]
    let widths = header.indices.map { column in ([header] + cells).map { $0[column].count }.max() ?? 0 }
    func line(_ row: [String]) -> String {
      var text = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        text += (column == 0 ? "" : "  ") + (rightAligned.contains(column) ? padding + cell : cell + padding)
      }
      while text.last == " " { text.removeLast() }
      return text
    }
    func style(_ code: String, _ text: String) -> String { coloured ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text }

    var lines = [style("1", line(header))]
    for (row, cells) in zip(rows, cells) {
      let text = line(cells)
      if let holds = row.holds {
        lines.append(text.dropLast() + (holds ? style("32", "✓") : style("31", "✗")))
      } else {
        lines.append(text)
      }
      if let note = row.note { lines.append("  " + style("33", "skipped: ") + note) }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// What is going on, for whoever waits; on standard error, so that it is never taken for a result.
func progress(_ text: String) {
  FileHandle.standardError.write(Data("bench: \(text)\n".utf8))
}

/// Why a part, or one side of it, could not be run: a sentence that says what to do.
struct Unavailable: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
