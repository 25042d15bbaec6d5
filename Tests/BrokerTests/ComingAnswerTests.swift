import Testing
import Wire

@testable import Broker

/// What the broker takes from a provider that answers.
@Suite struct `Answers of providers` {
  private func item(_ identifier: String, parent: String = "root", type: String? = nil) -> ProviderItemMessage {
    ProviderItemMessage(
      identifier: identifier, parent: parent, filename: "a", folder: false, contentType: type, size: 0, modified: 0,
      version: "1", capabilities: ["reading"])
  }

  private func part(_ items: [ProviderItemMessage], deleted: [String] = []) -> ProviderInterface.PartCall {
    ProviderInterface.PartCall(id: 1, items: items, deleted: deleted)
  }

  /// The reasons for which parts are refused, one after the other.
  private func refusals(
    _ kind: ProviderInterface.Request.Kind, _ parts: [ProviderInterface.PartCall]
  ) -> [String?] {
    var answer = ComingAnswer(kind, patience: 20, now: 0)
    return parts.map { part in
      do throws(ComingAnswer.Refusal) {
        try answer.take(part, now: 0)
        return nil
      } catch { return error.reason }
    }
  }

  @Test func `Parts come before the rest`() throws {
    var answer = ComingAnswer(.changes, patience: 20, now: 0)
    try answer.take(part([item("a")], deleted: ["x"]), now: 0)
    let whole = try answer.whole(.init(id: 1, items: [item("b")], next: "n", deleted: ["y"]))
    #expect(whole.items?.map(\.identifier) == ["a", "b"] && whole.deleted == ["x", "y"] && whole.next == "n")
    var short = ComingAnswer(.stop, patience: 20, now: 0)
    let bare = try short.whole(.init(id: 1))
    #expect(bare.items == nil && bare.deleted == nil)
  }

  @Test func `PRV-16: only listings come in parts`() {
    for kind in ProviderInterface.Request.Kind.allCases {
      let isTaken = refusals(kind, [part([])]) == [nil]
      #expect(isTaken == [.enumerate, .changes].contains(kind), "\(kind)")
    }
  }

  @Test func `PRV-16: items, texts and bytes have bounds, each with its own words`() {
    let long = String(repeating: "x", count: 1025)
    for wrong in [
      part([item(long)]), part([item("a", parent: long)]), part([item("a", type: long)]), part([], deleted: [long]),
    ] {
      let reasons = refusals(.enumerate, [wrong]).compactMap(\.self)
      #expect(reasons.count == 1 && reasons.allSatisfy { $0.contains("1025 bytes") })
    }
    var answer = ComingAnswer(.enumerate, patience: 20, now: 0)
    #expect(throws: ComingAnswer.Refusal.self) { try answer.whole(.init(id: 1, next: long)) }

    let most = part([], deleted: Array(repeating: "x", count: ComingAnswer.mostItems))
    let many = refusals(.changes, [most, part([], deleted: ["x"])])
    #expect(many[0] == nil && many[1]?.contains("items at once") == true)

    let text = String(repeating: "x", count: 1024)
    let large = part(Array(repeating: item(text, parent: text, type: text), count: 10_000))
    let heavy = refusals(.enumerate, [large, large, large])
    #expect(heavy[0] == nil && heavy[1] == nil && heavy[2]?.contains("64 MiB") == true)
  }

  @Test func `DOC-10: only progress gives more time, and only a content may take long, by its size`() throws {
    var content = ComingAnswer(.provide, patience: 20, size: 1000, now: 0)
    content.progress(5, now: 10)
    #expect(content.due == 30)
    for completed in [5, 0, -1] { content.progress(completed, now: 20) }
    #expect(content.due == 30)
    content.progress(6, now: ComingAnswer.longest)
    #expect(content.due == ComingAnswer.longest + 20)
    // Steps without end have one all the same.
    content.progress(7, now: ComingAnswer.longest + 999_999_990)
    #expect(content.due == ComingAnswer.longest + 1_000_000_000 && content.lateness == "has not answered for 601 s")
    var endless = ComingAnswer(.changed, patience: 20, size: .max, now: 5)
    endless.progress(1, now: .max - 100)
    #expect(endless.due == .max - 80)

    var listing = ComingAnswer(.enumerate, patience: 20, now: 0)
    try listing.take(part([]), now: 10)
    #expect(listing.due == 20)
    try listing.take(part([item("a")]), now: 10)
    #expect(listing.due == 30 && listing.lateness.contains("no progress"))
    listing.progress(1, now: ComingAnswer.longest - 1)
    #expect(listing.due == ComingAnswer.longest && listing.lateness == "has not answered for 600 s")
  }
}
