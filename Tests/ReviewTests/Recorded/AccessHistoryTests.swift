import Audit
import Foundation
import Review
import TestSupport
import Testing

@Suite("What the log says of who could reach what")
struct AccessHistoryTests {
  @Test(
    "AUD-5: in random runs the fold over the entries agrees with the books after every operation", arguments: 0..<40)
  func agrees(seed: UInt64) {
    var run = RandomRun(seed: seed)
    var history = AccessHistory()
    var taken = 0
    for step in 0..<300 {
      run.step()
      for event in run.events[taken...] { history.take(event) }
      taken = run.events.count
      let live = history.instances.filter { !$0.value.isOrphaned }
      #expect(live.mapValues(\.app) == run.instances, "step \(step)")
      #expect(
        history.grants.mapValues {
          RandomRun.Held(
            app: $0.app, access: $0.access?.rawValue ?? "", inode: $0.document?.inode ?? 0, parent: $0.parent)
        } == run.grants, "step \(step)")
      let scopes = history.scopes.filter { !$0.isOrphaned }.map {
        (RandomRun.Scope(instance: $0.key.instance, process: $0.key.process ?? 0, grant: $0.key.grant), $0.count)
      }
      #expect(Dictionary(scopes) { $1 } == run.counts, "step \(step)")
    }
    #expect(history.isWhole && history.backwards == 0)
  }

  @Test("Every interval that begins is handed out once, closed or still open", arguments: 0..<20)
  func intervals(seed: UInt64) {
    var run = RandomRun(seed: seed)
    for _ in 0..<400 { run.step() }
    var history = AccessHistory()
    var intervals = run.events.flatMap { history.take($0) }
    intervals += history.open()
    var starts: [Int64: Int] = [:]
    for case .scope(let scope, let ending) in intervals {
      starts[scope.sequence, default: 0] += 1
      #expect(ending.map { $0.time >= scope.since && $0.sequence >= scope.sequence } ?? true)
      #expect(scope.mostCount >= scope.count)
    }
    let first = run.events.filter { $0.kind == .start && $0.result == .allowed && $0.detail["count"] == "1" }
    #expect(starts == Dictionary(uniqueKeysWithValues: first.map { ($0.sequence, 1) }))
    // A withdrawal that failed closes an interval of a grant that goes on: two entries of one beginning.
    let granted = Set(run.events.filter { $0.kind == .grant }.map(\.sequence))
    let told = Set(intervals.compactMap { if case .grant(let grant, _) = $0 { grant.sequence } else { nil } })
    #expect(granted == told)
  }

  @Test("AUD-3: a grant is told with who, what, how, rights, when, until and from which other one")
  func facts() throws {
    var history = AccessHistory()
    let document = AuditEvent.Document(path: "/home/alice/plan.txt", volume: "0a", inode: 5)
    let time = Date(timeIntervalSince1970: 1_750_000_000)
    history.take(
      AuditEvent(
        .grant, time: time, app: "org.example.A", instance: "i1", pid: 77, grant: "g1", document: document,
        how: "passed",
        detail: ["access": "readOnly", "kind": "file", "parent": "g0", "until": "the right of org.example.B ends"],
        sequence: 1))
    let grant = try #require(history.grants["g1"])
    #expect(grant.app == "org.example.A" && grant.instance == "i1" && grant.pid == 77)
    #expect(grant.granted == document && grant.how == "passed" && grant.access == .readOnly)
    #expect(grant.since == time && grant.until == "the right of org.example.B ends" && grant.parent == "g0")
    #expect(!grant.isInferred)
  }

  @Test(
    "A broker that died leaves its scopes shown until another takes the app over, or is not heard of the app any more")
  func death() {
    var history = AccessHistory()
    var sequence: Int64 = 0
    func take(_ kind: AuditEvent.Kind, _ detail: [String: String] = [:], to history: inout AccessHistory)
      -> [RecordedInterval]
    {
      sequence += 1
      return history.take(
        AuditEvent(
          kind, time: Date(timeIntervalSince1970: 1_750_000_000 + Double(sequence)), app: "org.example.A",
          instance: kind == .brokerStarted ? nil : "i", grant: kind == .start ? "g" : nil, detail: detail,
          sequence: sequence))
    }
    _ = take(.brokerStarted, to: &history)
    _ = take(.launch, ["limit": "2"], to: &history)
    _ = take(.start, ["process": "2", "count": "1"], to: &history)
    _ = take(.brokerStarted, to: &history)
    #expect(history.scopes.map(\.isOrphaned) == [true])
    var other = history
    #expect(take(.attach, to: &history).count == 1)
    #expect(history.scopes.isEmpty && history.instances["i"]?.isOrphaned == false)
    #expect(take(.brokerStarted, to: &other).count == 2)
    #expect(other.scopes.isEmpty && other.instances.isEmpty)
  }

  @Test("What ran is over when the machine was started anew, and not with another broker of the same time")
  func boots() {
    func history(_ boots: String...) -> AccessHistory {
      var history = AccessHistory()
      for (place, boot) in boots.enumerated() {
        history.take(AuditEvent(.brokerStarted, detail: ["boot": boot], sequence: Int64(3 * place + 1)))
        guard place == 0 else { continue }
        history.take(AuditEvent(.launch, app: "a", instance: "i", sequence: 2))
        history.take(AuditEvent(.start, app: "a", instance: "i", grant: "g", detail: ["process": "2"], sequence: 3))
      }
      return history
    }
    #expect(history("x", "x").scopes.map(\.isOrphaned) == [true])
    #expect(history("x", "x", "x").instances.isEmpty)
    // Of one that each of them waits for nobody says that it is over.
    var awaited = history("x")
    for number in 4..<8 {
      awaited.take(
        AuditEvent(.brokerStarted, detail: ["boot": "x", "awaited": "h i"], sequence: Int64(number)))
    }
    #expect(awaited.scopes.map(\.isOrphaned) == [true] && awaited.instances["i"]?.isOrphaned == true)
    awaited.take(AuditEvent(.brokerStarted, detail: ["boot": "y", "awaited": "i"], sequence: 8))
    #expect(awaited.instances.isEmpty)
    #expect(history("x", "y").scopes.isEmpty && history("x", "y").instances.isEmpty)
  }

  @Test("A launch that a broker found to be over ends with that entry, and what it had started is no leak of its")
  func recovery() {
    var history = AccessHistory()
    func take(_ event: AuditEvent) -> [RecordedInterval] {
      var event = event
      event.sequence = history.sequence + 1
      return history.take(event)
    }
    _ = take(AuditEvent(.brokerStarted))
    _ = take(AuditEvent(.launch, app: "a", instance: "i"))
    _ = take(AuditEvent(.start, app: "a", instance: "i", grant: "g", detail: ["process": "2"]))
    #expect(take(AuditEvent(.brokerStarted)).isEmpty)
    let closed = take(AuditEvent(.exit, app: "a", instance: "i", how: AuditEvent.recovery, reason: "gone"))
    let causes = closed.compactMap { if case .scope(_, let ending?) = $0 { ending.cause } else { nil } }
    #expect(causes == [.brokerEnded] && closed.count == 2)
    #expect(history.instances.isEmpty && history.scopes.isEmpty)
  }

  @Test("A grant whose time is over has ended then, with what was made of it, whoever says so and when")
  func expiry() throws {
    let start = Date(timeIntervalSince1970: 1_750_000_000)
    func granted(_ more: [AuditEvent]) -> (history: AccessHistory, closed: [String]) {
      func grant(_ id: String, _ until: String, from parent: String? = nil) -> AuditEvent {
        var event = AuditEvent(.grant, app: "a", instance: "i", grant: id, detail: ["until": until])
        event.detail["parent"] = parent
        return event
      }
      let events =
        [
          AuditEvent(.brokerStarted), grant("g", "the launch ends or \(Timestamp(start.addingTimeInterval(100)).text)"),
          grant("child", "withdrawn", from: "g"), grant("grandchild", "withdrawn", from: "child"),
          grant("other", "withdrawn"),
        ] + more
      var history = AccessHistory()
      var closed: [String] = []
      for (place, event) in events.enumerated() {
        var event = event
        event.sequence = Int64(place + 1)
        if place < 5 { event.time = start.addingTimeInterval(Double(place)) }
        for case .grant(let grant, let ending?) in history.take(event) {
          let moment = Int(ending.time.timeIntervalSince(start))
          closed.append("\(grant.id) \(moment) entry \(ending.sequence)\(ending.isRecorded ? "" : ", not recorded")")
        }
      }
      return (history, closed)
    }
    func at(_ seconds: Double) -> Date { start.addingTimeInterval(seconds) }

    // No broker ran, and the next one says so hours later.
    let late = ["g", "child", "grandchild"].map {
      AuditEvent(.revoke, time: at(5000), app: "a", grant: $0, how: "lifetime")
    }
    let silent = granted([AuditEvent(.brokerStarted, time: at(4999))] + late)
    let told = ["g", "child", "grandchild"].map { "\($0) 100 entry 5, not recorded" }
    #expect(silent.closed == told && silent.history.grants.keys.sorted() == ["other"])
    // One that ran says so at once; or the user withdraws it before.
    let prompt = granted(late.map { AuditEvent(.revoke, time: at(100.25), app: "a", grant: $0.grant, how: "lifetime") })
    #expect(prompt.closed == ["g 100 entry 6", "child 100 entry 7", "grandchild 100 entry 8"])
    let early = granted([AuditEvent(.revoke, time: at(50), app: "a", grant: "child", how: "user")])
    #expect(early.closed == ["child 50 entry 6"])
    // Decided anew, its time begins anew.
    let again = granted([
      AuditEvent(
        .pick, time: at(60), app: "a", instance: "i", grant: "g", detail: ["until": Timestamp(at(160)).text]),
      AuditEvent(.refuse, .refused, time: at(150)),
    ])
    #expect(again.closed.isEmpty)
    // Asked of a moment after the last entry.
    var history = granted([]).history
    #expect(history.pass(until: at(99)).isEmpty)
    #expect(history.pass(until: at(100)).count == 3 && history.grants.keys.sorted() == ["other"])
    #expect(history.pass(until: at(1e9)).isEmpty)
  }

  @Test("A log whose beginning is gone is read as far as it goes, and what it lacks is marked")
  func cut() {
    var run = RandomRun(seed: 11)
    for _ in 0..<400 { run.step() }
    var history = AccessHistory()
    for event in run.events.dropFirst(run.events.count / 2) { history.take(event) }
    #expect(!history.isWhole && !history.isCarried && history.hasBroker)
    var carried = history
    carried.take(AuditEvent(.carriedAll, sequence: history.sequence + 1))
    #expect(carried.isCarried && carried.hasBroker)
    carried.take(AuditEvent(.brokerStopped, sequence: history.sequence + 2))
    #expect(!carried.hasBroker)
    for (id, grant) in history.grants {
      #expect(run.grants[id] != nil)
      #expect(
        grant.isInferred == (grant.sequence != run.events.first { $0.kind == .grant && $0.grant == id }?.sequence))
    }
    let scopes = history.scopes.filter { !$0.isOrphaned }
    #expect(
      scopes.allSatisfy { scope in
        run.counts[.init(instance: scope.key.instance, process: scope.key.process ?? 0, grant: scope.key.grant)]
          == scope.count
      })
  }
}
