internal import Terminal

/// Rows under headings, each with its decision: beside it if there is room, otherwise on a line of its own, since half of a file's
/// name is no help.
struct DecisionTable {
  typealias Row = (cells: [Table.Cell], decisions: String)

  /// Columns of a terminal from which on a decision has room beside its row.
  private static let wide = 160
  private static let indent = "     "

  private let table: Table
  private let isWide: Bool

  /// - Parameters:
  ///   - columns: without the one for decisions.
  ///   - width: columns of the terminal; `nil`: nothing is cut.
  init(_ columns: [Table.Column], style: Style, width: Int?) {
    isWide = width.map { $0 >= Self.wide } ?? true
    table = Table(
      isWide ? columns + [.init("by whose decision", minWidth: 20)] : columns, style: style, width: width)
  }

  /// Headings without rows are left out.
  func text(_ groups: [(title: String, rows: [Row])]) -> String {
    let layout = table.layout(groups.flatMap(\.rows).map(cells))
    var text = layout.header + "\n"
    for (title, rows) in groups where !rows.isEmpty {
      text += table.style.underlined(title) + "\n"
      for row in rows {
        text += layout.line(cells(row)) + "\n"
        guard !isWide else { continue }
        for line in wrapped(printable(row.decisions), to: table.width.map { max(20, $0 - Self.indent.count) }) {
          text += Self.indent + table.style.dim(line) + "\n"
        }
      }
    }
    return text
  }

  private func cells(_ row: Row) -> [Table.Cell] { isWide ? row.cells + [Table.Cell(row.decisions, .dim)] : row.cells }
}
