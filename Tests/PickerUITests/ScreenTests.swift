import TestSupport
import Testing

@testable import PickerUI

@Suite struct ScreenTests {
  static let now: Int64 = 1_800_000_000
  static let day: Int64 = 86400

  /// The lines as text, spaces at their ends gone.
  static func picture(_ model: PickerModel, _ columns: Int, _ rows: Int, home: String? = "/home/ann") -> [String] {
    var model = model
    let layout = Layout(model.request, ScreenSize(columns: columns, rows: rows))
    model.resize(listRows: layout.listRows)
    let lines = Screen.lines(model, layout, now: now, home: home)
    #expect(lines.count == rows)
    #expect(lines.allSatisfy { $0.width <= columns })
    return lines.map { line in
      var text = line.plain
      while text.last == " " { text.removeLast() }
      return text
    }
  }

  static func documents(_ request: PickerRequest) -> PickerModel {
    var entries = entries("Archive/", "Letters/", "notes.txt", "photo.png", "a\u{1B}[31m\n.txt", "日本語.txt", "pipe|")
    entries.append(Entry(name: FileName("latest"), kind: .file, isLink: true, realName: "notes.txt"))
    entries.sort(by: Entry.precedes)
    var model = model(request, entries, rows: 20)
    for index in entries.indices {
      var details = EntryDetails(size: Int64(index) * 1234, modified: now - Int64(index * index) * day)
      if entries[index].isLink { details.linkTarget = "../notes.txt" }
      model.learn(details, at: index)
    }
    return model
  }

