internal import Terminal

/// A provider's form on a whole screen, in a frame of the picker's own: a model, its keys and its picture. Knows no terminal.
struct ProviderFormScreen: Sendable {
  let form: ProviderForm
  private(set) var values: [String]
  /// The field with the cursor; after the last one, the buttons.
  private(set) var focus = 0
  private(set) var message: String?
  /// The row with the cursor, in the list that has the focus.
  private(set) var cursor = 0

  init(_ form: ProviderForm) {
    self.form = form
    values = form.fields.map { field in
      field.kind == .choice && !field.choices.contains(field.value) ? field.choices.first ?? "" : field.value
    }
    message = form.refused.map { "It was not taken: \($0)." }
    focus = stops.first ?? 0
  }

  private static let longest = 2000
  /// The fields that have an answer, and the buttons.
  private var stops: [Int] {
    form.fields.indices.filter { form.fields[$0].kind != .note } + form.buttons.indices.map { form.fields.count + $0 }
  }

  /// - Returns: the end, if the key was it.
  mutating func press(_ key: Key) -> ProviderFormLines.Outcome? {
    let field = form.fields.indices.contains(focus) ? form.fields[focus] : nil
    if let field, field.kind == .rows, let step = press(key, in: field) { return step }
    switch key {
    case .escape, .control("c"), .control("d"): return .cancelled
    case .tab, .down: move(1)
    case .backTab, .up: move(-1)
    case .enter:
      guard field == nil else {
        move(1)
        break
      }
      return filled(form.buttons[focus - form.fields.count])
    case .left, .right:
      guard let field else {
        move(key == .right ? 1 : -1)
        break
      }
      if field.kind == .choice { choose(key == .right ? 1 : -1, field) }
    case .backspace where field?.kind == .text || field?.kind == .secret: _ = values[focus].popLast()
    case .control("u") where field?.kind == .text || field?.kind == .secret: values[focus] = ""
    case .text(let scalar), .pasted(let scalar):
      guard let field, field.kind == .text || field.kind == .secret, values[focus].utf8.count < Self.longest,
        scalar.value >= 0x20, scalar.value != 0x7F
      else { break }
      values[focus].unicodeScalars.append(scalar)
    default: break
    }
    return nil
  }

  private func filled(_ button: ProviderForm.Button) -> ProviderFormLines.Outcome {
    var answers: [String: String] = [:]
    for (field, value) in zip(form.fields, values) where field.kind != .note { answers[field.key] = value }
    return .filled(.init(button: button.key, values: answers))
  }

  private mutating func move(_ step: Int) {
    let stops = self.stops
    guard let index = stops.firstIndex(of: focus) else { return }
    focus = stops[(index + step + stops.count) % stops.count]
    message = nil
    cursor = step < 0 && form.fields.indices.contains(focus) ? max(0, form.fields[focus].rows.count - 1) : 0
  }

  /// Keys in a list: arrows go through its rows and then on, Space marks, and Enter chooses.
  ///
  /// - Returns: `nil`: the key is none of the list's; an outcome in it: the end.
  private mutating func press(_ key: Key, in field: ProviderForm.Field) -> ProviderFormLines.Outcome?? {
    switch key {
    case .up where cursor > 0: cursor -= 1
    case .down where cursor + 1 < field.rows.count: cursor += 1
    case .home: cursor = 0
    case .end: cursor = max(0, field.rows.count - 1)
    case .pageUp: cursor = max(0, cursor - 10)
    case .pageDown: cursor = max(0, min(field.rows.count - 1, cursor + 10))
    case .text(" "): mark(field)
    case .enter:
      guard field.rows.indices.contains(cursor) else { return nil }
      if !field.several || values[focus].isEmpty { values[focus] = field.rows[cursor].key }
      return .some(filled(form.buttons[0]))
    default: return nil
    }
    message = nil
    return .some(nil)
  }

  private mutating func mark(_ field: ProviderForm.Field) {
    guard field.rows.indices.contains(cursor) else { return }
    let key = field.rows[cursor].key
    var marked = values[focus].split(separator: "\n").map(String.init)
    if let index = marked.firstIndex(of: key) {
      marked.remove(at: index)
    } else {
      marked = field.several ? marked + [key] : [key]
    }
    values[focus] = marked.joined(separator: "\n")
  }

  private mutating func choose(_ step: Int, _ field: ProviderForm.Field) {
    guard let index = field.choices.firstIndex(of: values[focus]) else { return }
    values[focus] = field.choices[(index + step + field.choices.count) % field.choices.count]
  }

  // MARK: The picture

