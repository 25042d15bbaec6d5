internal import Audit
internal import Foundation
internal import Wire

/// A coordinated access as the log has it: one entry at its decision, and one at its end.
struct RecordedAccess {
  enum Outcome: Equatable {
    case granted
    case refused(rule: String?, reason: String?)
  }

  /// The broker that decided it, counted from the log's beginning. Numbers of accesses are each broker's own.
  let run: Int
  let number: Int
  let party: InspectorInterface.Party
  let outcome: Outcome
  /// When it was decided.
  let time: Date
  /// Nanoseconds from its arrival to the decision.
  let waited: Int
  let prepares: Bool
  /// `nil`: the entry does not have them.
  let facts: InspectorInterface.Arbitration?
  /// Nanoseconds from the grant to the end; `nil`: the log has no end.
  var held: Int?
  var moves: [InspectorInterface.ItemMove] = []

  /// - Returns: `nil` for an entry that is none of a decision.
  init?(_ event: AuditEvent, run: Int) {
    typealias Fact = AuditEvent.Fact
    guard event.kind == .coordinated, let number = event.detail[Fact.coordination].flatMap({ Int($0) }) else {
      return nil
    }
    self.run = run
    self.number = number
    party = .init(
      app: event.app ?? event.detail[Fact.caller] ?? "", process: Int(event.pid ?? 0), instance: event.instance,
      purpose: event.detail[Fact.purpose] ?? "")
    outcome = event.result == .allowed ? .granted : .refused(rule: event.rule, reason: event.reason)
    time = event.time
    prepares = event.detail[Fact.prepares] == "true"
    waited = Self.time(event, Fact.waited)
    facts = event.detail[Fact.arbitration].flatMap { Self.object($0) }
      .flatMap { try? InspectorInterface.Arbitration(json: $0) }
      // Of a log that was tampered with, sums must not overflow.
      .flatMap { $0.isPlausible ? $0 : nil }
    moves = Self.moves(event)
  }

  mutating func end(_ event: AuditEvent) {
    held = Self.time(event, AuditEvent.Fact.held)
    moves = Self.moves(event)
  }

  private static func moves(_ event: AuditEvent) -> [InspectorInterface.ItemMove] {
    let found = event.detail[AuditEvent.Fact.moves].flatMap { object($0) }.flatMap { try? $0.objects("moves") }
    return (found ?? []).compactMap { try? InspectorInterface.ItemMove(json: $0) }
      .filter { (0...1 << 60).contains($0.after) }
  }

  private static func time(_ event: AuditEvent, _ fact: String) -> Int {
    min(max(0, event.detail[fact].flatMap { Int($0) } ?? 0), 1 << 60)
  }

  private static func object(_ text: String) -> JSONObject? {
    guard case .object(let object)? = try? JSONValue(parsing: Array(text.utf8), depth: 16) else { return nil }
    return object
  }

  /// The time of a moment after its arrival.
  func date(_ after: Int) -> Date { time.addingTimeInterval(Double(after - waited) / 1e9) }

  /// The same in nanoseconds of the broker's clock.
  func moment(_ after: Int) -> Int64 { Int64(facts?.arrived ?? 0) + Int64(after) }
}

extension InspectorInterface.Arbitration {
  fileprivate var isPlausible: Bool {
    let most = 1 << 60
    let times =
      [arrived, patience ?? 0, first ?? 0] + (questions ?? []).flatMap { [$0.asked, $0.ended ?? 0] }
      + (presenters ?? []).map(\.since)
    return times.allSatisfy { (0...most).contains($0) }
  }
}

/// Reads accesses out of a log, entry by entry.
struct RecordedCoordination {
  private(set) var accesses: [RecordedAccess] = []
  private var run = 0
  /// Those without an end yet.
  private var open: [Int: Int] = [:]

  mutating func take(_ event: AuditEvent) {
    switch event.kind {
    case .brokerStarted:
      run += 1
      open = [:]
    case .coordinated:
      guard let access = RecordedAccess(event, run: run) else { return }
      if access.outcome == .granted { open[access.number] = accesses.count }
      accesses.append(access)
    case .coordinationEnded:
      guard let number = event.detail[AuditEvent.Fact.coordination].flatMap({ Int($0) }),
        let index = open.removeValue(forKey: number)
      else { return }
      accesses[index].end(event)
    default: break
    }
  }
}
