internal import Audit
internal import BrokerCore
internal import Folders
internal import Foundation
internal import Kernel
internal import ScopedAccess

/// How decisions become events. An event is written before its effect is answered: a decision that cannot be written
/// down does not take effect.
@BrokerLoop
final class AuditTrail: LoopMember {
  let log: AuditLog
  private let grants: GrantStore
  private let clock: any LoopClock
  /// The folder that has to have room.
  private let folder: String
  /// Refusals that apps can cause without end: which are written, and how many were left out.
  private var refusals = RefusalLimiter()
  /// Before this, in nanoseconds of CLOCK_MONOTONIC, the counts of refusals are not written again.
  private var refusalsAgain: Int64 = 0
  /// Events that took effect and could not be written down yet.
  private var owed: [AuditEvent] = []
  /// Before this, in nanoseconds of CLOCK_MONOTONIC, that is not tried again.
  private var owedAgain: Int64 = 0
  /// Ends of something, to be written with the next event, at the latest after this turn of the loop.
  private var noted: [AuditEvent] = []
  /// Told of grants that were given, have ended, or lead to another file. The change itself may be about to follow.
  var onGrantEvent: (AuditEvent) -> Void = { _ in }

  /// Told of everything that was allowed, once it is written.
  var onAllowed: (AuditEvent) -> Void = { _ in }

  /// - Parameter host: its folders have the log and its settings.
  init(_ host: BrokerHost, _ grants: GrantStore) throws {
    log = try AuditLog(path: host.folders.auditLog, settings: Self.settings(host.folders, grants))
    self.grants = grants
    clock = host.clock
    folder = host.folders.state
    log.onDisk { BrokerLoop.wake() }
  }

  /// Everything that took effect is written down.
  var isWhole: Bool { owed.isEmpty }

  func append(_ events: [AuditEvent]) throws {
    try log.append(events, after: noted, isMarked: false)
    noted.removeAll(keepingCapacity: true)
  }

  private func tell(_ events: [AuditEvent]) {
    // By a span: a copy of an event would count each of its texts.
    let events = events.span
    for index in events.indices { tell(events[index]) }
  }

  private func tell(_ event: AuditEvent) {
    if event.result == .allowed { onAllowed(event) }
    guard event.grant != nil || event.kind == .appRemoved else { return }
    if Self.concernGrants.contains(event.kind) { onGrantEvent(event) }
  }

  private static let concernGrants: [AuditEvent.Kind] = [.grant, .revoke, .replaced, .appRemoved]

  /// Writes events that carry a decision; throws if they cannot be written.
  func decide(_ events: [AuditEvent]) throws {
    FaultPoint.eventsDue.pass()
    if FaultPoint.eventsDue.fails { throw StateError("the log cannot be written: a test wants it so") }
    try writeOwed()
    try append(toWrite(events))
    FaultPoint.eventsWritten.pass()
    tell(events)
  }

  /// Notes something that has already happened and cannot be undone by refusing.
  func record(_ event: AuditEvent) {
    defer { tell(event) }
    do {
      try writeOwed()
      try append(toWrite([event]))
    } catch {
      if RefusalLimiter.mayCount(event) { refusals.count(event, now: clock.monotonic) }
    }
  }

  /// Notes that something is over which was allowed. No answer waits for this entry: many are written in one go.
  func note(_ event: AuditEvent) {
    tell(event)
    noted.append(event)
  }

  /// If they cannot be written the log lacks them, as with any other ``record(_:)``.
  private func writeNoted() {
    guard !noted.isEmpty else { return }
    do {
      try writeOwed()
      try append([])
    } catch { noted = [] }
  }

  /// Writes that something is taken away, which takes effect whether or not it can be written (`AUD-12`). On a full disk it goes to room
  /// that is set aside; where even that is used up, it is kept and tried again, and nothing is decided before it is written.
  func keep(_ events: [AuditEvent]) {
    defer { tell(events) }
    FaultPoint.eventsDue.pass()
    do {
      if FaultPoint.eventsDue.fails { throw StateError("the log cannot be written: a test wants it so") }
      try writeOwed()
      writeNoted()
      try log.appendFromReserve(events)
      FaultPoint.eventsWritten.pass()
    } catch {
      if owed.isEmpty { complain("what was taken away cannot be written down yet: \(error)") }
      owed += events
      owedAgain = clock.monotonic + Self.owedPause
    }
  }

