import Kernel
import Synchronization
import Testing
import UserFiles

@testable import PickerUI

/// The questions to an actor.
private final class Asked: Sendable {
  private let calls = Mutex<[String]>([])
  var all: [String] { calls.withLock { $0 } }

  func actor(_ reply: @escaping @Sendable (String, String) -> FileActReply) -> FileActor {
    FileActor { act, line, files in
      let names = files.compactMap { $0.currentPath.map { FileName($0).text.lastName } }
      self.calls.withLock { $0.append(([act, line] + names).joined(separator: "|")) }
      return reply(act, line)
    }
  }
}

@Suite struct `A line that the user edits` {
  private func typed(_ line: LineEdit, _ keys: [Key]) -> LineEdit { keys.reduce(into: line) { $0.press($1) } }

  @Test func `a new name begins as the old one, before its extension`() {
    let line = LineEdit(renaming: "Essay.txt")
    #expect(typed(line, [.text(" "), .text("2")]).text == "Essay 2.txt")
    #expect(typed(line, [.control("u"), .text("x")]).text == "x")
    #expect(LineEdit(renaming: ".profile").cursor == 8 && LineEdit(renaming: "a").cursor == 1)
  }

  @Test func `keys move, delete and insert`() {
    let line = LineEdit("one two")
    #expect(typed(line, [.control("w")]).text == "one ")
    #expect(typed(line, [.home, .delete, .end, .backspace]).text == "ne tw")
    #expect(typed(line, [.left, .left, .right, .text("X")]).text == "one twXo")
    #expect(typed(line, [.home, .backspace, .left, .end, .delete, .right]).text == "one two")
  }

  @Test func `a combining mark joins its letter, and control characters stay out`() {
    let line = typed(LineEdit("e"), [.text("\u{301}"), .text("\u{7}"), .text("\u{1B}"), .backspace])
    #expect(line.text == "" && line.cursor == 0)
  }

  @Test func `a line is bounded`() {
    var line = LineEdit()
    for _ in 0..<(LineEdit.limit + 10) { line.press(.pasted("x")) }
    #expect(line.text.utf8.count == LineEdit.limit)
  }
}

@Suite struct `The menu of actions` {
  private func model(_ acts: PickerRequest.Acts, _ actions: [PickerRequest.Action] = []) throws -> PickerModel {
    let folder = try TemporaryFolder()
    try folder.file("a.txt")
    try folder.file("b.png")
    var request = PickerRequest(appName: "App", multiple: true, startFolder: folder.path)
    (request.acts, request.actions) = (acts, actions)
    var model = PickerModel(request)
    let open = try OpenFolder(folder.path)
    model.show(folder: open.path, isTop: false, entries: try open.entries())
    model.resize(listRows: 20)
    for index in model.wantedDetails { model.learn(open.details(of: model.entries[index]), at: index) }
    return model
  }

  private func titles(_ model: PickerModel) -> [String] { model.actionMenu?.items.map(\.title) ?? [] }

  @Test func `an app's picker offers nothing that starts another app`() throws {
    var safe = try model(.safe)
    _ = safe.press(.control("e"))
    #expect(titles(safe).contains("Rename…") && !titles(safe).contains("Open with…"))
    var own = try model(.all)
    _ = own.press(.control("e"))
    #expect(titles(own).contains("Open with…"))
    var none = try model(.none)
    #expect(none.press(.control("e")) == nil && none.actionMenu == nil && none.message != nil)
  }

  @Test func `letters choose, a name is asked for, and Escape closes`() throws {
    var model = try model(.safe)
    _ = model.press(.control("e"))
    #expect(model.press(.text("d")) == .act(.duplicate, "", .entry(FileName("a.txt"))) && model.actionMenu == nil)
    _ = model.press(.control("e"))
    _ = model.press(.text("r"))
    _ = model.press(.text("2"))
    #expect(model.press(.enter) == .act(.rename, "a2.txt", .entry(FileName("a.txt"))))
    _ = model.press(.control("e"))
    #expect(model.press(.escape) == nil && model.actionMenu == nil)
    // The list was not filtered by the letters.
    #expect(model.filter.isEmpty)
  }

  @Test func `several marked documents have actions for several`() throws {
    var model = try model(.safe)
    model.marked(.entry(FileName("a.txt")))
    model.marked(.entry(FileName("b.png")))
    _ = model.press(.control("e"))
    #expect(!titles(model).contains("Rename…") && titles(model).contains("Move to the trash"))
    #expect(model.press(.text("t")) == .act(.trash, "", nil))
  }

  @Test func `PCK-33: an app's action is offered for its types, and a button always`() throws {
    let count = PickerRequest.Action(
      identifier: "count", title: "Count\u{1B}[2J", documents: true, types: ["txt"], multiple: false)
    let button = PickerRequest.Action(identifier: "b", title: "Settings", documents: false, types: nil, multiple: false)
    var model = try model(.none, [count, button])
    _ = model.press(.control("e"))
    #expect(titles(model).count == 2 && titles(model).allSatisfy { !$0.contains("\u{1B}") })
    #expect(model.press(.text("1")) == .appAction(count, .entry(FileName("a.txt"))))
    _ = model.press(.down)
    _ = model.press(.control("e"))
    #expect(titles(model) == ["“Settings”"])
    #expect(model.press(.text("1")) == .appAction(button, .entry(FileName("b.png"))))
  }

