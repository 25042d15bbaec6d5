/// Where the preview is: beside the list, or below it.
struct PreviewArea: Sendable, Equatable {
  let columns: Int
  let rows: Int
  let isBeside: Bool

  /// The narrowest window that has room for two columns.
  static let besideColumns = 100
  /// Fewer rows show nothing.
  static let leastRows = 4

  /// - Parameter rows: those of the list, of which a pane below takes a half.
  /// - Returns: nil: there is no room.
  init?(columns: Int, rows: Int) {
    if columns >= Self.besideColumns, rows >= Self.leastRows {
      (self.columns, self.rows, isBeside) = (columns * 9 / 20, rows, true)
    } else {
      // The line above it is one of its own.
      let half = rows / 2 - 1
      guard half >= Self.leastRows, rows - half - 1 >= 3 else { return nil }
      (self.columns, self.rows, isBeside) = (columns, half, false)
    }
  }
}

/// The content of the pane.
enum PreviewContent: Sendable, Equatable {
  case nothing
  case waiting
  case lines([Line])
  case failure(String)

  func lines(_ area: PreviewArea) -> [Line] {
    switch self {
    case .nothing: []
    case .waiting: [Line(DisplayText("…"), .dim)]
    case .lines(let lines): Array(lines.prefix(area.rows))
    case .failure(let sentence): Layout.wrap(sentence, area.columns, lines: area.rows).map { Line($0, .dim) }
    }
  }
}

extension Screen {
  /// The list with the preview at its side or below it; exactly `layout.bodyRows` lines.
  static func body(_ list: [Line], _ model: PickerModel, _ layout: Layout) -> [Line] {
    guard let area = layout.preview, !model.showsHelp else { return list }
    let preview = model.preview.lines(area)
    guard area.isBeside else {
      var rule = Line()
      rule.add(String(repeating: "─", count: layout.size.columns), .dim)
      return list + [rule] + preview + Array(repeating: Line(), count: area.rows - preview.count)
    }
    return list.enumerated().map { index, line in
      var whole = line
      whole.fill(to: layout.listColumns)
      whole.add(" │ ", .dim)
      if index < preview.count { whole.append(preview[index]) }
      return whole
    }
  }
}
