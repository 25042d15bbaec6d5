import Foundation
import TestSupport
import Testing

@testable import Audit

@Suite struct `Refusals that an app causes without end` {
  private let second = RefusalLimiter.interval
  private let start = Date(timeIntervalSince1970: 1_750_000_000)

  private func event(
    _ kind: AuditEvent.Kind = .start, _ result: AuditEvent.Result = .refused, instance: String? = "i1",
    grant: String? = "g1", rule: String? = "LIM-1", at now: Int64 = 0, detail: [String: String] = [:]
  ) -> AuditEvent {
    AuditEvent(
      kind, result, time: start + Double(now) / 1e9, app: "io.ambit.flood", instance: instance, grant: grant,
      rule: rule, reason: "all slots are in use", detail: detail)
  }

  @Test func `become entries up to the burst, then one a second that counts the others`() throws {
    var limiter = RefusalLimiter()
    let own = (0..<1_000).filter { limiter.take(event(at: Int64($0)), now: Int64($0)) }.count
    #expect(own == RefusalLimiter.burst)
    let due = try #require(limiter.nextDue)
    #expect(due == Int64(RefusalLimiter.burst - 1) + second)
    let early = limiter.takeDue(now: due - 1, time: start)
    #expect(early.isEmpty)
    let summaries = limiter.takeDue(now: due, time: start + 1)
    #expect(summaries.map(\.occurrences) == [1_000 - RefusalLimiter.burst])
    #expect(summaries.map(\.kind) == [.start] && summaries.map(\.rule) == ["LIM-1"])
    #expect(summaries.map(\.time) == [start + 1])
    #expect(limiter.nextDue == nil)
    // One that comes alone, later, is an entry of its own again.
    let soon = limiter.take(event(at: due + 1), now: due + 1)
    let next = limiter.takeDue(now: due + second, time: start + 2)
    let late = limiter.take(event(), now: due + 2 * second)
    #expect(!soon && late)
    #expect(next.map(\.occurrences) == [1])
    // The whole burst comes back with quiet.
    let later = due + 2 * second + RefusalLimiter.quiet
    let again = (0..<200).filter { _ in limiter.take(event(at: later), now: later) }.count
    #expect(again == RefusalLimiter.burst)
  }

