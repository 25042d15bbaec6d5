import TestSupport
import Testing

@testable import PickerUI

@Suite struct PickerSortingTests {
  /// Sizes and times by name; folders have times too.
  private static let facts: [String: EntryFacts] = [
    "Zoo": EntryFacts(size: 9, modified: 50), "Archive": EntryFacts(size: 8, modified: 10),
    "a.txt": EntryFacts(size: 300, modified: 20), "b.md": EntryFacts(size: 10, modified: 40),
    "c.TXT": EntryFacts(size: 300, modified: 30), "noext": EntryFacts(size: 0, modified: .min),
  ]

  private static func folder() -> PickerModel {
    model(request(), entries("Zoo/", "Archive/", "a.txt", "b.md", "c.TXT", "noext", ".hidden"))
  }

  private static func press(_ key: Key, _ model: inout PickerModel) {
    _ = model.press(key)
    while model.isSorting {
      _ = model.learn(facts: model.entries[model.wantedFacts].map { facts[$0.name.text] ?? .unknown })
    }
  }

  @Test(
    arguments: [
      ("n", ["Archive", "Zoo", "a.txt", "b.md", "c.TXT", "noext"]),
      ("d", ["Zoo", "Archive", "b.md", "c.TXT", "a.txt", "noext"]),
      ("s", ["Archive", "Zoo", "a.txt", "c.TXT", "b.md", "noext"]),
      ("k", ["Archive", "Zoo", "noext", "b.md", "a.txt", "c.TXT"]),
    ] as [(Unicode.Scalar, [String])])
  func `Each order has its key; again, the order is reversed, and equals stay in the order of their names`(
    key: Unicode.Scalar, names: [String]
  ) {
    var model = Self.folder()
    if key == "n" { Self.press(.alt("k"), &model) }
    Self.press(.alt(key), &model)
    #expect(model.rowNames == names)
    Self.press(.alt(key), &model)
    let reversed: [Unicode.Scalar: [String]] = [
      "n": ["Zoo", "Archive", "noext", "c.TXT", "b.md", "a.txt"],
      "d": ["Archive", "Zoo", "noext", "a.txt", "c.TXT", "b.md"],
      "s": ["Archive", "Zoo", "noext", "b.md", "a.txt", "c.TXT"],
      "k": ["Archive", "Zoo", "a.txt", "c.TXT", "b.md", "noext"],
    ]
    #expect(model.rowNames == reversed[key])
    Self.press(.alt(key), &model)
    #expect(model.rowNames == names)
  }

  @Test func `Control S goes through the orders, and the line of the place says which`() {
    var model = Self.folder()
    var seen: [String?] = []
    for _ in 0..<5 {
      seen.append(model.view.orderWords)
      Self.press(.control("s"), &model)
    }
    #expect(seen == [nil, "by date ↓", "by size ↓", "by kind ↑", nil])
    let layout = Layout(request(), ScreenSize(columns: 80, rows: 20), model.view)
    let place = Screen.lines(model, layout, now: 0, home: nil)[layout.title.count + 1].plain
    #expect(place.hasSuffix("by date ↓ · 6 items"), "\(place)")
  }

  @Test
  func `The cursor stays with its file, the filter ranks equals by the order, and a new folder has the same order`() {
    var model = Self.folder()
    while model.nameUnderCursor != "b.md" { _ = model.press(.down) }
    Self.press(.alt("d"), &model)
    #expect(model.nameUnderCursor == "b.md")
    model.type("t")
    #expect(
      model.rowNames == ["a.txt", "c.TXT", "noext"].sorted { Self.facts[$0]!.modified > Self.facts[$1]!.modified })
    model.show(folder: "/other", isTop: false, entries: entries("x", "y"))
    #expect(model.isSorting && model.rowNames == ["x", "y"], "by name until the facts are there")
    let isSorted = model.learn(facts: [EntryFacts(size: 0, modified: 1), EntryFacts(size: 0, modified: 2)])
    #expect(isSorted)
    #expect(model.rowNames == ["y", "x"])
  }

  @Test func `Facts are wanted in slices, only for orders that need them, and not of too many names`() {
    let many = (0..<(ListSorting.slice + 10)).map { Entry(name: FileName("f\($0)"), kind: .file) }
    var model = model(request(), NameOrder.sorted(many))
    #expect(model.wantedFacts.isEmpty)
    _ = model.press(.alt("s"))
    #expect(model.wantedFacts == 0..<ListSorting.slice)
    let isSorted = model.learn(facts: Array(repeating: .unknown, count: ListSorting.slice))
    #expect(!isSorted)
    #expect(model.wantedFacts == ListSorting.slice..<many.count)
    _ = model.press(.alt("n"))
    #expect(model.wantedFacts.isEmpty)
    let tooMany = (0...ListSorting.most).map { Entry(name: FileName("\($0)"), kind: .file) }
    model.show(folder: "/many", isTop: false, entries: tooMany)
    _ = model.press(.alt("d"))
    #expect(model.message?.contains("too many") == true && model.wantedFacts.isEmpty && model.rowCount == tooMany.count)
  }
}

