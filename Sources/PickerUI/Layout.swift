/// A terminal's size in characters.
struct ScreenSize: Sendable, Equatable {
  var columns: Int
  var rows: Int
}

/// How the screen is divided; depends on the request, the size and the view alone, so that nothing jumps while the user types.
struct Layout: Sendable, Equatable {
  let size: ScreenSize
  let title: [DisplayText]
  let quotation: [DisplayText]
  /// Empty lines around place and filter, where there is room.
  let gaps: Int
  let hasHelp: Bool
  /// 0 when the window is too small to choose in.
  let listRows: Int
  let listColumns: Int
  /// Nil: there is none, or no room for it.
  let preview: PreviewArea?
  /// More than 1: the list is a grid.
  let gridColumns: Int
  var cellWidth: Int { listColumns / gridColumns }

  /// The line with the first row of the list.
  var listTop: Int { title.count + quotation.count + gaps + 2 }

  static let smallest = ScreenSize(columns: 24, rows: 8)

  /// A user who cannot see the choice must not choose.
  var isTooSmall: Bool { listRows == 0 }

  init(_ request: PickerRequest, _ size: ScreenSize, _ view: PickerView = PickerView()) {
    self.size = size
    guard size.columns >= Self.smallest.columns, size.rows >= Self.smallest.rows else {
      title = []
      quotation = []
      gaps = 0
      hasHelp = false
      (listRows, listColumns, gridColumns, preview) = (0, size.columns, 1, nil)
      return
    }
    let nameLimit = max(10, min(40, size.columns / 2))
    title = Self.wrap(request.title(nameLimit: nameLimit), size.columns, lines: 4)
    // Always there: the place, the filter, the message line.
    var left = size.rows - title.count - 3
    hasHelp = left >= 2
    if hasHelp { left -= 1 }
    let quoted = request.quotation.map { Self.wrap($0, size.columns, lines: size.rows >= 16 ? 3 : 1) } ?? []
    quotation = left - quoted.count >= 3 ? quoted : []
    left -= quotation.count
    gaps = size.rows >= 20 ? 2 : size.rows >= 16 ? 1 : 0
    left -= gaps
    preview = view.hasPreview ? PreviewArea(columns: size.columns, rows: max(1, left)) : nil
    if let preview, !preview.isBeside { left -= preview.rows + 1 }
    listRows = max(1, left)
    listColumns = size.columns - (preview.map { $0.isBeside ? $0.columns + 3 : 0 } ?? 0)
    gridColumns = view.isGrid ? Self.gridColumns(listColumns, rows: listRows) : 1
  }

  /// Breaks a text at spaces; an ellipsis replaces the text beyond the last line.
  static func wrap(_ text: String, _ columns: Int, lines limit: Int) -> [DisplayText] {
    var lines: [DisplayText] = []
    var rest = DisplayText(text).glyphs[...]
    while !rest.isEmpty {
      if lines.count == limit - 1 {
        lines.append(DisplayText(glyphs: Array(rest)).keepingStart(columns))
        break
      }
      var width = 0
      var end = rest.startIndex
      var space: Int?
      while end < rest.endIndex, width + rest[end].width <= columns {
        if rest[end].text == " " { space = end }
        width += rest[end].width
        end += 1
      }
      if end == rest.endIndex || rest[end].text == " " { space = end }
      let cut = space ?? max(end, rest.startIndex + 1)
      lines.append(DisplayText(glyphs: Array(rest[..<cut])))
      rest = rest[cut...].drop { $0.text == " " }
    }
    return lines
  }
}
