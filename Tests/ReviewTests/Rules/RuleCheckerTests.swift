import Audit
import Foundation
import Review
import TestSupport
import Testing

@Suite("Rules judged over a log")
struct RuleCheckerTests {
  private func check(_ rule: LogRule, _ events: [AuditEvent]) -> RuleAnswer {
    var checker = RuleChecker([rule], limit: 10_000)
    for event in events { checker.take(event) }
    return checker.finish()[0]
  }

  private func run(_ seed: UInt64, limit: Int = 3) -> [AuditEvent] {
    var run = RandomRun(seed: seed, limit: limit)
    for _ in 0..<300 { run.step() }
    return run.events
  }

  /// What each kind means, said by looking at the whole log for every entry.
  private func expected(_ rule: LogRule, _ all: [AuditEvent]) -> [Int64] {
    func isMeant(_ event: AuditEvent) -> Bool {
      guard let app = event.app else { return rule.apps == nil }
      return (rule.apps?.contains(app) ?? true) && !rule.except.contains(app)
        && event.time >= (rule.since ?? .distantPast) && event.time <= (rule.until ?? .distantFuture)
    }
    let granted = all.filter { $0.kind == .grant && $0.result == .allowed }
    func access(_ event: AuditEvent) -> String? {
      granted.first { $0.grant == event.grant }?.detail["access"]
    }
    switch rule.kind {
    case .noWrites(let folder):
      return all.filter { event in
        guard isMeant(event), event.result == .allowed, let path = event.document?.path else { return false }
        let isWrite =
          event.kind == .start && access(event) == "readWrite" || event.kind == .replaced && event.how == "app"
        return isWrite && path.hasPrefix(folder + "/")
      }.map(\.sequence)
    case .noGrants(_, let access, let folder):
      return granted.filter { event in
        isMeant(event) && (access == nil || event.detail["access"] == access?.rawValue)
          && (folder.map { event.document?.path.hasPrefix("\($0)/") == true } ?? true)
      }.map(\.sequence)
    case .noEvents(let kind, let result, let name):
      return all.filter {
        isMeant($0) && $0.kind == kind && (result == nil || $0.result == result) && (name == nil || $0.rule == name)
      }.map(\.sequence)
    case .grantsBy(let ways): return granted.filter { isMeant($0) && !ways.contains($0.how ?? "") }.map(\.sequence)
    case .onlyDuring(let hours, let kinds):
      return all.filter {
        isMeant($0) && $0.result == .allowed && kinds.contains($0.kind) && !hours.contains($0.time)
      }.map(\.sequence)
    case .stopsWithin, .scopesAtMost: return []
    }
  }

  private var plain: [LogRule] {
    let start = Date(timeIntervalSince1970: 1_750_000_500)
    return [
      LogRule(name: "1", kind: .noWrites(below: "/home/alice/3"), except: ["org.example.B"]),
      LogRule(name: "2", kind: .noWrites(below: "/home/alice"), apps: ["org.example.A"], since: start),
      LogRule(name: "3", kind: .noGrants(document: "file", access: .readOnly, below: "/home/alice/2")),
      LogRule(name: "4", kind: .noEvents(kind: .start, result: .refused, rule: "LIM-1"), until: start),
      LogRule(name: "5", kind: .noEvents(kind: .revoke, result: nil, rule: nil), except: ["org.example.C"]),
      LogRule(name: "6", kind: .grantsBy(["user"])), LogRule(name: "7", kind: .grantsBy(["passed", "user"])),
      LogRule(name: "8", kind: .onlyDuring(DailyHours(from: 900, until: 920), kinds: [.start, .stop])),
    ]
  }

  @Test(
    "AUD-6: in random logs the rules find what a look at the whole log finds for each entry",
    arguments: 0..<UInt64(Rounds.few(5, of: 15)))
  func agrees(seed: UInt64) {
    let events = run(seed)
    for rule in plain {
      let answer = check(rule, events)
      let expected = expected(rule, events)
      #expect(answer.violations.map(\.sequence) == expected, "rule \(rule.name)")
      #expect(answer.violationCount == expected.count && answer.unknownCount == 0)
      #expect(answer.verdict == (expected.isEmpty ? .holds : .violated))
    }
  }