@Suite struct PickerGridTests {
  /// A grid of three columns, four rows high.
  private static func grid(_ count: Int, columns: Int = 72) -> PickerModel {
    var model = PickerModel(request())
    let names = (0..<count).map { Entry(name: FileName("n\($0)"), kind: .file) }
    model.show(folder: "/home/ann", isTop: false, entries: NameOrder.sorted(names))
    _ = model.press(.control("g"))
    let layout = Layout(model.request, ScreenSize(columns: columns, rows: 9), model.view)
    model.resize(layout)
    return model
  }

  @Test func `The cursor walks to all sides and stays in its column`() {
    var model = Self.grid(11)
    #expect(model.gridColumns == 3 && model.cellWidth == 24)
    var seen: [Int] = []
    for key in [Key.down, .right, .down, .down, .down, .up, .left, .up, .up, .up, .end, .left, .home, .left] {
      #expect(model.press(key) == nil)
      seen.append(model.cursor)
    }
    #expect(seen == [3, 4, 7, 10, 10, 7, 6, 3, 0, 0, 10, 9, 0, 0])
    model = Self.grid(11)
    for key in [Key.right, .right, .down, .down, .down] { _ = model.press(key) }
    #expect(model.cursor == 10, "the last row is shorter")
    #expect(model.press(.backspace) == .parent)
  }

  @Test func `The cursor is always in sight, and rows of the grid are whole`() {
    var random = Seeded(seed: 9)
    for _ in 0..<Rounds.few(12, of: 40) {
      var model = Self.grid(.random(in: 0...90, using: &random), columns: .random(in: 24...140, using: &random))
      for _ in 0..<40 {
        let keys: [Key] = [
          .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .text("1"), .control("u"), .control("g"),
        ]
        _ = model.press(keys.randomElement(using: &random) ?? .up)
        let size = ScreenSize(columns: .random(in: 24...140, using: &random), rows: .random(in: 8...30, using: &random))
        let layout = Layout(model.request, size, model.view)
        model.resize(layout)
        #expect(model.rowCount == 0 || model.visibleRows.contains(model.cursor))
        #expect(model.scroll % model.gridColumns == 0)
        #expect(model.visibleRows.count <= max(Layout.mostCells, layout.listRows))
        let lines = Screen.lines(model, layout, now: 0, home: nil)
        #expect(lines.count == size.rows && lines.allSatisfy { $0.width <= size.columns })
        let text = lines.map(\.plain).joined(separator: "\n")
        for index in model.visibleRows { #expect(text.contains(model.rowNames[index])) }
      }
    }
  }

  @Test func `I2: a link's target is shown in its cell and below the grid`() {
    let entry = Entry(name: FileName(String(repeating: "n", count: 60)), kind: .file, isLink: true, realName: "id_rsa")
    var model = model(request(), [entry])
    _ = model.press(.control("g"))
    model.learn(EntryDetails(size: 1, modified: 1, linkTarget: "/home/ann/.ssh/id_rsa"), at: 0)
    let layout = Layout(model.request, ScreenSize(columns: 80, rows: 20), model.view)
    model.resize(layout)
    let lines = Screen.lines(model, layout, now: 0, home: "/home/ann").map(\.plain)
    #expect(lines.contains { $0.hasPrefix("▸") && $0.contains(" → ") && $0.contains("id_rsa") })
    #expect(lines.contains { $0.hasPrefix("→ ~/.ssh/id_rsa") })
  }

  @Test func `The mouse points at cells`() {
    var model = Self.grid(11)
    let top = model.listTop
    for (column, row, cursor) in [(30, top + 1, 4), (71, top, 2), (0, top + 3, 9), (50, top + 3, 9), (0, top - 1, 9)] {
      _ = model.press(.mouse(.press, column: column, row: row))
      #expect(model.cursor == cursor)
    }
    _ = model.press(.mouse(.wheelUp, column: 0, row: 0))
    #expect(model.cursor == 6)
  }
}
