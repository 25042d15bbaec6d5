import Foundation
import FoundationXML
import Terminal
import Testing
import Wire

@testable import AmbitCommands
@testable import Audit

/// Accesses that are decided again from a log.
@Suite struct CoordinationReplayTests {
  private typealias Fact = AuditEvent.Fact

  /// One access: it came at so many seconds, waited, and was held.
  private struct Entry {
    var number: Int
    var app = "org.example.a"
    var use: CoordinationInterface.Intent.Use = .write
    var path = "/doc"
    var arrived: Double
    var waited = 0.0
    var held: Double? = 1
    var refused: String?
    var presenters: [InspectorInterface.FilePresenter]?
    var questions: [InspectorInterface.PresenterQuestion]?
    var hasFacts = true

    private static func nanoseconds(_ seconds: Double) -> Int { Int(seconds * 1e9) }
    private static let base = 1_000.0

    var decision: AuditEvent {
      let facts = InspectorInterface.Arbitration(
        client: number, arrived: Self.nanoseconds(Self.base + arrived), patience: 5_000_000_000,
        items: [.init(path: path, use: use, options: [])], first: 0, presenters: presenters, questions: questions)
      var event = AuditEvent(
        .coordinated, refused == nil ? .allowed : .refused, time: Date(timeIntervalSince1970: 1e9 + arrived + waited),
        app: app, instance: "i", pid: Int32(number), document: .init(path: path), how: use.rawValue,
        rule: refused ?? "COO-1", reason: refused.map { "refused by \($0)" })
      event.detail = [
        Fact.coordination: "\(number)", Fact.purpose: "p\(number)", Fact.waited: "\(Self.nanoseconds(waited))",
      ]
      if hasFacts { event.detail[Fact.arbitration] = facts.json.text }
      return event
    }

    var end: AuditEvent? {
      guard refused == nil, let held else { return nil }
      var event = decision
      event.kind = .coordinationEnded
      event.time += held
      event.detail = [Fact.coordination: "\(number)", Fact.held: "\(Self.nanoseconds(held))"]
      return event
    }
  }

  private func recorded(_ entries: [Entry]) -> [RecordedAccess] {
    var recorded = RecordedCoordination()
    for event in entries.flatMap({ [$0.decision] + ($0.end.map { [$0] } ?? []) }).sorted(by: { $0.time < $1.time }) {
      recorded.take(event)
    }
    return recorded.accesses
  }

  private func verdicts(_ entries: [Entry]) -> [CoordinationReplay.Verdict] {
    CoordinationReplay(recorded(entries)).verdicts
  }

  @Test func `a log of turns is decided the same`() {
    #expect(
      verdicts([
        Entry(number: 1, arrived: 0, held: 2),
        Entry(number: 2, app: "org.example.b", arrived: 1, waited: 1, held: 1),
        Entry(number: 3, app: "org.example.c", use: .read, arrived: 1.5, waited: 1.5, held: 1),
        Entry(number: 4, app: "org.example.d", use: .read, arrived: 1.6, waited: 1.4, held: nil),
      ]) == Array(repeating: .same, count: 4))
  }

  @Test func `an access that another one held back is decided otherwise`() {
    let verdicts = verdicts([
      Entry(number: 1, arrived: 0, held: 5),
      // Then it did not wait.
      Entry(number: 2, app: "org.example.b", arrived: 1, waited: 0, held: 1),
    ])
    #expect(verdicts[0] == .same)
    guard case .different(let words) = verdicts[1] else {
      Issue.record("\(verdicts)")
      return
    }
    #expect(words.contains("still waits for access 1"), "\(words)")
  }

  @Test func `an entry without facts is not judged`() {
    let verdicts = verdicts([Entry(number: 1, arrived: 0, hasFacts: false)])
    guard case .unjudged? = verdicts.first else {
      Issue.record("\(verdicts)")
      return
    }
  }

  @Test func `a log that was tampered with is read, and nothing overflows`() {
    var event = Entry(number: 1, arrived: 0).decision
    for (fact, text) in [
      (Fact.waited, "9223372036854775807"), (Fact.waited, "-9223372036854775808"), (Fact.coordination, "-1"),
      (Fact.arbitration, #"{"client":1,"arrived":9223372036854775807,"items":[]}"#), (Fact.arbitration, "["),
      (Fact.arbitration, #"{"client":1,"arrived":-5,"items":[{"path":"","use":"read","options":["x"]}]}"#),
      (Fact.moves, #"{"moves":[{"from":"","to":"/","after":9223372036854775807}]}"#),
    ] {
      event.detail[fact] = text
      var recorded = RecordedCoordination()
      recorded.take(event)
      let replay = CoordinationReplay(recorded.accesses)
      let sequence = CoordinationSequence(recorded.accesses, replay.verdicts) { _ in true }
      _ = ReplayReport(sequence).render(style: Style(isEnabled: false), width: 80)
      _ = SequenceDiagram(sequence).render()
    }
  }

  @Test func `the diagram is well-formed XML, loads nothing, and has hostile names as text`() throws {
    let hostile = "</text><script>alert(1)</script><image href='http://x'/>\u{202E}"
    let party = InspectorInterface.Party(app: hostile, process: 9, purpose: "")
    let presenter = InspectorInterface.FilePresenter(
      presenter: 1, client: 9, party: party, path: "/doc", unsaved: false, since: 1)
    let accesses = recorded([
      Entry(
        number: 1, app: hostile, path: "/\(hostile)", arrived: 0, waited: 0.5, held: 2, presenters: [presenter],
        questions: [
          .init(question: 1, presenter: 1, asks: .relinquishToWriter, asked: 0, ended: 500_000_000, outcome: .answered)
        ]),
      Entry(number: 2, arrived: 1, waited: 5, refused: "COO-8"),
    ])
    let sequence = CoordinationSequence(accesses, CoordinationReplay(accesses).verdicts) { _ in true }
    let svg = SequenceDiagram(sequence).render()
    #expect(!svg.contains("<script") && !svg.contains("<image") && !svg.contains("url("))
    let parser = XMLParser(data: Data(svg.utf8))
    #expect(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "")")
    #expect(sequence.lifelines.count == 3 && sequence.steps.count == 7)
  }

  @Test func `of a long log the last steps are drawn`() {
    let entries = (1...300).map { Entry(number: $0, arrived: Double($0) * 3) }
    let accesses = recorded(entries)
    let sequence = CoordinationSequence(accesses, CoordinationReplay(accesses).verdicts) { _ in true }
    #expect(sequence.verdicts.allSatisfy { $0 == .same })
    let diagram = SequenceDiagram(sequence)
    #expect(diagram.leftOut == 900 - SequenceDiagram.mostSteps)
    #expect(!diagram.render().isEmpty)
  }
}
