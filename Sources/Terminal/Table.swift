/// Rows in aligned columns, for a terminal or for a file.
///
/// Cells hold plain text and attributes; the table makes the text printable, so that nothing in a cell can put
/// escape codes on the terminal or break a row into two.
package struct Table: Sendable {
  package enum Alignment: Sendable {
    case leading
    case trailing
  }

  /// How a column gives way on a narrow terminal. Cells' short forms are taken first.
  package enum Role: Sendable {
    /// It is cut, down to its minimum.
    case text
    /// The same; and it is left out, the last one first, before an identifier is cut.
    case extra
    /// An identifier that other commands take: cut when there is nothing else to give way.
    case identifier
  }

  package struct Column: Sendable {
    package var header: String
    package var role: Role
    package var alignment: Alignment
    /// Columns of the terminal that it keeps, even with nothing in it and however narrow the terminal.
    package var minWidth: Int
    /// Columns of the terminal that it takes at most; nil: as many as its longest cell needs.
    package var maxWidth: Int?
    /// The part that is kept of a cell that does not fit.
    package var keeping: TruncationSide

    package init(
      _ header: String, _ role: Role = .text, alignment: Alignment = .leading, minWidth: Int = 3, maxWidth: Int? = nil,
      keeping: TruncationSide = .start
    ) {
      self.header = header
      self.role = role
      self.alignment = alignment
      self.minWidth = minWidth
      self.maxWidth = maxWidth
      self.keeping = keeping
    }
  }

  package struct Cell: Equatable, Sendable, ExpressibleByStringInterpolation {
    package var text: String
    /// Takes the text's place where that does not fit.
    package var short: String?
    package var attributes: [Style.Attribute]

    package init(_ text: String, short: String? = nil, _ attributes: Style.Attribute...) {
      self.text = text
      self.short = short
      self.attributes = attributes
    }

    package init(stringLiteral value: String) {
      self.init(value)
    }
  }

  package let columns: [Column]
  package let style: Style
  /// Columns of the terminal; nil when the output is not a terminal: then nothing is cut.
  package let width: Int?

  package init(_ columns: [Column], style: Style, width: Int?) {
    self.columns = columns
    self.style = style
    self.width = width
  }

  /// A table for output to a descriptor: styled and cut to its width if it is a terminal.
  package init(_ columns: [Column], for descriptor: Int32) {
    self.init(columns, style: Style(for: descriptor), width: WindowSize.columns(of: descriptor))
  }

  /// Header and rows, each line ended by a newline. A row with too few cells is filled up with empty ones.
  package func render(_ rows: [[Cell]]) -> String {
    let layout = layout(rows)
    return ([layout.header] + rows.map(layout.line)).map { $0 + "\n" }.joined()
  }

  /// The widths that fit these rows; further rows can be written with them, cut where they do not fit.
  package func layout(_ rows: [[Cell]]) -> Layout {
    let full = widths(of: rows) { $0.text }
    var shown = Array(columns.indices)
    guard let width else { return Layout(table: self, widths: full, shown: shown) }
    let short = widths(of: rows) { $0.short ?? $0.text }
    while true {
      var widths = full
      var excess = shown.map { widths[$0] }.reduce(0, +) + Layout.gap.count * (shown.count - 1) - width
      for index in shown.reversed() where excess > 0 && short[index] < widths[index] {
        excess -= widths[index] - short[index]
        widths[index] = short[index]
      }
      cut(&widths, of: shown.filter { columns[$0].role != .identifier }, &excess)
      if excess > 0, let extra = shown.last(where: { columns[$0].role == .extra }) {
        shown.removeAll { $0 == extra }
        continue
      }
      cut(&widths, of: shown.filter { columns[$0].role == .identifier }, &excess)
      return Layout(table: self, widths: widths, shown: shown)
    }
  }

  /// The width that the columns need for these rows; on a terminal no more than their maximum.
  private func widths(of rows: [[Cell]], _ text: (Cell) -> String) -> [Int] {
    var widths = columns.map { max($0.minWidth, displayWidth(printable($0.header))) }
    for row in rows {
      for (index, cell) in row.prefix(columns.count).enumerated() {
        widths[index] = max(widths[index], displayWidth(printable(text(cell))))
      }
    }
    guard width != nil else { return widths }
    return zip(widths, columns).map { width, column in
      column.maxWidth.map { min(width, max($0, column.minWidth)) } ?? width
    }
  }

  /// Takes columns of the terminal from the one that is furthest above its minimum, until the line fits or all are
  /// at theirs.
  private func cut(_ widths: inout [Int], of indices: [Int], _ excess: inout Int) {
    func slack(_ index: Int) -> Int { widths[index] - columns[index].minWidth }
    while excess > 0, let widest = indices.max(by: { slack($0) < slack($1) }), slack(widest) > 0 {
      widths[widest] -= 1
      excess -= 1
    }
  }

  /// A table with settled widths.
  package struct Layout: Sendable {
    static let gap = "  "

    let table: Table
    package let widths: [Int]
    /// The columns that are not left out.
    let shown: [Int]

    /// The header's line, without its newline.
    package var header: String {
      line(table.columns.map { Cell($0.header, .bold) })
    }

    /// One row's line, without its newline and without blanks at its end.
    package func line(_ row: [Cell]) -> String {
      var line = ""
      var pending = ""  // blanks that are written only if something follows them
      for index in shown {
        let cell = index < row.count ? row[index] : Cell("")
        let column = table.columns[index]
        var text = printable(cell.text)
        if table.width != nil {
          if let short = cell.short, displayWidth(text) > widths[index] { text = printable(short) }
          text = truncated(text, to: widths[index], keeping: column.keeping)
        }
        let padding = String(repeating: " ", count: max(0, widths[index] - displayWidth(text)))
        if index != shown.first { pending += Layout.gap }
        if column.alignment == .trailing { pending += padding }
        if !text.isEmpty {
          line += pending + table.style.apply(cell.attributes, to: text)
          pending = ""
        }
        if column.alignment == .leading { pending += padding }
      }
      return line
    }
  }
}
