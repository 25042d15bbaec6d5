/// The lines of the list: cursor, mark, name, size, age.
struct Rows {
  let model: PickerModel
  let columns: Int
  let now: Int64
  /// Shown as `~`.
  let home: String?
  /// Neither size nor age.
  var isNameAlone = false

  private static let sizeWidth = 6
  private static let ageWidth = 13

  private var showsSize: Bool { columns >= 36 && !isNameAlone }
  private var showsAge: Bool { columns >= 64 && !isNameAlone }

  func line(_ index: Int) -> Line {
    guard let row = model.row(at: index) else { return Line() }
    let underCursor = index == model.cursor
    var base = Style(reverse: underCursor)
    var line = Line()
    switch row {
    case .here:
      base.dim = model.ownDetails?.refusal != nil
      lead(&line, base, underCursor, .here)
      line.add(". (this folder)", base)
    case .entry(let index):
      let entry = model.entries[index]
      base.dim =
        entry.kind != .folder
        && (!model.rule.allows(entry.kind, named: entry.realName) || model.details[index]?.refusal != nil)
      lead(&line, base, underCursor, .entry(entry.name))
      name(&line, entry, base, isUnderCursor: underCursor, details: model.details[index])
      columnsOfDetails(&line, entry, base, details: model.details[index])
    }
    if underCursor { line.fill(to: columns, base) }
    return line
  }

  private func lead(_ line: inout Line, _ base: Style, _ underCursor: Bool, _ target: Target) {
    line.add(underCursor ? "▸" : " ", base)
    if model.request.multiple { line.add(model.isMarked(target) ? "✓" : " ", base) }
    line.add(" ", base)
  }

  private func name(
    _ line: inout Line, _ entry: Entry, _ base: Style, isUnderCursor: Bool, details: EntryDetails?
  ) {
    var style = base
    var matched = base
    matched.underline = true
    matched.bold = true
    if entry.kind == .folder {
      style.bold = true
      style.colour = .blue
      matched.colour = .blue
    }
    let isShort = model.request.hidesExtensions && entry.kind == .file && model.filter.isEmpty
    let text = isShort && !isUnderCursor ? entry.name.text.withoutExtension : entry.name.text
    let tags = details?.tags ?? []
    let tagsWidth = min(columns / 3, TagDots.width(tags, colours: model.hasColours))
    let room = max(1, columns - line.width - detailsWidth - tagsWidth - 1)
    let suffix = entry.kind == .folder ? "/" : ""
    let whole = DisplayText(text, emphasis: Emphasis.characters(of: model.query, in: text))
    // A link's target would be handed out: the name gives way to it, and the end of the target stays.
    let target = details?.linkTarget.map { DisplayText(Measure.place($0, home: home)) }
    let forTarget = target.map { target in
      min(target.width, max(room - Self.arrow.count - suffix.count - whole.width, (room - Self.arrow.count) * 3 / 5))
    }
    let forName = room - suffix.count - (forTarget.map { $0 + Self.arrow.count } ?? 0)
    line.add(whole.keepingMiddle(max(1, forName)), style, emphasis: matched)
    line.add(suffix, style)
    if let target, let forTarget {
      var aside = base
      aside.dim = true
      line.add(Self.arrow, aside)
      line.add(target.keepingEnd(forTarget), aside)
    }
    if tagsWidth == TagDots.width(tags, colours: model.hasColours) {
      TagDots.add(tags, to: &line, base, colours: model.hasColours)
    }
  }

  private static let arrow = " → "

  private var detailsWidth: Int {
    (showsSize ? 2 + Self.sizeWidth : 0) + (showsAge ? 2 + Self.ageWidth : 0)
  }

  private func columnsOfDetails(_ line: inout Line, _ entry: Entry, _ base: Style, details: EntryDetails?) {
    guard showsSize else { return }
    var style = base
    style.dim = true
    let size = entry.kind == .file ? details?.size.map(Measure.size) ?? "" : ""
    let sizeEnd = columns - 1 - (showsAge ? 2 + Self.ageWidth : 0)
    line.fill(to: sizeEnd - size.count, base)
    line.add(size, style)
    guard showsAge, let modified = details?.modified else { return }
    let age = Measure.age(of: modified, now: now)
    line.fill(to: columns - 1 - age.count, base)
    line.add(age, style)
  }
}
