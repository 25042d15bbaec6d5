internal import UserFiles

/// The row that the user points at: a name in the folder shown, or that folder itself.
enum Target: Sendable, Hashable {
  case here
  case entry(FileName)
}

/// A document marked for choosing together with others; marks stay when the user goes to another folder.
struct Mark: Sendable, Hashable {
  let folder: String
  let target: Target
}

/// The model's requests to its driver; the driver carries them out and reports back.
enum PickerEffect: Sendable, Equatable {
  case enter(FileName)
  case parent, top, home, reload
  /// Go to the Documents of an app that shows them.
  case place(PickerRequest.Place)
  /// Open this one and finish.
  case pick(Target)
  /// Open this one and keep it; answered by `marked` or `say`.
  case mark(Target)
  case unmark(Mark)
  case finishMarked
  case cancel
  /// The documents that were used last.
  case recents
  /// A new document here.
  case create
  /// End the app that asks again and again.
  case endApp
  /// An act of the user's, with its line; without a target on the marked documents.
  case act(FileAction, String, Target?)
  /// An action of the app's own, on the same.
  case appAction(PickerRequest.Action, Target?)
  /// Favourites, tagged files, the trash.
  case userPlace(UserPlace)
}

/// The picker's whole state, as a value without I/O: keys go in (`press`), effects come out.
///
/// Always true, after any key: the cursor is on a row or the list is empty; the cursor is in sight; every mark was choosable.
struct PickerModel: Sendable {
  let request: PickerRequest
  let rule: ChoiceRule

  /// Absolute path of the folder shown; text for people.
  private(set) var folder = "/"
  private(set) var isTop = true
  private(set) var entries: [Entry] = []
  private(set) var filter = ""
  private(set) var query = FuzzyQuery("")
  private(set) var showsHidden = false
  /// The keys are shown in the list's place, until the next key.
  var showsHelp = false
  /// The menu of actions, in the list's place.
  var actionMenu: ActionMenu?
  /// The rows are files of many folders.
  var isCollection = false
  var place: UserPlace?
  /// Tags are shown as coloured dots.
  var hasColours = true
  /// The tags of all entries, once a filter has asked for them.
  var entryTags: [FileName: FileTags]?
  private(set) var marks: [Mark] = []
  private(set) var message: String?
  /// By index into `entries`. Rows out of sight have none: the known facts of a row were drawn with it.
  private(set) var details: [Int: EntryDetails] = [:]
  /// Of the folder itself, where it can be chosen.
  private(set) var ownDetails: EntryDetails?
  /// Which of the request's places comes next.
  private var nextPlace = 0

  /// Indexes into `entries` that match the filter, best first.
  private(set) var matches: [Int] = []
  /// The same in the folder's order.
  private var candidates: [Int] = []
  /// The filters that were typed last, for the way back.
  private var answers = FilterAnswers()
  var sorting = ListSorting()
  /// How the list is shown.
  var view: PickerView
  /// Of the row under the cursor.
  var preview = PreviewContent.nothing
  /// The entries' names for the filter, once there is one.
  private var names: NameTable?
  /// Entries that no leading dot hides.
  private var openCount = 0

  /// Row under the cursor; 0 when there are none.
  private(set) var cursor = 0
  /// First row in sight.
  private(set) var scroll = 0
  /// How many rows the list has room for.
  private(set) var listRows = 1
  /// The line of the screen with the first of them.
  private(set) var listTop = 0

  /// More than 1: the list is a grid of so many columns, each of them so wide.
  private(set) var gridColumns = 1
  private(set) var cellWidth = 1

  init(_ request: PickerRequest, view: PickerView = PickerView()) {
    self.request = request
    self.view = view
    rule = ChoiceRule(request)
  }

  // MARK: - Rows

  enum Row: Sendable, Hashable {
    case here
    case entry(Int)
  }

  /// “This folder” is a row of its own when folders are asked for.
  var hasHereRow: Bool { request.kind == .folder && filter.isEmpty }
  var rowCount: Int { matches.count + (hasHereRow ? 1 : 0) }

  func row(at index: Int) -> Row? {
    guard index >= 0, index < rowCount else { return nil }
    if hasHereRow { return index == 0 ? .here : .entry(matches[index - 1]) }
    return .entry(matches[index])
  }

  var visibleRows: Range<Int> { scroll..<min(rowCount, scroll + listRows * gridColumns) }