  /// Writes the events that could not be written down when they took effect.
  func writeOwed() throws {
    guard !owed.isEmpty else { return }
    do { try log.appendFromReserve(owed) } catch {
      throw StateError("what was taken away before has to be written down first, and cannot be: \(error)")
    }
    owed = []
  }

  /// The same where no caller waits for it.
  private func writeOwed(now: Int64) {
    guard !owed.isEmpty, owedAgain <= now else { return }
    owedAgain = now + Self.owedPause
    try? writeOwed()
  }

  private static let owedPause: Int64 = 1_000_000_000

  /// A sentence for the user when access was taken away, and not all records of that are in a file.
  var owedNote: String? {
    guard !owed.isEmpty || grants.awaitsRoom else { return nil }
    return
      "The access is gone. There is no room on the disk of \(folder) to write that down: the broker keeps it, tries again each "
      + "second, and grants nothing before it is written. Make room there, and do not end the broker until then."
  }

  /// Without those that are counted only. A refusal that comes with something that takes effect is written.
  private func toWrite(_ events: [AuditEvent]) -> [AuditEvent] {
    #if AMBIT_MUTANTS
      if Mutant.stopUnwritten.isActive, events.contains(where: { $0.kind == .stop }) { return [] }
    #endif
    guard events.allSatisfy(RefusalLimiter.mayCount) else { return events }
    let now = clock.monotonic
    return events.filter { refusals.take($0, now: now) }
  }

  /// Writes down how many refusals were left out, where that is due. Refusals that cannot be written stay counted.
  private func tellRefusals(now: Int64) {
    guard let due = refusals.nextDue, due <= now, refusalsAgain <= now else { return }
    var left = refusals
    guard (try? log.append(left.takeDue(now: now, time: Date()))) != nil else {
      refusalsAgain = now + RefusalLimiter.interval
      return
    }
    refusals = left
  }

  /// The same for an app that is over.
  func tellRefusals(of instance: Instance) {
    var left = refusals
    guard (try? log.append(left.takeAll(of: instance.id, now: clock.monotonic, time: Date()))) != nil else { return }
    refusals = left
  }

  /// Has events moved from the log's journal to its database, when that is due: by a thread of its own, so that no caller of the
  /// broker waits for the disk.
  private func flushLog(now: Int64) {
    guard let due = log.flushDeadline, due <= now else { return }
    log.willFlush()
    let log = log
    @Sendable func flush(inThread: Bool) {
      if inThread { Worker.stepBack() }
      // If it fails nothing is lost: the journal has them, and the log says when to try again.
      do {
        try log.flush()
        FaultPoint.eventsMoved.pass()
      } catch { complain("\(error)") }
    }
    if (try? Worker.start { flush(inThread: true) }) == nil { flush(inThread: false) }
  }

  // MARK: LoopMember

  func prepare(now: Int64) {
    writeNoted()
    writeOwed(now: now)
    tellRefusals(now: now)
    flushLog(now: now)
  }

  /// The answers of this turn are on their way.
  func finishTurn(now: Int64) { log.mark() }

  func nextDue(now: Int64) -> Int64? {
    [log.flushDeadline, owed.isEmpty ? nil : owedAgain, refusals.nextDue.map { max($0, refusalsAgain) }]
      .compactMap(\.self).min()
  }

  /// The last entry of a broker that ends in order. Closed here and not with the last reference: a thread that waits for the disk
  /// may have one.
  func finish() throws {
    writeNoted()
    try writeOwed()
    try log.append(refusals.takeAll(now: clock.monotonic, time: Date()))
    var stopped = AuditEvent(.brokerStopped, pid: ProcessInfo.processInfo.processIdentifier)
    stopped.detail[AuditEvent.Fact.store] = Reconciliation.stamp(grants)
    try log.append([stopped])
    try log.finish()
  }
}