  @Test func `every line of it fits, at any size`() throws {
    var model = try model(.all)
    _ = model.press(.control("e"))
    for columns in 24...80 {
      for rows in 1...15 {
        let lines = try #require(model.actionMenu).lines(columns: columns, rows: rows)
        #expect(lines.count <= rows && lines.allSatisfy { $0.width <= columns }, "\(columns)x\(rows)")
      }
    }
  }
}

@Suite struct `Tags in the list` {
  @Test func `a filter by tag finds them, and names with the same letters`() throws {
    var model = PickerModel(PickerRequest(appName: "App", startFolder: "/"))
    let names = ["a.txt", "b.txt", "#red.txt"].map { FileName($0) }
    model.show(folder: "/", isTop: true, entries: names.map { Entry(name: $0, kind: .file) }.sorted(by: Entry.precedes))
    #expect(!model.wantsTags)
    model.setFilter("#RE")
    #expect(model.wantsTags)
    model.learnTags([names[1]: FileTags(Array("red".utf8))])
    #expect(!model.wantsTags)
    #expect(Set(model.matches.map { model.entries[$0].name.text }) == ["b.txt", "#red.txt"])
    model.setFilter("tag:red")
    #expect(model.matches.map { model.entries[$0].name.text } == ["b.txt"])
    model.setFilter("")
    #expect(model.matches.count == 3)
  }

  @Test func `are dots in their colours, and words without colours`() throws {
    let tags = FileTags(Array("red,tax,orange".utf8)).tags
    #expect(TagDots.pieces(tags, colours: true).map(\.text) == ["●", "#tax", "●"])
    #expect(TagDots.pieces(tags, colours: false).map(\.text) == ["#red", "#tax", "#orange"])
    var line = Line()
    TagDots.add(tags, to: &line, .plain, colours: true)
    #expect(line.width == TagDots.width(tags, colours: true))
    #expect(line.encoded(colours: true).contains("\u{1B}[31m●") && line.encoded(colours: true).contains("38;5;208"))
  }
}

@Suite struct `An app's accent` {
  @Test(arguments: [("#000000", false), ("#ffffff", false), ("#2f6fde", true), ("#101010", false), ("#f2c230", false)])
  func `is taken only where it can be read on black and on white`(text: String, isLegible: Bool) throws {
    #expect(try #require(PickerRequest.Tint(text)).isLegible == isLegible)
  }

  @Test(arguments: ["", "red", "#12345", "#1234567", "#+12345", "#12345g"])
  func `anything else is none`(text: String) { #expect(PickerRequest.Tint(text) == nil) }
}

@Suite struct `Actions as lines` {
  private func session(_ folder: TemporaryFolder, _ actor: FileActor) throws -> PlainSession {
    var request = PickerRequest(appName: "App", startFolder: folder.path)
    request.acts = .safe
    return PlainSession(request, try OpenFolder(folder.path), home: nil, actor: actor)
  }

  @Test func `a number, an action, a name`() throws {
    let (folder, asked) = (try TemporaryFolder(), Asked())
    try folder.file("Essay.txt")
    var session = try session(folder, asked.actor { _, line in FileActReply(sentence: "It is called \(line).") })
    _ = session.opening { _ in nil }
    let (menu, _) = session.take("a 1", { _ in nil })
    #expect(menu.contains("Actions for “Essay.txt”.\n1 Rename…\n"))
    #expect(session.take("1", { _ in nil }).0.hasPrefix("New name for “Essay.txt”"))
    #expect(session.take("New.txt", { _ in nil }).0.hasPrefix("It is called New.txt.\n"))
    #expect(asked.all == ["rename|New.txt|Essay.txt"])
    // An empty line goes back.
    _ = session.take("a 1", { _ in nil })
    #expect(session.take("", { _ in nil }).0.hasPrefix("Nothing is done.") && asked.all.count == 1)
    #expect(session.take("a 9", { _ in nil }).0.hasPrefix("There is no file on line 9."))
  }

  @Test func `the user's places are among the others`() throws {
    let (folder, asked) = (try TemporaryFolder(), Asked())
    let path = try folder.file("Essay.txt")
    var session = try session(folder, asked.actor { _, _ in FileActReply(sentence: "", paths: [path]) })
    _ = session.opening { _ in nil }
    let (said, _) = session.take(".o", { _ in nil })
    #expect(said.contains("Your favourites.") && said.contains("Essay.txt"))
    #expect(asked.all == ["favourites|"])
  }
}

@Suite struct `Base 64` {
  @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")])
  func `is that of RFC 4648`(text: String, coded: String) { #expect(Base64.text(Array(text.utf8)) == coded) }
}