  /// Exactly `size.rows` lines, none wider than the screen. The frame and its words are the picker's; its content is the provider's.
  func lines(_ size: ScreenSize) -> [Line] {
    let (columns, rows) = (max(size.columns, 1), max(size.rows, 1))
    guard columns >= 30, rows >= 8 else {
      return
        (["This window is too small for the form.", "Enlarge it, or press Escape."] + Array(repeating: "", count: rows))
        .prefix(rows).map { Line(DisplayText($0).keepingStart(columns)) }
    }
    let inner = columns - 4
    var head = Layout.wrap(form.heading, columns, lines: 2).map { Line($0, .bold) }
    if let message { head += Layout.wrap(message, columns, lines: 2).map { Line($0, Style(colour: .yellow)) } }
    let foot =
      Layout.wrap(form.footing, columns, lines: 2).map { Line($0, .dim) }
      + [Line(DisplayText(keys).keepingStart(columns), .dim)]
    var body: [Line] = []
    var focused = 0
    body += Layout.wrap(form.title, inner, lines: 2).map { Line($0, .bold) }
    if let text = form.text { body += Layout.wrap(text, inner, lines: 6).map { Line($0) } }
    for (index, field) in form.fields.enumerated() {
      if index == focus { focused = body.count + (field.kind == .rows ? cursor + 1 : 0) }
      body += field.kind == .rows ? list(field, index, inner) : lines(of: field, index, inner)
    }
    var row = Line()
    for (index, button) in form.buttons.enumerated() {
      let isFocused = form.fields.count + index == focus
      if isFocused { focused = body.count }
      row.add(
        DisplayText("[ \(button.label) ]").keepingStart(max(1, inner / form.buttons.count - 2)),
        Style(reverse: isFocused))
      row.add("  ")
    }
    body.append(row)
    // The field with the cursor is in sight.
    let room = max(1, rows - head.count - foot.count - 2)
    let first = max(0, min(focused - room / 2, body.count - room))
    let shown = body.dropFirst(first).prefix(room).map { framed($0, inner) }
    let edge = String(repeating: "─", count: columns - 2)
    var lines = head + [Line(DisplayText("┌\(edge)┐"))] + shown + [Line(DisplayText("└\(edge)┘"))] + foot
    lines += Array(repeating: Line(), count: max(0, rows - lines.count))
    return Array(lines.prefix(rows))
  }

  private var keys: String {
    let isList = form.fields.indices.contains(focus) && form.fields[focus].kind == .rows
    let mark = isList && form.fields[focus].several ? "Space: mark   " : ""
    return "\(mark)Tab: next   Enter: choose   Escape: cancel"
  }

  private func list(_ field: ProviderForm.Field, _ index: Int, _ inner: Int) -> [Line] {
    let marked = Set(values[index].split(separator: "\n").map(String.init))
    let rows = field.rows.enumerated().map { number, row -> Line in
      let isHere = index == focus && number == cursor
      let style = Style(reverse: isHere)
      var line = Line(DisplayText(isHere ? "> " : "  "), style)
      if field.several || !marked.isEmpty { line.add(marked.contains(row.key) ? "● " : "○ ", style) }
      let detail = DisplayText(row.detail ?? "").keepingStart(inner / 3)
      line.add(DisplayText(row.title).keepingStart(max(1, inner - line.width - detail.width - 2)), style)
      guard detail.width > 0 else { return line }
      line.fill(to: max(line.width, inner - detail.width - 1))
      line.add(" ")
      line.add(detail, .dim)
      return line
    }
    return [Line(DisplayText(field.label + (rows.isEmpty ? ": there are none" : ":")).keepingStart(inner))] + rows
  }

  private func lines(of field: ProviderForm.Field, _ index: Int, _ inner: Int) -> [Line] {
    guard field.kind != .note else { return Layout.wrap(field.label, inner, lines: 6).map { Line($0, .dim) } }
    let isFocused = index == focus
    let shown = field.kind == .secret ? String(repeating: "•", count: min(values[index].count, 64)) : values[index]
    var line = Line(DisplayText(field.label).keepingStart(inner / 2))
    line.add(": ")
    let value = field.kind == .choice ? "‹ \(shown) ›" : shown + (isFocused ? "_" : "")
    line.add(DisplayText(value).keepingEnd(max(1, inner - line.width)), Style(reverse: isFocused))
    return [line]
  }

  private func framed(_ line: Line, _ inner: Int) -> Line {
    var all = Line(DisplayText("│ "))
    for span in line.spans { all.add(span.text, span.style) }
    all.fill(to: inner + 2)
    all.add(" │")
    return all
  }
}
