/// The picture: model and size in, lines out.
enum Screen {
  /// Exactly `layout.size.rows` lines, none wider than the screen.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970, for ages.
  ///   - home: the home folder, shown as `~`.
  static func lines(_ model: PickerModel, _ layout: Layout, now: Int64, home: String?) -> [Line] {
    let columns = layout.size.columns
    if layout.isTooSmall { return tooSmall(layout.size) }
    var lines = layout.title.map {
      Line($0, Style(bold: true, tint: model.request.tint.flatMap { $0.isLegible ? $0 : nil }))
    }
    lines += layout.quotation.map { Line($0, .dim) }
    if layout.gaps > 0 { lines.append(Line()) }
    lines.append(place(model, columns, home))
    lines.append(filter(model, columns))
    if layout.gaps > 1 { lines.append(Line()) }
    let rows = Rows(model: model, columns: layout.listColumns, now: now, home: home)
    var list = layout.gridColumns > 1 ? [] : model.visibleRows.map(rows.line)
    if layout.gridColumns > 1 {
      let lines = (model.visibleRows.count + layout.gridColumns - 1) / layout.gridColumns
      list = (0..<lines).map { Rows.gridLine(model, $0, cellWidth: layout.cellWidth, now: now, home: home) }
    }
    let helpRows = layout.listRows + (layout.preview.map { $0.isBeside ? 0 : $0.rows + 1 } ?? 0)
    if model.showsHelp { list = help(layout, rows: helpRows) }
    if let menu = model.actionMenu { list = menu.lines(columns: layout.listColumns, rows: layout.listRows) }
    if model.rowCount == 0, !model.showsHelp, model.actionMenu == nil {
      list.append(Line(DisplayText("  " + emptiness(model)).keepingStart(columns), .dim))
    }
    list += Array(repeating: Line(), count: max(0, (model.showsHelp ? helpRows : layout.listRows) - list.count))
    lines += body(list, model, layout)
    lines += foot(model, layout, home)
    return lines
  }

  /// All keys, in the list's place.
  private static func help(_ layout: Layout, rows: Int) -> [Line] {
    let keys = [
      ("↑ ↓, Ctrl-P Ctrl-N", "move; Ctrl-K and Ctrl-J too"), ("Enter", "choose, or open a folder"),
      ("← →", "the folder above, the folder under the cursor"),
      ("letters", "filter as fzf does; Escape clears, Ctrl-U too"),
      ("'is ^be end$ !not", "words of a filter, all of them wanted"),
      ("/  ~/  ../", "go to a path: type it, or paste it"), ("Tab", "mark several, where the app asks for several"),
      ("Ctrl-E", "actions: rename, trash, tag, and more"), ("#red", "filter by a tag"),
      ("Ctrl-O", "recents, favourites, the trash, other apps"), ("+", "a new document, in a browser of an app's"),
      ("Ctrl-H, Alt-.", "show hidden files, or hide them"),
      ("Ctrl-S, Alt-N D S K", "sort by name, date, size, kind; again: reversed"),
      ("Ctrl-G, Ctrl-T", "names in columns, or as a list; a preview"),
      ("Ctrl-R", "read the folder anew"), ("mouse", "press a row, turn the wheel"),
      ("Escape, Ctrl-C", "cancel"), ("any key", "back to the list"),
    ]
    return keys.prefix(rows).map { name, meaning in
      var line = Line()
      line.add("  " + name, .bold)
      line.fill(to: 24)
      line.add(DisplayText(meaning).keepingStart(max(1, layout.size.columns - line.width)))
      return line
    }
  }

  private static func tooSmall(_ size: ScreenSize) -> [Line] {
    let sentence = "This window is too small to choose in. Enlarge it, or press Esc to cancel."
    let lines = Layout.wrap(sentence, max(1, size.columns), lines: max(1, size.rows)).map { Line($0) }
    return lines + Array(repeating: Line(), count: max(0, size.rows - lines.count))
  }

  private static func place(_ model: PickerModel, _ columns: Int, _ home: String?) -> Line {
    let total = model.showableCount
    let order = model.isSorting ? "sorting … · " : model.view.orderWords.map { $0 + " · " } ?? ""
    let count =
      order + (model.filter.isEmpty ? Measure.count(total, "item") : "\(model.matches.count) of \(total)")
    let path = DisplayText(Measure.place(model.folder, home: home)).keepingEnd(columns - count.count - 2)
    var line = Line(path, Style(bold: true, colour: .cyan))
    line.fill(to: columns - count.count)
    line.add(count, .dim)
    return line
  }