  @Test func `a summary says only what held for all, and since when`() throws {
    var limiter = RefusalLimiter()
    for _ in 0..<RefusalLimiter.burst { _ = limiter.take(event(), now: 0) }
    _ = limiter.take(event(at: 1_000_000, detail: ["used": "8", "process": "1"]), now: 1)
    _ = limiter.take(event(grant: "g2", at: 3_000_000, detail: ["used": "8", "process": "2"]), now: 2)
    let summaries = limiter.takeAll(of: "i1", now: 3, time: start + 1)
    let summary = try #require(summaries.first)
    #expect(summary.grant == nil && summary.app == "io.ambit.flood" && summary.instance == "i1")
    #expect(
      summary.detail == [
        "used": "8", "suppressed": "1", "first": Timestamp(start + 0.001).text, "last": Timestamp(start + 0.003).text,
      ])
    #expect(
      summary.sentence == "refused: start scope on a document, 2 times from \(Timestamp(start + 0.001).text)"
        + " to \(Timestamp(start + 0.003).text)")
  }

  @Test func `AUD-5: nested starts and stops are counted as well, and those that change who has the document never`()
    throws
  {
    func event(_ kind: AuditEvent.Kind, _ count: Int?) -> AuditEvent {
      self.event(kind, .allowed, rule: nil, detail: count.map { ["count": "\($0)", "process": "2"] } ?? [:])
    }
    for (kind, count) in [
      (AuditEvent.Kind.start, 1), (.start, nil), (.stop, 0), (.stop, nil), (.scopeEnded, 3), (.carried, 3),
    ] {
      #expect(!RefusalLimiter.mayCount(event(kind, count)), "\(kind) \(count ?? -1)")
    }
    var limiter = RefusalLimiter()
    var entries = 0
    for step in 0..<5_000 {
      for nested in [event(.start, 2 + step % 3), event(.stop, 1 + step % 3)] {
        #expect(RefusalLimiter.mayCount(nested))
        if limiter.take(nested, now: Int64(step)) { entries += 1 }
      }
    }
    #expect(entries == 2 * RefusalLimiter.burst)
    let summaries = limiter.takeAll(of: "i1", now: 5_000, time: start + 1)
    #expect(summaries.map(\.occurrences) == [5_000 - RefusalLimiter.burst, 5_000 - RefusalLimiter.burst])
    #expect(Set(summaries.map(\.kind)) == [.start, .stop] && summaries.allSatisfy(\.standsForOthers))
    // Of what differs they say nothing: it was another one's number.
    #expect(summaries.allSatisfy { $0.detail["count"] == nil && $0.grant == "g1" && $0.detail["process"] == "2" })
    let started = try #require(summaries.first { $0.kind == .start })
    #expect(started.sentence.hasPrefix("started scope on grant g1, \(5_000 - RefusalLimiter.burst) times from "))
  }

  @Test func `what takes effect, what happens once and what a launcher has counted are never left out`() {
    for kind in AuditEvent.Kind.known { #expect(!RefusalLimiter.mayCount(AuditEvent(kind))) }
    for kind in [AuditEvent.Kind.launch, .exit, .attach, .degraded, .limit, .revoke, .scopeEnded, .outlived] {
      #expect(!RefusalLimiter.mayCount(AuditEvent(kind, .refused)))
    }
    #expect(!RefusalLimiter.mayCount(AuditEvent(.refuse, .refused, how: "observed")))
    #expect(RefusalLimiter.mayCount(AuditEvent(.refuse, .refused)))
  }

  @Test func `none is lost: for each launch, kind and rule, entries and counts make what happened`() {
    var generator = Seeded(seed: 5)
    for _ in 0..<40 {
      var limiter = RefusalLimiter()
      var now: Int64 = 0
      // By launch, kind, result and rule, as text: what happened, what the entries account for, and when entries were.
      var (happened, told): ([String: Int], [String: Int]) = ([:], [:])
      var entries: [String: [Int64]] = [:]
      func name(_ event: AuditEvent) -> String {
        "\(event.instance ?? "") \(event.kind.rawValue) \(event.result.rawValue) \(event.rule ?? "")"
      }
      func tell(_ events: [AuditEvent]) {
        for event in events {
          told[name(event), default: 0] += event.occurrences
          entries[name(event), default: []].append(now)
        }
      }
      for _ in 0..<3_000 {
        now += Int64.random(in: 0...2_000_000, using: &generator)
        if Int.random(in: 0..<500, using: &generator) == 0 { now += RefusalLimiter.quiet / 2 }
        // As the broker's loop does: what is due is told of before anything else.
        if let due = limiter.nextDue, due <= now { tell(limiter.takeDue(now: now, time: start)) }
        if Int.random(in: 0..<400, using: &generator) == 0 {
          tell(limiter.takeAll(of: "i\(Int.random(in: 0..<3, using: &generator))", now: now, time: start))
        }
        let one = event(
          [.start, .refuse, .pick].randomElement(using: &generator) ?? .start,
          Bool.random(using: &generator) ? .refused : .failed,
          instance: "i\(Int.random(in: 0..<3, using: &generator))",
          rule: ["LIM-1", "TOK-15", nil].randomElement(using: &generator) ?? nil, at: now)
        happened[name(one), default: 0] += 1
        if Int.random(in: 0..<50, using: &generator) == 0 {
          limiter.count(one, now: now)
        } else if limiter.take(one, now: now) {
          tell([one])
        }
      }
      tell(limiter.takeAll(now: now, time: start))
      #expect(told == happened)
      #expect(limiter.nextDue == nil)
    }
  }

  @Test func `however often, the entries are bounded by the time that it goes on`() {
    var limiter = RefusalLimiter()
    var entries = 0
    for step in 0..<100_000 {
      let now = Int64(step) * 100_000  // ten thousand a second, for ten seconds
      if let due = limiter.nextDue, due <= now { entries += limiter.takeDue(now: now, time: start).count }
      if limiter.take(event(at: now), now: now) { entries += 1 }
    }
    #expect(entries <= RefusalLimiter.burst + 10)
  }
}