  @Test func `At 80 by 20 there is room for everything`() {
    let model = Self.documents(request(message: "Which one shall I \u{1B}[8m open?\n“Yes”", types: ["txt", "md"]))
    #expect(
      Self.picture(model, 80, 20) == [
        "“TextEdit” asks for a document to open, read and write",
        "It says: “Which one shall I ␛[8m open? \"Yes\"”",
        "",
        "~/Documents                                                              8 items",
        "Type to filter                                                  only .txt or .md",
        "",
        "▸ Archive/                                                             just now",
        "  Letters/                                                            1 day ago",
        "  a␛[31m␊.txt                                             2.5 kB     4 days ago",
        "  latest → ../notes.txt                                   3.7 kB     1 week ago",
        "  notes.txt                                               4.9 kB    2 weeks ago",
        "  photo.png                                               6.2 kB    3 weeks ago",
        "  pipe                                                              1 month ago",
        "  日本語.txt                                              8.6 kB    1 month ago",
        "",
        "",
        "",
        "",
        "",
        "Enter open folder · Esc cancel · ← parent · ? help · Ctrl-H show hidden",
      ])
  }

  @Test func `At 40 by 10 who asks, for what, where, and three rows are still there`() {
    var model = Self.documents(request(message: "Choose the letter that you want to send", multiple: true))
    _ = model.press(.down)
    _ = model.press(.down)
    model.marked(.entry(FileName("a\u{1B}[31m\n.txt")))
    #expect(
      Self.picture(model, 40, 10) == [
        "“TextEdit” asks for documents to open,",
        "read and write",
        "It says: “Choose the letter that you wa…",
        "~/Documents                      8 items",
        "Type to filter",
        "   Letters/",
        " ✓ a␛[31m␊.txt                   2.5 kB",
        "▸  latest → ../notes.txt         3.7 kB",
        "→ ../notes.txt",
        "Enter choose the marked one · Esc cancel",
      ])
  }

  /// A name of its own length, and the place of the user's keys.
  private static func luring(_ name: String, _ request: PickerRequest = request()) -> PickerModel {
    let entry = Entry(name: FileName(name), kind: .file, isLink: true, realName: "id_rsa")
    var model = model(request, [entry], rows: 20)
    model.learn(EntryDetails(size: 14, modified: now, linkTarget: "/home/ann/.ssh/id_rsa"), at: 0)
    return model
  }

  @Test(arguments: [24, 30, 36, 40, 64, 80, 132], [1, 9, 40, 255])
  func `I2, PCK-24: a link's target is shown whatever the name's length, in its row and below the list`(
    columns: Int, length: Int
  ) {
    for request in [request(), request(multiple: true)] {
      let picture = Self.picture(Self.luring(String(repeating: "n", count: length), request), columns, 24)
      let row = picture.first { $0.hasPrefix("▸") } ?? ""
      #expect(row.contains(" → ") && row.contains("id_rsa"), "\(row)")
      #expect(picture.contains("→ ~/.ssh/id_rsa"), "\(picture)")
    }
  }

  @Test func `I2: a name that looks like an arrow and a target keeps the real ones after it`() {
    let picture = Self.picture(Self.luring("notes.txt → ~/Documents/notes.txt"), 40, 24)
    #expect(picture.contains { $0.hasPrefix("▸ ") && $0.contains("→ ~/.ssh/id_rsa ") }, "\(picture)")
  }

  @Test func `SBX-15: what may not be handed out is dim, with the reason below the list, and Enter is not offered`() {
    var model = Self.luring("notes.txt")
    var details = EntryDetails(size: 14, modified: Self.now, linkTarget: "/home/ann/.ssh/id_rsa")
    details.refusal = "id_rsa cannot be handed out: it is one of the keys and settings of other programs."
    model.learn(details, at: 0)
    let layout = Layout(model.request, ScreenSize(columns: 100, rows: 24))
    let lines = Screen.lines(model, layout, now: Self.now, home: nil)
    #expect(lines.contains { $0.plain == details.refusal })
    #expect(lines.first { $0.plain.hasPrefix("▸") }?.spans.allSatisfy { $0.style.dim } == true)
    #expect(!lines.contains { $0.plain.contains("Enter choose") })
  }

  @Test func `What the user can only read says so, where the app asks for more`() {
    for (access, says) in [(PickerRequest.Access.readWrite, true), (.readOnly, false)] {
      var model = model(request(access: access), entries("notes.txt"))
      var details = EntryDetails(size: 1, modified: Self.now)
      details.isReadOnly = true
      model.learn(details, at: 0)
      #expect(Self.picture(model, 60, 12).contains("You can only read this, and so will the app.") == says)
    }
  }

  @Test func `At 24 by 8 one row can still be chosen, and the request is whole`() {
    let model = Self.documents(request())
    #expect(
      Self.picture(model, 24, 8) == [
        "“TextEdit” asks for a", "document to open, read", "and write", "~/Documents      8 items", "Type to filter",
        "▸ Archive/", "", "Enter open folder",
      ])
  }

  @Test func `Smaller than that, the picker says so and shows nothing to choose`() {
    for (columns, rows) in [(23, 24), (80, 7), (1, 1)] {
      let picture = Self.picture(Self.documents(request()), columns, rows)
      #expect(!picture.joined().contains("Archive"))
      #expect(Layout(request(), ScreenSize(columns: columns, rows: rows)).isTooSmall)
    }
    #expect(Self.picture(Self.documents(request()), 80, 7)[0].hasPrefix("This window is too small"))
  }

  @Test func `At 200 by 60 the columns stand at the right edge`() {
    let picture = Self.picture(Self.documents(request()), 200, 60)
    #expect(picture.count == 60)
    #expect(
      picture.contains { $0.hasPrefix("  notes.txt") && $0.hasSuffix("4.9 kB    2 weeks ago") && $0.count == 199 })
  }

  @Test func `A filter shows itself and how much is left`() {
    var model = Self.documents(request())
    model.type("nt")
    let picture = Self.picture(model, 60, 12)
    #expect(picture[1] == "~/Documents                                           1 of 8")
    #expect(picture[2] == "Filter: nt")
    #expect(picture[3] == "▸ notes.txt                                          4.9 kB")
  }

  @Test func `Empty places say something`() {
    #expect(Self.picture(model(request(), []), 60, 12).contains("  This folder is empty."))
    #expect(
      Self.picture(model(request(), entries(".a")), 60, 12).contains("  Only hidden files here; Ctrl-H shows them."))
    var none = model(request(), entries("a"))
    none.type("zz\u{1B}")
    #expect(Self.picture(none, 60, 12).contains("  Nothing here matches “zz␛”."))
  }

  @Test func `A message takes the lowest lines, and a long one takes the help's too`() {
    var model = Self.documents(request())
    model.say("Short.")
    #expect(Self.picture(model, 60, 12).suffix(2).first == "Short.")
    model.say("“Private letters” may not be handed to any app, because it holds the state of Ambit itself.")
    #expect(
      Self.picture(model, 60, 12).suffix(2) == [
        "“Private letters” may not be handed to any app, because it", "holds the state of Ambit itself.",
      ])
  }

  @Test(arguments: [
    (request(), "a document to open, read and write"),
    (request(access: .readOnly), "a document to open, read only"),
    (request(multiple: true), "documents to open, read and write"),
    (request(kind: .folder), "a folder and all in it to open, read and write"),
    (request(multiple: true, kind: .folder, access: .readOnly), "folders and all in them to open, read only"),
  ])
  func `The title says what the app will get`(request: PickerRequest, wanted: String) {
    #expect(Self.picture(model(request, []), 100, 24)[0] == "“TextEdit” asks for \(wanted)")
  }

  @Test func `An app's name can neither end its quotation nor push the request out of sight`() {
    let name = "Ambit” needs your password. “" + String(repeating: "x", count: 500) + "\n\u{202E}"
    for (columns, rows) in [(24, 8), (40, 10), (80, 24), (200, 60)] {
      let title = Layout(request(name), ScreenSize(columns: columns, rows: rows)).title.map(\.plain).joined(
        separator: " ")
      #expect(title.hasSuffix("asks for a document to open, read and write"))
      #expect(title.filter { $0 == "”" }.count == 1)
      #expect(!title.contains("\u{202E}"))
    }
  }

  // MARK: - Styles

  static func encoded(_ model: PickerModel, colours: Bool = true) -> [String] {
    let layout = Layout(model.request, ScreenSize(columns: 80, rows: 20))
    return Screen.lines(model, layout, now: now, home: nil).map { $0.encoded(colours: colours) }
  }

  @Test func `PCK-7: what cannot be chosen is dimmed, what can is not`() throws {
    let model = Self.documents(request(types: ["txt"]))
    let lines = Self.encoded(model)
    let notes = try #require(lines.first { $0.contains("notes.txt") && !$0.contains("→") })
    let photo = try #require(lines.first { $0.contains("photo.png") })
    #expect(notes.hasPrefix("  notes.txt"))
    #expect(photo.hasPrefix("\u{1B}[2m  photo.png"))
  }

  @Test func `The line under the cursor is reversed as wide as the screen; matched letters are emphasised`() {
    var model = Self.documents(request())
    model.type("nots")
    let line = Self.encoded(model)[5]
    #expect(line.hasPrefix("\u{1B}[7m▸ \u{1B}[0m\u{1B}[1;4;7mnot\u{1B}[0m\u{1B}[7me\u{1B}[0m\u{1B}[1;4;7ms\u{1B}[0m"))
    #expect(line.hasSuffix("\u{1B}[0m"))
  }

  @Test func `Without colours there is weight and reversal, but no colour`() {
    var model = Self.documents(request())
    model.say("A message.")
    let plain = Self.encoded(model, colours: false).joined()
    #expect(plain.contains("\u{1B}[1m") && plain.contains("\u{1B}[1;7m"))
    #expect(!plain.contains(/\u{1B}\[[0-9;]*3[0-9]/))
    #expect(Self.encoded(model).joined().contains(/\u{1B}\[[0-9;]*34/))
  }

  @Test func `At every size, with any names, each line fits and nothing but styles is sent`() {
    var random = Seeded(seed: 11)
    let pieces = [
      "a", "Z9", " ", "\u{1B}[2J", "\n", "日本", "👨\u{200D}👩\u{200D}👧", "e\u{301}", "\u{202E}", "\u{9B}1m", "🇨🇭", "“",
      "\u{FE0F}",
    ]
    func text(_ count: ClosedRange<Int>) -> String {
      (0..<Int.random(in: count, using: &random)).compactMap { _ in pieces.randomElement(using: &random) }.joined()
    }
    for _ in 0..<Rounds.few(50, of: 150) {
      let request = PickerRequest(
        appName: text(0...40), message: text(0...80), multiple: .random(using: &random),
        kind: Bool.random(using: &random) ? .file : .folder, types: Bool.random(using: &random) ? [text(1...6)] : nil,
        startFolder: "/")
      let names = Set((0..<20).map { _ in text(1...20) })
      var model = PickerModel(request)
      model.show(
        folder: "/" + text(0...30), isTop: false,
        entries: names.map { Entry(name: FileName($0), kind: Bool.random(using: &random) ? .file : .folder) })
      if Bool.random(using: &random) { for scalar in text(0...4).unicodeScalars { _ = model.press(.pasted(scalar)) } }
      if Bool.random(using: &random) { model.say(text(0...60)) }
      let size = ScreenSize(columns: .random(in: 1...130, using: &random), rows: .random(in: 1...40, using: &random))
      let layout = Layout(request, size)
      model.resize(listRows: layout.listRows)
      let lines = Screen.lines(model, layout, now: Self.now, home: "/home/ann")
      #expect(lines.count == size.rows)
      for line in lines {
        #expect(line.width <= size.columns)
        let rest = line.encoded(colours: true).replacing(/\u{1B}\[[0-9;]*m/, with: "")
        #expect(
          !rest.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.value == 0x202E })
      }
    }
  }

  @Test(
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1234, "1.2 kB"), (9949, "9.9 kB"), (9950, "10 kB"),
      (123_456, "123 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"), (5_000_000_000, "5.0 GB"), (-1, "0 B"),
      (Int64.max, "9.2 EB"),
    ] as [(Int64, String)])
  func `Sizes are at most three digits`(bytes: Int64, text: String) {
    #expect(Measure.size(bytes) == text)
  }

  @Test(
    arguments: [
      (0, "just now"), (59, "just now"), (60, "1 min ago"), (3599, "59 min ago"), (3600, "1 hour ago"),
      (2 * 86400, "2 days ago"), (13 * 86400, "1 week ago"), (60 * 86400, "2 months ago"), (800 * 86400, "2 years ago"),
      (-30, "just now"), (-3600, "in the future"),
    ] as [(Int64, String)])
  func `Ages are in the largest unit that fits`(seconds: Int64, text: String) {
    #expect(Measure.age(of: Self.now - seconds, now: Self.now) == text)
  }

  @Test(arguments: [
    ("/home/ann", "~"), ("/home/ann/a", "~/a"), ("/home/anna", "/home/anna"), ("/", "/"), ("/etc", "/etc"),
  ])
  func `The home folder is a tilde`(path: String, shown: String) {
    #expect(Measure.place(path, home: "/home/ann") == shown)
    #expect(Measure.place(path, home: nil) == path)
  }
}
