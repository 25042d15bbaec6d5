import Terminal
import Testing
import Wire

@testable import AmbitCommands

/// `ambit coordination` as a table.
@Suite struct CoordinationViewTests {
  private static func party(_ app: String, _ process: Int = 7) -> InspectorInterface.Party {
    .init(app: app, process: process, instance: "i", purpose: "p")
  }

  private static func presenter(
    _ number: Int, _ path: String, unsaved: Bool, lease: CoordinationInterface.Intent.Use? = nil,
    unleased: String? = nil
  ) -> InspectorInterface.FilePresenter {
    .init(
      presenter: number, client: 1, party: party("org.example.editor"), path: path, unsaved: unsaved, since: 1,
      lease: lease, unleased: unleased)
  }

  private static func access(
    _ number: Int, _ app: String, _ use: CoordinationInterface.Intent.Use,
    _ phase: InspectorInterface.CoordinatedAccess.Phase, behind: [Int] = [],
    questions: [InspectorInterface.PresenterQuestion]? = nil
  ) -> InspectorInterface.CoordinatedAccess {
    let items = [InspectorInterface.CoordinatedItem(path: "/home/ada/notes.txt", use: use, options: [])]
    return .init(
      access: number, party: party(app), items: items, phase: phase, age: 2_340_000_000,
      held: phase == .granted ? 61_000_000_000 : nil, behind: behind, prepares: false,
      arbitration: .init(client: 1, arrived: 1, items: items, questions: questions))
  }

  private func rendered(_ reply: InspectorInterface.CoordinationReply, width: Int? = nil) -> String {
    CoordinationView(reply).render(style: Style(isEnabled: false), width: width)
  }

  @Test func `a holder, one behind it, one that waits for a presenter, and each presenter's lease`() {
    let asked = InspectorInterface.PresenterQuestion(question: 1, presenter: 3, asks: .saveChanges, asked: 340_000_000)
    let text = rendered(
      .init(
        accesses: [
          Self.access(1, "org.example.writer", .write, .granted),
          Self.access(2, "org.example.reader", .read, .waiting, behind: [1, 3]),
          Self.access(3, "cat", .read, .asking, questions: [asked]),
        ],
        presenters: [
          Self.presenter(3, "/home/ada/notes.txt", unsaved: true, lease: .write),
          Self.presenter(4, "/home/ada/list.txt", unsaved: true, lease: .read, unleased: "another program has it open"),
          Self.presenter(5, "/home/ada/plan.txt", unsaved: false, unleased: "it belongs to another user"),
        ]))
    let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    #expect(
      lines == [
        "ID FILE USE BY NOW",
        "1 /home/ada/notes.txt write org.example.writer (7) ● under way for 1 min 1 s",
        "2 /home/ada/notes.txt read org.example.reader (7) waits 2.3 s for org.example.writer (7)",
        "holder 1: write for 1 min 1 s",
        "waits 2.3 s for cat (7)",
        "ahead in the queue: 3",
        "3 /home/ada/notes.txt read cat (7) waits 2.3 s for org.example.editor (7)",
        "presenter: save its changes (2.0 s)",
        "PRESENTED BY CHANGES LEASE",
        "/home/ada/notes.txt org.example.editor (7) ● not saved all openers wait",
        "/home/ada/list.txt org.example.editor (7) ● not saved writers wait; others do not: another program has it open",
        "/home/ada/plan.txt org.example.editor (7) saved none: it belongs to another user",
      ], "\(text)")
  }

  @Test func `without anything it says so, and names cannot reach the terminal`() {
    #expect(rendered(.init(accesses: [], presenters: [])) == "No file is used in turn, and no app presents one.\n")
    let hostile = "/home/\u{1B}[2J\u{202E}\n"
    let text = rendered(
      .init(
        accesses: [Self.access(1, hostile, .write, .granted)],
        presenters: [Self.presenter(1, hostile, unsaved: false, unleased: hostile)]))
    #expect(!text.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x202E }, "\(text.debugDescription)")
    #expect(text.split(separator: "\n").count == 4)
  }

  @Test func `a frame keeps the lines that fit above the cursor`() {
    let text = (1...10).map { "\($0)\n" }.joined()
    #expect(CoordinationWatch.frame(text, rows: 11) == text)
    #expect(CoordinationWatch.frame(text, rows: 5) == "1\n2\n3\n… 7 more lines\n")
    #expect(CoordinationWatch.frame(text, rows: 1) == "1\n… 9 more lines\n")
  }

  @Test(arguments: [
    (0, "0.0 s"), (49_999_999, "0.0 s"), (50_000_000, "0.1 s"), (9_949_999_999, "9.9 s"), (12_340_000_000, "12 s"),
    (60_000_000_000, "1 min 0 s"), (3_600_000_000_000, "1 h 0 min"), (1 << 60, "320255 h 58 min"),
  ])
  func times(nanoseconds: Int, words: String) { #expect(CoordinationWords.time(nanoseconds) == words) }
}
