internal import UserFiles

/// One line of text that the user edits.
struct LineEdit: Sendable, Equatable {
  private(set) var characters: [Character]
  private(set) var cursor: Int

  /// Bytes.
  static let limit = 4096

  /// - Parameter cursor: characters before it; `nil`: at the end.
  init(_ text: String = "", cursor: Int? = nil) {
    characters = Array(text)
    self.cursor = min(cursor ?? characters.count, characters.count)
  }

  /// The old name of a file, with the cursor before the extension.
  init(renaming name: String) {
    let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 }
    self.init(name, cursor: dot.map { name.distance(from: name.startIndex, to: $0) })
  }

  var text: String { String(characters) }

  mutating func press(_ key: Key) {
    switch key {
    case .text(let scalar), .pasted(let scalar): insert(scalar)
    case .backspace:
      guard cursor > 0 else { return }
      cursor -= 1
      characters.remove(at: cursor)
    case .delete:
      guard cursor < characters.count else { return }
      characters.remove(at: cursor)
    case .left: cursor = max(0, cursor - 1)
    case .right: cursor = min(characters.count, cursor + 1)
    case .home, .control("a"): cursor = 0
    case .end, .control("e"): cursor = characters.count
    case .control("u"): (characters, cursor) = ([], 0)
    case .control("w"):
      let end = cursor
      while cursor > 0, characters[cursor - 1] == " " { cursor -= 1 }
      while cursor > 0, characters[cursor - 1] != " " { cursor -= 1 }
      characters.removeSubrange(cursor..<end)
    default: break
    }
  }

  private mutating func insert(_ scalar: Unicode.Scalar) {
    guard text.utf8.count < Self.limit, scalar.value >= 0x20, scalar.value != 0x7F else { return }
    // A combining mark joins the character before it.
    let before = String(characters[..<cursor]) + String(Character(scalar))
    let joined = Array(before)
    characters.replaceSubrange(..<cursor, with: joined)
    cursor = joined.count
  }
}

/// The menu of actions in the list's place, and the line that an action asks for.
struct ActionMenu: Sendable, Equatable {
  enum Choice: Sendable, Equatable {
    case user(FileAction)
    /// The app's own.
    case app(PickerRequest.Action)
  }

  struct Item: Sendable, Equatable {
    let key: Unicode.Scalar
    let title: String
    let choice: Choice
  }

  let items: [Item]
  /// The files, for the first line.
  let subject: String
  /// Under the cursor of the list when the menu came; `nil`: the marked ones.
  let target: Target?
  private(set) var cursor = 0
  private(set) var asked: FileAction?
  private(set) var line = LineEdit()

  enum Step: Sendable, Equatable {
    case stays(ActionMenu)
    case closes
    case chosen(Choice, String)
  }

  /// - Parameters:
  ///   - count: of the files; 0: none, and buttons alone make sense.
  init(user: [FileAction], app: [PickerRequest.Action], subject: String, count: Int, target: Target?) {
    var items = user.filter { count == 1 || count > 1 && !$0.isSingle }
      .map { Item(key: $0.letter, title: $0.title, choice: .user($0)) }
    for action in app.prefix(9) where !action.documents || count == 1 || count > 1 && action.multiple {
      let key = Unicode.Scalar(UInt8(ascii: "1") + UInt8(clamping: items.count { $0.isApps }))
      items.append(Item(key: key, title: DisplayText.quoted(action.title, limit: 40), choice: .app(action)))
    }
    (self.items, self.subject, self.target) = (items, subject, target)
  }

  /// - Parameters:
  ///   - name: the old name, for a new one.
  ///   - folder: the folder shown, for another one.
  func press(_ key: Key, name: String, folder: String) -> Step {
    var menu = self
    if let asked {
      switch key {
      case .enter: return .chosen(.user(asked), line.text)
      case .escape, .control("c"): return .closes
      default: menu.line.press(key)
      }
      return .stays(menu)
    }
    switch key {
    case .escape, .control("c"), .control("e"), .left, .backspace: return .closes
    case .up, .control("p"), .control("k"): menu.cursor = max(0, cursor - 1)
    case .down, .control("n"), .control("j"): menu.cursor = max(0, min(items.count - 1, cursor + 1))
    case .home: menu.cursor = 0
    case .end: menu.cursor = max(0, items.count - 1)
    case .enter, .right:
      if items.indices.contains(cursor) { return menu.choose(items[cursor].choice, name, folder) }
    case .text(let scalar):
      if let item = items.first(where: { $0.key == scalar }) { return menu.choose(item.choice, name, folder) }
    default: break
    }
    return .stays(menu)
  }

