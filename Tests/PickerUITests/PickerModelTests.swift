import Testing

@testable import PickerUI

@Suite struct PickerModelTests {
  static let folder = entries("Archive/", "Letters/", "a.txt", "b.md", "notes.txt", "pipe|", "gone?", ".hidden")

  @Test func `Hidden files are hidden until asked for, by key or by a filter that begins with a dot`() {
    var model = model(request(), Self.folder)
    #expect(!model.rowNames.contains(".hidden"))
    _ = model.press(.control("h"))
    #expect(model.rowNames.contains(".hidden"))
    _ = model.press(.alt("."))
    #expect(!model.rowNames.contains(".hidden"))
    model.type(".h")
    #expect(model.rowNames == [".hidden"])
    _ = model.press(.backspace)
    _ = model.press(.backspace)
    #expect(!model.rowNames.contains(".hidden"))
  }

  @Test func `The cursor stays with its file when hidden files come and go`() {
    var model = model(request(), Self.folder)
    while model.nameUnderCursor != "b.md" { _ = model.press(.down) }
    _ = model.press(.control("h"))
    #expect(model.nameUnderCursor == "b.md")
  }

  @Test func `Enter on a folder enters it, on a file picks it`() {
    var model = model(request(), Self.folder)
    #expect(model.press(.enter) == .enter(FileName("Archive")))
    #expect(model.press(.right) == .enter(FileName("Archive")))
    model.type("notes")
    #expect(model.press(.right) == nil)
    #expect(model.press(.enter) == .pick(.entry(FileName("notes.txt"))))
  }

  @Test func `PCK-9, PCK-25: control C cancels; Escape clears the filter first`() {
    var model = model(request(), Self.folder)
    #expect(model.press(.escape) == .cancel)
    #expect(model.press(.control("c")) == .cancel)
    model.type("no")
    #expect(model.press(.control("c")) == .cancel)
    #expect(model.press(.escape) == nil)
    #expect(model.filter == "")
    #expect(model.press(.escape) == .cancel)
  }

  @Test func `A question mark shows the keys, and the next key goes back; control C cancels even there`() {
    var model = model(request(), Self.folder)
    #expect(model.press(.text("?")) == nil)
    #expect(model.showsHelp)
    #expect(model.press(.enter) == nil)
    #expect(!model.showsHelp)
    _ = model.press(.text("?"))
    #expect(model.press(.control("c")) == .cancel)
    // In a filter it is a letter.
    model.type("a?")
    #expect(model.filter == "a?")
  }

