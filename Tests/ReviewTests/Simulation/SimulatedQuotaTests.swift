import Audit
import Foundation
import Policy
import Review
import Testing

/// How many grants an app keeps under another policy, and what it would have been asked.
@Suite struct SimulatedQuotaTests {
  private struct Story {
    let settings: PolicySettings
    private(set) var events: [AuditEvent] = []

    init(_ change: (inout PolicySettings) -> Void = { _ in }) {
      var settings = PolicySettings.closed
      settings.scopeLimit = 100
      change(&settings)
      self.settings = settings
      add(.brokerStarted)
      add(.launch, facts: ["settings": settings.text, "policy": "p"])
    }

    @discardableResult
    mutating func add(
      _ kind: AuditEvent.Kind, _ result: AuditEvent.Result = .allowed, _ grant: String? = nil, how: String? = nil,
      rule: String? = nil, facts: [String: String] = [:]
    ) -> Int64 {
      let number = Int64(events.count + 1)
      events.append(
        AuditEvent(
          kind, result, time: Date(timeIntervalSince1970: 1_750_000_000 + Double(number)), app: "org.example.A",
          instance: kind == .brokerStarted ? nil : "i", grant: grant,
          document: grant.map { .init(path: "/home/alice/\($0).txt", volume: "0a", inode: UInt64(number)) }, how: how,
          rule: rule, detail: facts, sequence: number))
      return number
    }

    /// - Returns: the entry of the grant.
    @discardableResult
    mutating func pick(_ id: String) -> Int64 {
      add(.pick, .allowed, id, how: "user", facts: ["kind": "file"])
      let grant = add(.grant, .allowed, id, how: "user", facts: ["kind": "file", "access": "readWrite"])
      if settings.references { add(.reference, .allowed, id) }
      return grant
    }

    mutating func use(_ id: String) {
      add(.start, .allowed, id, facts: ["process": "2", "count": "1", "used": "1", "limit": "100"])
      add(.stop, .allowed, id, facts: ["process": "2", "count": "0"])
    }

    mutating func bookmark(_ id: String) -> Int64 {
      add(.bookmarkCreated, .allowed, id, facts: ["scope": "app", "access": "readWrite"])
    }

    /// What differs by itself, as "entry outcome document", and what was not judged.
    func under(_ change: (inout PolicySettings) -> Void) -> (own: [String], all: Int, gaps: SimulationGaps) {
      var other = settings
      change(&other)
      var simulation = Simulation(
        policy: Policy(name: "other", file: "", description: nil, lineage: [], settings: other))
      let found = events.flatMap { simulation.take($0) }
      let own = found.filter { $0.because == nil }
      return (
        own.map { "\($0.sequence) \($0.outcome.rawValue) \($0.document?.name ?? "–") \($0.rule ?? "") \($0.field)" },
        found.count, simulation.gaps
      )
    }
  }

  @Test func `LIM-10: under android the oldest of 512 gives way to each further one`() {
    var story = Story()
    let entries = (0..<515).map { story.pick("d\($0)") }
    story.use("d0")
    story.use("d3")
    let (own, all, gaps) = story.under { $0.persisted = .android }
    #expect(own == (0..<3).map { "\(entries[512 + $0]) ended d\($0).txt LIM-10 grants.persisted" })
    // The start of the first one follows; what is used since is none the younger for it.
    #expect(all == 4 && gaps.isEmpty)
    #expect(story.under { $0.persisted = .refusing(515) }.own.isEmpty)
    // And what had given way is there, under a policy that keeps it.
    var kept = Story { $0.persisted = .android }
    kept.pick("d0")
    kept.add(.revoke, .allowed, "d0", how: "quota", rule: "LIM-10")
    #expect(kept.under { $0.persisted = .unlimited }.own == ["6 kept d0.txt LIM-10 grants.persisted"])
    #expect(kept.under { _ in }.own.isEmpty)
  }