  private func choose(_ choice: Choice, _ name: String, _ folder: String) -> Step {
    guard case .user(let action) = choice, action.question != nil else { return .chosen(choice, "") }
    var menu = self
    menu.asked = action
    menu.line =
      switch action {
      case .rename: LineEdit(renaming: name)
      case .move: LineEdit(folder)
      default: LineEdit()
      }
    return .stays(menu)
  }

  // MARK: The picture

  /// - Returns: as many lines as there is room for, with the cursor in sight.
  func lines(columns: Int, rows: Int) -> [Line] {
    var lines = [Line(DisplayText(subject).keepingStart(columns), .bold)]
    if let asked {
      lines.append(edited(asked.question ?? "", columns))
      if asked == .tag {
        let names = FileTag.Colour.allCases.map(\.rawValue).joined(separator: ", ")
        lines.append(Line(DisplayText("  With a colour: \(names).").keepingStart(columns), .dim))
      }
      if asked == .move {
        lines.append(Line(DisplayText("  A path; ~ is your home folder.").keepingStart(columns), .dim))
      }
      return Array(lines.prefix(rows))
    }
    let room = max(1, rows - 1)
    let first = max(0, min(cursor - room + 1, items.count - room))
    for (index, item) in items.enumerated().dropFirst(first).prefix(room) {
      let style = Style(reverse: index == cursor)
      var line = Line()
      line.add(index == cursor ? "▸ " : "  ", style)
      line.add("\(item.key)  ", Style(bold: true, reverse: index == cursor))
      line.add(
        DisplayText("\(item.title)\(item.ending)").keepingStart(max(1, columns - 6)), style)
      if index == cursor { line.fill(to: columns, style) }
      lines.append(line)
    }
    if items.isEmpty {
      lines.append(Line(DisplayText("  There is nothing to do with it here.").keepingStart(columns), .dim))
    }
    return Array(lines.prefix(rows))
  }

  private func edited(_ question: String, _ columns: Int) -> Line {
    var shown = Line()
    shown.add("  \(question): ", .dim)
    // The end of a long text stays in sight, unless the cursor is before it.
    let room = max(4, columns - shown.width - 1)
    let start = max(0, line.cursor - room + 1)
    let characters = line.characters + [" "]
    for (index, character) in characters.enumerated().dropFirst(start) {
      let piece = DisplayText(String(character))
      if shown.width + piece.width > columns { break }
      shown.add(piece, Style(reverse: index == line.cursor))
    }
    return shown
  }
}

extension ActionMenu.Item {
  var isApps: Bool { if case .app = choice { true } else { false } }
  /// Whose it is, if it is not the user's.
  var ending: String { if case .app(let action) = choice { ", \(action.origin)" } else { "" } }
}

extension PickerModel {
  /// Ctrl-E: actions on the marked documents, else on the one under the cursor.
  mutating func openMenu() {
    guard request.acts != .none || !request.actions.isEmpty else { return say("There are no actions here.") }
    var (subject, count, target) = ("", 0, Target?.none)
    var isChoosable = true
    if !marks.isEmpty {
      (subject, count) = (Measure.count(marks.count, "marked document"), marks.count)
    } else if case .entry(let index) = row(at: cursor) {
      let entry = entries[index]
      guard details[index]?.document != nil else {
        return say("\(DisplayText.quoted(entry.name.text)) cannot be opened.")
      }
      (subject, count, target) = (DisplayText.quoted(entry.name.text), 1, .entry(entry.name))
      isChoosable = rule.allows(entry.kind, named: entry.realName)
    } else {
      subject = "No document"
    }
    let names = marks.isEmpty ? [target] : marks.map { Optional($0.target) }
    let user =
      request.acts == .none || count == 0
      ? [] : FileAction.offered(isUsers: request.acts == .all, isCollection: isCollection, isTrash: place == .trash)
    let app = request.actions.filter { action in
      !action.documents || isChoosable && names.allSatisfy { action.takes($0) }
    }
    actionMenu = ActionMenu(user: user, app: app, subject: subject, count: count, target: target)
  }

  mutating func pressInMenu(_ menu: ActionMenu, _ key: Key) -> PickerEffect? {
    let name = if case .entry(let name) = menu.target { name.text.lastName } else { "" }
    switch menu.press(key, name: name, folder: isCollection ? "~/" : folder) {
    case .stays(let next): actionMenu = next
    case .closes: actionMenu = nil
    case .chosen(let choice, let line):
      actionMenu = nil
      switch choice {
      case .user(let action): return .act(action, line, menu.target)
      case .app(let action): return .appAction(action, menu.target)
      }
    }
    return nil
  }
}

extension PickerRequest.Action {
  func takes(_ target: Target?) -> Bool {
    guard let types else { return true }
    guard case .entry(let name) = target else { return false }
    return ChoiceRule.has(types.map { $0.lowercased() }, name.text)
  }
}