  /// Who has what started after each entry, by replaying the log from its beginning.
  private func held(_ events: ArraySlice<AuditEvent>) -> Set<RecordedScope.Key> {
    var history = AccessHistory()
    for event in events { history.take(event) }
    return Set(history.scopes.map(\.key))
  }

  @Test("AUD-6: at most so many scopes at a time, however they are counted", arguments: 0..<6)
  func counts(seed: UInt64) {
    let events = Array(run(seed).prefix(250))
    for (most, per) in [(2, LogRule.Counted.process), (3, .instance), (4, .app), (5, .all)] {
      var expected: [Int64] = []
      for (index, event) in events.enumerated() where event.kind == .start && event.result == .allowed {
        let (before, after) = (held(events[..<index]), held(events[...index]))
        guard let new = after.subtracting(before).first else { continue }
        func group(_ key: RecordedScope.Key) -> String {
          switch per {
          case .process: "\(key.instance) \(key.process ?? 0)"
          case .instance: key.instance
          case .app: events.first { $0.instance == key.instance }?.app ?? ""
          case .all: ""
          }
        }
        if after.count(where: { group($0) == group(new) }) > most { expected.append(event.sequence) }
      }
      let answer = check(LogRule(name: "r", kind: .scopesAtMost(most, per: per)), events)
      #expect(answer.violations.map(\.sequence) == expected, "per \(per)")
    }
  }

  // MARK: Stops

  private func scene(_ acts: [(Double, AuditEvent.Kind, [String: String], String?)], from first: Int64 = 1)
    -> [AuditEvent]
  {
    acts.enumerated().map { index, act in
      AuditEvent(
        act.1, time: Date(timeIntervalSince1970: 1_750_000_000 + act.0), app: "org.example.A", instance: "i",
        grant: ["launch", "exit", "brokerStarted"].contains(act.1.rawValue) ? nil : "g",
        document: .init(path: "/home/alice/a.txt", volume: "0a", inode: 4), how: act.3, detail: act.2,
        sequence: first + Int64(index))
    }
  }

