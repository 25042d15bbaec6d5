// Names in columns, row by row: the cursor walks to all sides.

extension PickerModel {
  /// One row up or down. In a grid it stays in its column, but for the last row, which may be shorter.
  mutating func walk(rows: Int) {
    guard gridColumns > 1 else { return move(by: rows) }
    let wanted = cursor + rows * gridColumns
    if rows < 0 { return wanted < 0 ? () : move(by: wanted - cursor) }
    let lastRow = max(0, rowCount - 1) / gridColumns
    if cursor / gridColumns < lastRow { move(by: min(wanted, rowCount - 1) - cursor) }
  }

  /// To the side, in a grid.
  mutating func walk(columns: Int) { move(by: columns) }

  /// The row of the list at a place of the screen.
  func row(atScreenRow screenRow: Int, column: Int) -> Int? {
    let line = screenRow - listTop
    guard line >= 0 else { return nil }
    guard gridColumns > 1 else {
      let index = scroll + line
      return visibleRows.contains(index) ? index : nil
    }
    let cell = column / cellWidth
    let index = scroll + line * gridColumns + cell
    return cell < gridColumns && visibleRows.contains(index) ? index : nil
  }
}

extension Layout {
  static let narrowestCell = 24
  /// Each row in sight keeps its file open.
  static let mostCells = 256

  /// Columns of a grid in a list so wide.
  static func gridColumns(_ width: Int, rows: Int) -> Int {
    max(1, min(width / narrowestCell, mostCells / max(1, rows)))
  }
}

extension Rows {
  /// The cells of one line of the grid.
  static func gridLine(
    _ model: PickerModel, _ line: Int, cellWidth: Int, now: Int64, home: String?
  ) -> Line {
    // Narrower than a cell by one, so that names do not touch; and so narrow that no column but the name has room.
    let cells = Rows(model: model, columns: cellWidth - 1, now: now, home: home, isNameAlone: true)
    var whole = Line()
    for column in 0..<model.gridColumns {
      let index = model.scroll + line * model.gridColumns + column
      guard model.visibleRows.contains(index) else { break }
      whole.fill(to: column * cellWidth)
      whole.append(cells.line(index))
    }
    return whole
  }
}
