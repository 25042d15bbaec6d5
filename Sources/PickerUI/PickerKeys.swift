// The meaning of each key.

extension PickerModel {
  mutating func press(_ key: Key) -> PickerEffect? {
    say(nil)
    switch key {
    case .up, .control("p"): move(by: -1)
    case .down, .control("n"): move(by: 1)
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
    case .control("o"): return goToPlace()
    case .escape, .control("c"): return .cancel
    case .tab: return toggleMark()
    case .text(" ") where filter.isEmpty && request.multiple: return toggleMark()
    case .text("/"), .pasted("/"): return slash()
    case .text(let scalar), .pasted(let scalar): append(scalar)
    case .backTab, .delete, .control, .alt: break
    }
    return nil
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
    if marks.count >= Self.markLimit {
      say("No more than \(Self.markLimit) can be chosen at once.")
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
      if let first = matches.first(where: { entries[$0].kind == .folder }),
        entries[first].folded.starts(with: Folding.fold(filter))
      {
        return .enter(entries[first].name)
      }
      say("No folder here begins with \(DisplayText.quoted(filter)).")
      return nil
    }
  }
}