  /// Entries in sight of which no details are known yet.
  var wantedDetails: [Int] {
    visibleRows.compactMap { index in
      guard case .entry(let entry) = row(at: index), details[entry] == nil else { return nil }
      return entry
    }
  }

  /// Whether the folder's own row is in sight, and nothing is known of it yet.
  var wantsOwnDetails: Bool { ownDetails == nil && visibleRows.contains { row(at: $0) == .here } }

  /// The details that were drawn of a target; nil if its row has not been on the screen.
  func shown(_ target: Target) -> EntryDetails? {
    switch target {
    case .here: ownDetails
    case .entry(let name): details.first { entries[$0.key].name == name }?.value
    }
  }

  /// The same of the row under the cursor.
  var shownUnderCursor: EntryDetails? {
    switch row(at: cursor) {
    case .here: ownDetails
    case .entry(let index): details[index]
    case nil: nil
    }
  }

  var targetUnderCursor: Target? {
    switch row(at: cursor) {
    case .here: .here
    case .entry(let index): .entry(entries[index].name)
    case nil: nil
    }
  }

  func isMarked(_ target: Target) -> Bool { marks.contains(Mark(folder: folder, target: target)) }

  /// Entries that are neither hidden nor kept from sight by the filter's absence.
  var showableCount: Int { showsEverything ? entries.count : openCount }
  private var showsEverything: Bool { showsEverything(under: filter) }
  private func showsEverything(under filter: String) -> Bool {
    showsHidden || [".", "^.", "'."].contains { filter.hasPrefix($0) }
  }

  // MARK: - Reports from the driver

  /// Another folder is shown. `entries` is sorted by `Entry.precedes`; the cursor goes to `selected` if it is there.
  mutating func show(folder: String, isTop: Bool, entries: [Entry], selected: FileName? = nil) {
    self.folder = folder
    self.isTop = isTop
    take(entries)
    (filter, query) = ("", FuzzyQuery(""))
    scroll = 0
    refilter(narrowing: false)
    moveCursor(to: selected)
  }

  /// The same folder, read again.
  mutating func reload(entries: [Entry]) {
    var selected: FileName?
    if case .entry(let index) = row(at: cursor) { selected = self.entries[index].name }
    take(entries)
    refilter(narrowing: false)
    moveCursor(to: selected)
  }

  private mutating func take(_ entries: [Entry]) {
    answers = FilterAnswers()
    self.entries = rule.shown(entries)
    (details, ownDetails, names, entryTags) = ([:], nil, nil, nil)
    openCount = self.entries.count { !$0.name.isHidden }
    sorting = ListSorting()
    sorting.listed = listing()
  }

  /// The rows are others, or in another order; the cursor stays with its file.
  ///
  /// - Parameter keepsTop: at the top it stays there.
  mutating func arrange(keepsTop: Bool = true) {
    var selected: FileName?
    if cursor > 0 || !keepsTop, case .entry(let index) = row(at: cursor) { selected = entries[index].name }
    sorting.listed = listing()
    answers = FilterAnswers()
    refilter(narrowing: false)
    moveCursor(to: selected)
  }

  mutating func resize(_ layout: Layout) {
    (gridColumns, cellWidth) = (layout.gridColumns, layout.cellWidth)
    resize(listRows: layout.listRows, top: layout.listTop)
  }

  mutating func resize(listRows: Int, top: Int = 0) {
    self.listRows = max(1, listRows)
    listTop = top
    settle()
  }

  mutating func select(_ name: FileName) { moveCursor(to: name) }

  mutating func learn(_ known: EntryDetails, at entry: Int) { details[entry] = known }
  mutating func learnOwn(_ known: EntryDetails) { ownDetails = known }

  /// Forgets the details of rows that are out of sight.
  mutating func forgetUnseen() {
    let seen = Set(visibleRows.compactMap { row(at: $0) })
    details = details.filter { seen.contains(.entry($0.key)) }
    if !seen.contains(.here) { ownDetails = nil }
  }

  /// A mark's document is open and acceptable.
  mutating func marked(_ target: Target) {
    let mark = Mark(folder: folder, target: target)
    if !marks.contains(mark) { marks.append(mark) }
    move(by: 1)
  }

  /// Says something on the message line, until the next key.
  mutating func say(_ sentence: String?) { message = sentence }

  // MARK: - Changes that keep the promises above

  mutating func move(by rows: Int) {
    cursor += rows
    settle()
  }

  /// A screenful up or down: the list moves, and the cursor with it.
  mutating func page(by pages: Int) {
    let rows = pages * max(1, listRows - 1) * gridColumns
    scroll += rows
    cursor += rows
    settle()
  }

