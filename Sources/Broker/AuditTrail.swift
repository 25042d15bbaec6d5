internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import ScopedAccess

/// How decisions become events. An event is written before its effect is answered: a decision that cannot be written
/// down does not take effect.
extension Broker {
  /// Writes events that carry a decision; throws if they cannot be written.
  func decide(_ events: [AuditEvent]) throws {
    FaultPoint.eventsDue.pass()
    if FaultPoint.eventsDue.fails { throw StateError("the log cannot be written: a test wants it so") }
    try writeOwed()
    try log.append(toWrite(events))
    FaultPoint.eventsWritten.pass()
  }

  /// Notes something that has already happened and cannot be undone by refusing.
  func record(_ event: AuditEvent) {
    do {
      try writeOwed()
      try log.append(toWrite([event]))
    } catch {
      if RefusalLimiter.mayCount(event) { refusals.count(event, now: Clock.monotonic()) }
    }
  }

  /// Writes that something is taken away, which takes effect whether or not it can be written (`AUD-12`). On a full disk it goes to room
  /// that is set aside; where even that is used up, it is kept and tried again, and nothing is decided before it is written.
  func keep(_ events: [AuditEvent]) {
    FaultPoint.eventsDue.pass()
    do {
      if FaultPoint.eventsDue.fails { throw StateError("the log cannot be written: a test wants it so") }
      try writeOwed()
      try log.appendFromReserve(events)
      FaultPoint.eventsWritten.pass()
    } catch {
      if owed.isEmpty { complain("what was taken away cannot be written down yet: \(error)") }
      owed += events
      owedAgain = Clock.monotonic() + Self.owedPause
    }
  }

  /// Writes what could not be written down when it took effect.
  func writeOwed() throws {
    guard !owed.isEmpty else { return }
    do { try log.appendFromReserve(owed) } catch {
      throw StateError("what was taken away before has to be written down first, and cannot be: \(error)")
    }
    owed = []
  }

  /// The same where nobody waits for it.
  func writeOwed(now: Int64) {
    guard !owed.isEmpty, owedAgain <= now else { return }
    owedAgain = now + Self.owedPause
    try? writeOwed()
  }

  private static let owedPause: Int64 = 1_000_000_000

  /// What the user is to know when something was taken away, and not all that says so is in a file; a sentence.
  var owedNote: String? {
    guard !owed.isEmpty || grants.awaitsRoom else { return nil }
    return
      "The access is gone. There is no room on the disk of \(folders.state) to write that down: the broker keeps it, tries again each "
      + "second, and grants nothing before it is written. Make room there, and do not end the broker until then."
  }

  /// Without those that are counted only. A refusal that comes with something that takes effect is written.
  private func toWrite(_ events: [AuditEvent]) -> [AuditEvent] {
    guard events.allSatisfy(RefusalLimiter.mayCount) else { return events }
    let now = Clock.monotonic()
    return events.filter { refusals.take($0, now: now) }
  }

  /// Writes down how many refusals were left out, where that is due. What cannot be written stays counted.
  func tellRefusals(now: Int64) {
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
    guard (try? log.append(left.takeAll(of: instance.id, now: Clock.monotonic(), time: Date()))) != nil else { return }
    refusals = left
  }

  /// The first event of a broker: with what it found of one that died.
  static func started(
    _ log: AuditLog, _ grants: GrantStore, boot: String, _ launches: UnsettledLaunches
  ) -> AuditEvent {
    var event = AuditEvent(.brokerStarted, pid: ProcessInfo.processInfo.processIdentifier)
    event.detail[AuditEvent.Fact.store] = stamp(grants)
    event.detail[AuditEvent.Fact.boot] = boot
    event.detail[AuditEvent.Fact.awaited] = launches.words
    if log.takenOver > 0 { event.detail[AuditEvent.Fact.takenOver] = "\(log.takenOver)" }
    var findings: [String] = []
    if log.tornBytes > 0 {
      findings.append("what was being written when a broker or the system stopped was dropped (\(log.tornBytes) bytes)")
    }
    if !log.doubts.isEmpty {
      event.detail[AuditEvent.Fact.doubt] = log.doubts.joined(separator: "; ")
      findings += log.doubts
    }
    if let problem = grants.recovery.problem { findings.append(problem) }
    if !findings.isEmpty { event.reason = findings.joined(separator: "; ") }
    return event
  }

  /// Has events moved from the log's journal to its database, when that is due: by a thread of its own, so that nobody who
  /// asks the broker for something waits for the disk.
  func flushLog(now: Int64) {
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

  func event(
    _ kind: AuditEvent.Kind, _ result: AuditEvent.Result = .allowed, _ instance: Instance, grant: Grant? = nil,
    document: FoundDocument? = nil, how: String? = nil, rule: String? = nil, reason: String? = nil,
    detail: [String: String] = [:]
  ) -> AuditEvent {
    AuditEvent(
      kind, result, app: instance.app.bundleIdentifier, instance: instance.id, pid: instance.pid, grant: grant?.id,
      document: grant.map { Self.document($0, document) } ?? document.map(Self.describe), how: how, rule: rule,
      reason: reason, detail: detail)
  }

  static func document(_ grant: Grant, _ found: FoundDocument?) -> AuditEvent.Document {
    AuditEvent.Document(
      path: found?.path ?? grant.path, volume: Hexadecimal.text((found?.identity ?? grant.identity).volume),
      inode: (found?.identity ?? grant.identity).inode, birth: date((found?.identity ?? grant.identity).birth))
  }

  static func document(_ identity: FileIdentity, at path: String) -> AuditEvent.Document {
    AuditEvent.Document(
      path: path, volume: Hexadecimal.text(identity.volume), inode: identity.inode, birth: date(identity.birth))
  }

  static func describe(_ found: FoundDocument) -> AuditEvent.Document {
    AuditEvent.Document(
      path: found.path ?? "", volume: Hexadecimal.text(found.identity.volume), inode: found.identity.inode,
      birth: date(found.identity.birth))
  }

  static func date(_ nanoseconds: Int64) -> Date? {
    nanoseconds == 0 ? nil : Date(timeIntervalSince1970: Double(nanoseconds) / 1e9)
  }
}
