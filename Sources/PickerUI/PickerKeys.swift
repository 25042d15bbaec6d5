// The meaning of each key.

extension PickerModel {
  mutating func press(_ key: Key) -> PickerEffect? {
    say(nil)
    if showsHelp {
      showsHelp = false
      return key == .control("c") ? .cancel : nil
    }
    if let menu = actionMenu { return pressInMenu(menu, key) }
    switch key {
    case .up, .control("p"), .control("k"), .mouse(.wheelUp, _, _): walk(rows: -1)
    case .down, .control("n"), .control("j"), .mouse(.wheelDown, _, _): walk(rows: 1)
    case .left where gridColumns > 1: walk(columns: -1)
    case .right where gridColumns > 1: walk(columns: 1)
    case .mouse(.press, let column, let row): return click(row, column)
    case .control("s"): sort(by: view.order.next, reversed: false)
    case .alt("n"): press(order: .name)
    case .alt("d"): press(order: .date)
    case .alt("s"): press(order: .size)
    case .alt("k"): press(order: .kind)
    case .control("g"): view.isGrid.toggle()
    case .control("t"): view.hasPreview.toggle()
    case .text("?") where filter.isEmpty: showsHelp = true
    case .text("+") where filter.isEmpty && request.isBrowser: return create()
    case .pageUp: page(by: -1)
    case .pageDown: page(by: 1)
    case .home: move(by: -rowCount)
    case .end: move(by: rowCount)
    case .enter: return choose()
    case .right: return enter()
    case .left: return parent()
    case .backspace:
      if filter.isEmpty { return parent() }
      setFilter(String(filter.dropLast()))
    case .control("u"): setFilter("")
    case .control("w"): setFilter(withoutLastWord(filter))
    case .control("h"), .alt("."): toggleHidden()
    case .control("r"): return .reload
    case .control("e"): openMenu()
    case .control("o"): return goToPlace()
    case .control("x"): return endApp()
    case .control("c"): return .cancel
    case .escape:
      // The filter goes first (`PCK-25`).
      if filter.isEmpty { return .cancel }
      setFilter("")
    case .tab: return toggleMark()
    case .text(" ") where filter.isEmpty && request.multiple: return toggleMark()
    case .text("/"), .pasted("/"): return slash()
    case .text(let scalar), .pasted(let scalar): append(scalar)
    case .backTab, .delete, .control, .alt: break
    }
    return nil
  }

  /// A press on a row puts the cursor there; on the row under the cursor it opens a folder. It never chooses.
  private mutating func click(_ screenRow: Int, _ column: Int) -> PickerEffect? {
    guard let index = row(atScreenRow: screenRow, column: column) else { return nil }
    guard index == cursor else {
      move(by: index - cursor)
      return nil
    }
    return enter()
  }

  private mutating func create() -> PickerEffect? {
    guard request.creates else {
      say("This app makes no new documents.")
      return nil
    }
    return .create
  }

  /// Offered after three requests that the user cancelled.
  private mutating func endApp() -> PickerEffect? {
    guard request.isPestering else { return nil }
    return .endApp
  }

  /// Longer than any file name; a paste could go on for ever.
  private static let filterLimit = 255

  private mutating func append(_ scalar: Unicode.Scalar) {
    guard filter.utf8.count < Self.filterLimit else { return }
    var text = filter
    text.unicodeScalars.append(scalar)
    setFilter(text)
  }

  private func withoutLastWord(_ text: String) -> String {
    let trimmed = text.reversed().drop { $0 == " " }.drop { $0 != " " }
    return String(trimmed.reversed())
  }

  private mutating func choose() -> PickerEffect? {
    guard let row = row(at: cursor) else { return marks.isEmpty ? nil : .finishMarked }
    switch row {
    case .here: return marks.isEmpty ? .pick(.here) : .finishMarked
    case .entry(let index):
      let entry = entries[index]
      if entry.kind == .folder { return .enter(entry.name) }
      if !marks.isEmpty { return .finishMarked }
      if let refusal = rule.refusal(of: entry.kind, named: entry.realName) {
        say(refusal)
        return nil
      }
      return .pick(.entry(entry.name))
    }
  }

  private func enter() -> PickerEffect? {
    guard case .entry(let index) = row(at: cursor), entries[index].kind == .folder else { return nil }
    return .enter(entries[index].name)
  }

  private mutating func parent() -> PickerEffect? {
    if !isTop { return .parent }
    say("This is the topmost folder.")
    return nil
  }

  private mutating func toggleMark() -> PickerEffect? {
    guard request.multiple else {
      say("The app asks for one \(request.kind == .file ? "document" : "folder") only.")
      return nil
    }
    guard let row = row(at: cursor) else { return nil }
    let target: Target
    switch row {
    case .here: target = .here
    case .entry(let index):
      let entry = entries[index]
      if let refusal = rule.refusal(of: entry.kind, named: entry.realName) {
        say(refusal)
        return nil
      }
      target = .entry(entry.name)
    }
    let mark = Mark(folder: folder, target: target)
    if marks.contains(mark) {
      remove(mark: mark)
      move(by: 1)
      return .unmark(mark)
    }
    if marks.count >= PickerRequest.mostChosen {
      say("No more than \(PickerRequest.mostChosen) can be chosen at once.")
      return nil
    }
    return .mark(target)
  }

  /// A slash never is part of a name: it goes where the path typed so far leads, so that paths can be typed and pasted.
  private mutating func slash() -> PickerEffect? {
    switch filter {
    case "": return .top
    case "~": return .home
    case "..": return parent()
    case ".":
      setFilter("")
      return nil
    default:
      if let name = folder(typed: filter) { return .enter(name) }
      say("No folder here begins with \(DisplayText.quoted(filter)).")
      return nil
    }
  }
}