  @Test("AUD-6: every start was followed by its stop in time")
  func stops() {
    func verdict(_ acts: [(Double, AuditEvent.Kind, [String: String], String?)], orExit: Bool = false) -> RuleAnswer {
      check(LogRule(name: "r", kind: .stopsWithin(seconds: 600, orExit: orExit)), scene(acts))
    }
    let start: (Double, AuditEvent.Kind, [String: String], String?) = (0, .start, ["process": "2", "count": "1"], nil)
    let stop = ["process": "2", "count": "0"]
    #expect(verdict([start, (600, .stop, stop, nil)]).verdict == .holds)
    #expect(verdict([start, (601, .stop, stop, nil)]).violations.map(\.sequence) == [1])
    // Started twice: until the last stop.
    let again: (Double, AuditEvent.Kind, [String: String], String?) = (1, .start, ["process": "2", "count": "2"], nil)
    #expect(
      verdict([start, again, (5, .stop, ["process": "2", "count": "1"], nil), (700, .stop, stop, nil)]).verdict
        == .violated)
    // Still started when the log ends: in time so far, or not any more.
    #expect(verdict([start, (500, .refuse, [:], nil)]).verdict == .holds)
    #expect(verdict([start, (700, .refuse, [:], nil)]).violations.map(\.sequence) == [1])
    // Not stopped by the app.
    let leak: (Double, AuditEvent.Kind, [String: String], String?) = (
      9, .scopeEnded, ["process": "2"], AuditEvent.ScopeEnd.app
    )
    #expect(verdict([start, leak]).verdict == .violated)
    #expect(verdict([start, leak], orExit: true).verdict == .holds)
    #expect(verdict([start, (9, .scopeEnded, ["process": "2"], AuditEvent.ScopeEnd.withdrawn)]).verdict == .holds)
    // Two brokers later nothing has been heard of the app.
    let lost = verdict([start, (1, .brokerStarted, [:], nil), (2, .brokerStarted, [:], nil)])
    #expect(lost.verdict == .unknown && lost.unknownCount == 1)
    // The next broker begins much later, and finds that the app is over: it need not have been started for so long.
    let broker: (Double, AuditEvent.Kind, [String: String], String?) = (5000, .brokerStarted, [:], nil)
    let exit: (Double, AuditEvent.Kind, [String: String], String?) = (5001, .exit, [:], AuditEvent.recovery)
    for more in [[exit], [(6000, .brokerStarted, [:], nil)], []] {
      let unheard = verdict([start, (10, .refuse, [:], nil), broker] + more)
      #expect(unheard.verdict == .unknown && unheard.unknownCount == 1 && unheard.judged == 1)
      // The broker that died had written something when the time was up already.
      let late = verdict([start, (700, .refuse, [:], nil), broker] + more)
      #expect(late.violations.map(\.sequence) == [1] && late.unknownCount == 0)
      #expect(late.violations.first?.sentence.contains("at least") == true)
    }
    let soon = verdict([start, (10, .brokerStarted, [:], nil), (11, .exit, [:], AuditEvent.recovery)])
    #expect(soon.verdict == .holds)
  }

  @Test("AUD-6: of a log whose beginning is gone no rule holds that is about that time")
  func beginningGone() {
    let events = scene([(100, .refuse, [:], nil), (200, .refuse, [:], nil)], from: 33)
    let (before, after) = (Date(timeIntervalSince1970: 1_750_000_050), Date(timeIntervalSince1970: 1_750_000_150))
    let kinds: [LogRule.Kind] = [
      .noWrites(below: "/srv"), .stopsWithin(seconds: 600, orExit: false),
      .noGrants(document: "folder", access: nil, below: nil), .grantsBy(["user"]),
      .noEvents(kind: .revoke, result: nil, rule: nil),
    ]
    for kind in kinds {
      var rule = LogRule(name: "r", kind: kind)
      let answer = check(rule, events)
      #expect(answer.verdict == .unknown && answer.unknownCount == 1, "\(kind)")
      #expect(answer.unknowns.first?.sentence.contains("beginning is gone") == true)
      #expect(check(rule, scene([(100, .refuse, [:], nil)])).verdict == .holds, "\(kind)")
      rule.since = before
      #expect(check(rule, events).verdict == .unknown, "\(kind)")
      rule.since = after
      #expect(check(rule, events).verdict == .holds, "\(kind)")
    }
  }

  @Test("AUD-6: what a log does not say is not judged: it is said so")
  func unknown() {
    // The log begins in the middle: whether the grant was for writing is not in it.
    let events = scene([(0, .start, ["process": "2", "count": "1"], nil)], from: 100)
    let writes = check(LogRule(name: "r", kind: .noWrites(below: "/home")), events)
    #expect(writes.verdict == .unknown && writes.unknowns.map(\.sequence) == [100, 0])
    #expect(check(LogRule(name: "r", kind: .scopesAtMost(5, per: .all)), events).verdict == .unknown)
    // And what is said is judged all the same.
    let told = scene([(0, .start, ["process": "2", "count": "1", "access": "readWrite"], nil)], from: 100)
    #expect(check(LogRule(name: "r", kind: .noWrites(below: "/home")), told).verdict == .violated)
    #expect(check(LogRule(name: "r", kind: .noWrites(below: "/home/alice/a.txt/b")), told).verdict == .violated)
    #expect(check(LogRule(name: "r", kind: .noWrites(below: "/home/bob")), told).verdict == .unknown)
  }

  @Test("AUD-6: findings beyond the limit are counted")
  func limited() {
    var checker = RuleChecker([LogRule(name: "r", kind: .noEvents(kind: .start, result: nil, rule: nil))], limit: 2)
    let events = run(1)
    for event in events { checker.take(event) }
    let answer = checker.finish()[0]
    #expect(answer.violations.count == 2 && answer.violationCount == events.count { $0.kind == .start })
  }
}
