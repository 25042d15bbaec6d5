import Testing

@testable import PickerUI

/// A provider's form: its frame, its lines and its screen.
struct ProviderFormTests {
  private static let form = ProviderForm(
    provider: "Cloud", appName: "Notes", title: "Sign in", text: "Welcome.\u{1B}[2J",
    fields: [
      .init(key: "user", label: "Name", kind: .text, value: "ada"),
      .init(key: "word", label: "Password", kind: .secret),
      .init(key: "hint", label: "It is long.", kind: .note),
      .init(key: "place", label: "Region", kind: .choice, value: "south", choices: ["north", "south"]),
    ], buttons: [.init(key: "go", label: "Sign in"), .init(key: "new", label: "New account")])

  @Test func `PRV-14: the lines name the provider, mark its words, and do not show a secret`() {
    var lines = ProviderFormLines(Self.form)
    #expect(lines.opening.contains("“Cloud” asks you something. “Notes” waits for a document of it."))
    #expect(lines.opening.contains("Your answers go to “Cloud” alone"))
    #expect(lines.opening.contains("| Sign in\n"))
    #expect(!lines.opening.contains("\u{1B}"))
    #expect(!lines.isSecret)
    _ = lines.take("")
    #expect(lines.isSecret)
    #expect(!lines.take("tulip").0.contains("tulip"))
    #expect(!lines.isSecret)
    #expect(lines.take("7").0.hasPrefix("That is none of them."))
    _ = lines.take("1")
    let (_, outcome) = lines.take("2")
    #expect(
      outcome == .filled(.init(button: "new", values: ["user": "ada", "word": "tulip", "place": "north"])))
  }

  @Test func `Lines can be cancelled`() {
    var lines = ProviderFormLines(Self.form)
    for line in ["", "x", ""] { _ = lines.take(line) }
    #expect(lines.take("q").1 == .cancelled)
  }

  private func press(_ keys: [Key], on screen: inout ProviderFormScreen) -> ProviderFormLines.Outcome? {
    var outcome: ProviderFormLines.Outcome?
    for key in keys { outcome = screen.press(key) ?? outcome }
    return outcome
  }

  @Test func `PRV-14: the screen draws the form inside a frame, shows no secret, and answers`() {
    var screen = ProviderFormScreen(Self.form)
    let typed: [Key] = [.tab] + "tulip".unicodeScalars.map { .text($0) }
    #expect(press(typed, on: &screen) == nil)
    let picture = screen.lines(ScreenSize(columns: 60, rows: 20)).map(\.plain)
    #expect(picture.count == 20)
    #expect(picture[0].contains("“Cloud” asks you something."))
    #expect(picture.contains { $0.contains("│ Password: •••••_") })
    #expect(!picture.contains { $0.contains("tulip") || $0.contains("\u{1B}") })
    #expect(picture.contains { $0.contains("This form is the provider's.") })
    let outcome = press([.tab, .left, .enter, .enter], on: &screen)
    #expect(outcome == .filled(.init(button: "go", values: ["user": "ada", "word": "tulip", "place": "north"])))
    #expect(screen.press(.escape) == .cancelled)
  }

  @Test(arguments: [(1, 1), (29, 30), (30, 8), (200, 50)])
  func `The screen fits any window`(columns: Int, rows: Int) {
    let lines = ProviderFormScreen(Self.form).lines(ScreenSize(columns: columns, rows: rows))
    #expect(lines.count == rows)
    #expect(lines.allSatisfy { $0.width <= columns })
  }

  @Test func `A script's answers fit the form, or are none`() {
    #expect(Self.form.filled(["word": "x"], button: nil)?.values == ["user": "ada", "word": "x", "place": "south"])
    #expect(Self.form.filled(["other": "x"], button: nil) == nil)
    #expect(Self.form.filled(["place": "east"], button: nil) == nil)
    #expect(Self.form.filled([:], button: "none") == nil)
    var script = ScriptedPicker(answers: [.fill(["word": "x"], button: "new"), .pick(["a"])])
    #expect((try? script.next(for: Self.form).get())??.button == "new")
    #expect(throws: PickerError.self) { try script.next(for: Self.form).get() }
    #expect(script.remaining == 1)
  }

  // MARK: Lists

  private static func list(_ count: Int = 3, several: Bool = false) -> ProviderForm {
    let rows = (1...count).map { ProviderForm.Row(key: "r\($0)", title: "Row \($0)", detail: "\($0) KiB") }
    return ProviderForm(
      provider: "Snippets", title: "Choose",
      fields: [
        .init(key: "rows", label: "Snippets", kind: .rows, rows: rows, several: several),
        .init(key: "word", label: "Word", kind: .text),
      ], buttons: [.init(key: "go", label: "Choose"), .init(key: "search", label: "Search")])
  }

  @Test func `Rows are chosen by Enter, or marked and then sent`() {
    var one = ProviderFormScreen(Self.list())
    let picture = one.lines(ScreenSize(columns: 60, rows: 20)).map(\.plain)
    #expect(picture.contains { $0.hasPrefix("│ > Row 1") && $0.contains("1 KiB") })
    #expect(press([.down, .enter], on: &one) == .filled(.init(button: "go", values: ["rows": "r2", "word": ""])))
    var several = ProviderFormScreen(Self.list(several: true))
    let marked = press([.text(" "), .down, .down, .text(" "), .enter], on: &several)
    #expect(marked == .filled(.init(button: "go", values: ["rows": "r1\nr3", "word": ""])))
    // A mark goes as it came, and the arrows lead out of the list.
    var left = ProviderFormScreen(Self.list(several: true))
    let searched = press([.text(" "), .text(" "), .end, .down, .text("x"), .tab, .right, .enter], on: &left)
    #expect(searched == .filled(.init(button: "search", values: ["rows": "", "word": "x"])))
  }

  @Test func `The row with the cursor is in sight in a list of any length`() {
    var screen = ProviderFormScreen(Self.list(200))
    for _ in 0..<150 { _ = screen.press(.down) }
    let lines = screen.lines(ScreenSize(columns: 40, rows: 12))
    #expect(lines.count == 12 && lines.allSatisfy { $0.width <= 40 })
    #expect(lines.contains { $0.plain.contains("> Row 151") })
  }

  @Test func `Rows are chosen by their numbers, keys and titles`() {
    var lines = ProviderFormLines(Self.list(several: true))
    #expect(lines.opening.contains("  3. Row 3, 3 KiB\n"))
    #expect(lines.take("4").0.hasPrefix("That is none of them."))
    _ = lines.take("1, 3")
    _ = lines.take("")
    #expect(lines.take("1").1 == .filled(.init(button: "go", values: ["rows": "r1\nr3", "word": ""])))
    #expect(Self.list().filled(["rows": "r2"], button: nil)?.values["rows"] == "r2")
    #expect(Self.list().filled(["rows": "Row 2"], button: nil)?.values["rows"] == "r2")
    #expect(Self.list().filled(["rows": "r1,r2"], button: nil) == nil)
  }

  @Test func `The picker offers a provider's own picker where documents are opened or copied`() {
    var request = PickerRequest(appName: "Notes", startFolder: "/")
    request.places = [.init(name: "Notes", path: "/a"), .init(name: "Snippets", path: "/b", provider: "org.snippets")]
    request.actions = [
      .init(identifier: "io.ambit.provider:org.snippets", title: "Mine", documents: true, types: nil, multiple: false)
    ]
    request.addProviders()
    #expect(request.actions.map(\.title) == ["Choose with Snippets"])
    #expect(request.actions.map(\.origin) == ["by the provider"])
    for purpose in [PickerRequest.Purpose.export(["a"]), .move(["a"])] {
      (request.purpose, request.actions) = (purpose, [])
      request.addProviders()
      #expect(request.actions.isEmpty)
    }
  }
}