  @Test func `The mouse points at rows and opens folders, and never chooses`() {
    var model = model(request(), Self.folder)
    model.resize(listRows: 10, top: 5)
    #expect(model.press(.mouse(.press, column: 3, row: 7)) == nil)
    #expect(model.nameUnderCursor == "a.txt")
    #expect(model.press(.mouse(.press, column: 3, row: 7)) == nil)
    #expect(model.press(.mouse(.press, column: 3, row: 5)) == nil)
    #expect(model.press(.mouse(.press, column: 3, row: 5)) == .enter(FileName("Archive")))
    for row in [0, 4, 100] { #expect(model.press(.mouse(.press, column: 0, row: row)) == nil) }
    #expect(model.nameUnderCursor == "Archive")
    _ = model.press(.mouse(.wheelDown, column: 0, row: 9))
    #expect(model.nameUnderCursor == "Letters")
    _ = model.press(.mouse(.wheelUp, column: 0, row: 9))
    #expect(model.nameUnderCursor == "Archive")
  }

  @Test func `Only the picker of an app that asks again and again can end it`() {
    var model = model(request(), Self.folder)
    #expect(model.press(.control("x")) == nil)
    var pestering = request()
    pestering.isPestering = true
    var other = PickerModel(pestering)
    #expect(other.press(.control("x")) == .endApp)
  }

  @Test func `Left goes up; Backspace does when there is nothing to erase`() {
    var model = model(request(), Self.folder)
    #expect(model.press(.left) == .parent)
    #expect(model.press(.backspace) == .parent)
    model.type("é")
    #expect(model.press(.backspace) == nil)
    #expect(model.filter == "")
    model.show(folder: "/", isTop: true, entries: Self.folder)
    #expect(model.press(.left) == nil)
    #expect(model.message != nil)
    #expect(model.press(.backspace) == nil)
  }

  @Test(arguments: ["pipe", "gone", "b.md"])
  func `PCK-7: what cannot be chosen is refused with a reason, which goes with the next key`(name: String) {
    var model = model(request(types: ["txt"]), Self.folder)
    while model.nameUnderCursor != name { _ = model.press(.down) }
    #expect(model.press(.enter) == nil)
    #expect(model.message?.contains("“\(name)”") == true)
    _ = model.press(.up)
    #expect(model.message == nil)
  }

  @Test func `The filter puts the cursor on the first thing that Enter can use`() {
    var model = model(request(types: ["txt"]), entries("note.png", "notes.txt", "note/"))
    model.type("note")
    #expect(model.rowNames == ["note", "note.png", "notes.txt"])
    model.type(".")
    #expect(model.rowNames == ["note.png", "notes.txt"])
    #expect(model.nameUnderCursor == "notes.txt")
  }

  @Test func `Better matches come first, folders first among equals`() {
    var model = model(request(), entries("xab", "ab", "abc", "axb", "zab/", "aab/", "q"))
    model.type("ab")
    #expect(model.rowNames == ["ab", "abc", "axb", "aab", "zab", "xab"])
  }

  @Test func `Several words are all wanted, and a name with fzf's signs in it can be pasted`() {
    var model = model(request(), entries("letter to ann.txt", "to ann.md", "!important", "important", "'a$"))
    model.type("ann let")
    #expect(model.rowNames == ["letter to ann.txt"])
    _ = model.press(.control("u"))
    model.type("!import")
    #expect(model.rowNames == ["'a$", "letter to ann.txt", "to ann.md"])
    model.type("ant")
    #expect(model.rowNames == ["!important", "'a$", "letter to ann.txt", "to ann.md"])
    _ = model.press(.control("u"))
    model.type("'a$")
    #expect(model.rowNames.contains("'a$"))
  }

  @Test func `Control U empties the filter, control W takes its last word`() {
    var model = model(request(), Self.folder)
    model.type("my old notes")
    _ = model.press(.control("w"))
    #expect(model.filter == "my old ")
    _ = model.press(.control("w"))
    #expect(model.filter == "my ")
    _ = model.press(.control("u"))
    #expect(model.filter == "")
  }

  // MARK: - Several

  @Test func `PCK-8: one document is one, whatever is marked`() {
    var model = model(request(), entries("a", "b"))
    #expect(model.press(.tab) == nil)
    #expect(model.message != nil)
    _ = model.press(.text(" "))
    #expect(model.filter == " ")
  }

  @Test func `PCK-8: marks are set and taken by Tab, and by Space while there is no filter`() {
    var model = model(request(multiple: true), entries("a b", "c"))
    #expect(model.press(.tab) == .mark(.entry(FileName("a b"))))
    #expect(model.marks.isEmpty, "not before the document is open")
    model.marked(.entry(FileName("a b")))
    #expect(model.nameUnderCursor == "c")
    #expect(model.press(.text(" ")) == .mark(.entry(FileName("c"))))
    model.marked(.entry(FileName("c")))
    _ = model.press(.up)
    let mark = Mark(folder: "/home/ann/Documents", target: .entry(FileName("a b")))
    #expect(model.press(.tab) == .unmark(mark))
    #expect(model.marks.map(\.target) == [.entry(FileName("c"))])
    model.type("a ")
    #expect(model.filter == "a ")
    _ = model.press(.control("u"))
    #expect(model.press(.pasted(" ")) == nil)
    #expect(model.filter == " ", "a pasted space marks nothing")
  }

  @Test func `Marks stay in other folders, and Enter on a file chooses them`() {
    var model = model(request(multiple: true), entries("a"))
    _ = model.press(.tab)
    model.marked(.entry(FileName("a")))
    model.show(folder: "/other", isTop: false, entries: entries("a", "dir/"))
    #expect(!model.isMarked(.entry(FileName("a"))))
    #expect(model.press(.enter) == .enter(FileName("dir")))
    _ = model.press(.down)
    #expect(model.press(.enter) == .finishMarked)
    model.show(folder: "/empty", isTop: false, entries: [])
    #expect(model.press(.enter) == .finishMarked)
  }

  @Test func `Marks have a limit, with a sentence`() {
    let many = (0...PickerRequest.mostChosen).map { Entry(name: FileName("f\($0)"), kind: .file) }.sorted(
      by: Entry.precedes)
    var model = model(request(multiple: true), many)
    for _ in 0..<PickerRequest.mostChosen {
      guard case .mark(let target) = model.press(.tab) else { break }
      model.marked(target)
    }
    #expect(model.marks.count == PickerRequest.mostChosen)
    #expect(model.press(.tab) == nil)
    #expect(model.message?.contains("200") == true)
  }

  // MARK: - Folders

  @Test func `A folder is chosen by its own row at the top, files are only there to be seen`() {
    var model = model(request(kind: .folder), Self.folder)
    #expect(model.rowNames.first == ".")
    #expect(model.press(.enter) == .pick(.here))
    _ = model.press(.down)
    #expect(model.press(.enter) == .enter(FileName("Archive")))
    model.type("notes")
    #expect(model.press(.enter) == nil)
    #expect(model.message?.contains("folder") == true)
  }

  @Test func `Several folders are marked, the one shown among them`() {
    var model = model(request(multiple: true, kind: .folder), entries("x/"))
    #expect(model.press(.tab) == .mark(.here))
    model.marked(.here)
    #expect(model.press(.tab) == .mark(.entry(FileName("x"))))
    model.marked(.entry(FileName("x")))
    _ = model.press(.home)
    #expect(model.press(.enter) == .finishMarked)
  }

  // MARK: - Typed paths

  @Test(arguments: [
    ("/", PickerEffect.top), ("~/", .home), ("../", .parent), ("Letters/", .enter(FileName("Letters"))),
    ("let/", .enter(FileName("Letters"))), ("etters/", nil), ("zzz/", nil), ("./", nil),
  ])
  func `A typed slash goes where the path so far leads`(text: String, effect: PickerEffect?) {
    for isPasted in [false, true] {
      var model = model(request(), Self.folder)
      var last: PickerEffect?
      for scalar in text.unicodeScalars { last = model.press(isPasted ? .pasted(scalar) : .text(scalar)) }
      #expect(last == effect)
      #expect(!model.filter.contains("/"))
    }
  }

  // MARK: - Moving

  @Test func `Pages and ends move cursor and list together`() {
    let many = (0..<100).map { Entry(name: FileName("f\($0)"), kind: .file) }.sorted(by: Entry.precedes)
    var model = model(request(), many, rows: 10)
    _ = model.press(.pageDown)
    #expect(model.cursor == 9 && model.scroll == 9)
    _ = model.press(.end)
    #expect(model.cursor == 99 && model.scroll == 90)
    _ = model.press(.down)
    #expect(model.cursor == 99)
    _ = model.press(.pageUp)
    #expect(model.cursor == 90)
    _ = model.press(.home)
    #expect(model.cursor == 0 && model.scroll == 0)
    model.resize(listRows: 200)
    #expect(model.visibleRows == 0..<100)
  }

  @Test func `Details are wanted only for the rows in sight, and only once`() {
    let many = (0..<100).map { Entry(name: FileName("f\($0)"), kind: .file) }.sorted(by: Entry.precedes)
    var model = model(request(), many, rows: 5)
    #expect(model.wantedDetails == [0, 1, 2, 3, 4])
    for index in model.wantedDetails { model.learn(EntryDetails(size: 1, modified: 1), at: index) }
    #expect(model.wantedDetails.isEmpty)
    _ = model.press(.end)
    #expect(model.wantedDetails == [95, 96, 97, 98, 99])
  }

  @Test func `Coming up from a folder, the cursor is on it`() {
    var model = model(request(), Self.folder)
    model.show(
      folder: "/home/ann", isTop: false, entries: entries("a/", "b/", "Documents/"), selected: FileName("Documents"))
    #expect(model.nameUnderCursor == "Documents")
  }
}