  private static func filter(_ model: PickerModel, _ columns: Int) -> Line {
    var line = Line()
    if model.filter.isEmpty {
      line.add("Type to filter", .dim)
    } else {
      line.add("Filter: ", .dim)
      line.add(DisplayText(model.filter).keepingEnd(columns - 9))
      line.add(" ", Style(reverse: true))
    }
    if let types = model.rule.typeList {
      let note = DisplayText("only " + types).keepingStart(max(0, columns - line.width - 2))
      if note.width > 8 {
        line.fill(to: columns - note.width)
        line.add(note, .dim)
      }
    }
    return line
  }

  private static func emptiness(_ model: PickerModel) -> String {
    if !model.filter.isEmpty { return "Nothing here matches \(DisplayText.quoted(model.filter, limit: 24))." }
    if model.entries.isEmpty { return "This folder is empty." }
    return "Only hidden files here; Ctrl-H shows them."
  }

  // MARK: - Foot

  private static func foot(_ model: PickerModel, _ layout: Layout, _ home: String?) -> [Line] {
    let columns = layout.size.columns
    let room = layout.hasHelp ? 2 : 1
    var lines: [Line] = []
    if let message = model.message {
      // A long message takes the help line's place rather than lose its end.
      lines = Layout.wrap(message, columns, lines: room).map { Line($0, Style(bold: true, colour: .yellow)) }
    } else if let refusal = model.shownUnderCursor?.refusal {
      lines = Layout.wrap(refusal, columns, lines: room).map { Line($0, .bold) }
    } else if let note = note(model, columns, home) {
      lines = [Line(note)]
    } else if !model.marks.isEmpty {
      let names = model.marks.map { mark in
        switch mark.target {
        case .here: DisplayText(mark.folder).plain
        case .entry(let name): DisplayText(name.text).plain
        }
      }
      let text = "Marked: " + names.joined(separator: ", ")
      lines = [Line(DisplayText(text).keepingStart(columns), Style(colour: .yellow))]
    } else {
      lines = [Line()]
    }
    if lines.count < room { lines.append(help(model, columns)) }
    return lines
  }

  /// The facts for which the row under the cursor has no room: the final target of a link, and that the app will only read.
  private static func note(_ model: PickerModel, _ columns: Int, _ home: String?) -> DisplayText? {
    guard let shown = model.shownUnderCursor else { return nil }
    let isLess = shown.isReadOnly && model.request.access == .readWrite && isChoosable(model)
    guard let target = shown.linkTarget else {
      return isLess ? DisplayText("You can only read this, and so will the app.").keepingStart(columns) : nil
    }
    let (lead, tail) = ("→ ", isLess ? " (read only)" : "")
    let path = DisplayText(Measure.place(target, home: home)).keepingEnd(columns - lead.count - tail.count)
    return DisplayText(glyphs: DisplayText(lead).glyphs + path.glyphs + DisplayText(tail).glyphs)
  }

  private static func isChoosable(_ model: PickerModel) -> Bool {
    guard case .entry(let index) = model.row(at: model.cursor) else { return true }
    return model.rule.allows(model.entries[index].kind, named: model.entries[index].realName)
  }

  /// As many hints as fit, the most needed first.
  private static func help(_ model: PickerModel, _ columns: Int) -> Line {
    var hints: [String] = []
    if let choice = whatEnterDoes(model) { hints.append("Enter " + choice) }
    hints.append("Esc cancel")
    if model.request.multiple { hints.append("Tab mark") }
    if !model.isTop { hints.append((model.gridColumns > 1 ? "Backspace" : "←") + " parent") }
    if model.request.creates { hints.append("+ new document") }
    if model.request.acts != .none || !model.request.actions.isEmpty { hints.append("Ctrl-E actions") }
    if !model.request.places.isEmpty || !model.request.recents.isEmpty || model.request.acts != .none {
      hints.append("Ctrl-O places")
    }
    if model.request.isPestering { hints.append("Ctrl-X end the app") }
    hints.append("? help")
    hints.append(model.showsHidden ? "Ctrl-H hide hidden" : "Ctrl-H show hidden")
    hints.append("↑↓ move")
    var line = Line()
    for hint in hints {
      let piece = DisplayText((line.width == 0 ? "" : " · ") + hint)
      if line.width + piece.width > columns { break }
      line.add(piece, .dim)
    }
    return line
  }

  private static func whatEnterDoes(_ model: PickerModel) -> String? {
    let row = model.row(at: model.cursor)
    if case .entry(let index) = row, model.entries[index].kind == .folder { return "open folder" }
    if !model.marks.isEmpty {
      return model.marks.count == 1 ? "choose the marked one" : "choose the \(model.marks.count) marked"
    }
    switch row {
    case nil: return nil
    case .here: return model.ownDetails?.refusal == nil ? "choose this folder" : nil
    case .entry(let index):
      let entry = model.entries[index]
      let isRefused = model.details[index]?.refusal != nil
      return !isRefused && model.rule.allows(entry.kind, named: entry.realName) ? "choose" : nil
    }
  }
}