  /// The places of the request and the user's, one after the other.
  mutating func goToPlace() -> PickerEffect? {
    var stops: [(effect: PickerEffect, sentence: String)] = []
    if !request.recents.isEmpty { stops.append((.recents, "The documents that were used last.")) }
    if request.acts != .none { stops += [UserPlace.favourites, .tagged].map { (.userPlace($0), $0.sentence) } }
    stops += request.places.map { (.place($0), "The documents of \(DisplayText.quoted($0.name, limit: 40)).") }
    if request.acts != .none { stops.append((.userPlace(.trash), UserPlace.trash.sentence)) }
    guard !stops.isEmpty else {
      say("No other app shows its documents here.")
      return nil
    }
    let next = nextPlace % stops.count
    nextPlace = (next + 1) % stops.count
    say(stops[next].sentence)
    return stops[next].effect
  }

  mutating func remove(mark: Mark) { marks.removeAll { $0 == mark } }

  mutating func toggleHidden() {
    showsHidden.toggle()
    arrange(keepsTop: false)
  }

  mutating func setFilter(_ text: String) {
    let narrows =
      FuzzyQuery.narrows(filter, to: text) && showsEverything(under: filter) == showsEverything(under: text)
    (filter, query) = (text, FuzzyQuery(text))
    if let known = answers[text] {
      (candidates, matches) = (known.candidates, known.matches)
    } else {
      refilter(narrowing: narrows)
      // Tags may change.
      if Self.tagWanted(by: text) == nil { answers[text] = FilterAnswers.Answer(candidates, matches) }
    }
    // Rows that Enter can use come first; the others are only there to be seen. To look at all of a large folder takes too long.
    cursor = filter.isEmpty ? 0 : matches.prefix(2000).firstIndex { isUseful(entries[$0]) } ?? 0
    scroll = 0
    settle()
  }

  private mutating func refilter(narrowing: Bool) {
    if !narrowing || Self.tagWanted(by: filter) != nil {
      let all = showsEverything
      candidates =
        all || openCount == entries.count
        ? sorting.listed : sorting.listed.filter { !entries[$0].name.isHidden }
    }
    guard !query.terms.isEmpty else {
      matches = candidates
      return
    }
    if let tagged = tagged(candidates) {
      matches = tagged
      return
    }
    let names = prepareNames()
    let left = NameFilter(query, names, among: candidates)
    (candidates, matches) = (left.found, left.ranked)
    // A name like “!important” can be pasted as it is.
    if filter.contains(where: { "!'^$ \\".contains($0) }), let same = index(named: FileName(filter)),
      !left.found.contains(same)
    {
      matches.insert(same, at: 0)
    }
  }

  /// A filter would have to pack the names of a large folder first.
  var wantsNames: Bool { names == nil && entries.count >= Self.manyNames }
  private static let manyNames = 2000

  /// Packs the names for the filter, if that is not done yet.
  @discardableResult
  mutating func prepareNames() -> NameTable {
    if let names { return names }
    let made = NameTable(entries)
    names = made
    return made
  }

  private func index(named name: FileName) -> Int? {
    entries.firstIndex { $0.name == name }
  }

  /// The folder that a typed path means: of that name, else the first that begins so.
  func folder(typed text: String) -> FileName? {
    let folders = entries.lazy.filter { $0.kind == .folder }.map(\.name)
    if let same = folders.first(where: { $0 == FileName(text) }) { return same }
    let wanted = Folding.fold(text)
    return folders.first { Folding.fold($0.text).starts(with: wanted) }
  }

  private func isUseful(_ entry: Entry) -> Bool {
    entry.kind == .folder || rule.allows(entry.kind, named: entry.realName)
  }

  private mutating func moveCursor(to name: FileName?) {
    cursor = 0
    if let name, let match = matches.firstIndex(where: { entries[$0].name == name }) {
      cursor = match + (hasHereRow ? 1 : 0)
    }
    settle()
  }

  /// Brings cursor and scroll back into their ranges.
  private mutating func settle() {
    cursor = max(0, min(cursor, rowCount - 1))
    // Whole rows of a grid; in a list, each row is one.
    let (row, rows) = (cursor / gridColumns, (rowCount + gridColumns - 1) / gridColumns)
    scroll = max(min(scroll / gridColumns, row, rows - listRows), row - listRows + 1, 0) * gridColumns
  }
}
