internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import ScopedAccess

/// Grants and log agree before any request is answered (`AUD-5`, `AUD-8`). They may not when a broker starts: the last
/// one died in between two steps, the power took records of one that were not on the disk yet, or the user has put a
/// backup in the place of one.
enum Reconciliation {
  /// Withdraws the grants that are withdrawn by the log, and returns the events that the log still lacks.
  static func reconcile(_ grants: GrantStore, _ folders: AmbitFolders) throws -> [AuditEvent] {
    let reader = try AuditReader(path: folders.auditLog)
    guard let last = try reader.latest(1).first else { return try tell(of: grants.grants(), grants) }
    let start = try reader.latest(1, matching: AuditQuery(kind: .brokerStarted)).first
    let stop = last.kind == .brokerStopped ? last : nil
    let named = (stop ?? start)?.detail[AuditEvent.Fact.store].flatMap { GrantStore.Stamp($0) }
    let isContinued = try grants.stamp().follows(named)
    // A broker that ended in order has left nothing open.
    if isContinued, stop != nil { return [] }
    let takenBack = isContinued ? try takeBackUnwritten(grants, reader) : []
    var recorded = RecordedGrants()
    // By number: the clock may have been set back since.
    for event in try entries(reader, after: isContinued ? (start?.sequence ?? 0) : 0) { recorded.take(event) }
    let held = Set(try grants.identifiers())
    // Written down as withdrawn, and in force: a broker died before it was, or a backup has it still.
    try grants.revoke(held.intersection(recorded.ended).sorted(), at: Clock.realtime())
    let lost = recorded.inForce.filter { !held.contains($0.key) }.values.sorted { $0.sequence < $1.sequence }.map {
      AuditEvent(
        .revoke, .allowed, app: $0.app, grant: $0.grant, document: $0.document, how: AuditEvent.recovery,
        rule: "AUD-8", reason: "it was not among the grants any more when this broker started")
    }
    // The last broker could say so nowhere else.
    let unsaid = try grants.recovery.ended.filter { !recorded.ended.contains($0) && recorded.inForce[$0] == nil }
      .compactMap { try grants.grant($0) }.map { grant in
        AuditEvent(
          .revoke, .allowed, app: grant.bundleIdentifier, grant: grant.id, document: AuditEvent.Document(grant, nil),
          how: AuditEvent.recovery, rule: "AUD-12",
          reason: "it was withdrawn, and the broker died before it could write that down here")
      }
    guard !isContinued else { return takenBack + lost + unsaid }
    return try lost + tell(of: grants.grants().filter { !recorded.knows($0.id) }, grants)
  }

  private static func entries(_ reader: AuditReader, after number: Int64) throws -> [AuditEvent] {
    try RecordedGrants.kinds.flatMap { kind in
      try reader.events(matching: AuditQuery(kind: kind), after: number, limit: .max)
    }.sorted { $0.sequence < $1.sequence }
  }

  /// A broker that died may have added grants and not written that down, so no client was told of them. They are taken
  /// back, and that is written down.
  private static func takeBackUnwritten(_ grants: GrantStore, _ reader: AuditReader) throws -> [AuditEvent] {
    let unwritten = try grants.unwritten { grant in
      // The log's times are whole microseconds.
      let since = Date(timeIntervalSince1970: Double(grant.created) / 1e9 - 1)
      // Of any kind: the first may have been removed, and all that is in force is carried on.
      return try !reader.events(matching: AuditQuery(grant: grant.id, since: since), limit: 1).isEmpty
    }
    grants.takeBack(unwritten.map(\.id))
    return unwritten.map { grant in
      AuditEvent(
        .grant, .failed, app: grant.bundleIdentifier, grant: grant.id, document: AuditEvent.Document(grant, nil),
        how: grant.origin.rawValue,
        reason: "the broker died before it had written this down; nobody was told of it, and it does not hold")
    }
  }

  /// Grants that the log has nothing of, since it is another one.
  private static func tell(of unheard: [Grant], _ grants: GrantStore) throws -> [AuditEvent] {
    try unheard.map { grant in
      AuditEvent(
        .grant, .allowed, app: grant.bundleIdentifier, grant: grant.id, document: AuditEvent.Document(grant, nil),
        how: AuditEvent.recovery, rule: "AUD-8",
        reason: "it was among the grants when this broker started, and the log had nothing of it",
        detail: AuditEvent.facts(grant, parent: try grants.parent(of: grant.id)).merging([
          AuditEvent.Fact.origin: grant.origin.rawValue
        ]) { _, new in new })
    }
  }

  /// The next stamp of the grants, for the log. Where they cannot be written now it stays as it was.
  static func stamp(_ grants: GrantStore) -> String? {
    let next: GrantStore.Stamp? = (try? grants.nextStamp()) ?? (try? grants.stamp())
    return next?.description
  }

  /// The first event of a broker: with its findings about one that died.
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
}
