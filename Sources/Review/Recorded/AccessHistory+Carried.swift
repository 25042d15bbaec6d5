internal import Audit
internal import Foundation

extension AccessHistory {
  /// The state at the beginning of a file of the log. It is news only to a reader that has not read the earlier entries, because
  /// those are gone.
  mutating func carried(_ event: AuditEvent) {
    guard !isWhole else { return }
    switch event.detail[AuditEvent.Fact.carries] {
    case "launch": carriedLaunch(event)
    case "grant": carriedGrant(event)
    case "scope": carriedScope(event)
    default: break
    }
  }

  private mutating func carriedLaunch(_ event: AuditEvent) {
    guard let id = event.instance, let app = event.app, instances[id]?.isInferred ?? true else { return }
    let known = instances[id]
    var instance = RecordedInstance(
      id: id, app: app, name: nil, policy: nil, limit: nil, pid: event.pid, since: event.beganAt,
      sequence: known?.sequence ?? event.sequence, isInferred: false)
    instance.describe(event)
    instance.outlived = known?.outlived ?? [:]
    instances[id] = instance
  }

  private mutating func carriedGrant(_ event: AuditEvent) {
    guard let id = event.grant, let app = event.app, grants[id]?.isInferred ?? true else { return }
    var known = event
    known.time = event.beganAt
    put(RecordedGrant(known, id: id, app: app, isInferred: false))
  }

  private mutating func carriedScope(_ event: AuditEvent) {
    guard let key = RecordedScope.Key(event), active[key.instance]?[key] == nil else { return }
    var known = event
    known.time = event.beganAt
    start(known)
  }
}

extension AuditEvent {
  /// The time at which the carried thing began.
  fileprivate var beganAt: Date { detail[Fact.since].flatMap { Timestamp($0)?.date } ?? time }
}