  @Test func `LIM-11: under windows the 1,001st document that leaves a reference is refused`() {
    var story = Story()
    let entries = (0..<1_002).map { story.pick("d\($0)") }
    story.use("d1001")
    let (own, all, gaps) = story.under { $0.persisted = .windows }
    #expect(own == (1_000...1_001).map { "\(entries[$0]) refused d\($0).txt LIM-11 grants.persisted" })
    // The start, which finds no grant.
    #expect(all == 3 && gaps.isEmpty)
    // One that is given up makes room.
    var less = Story()
    for number in 0..<1_000 { less.pick("d\(number)") }
    less.add(.revoke, .allowed, "d7", how: "app", rule: "TOK-19")
    less.pick("last")
    #expect(less.under { $0.persisted = .windows }.own.isEmpty)
  }

  @Test func `LIM-11: under windows, of what nothing keeps the 25 used last stay`() {
    var story = Story { $0.references = false }
    for number in 0..<25 { story.pick("d\(number)") }
    story.use("d0")
    _ = story.bookmark("d2")
    let next = (25...27).map { story.pick("d\($0)") }
    story.use("d1")
    let (own, all, gaps) = story.under { $0.persisted = .windows }
    #expect(
      own == [
        "\(next[0]) ended d1.txt LIM-11 grants.persisted", "\(next[2]) ended d3.txt LIM-11 grants.persisted",
      ])
    #expect(all == 3 && gaps.isEmpty)
  }

  @Test func `LIM-11: a bookmark of one document too many is refused, and another one of a document is not`() {
    refuseBookmark(behind: 100, under: .together(quota: 100, recent: 25, releasesOldest: false))
  }

  fileprivate func refuseBookmark(behind count: Int, under quota: PersistedGrants) {
    var story = Story { $0.references = false }
    for number in 0..<count {
      story.pick("d\(number)")
      _ = story.bookmark("d\(number)")
    }
    story.pick("last")
    _ = story.bookmark("d0")
    let last = story.bookmark("last")
    let (own, all, gaps) = story.under { $0.persisted = quota }
    #expect(own == ["\(last) refused last.txt LIM-11 grants.persisted"] && all == 1 && gaps.isEmpty)
    // Refused then, it is made under a policy without such a list.
    var refused = Story {
      $0.references = false
      $0.persisted = quota
    }
    refused.pick("d")
    let number = refused.add(.bookmarkCreated, .refused, "d", rule: "LIM-11")
    #expect(
      refused.under { $0.persisted = .unlimited }.own == ["\(number) allowed d.txt LIM-11 grants.persisted"])
    #expect(refused.under { _ in }.own.isEmpty)
  }

  @Test func `LIM-11: what a quota refused then is allowed by one with more room; such an entry names no grant`() {
    var story = Story { $0.persisted = .refusing(1) }
    story.pick("a")
    let refused = [
      story.add(.grant, .refused, rule: "LIM-11"), story.add(.grant, .refused, rule: "LIM-11"),
    ]
    let (own, _, gaps) = story.under { $0.persisted = .unlimited }
    #expect(own.map { $0.prefix { $0 != " " } } == refused.map { "\($0)"[...] }, "\(own)")
    #expect(!gaps.isEmpty)
    #expect(story.under { _ in }.own.isEmpty)
  }

  @Test func `TOK-13: a start of the picker's that was refused is nobody's where the picker starts nothing`() {
    var story = Story {
      $0.startsPicked = true
      $0.scopeLimit = 1
    }
    let picked = ["process": "2", "caller": "the picker", "used": "1", "limit": "1"]
    story.pick("a")
    story.add(.start, .allowed, "a", facts: picked.merging(["count": "1"]) { $1 })
    story.pick("b")
    story.add(.start, .refused, "b", rule: "LIM-1", facts: picked)
    story.use("c")
    let (own, _, _) = story.under {
      $0.startsPicked = false
      $0.scopeLimit = 2
    }
    #expect(own.allSatisfy { $0.hasSuffix("scopes.start_picked") } && own.count == 1, "\(own)")
  }

  @Test func `what was for reading only by the policy is not judged where that lets apps write`() {
    var story = Story { $0.access = .readOnly }
    story.pick("a")
    story.add(
      .start, .allowed, "a",
      facts: ["process": "2", "count": "1", "used": "1", "limit": "100", "access": "readOnly"])
    let (own, _, gaps) = story.under { $0.access = .readWrite }
    #expect(own.isEmpty && !gaps.isEmpty)
    #expect(story.under { _ in }.gaps.isEmpty)
  }

  @Test
  func
    `a grant whose time was over before any broker said so is none that counts, and would be one under another policy`()
  {
    var story = Story { $0.lifetime = GrantLifetime(seconds: 4) }
    story.add(.pick, .allowed, "d0", how: "user", facts: ["kind": "file"])
    let until = Timestamp(Date(timeIntervalSince1970: 1_750_000_000 + 8)).text
    story.add(.grant, .allowed, "d0", how: "user", facts: ["kind": "file", "access": "readWrite", "until": until])
    for _ in 0..<4 { story.add(.refuse, .refused) }
    story.pick("d1")
    story.add(.revoke, .allowed, "d0", how: "lifetime", rule: "AUD-1")
    #expect(story.under { $0.persisted = .refusing(1) }.own.isEmpty)
    #expect(story.under { _ in }.own.isEmpty)
    #expect(story.under { $0.lifetime = GrantLifetime(seconds: 4000) }.own == ["7 kept d0.txt AUD-1 grants.lifetime"])
  }

  @Test func `an app cannot give up what it would not have had any more, and a user withdraws what is there`() {
    for how in ["app", "user"] {
      var story = Story()
      story.pick("d0")
      for _ in 0..<8 { story.add(.refuse, .refused) }
      story.add(.revoke, .allowed, "d0", how: how, rule: how == "app" ? "TOK-19" : "AUD-1")
      let (own, all, _) = story.under { $0.lifetime = GrantLifetime(seconds: 4) }
      #expect(own.count == 1 && own.first?.hasSuffix("ended d0.txt AUD-1 grants.lifetime") == true, "\(own)")
      #expect(all == (how == "app" ? 2 : 1))
    }
  }

  @Test func `a question that a policy refused beforehand is judged by what it was for`() {
    var story = Story {
      $0.picker.folders = false
      $0.picker.types = .only(["txt"])
    }
    let folder = story.add(.pick, .refused, rule: "PCK-10", facts: ["mode": "open", "kind": "folder"])
    // As older versions wrote it.
    let old = story.add(.pick, .refused, rule: "PCK-10")
    // Nobody was there to be asked: no policy's doing.
    story.add(.pick, .refused)
    let (own, _, gaps) = story.under { $0.picker.folders = true }
    #expect(own == [folder, old].map { "\($0) allowed – PCK-10 picker.folders" })
    #expect(gaps.decisions.values.reduce(0, +) == 2)
    #expect(story.under { $0.picker.types = .any }.own.isEmpty)
    // One that lets nobody open anything refuses them as well, by another rule.
    #expect(
      story.under {
        $0.picker.folders = true
        $0.picker.modes = []
      }.own.isEmpty)

    var closed = Story { $0.picker.modes = [] }
    let asked = closed.add(.pick, .refused, rule: "PCK-1", facts: ["mode": "open", "kind": "folder"])
    #expect(closed.under { $0.picker.modes = [.open] }.own == ["\(asked) allowed – PCK-1 picker.modes"])
    #expect(
      closed.under {
        $0.picker.modes = [.open]
        $0.picker.folders = false
      }.own.isEmpty)

    // A folder that the user chose all the same, and that was refused then.
    var chosen = Story { $0.picker.folders = false }
    let number = chosen.add(.pick, .refused, "f", how: "user", rule: "PCK-10")
    #expect(chosen.under { $0.picker.folders = true }.own == ["\(number) allowed f.txt PCK-10 picker.folders"])
  }
}

/// The same with the number that Windows has.
@Suite struct SimulatedQuotaRaceTests {
  @Test func `LIM-11: under windows the 1,001st bookmark is refused, and another one of a document is not`() {
    SimulatedQuotaTests().refuseBookmark(behind: 1_000, under: .windows)
  }
}
