internal import Audit
internal import Foundation

extension AccessHistory {
  mutating func start(_ event: AuditEvent) {
    seen(event)
    guard let key = RecordedScope.Key(event), let app = event.app else { return }
    appeared(event, app)
    if event.standsForOthers { return }
    let count = event.detail[AuditEvent.Fact.count].flatMap { Int($0) } ?? 1
    if var scope = active[key.instance]?[key], !scope.isOrphaned {
      scope.count = count
      scope.mostCount = max(scope.mostCount, count)
      active[key.instance]?[key] = scope
      return
    }
    // The mount of a dead broker's scope is the same; the slot is another.
    end(key, event, .unknown)
    active[key.instance, default: [:]][key] = RecordedScope(
      key: key, app: app, document: grants[key.grant]?.document ?? event.document,
      access: event.detail[AuditEvent.Fact.access].flatMap(RecordedAccess.init) ?? grants[key.grant]?.access,
      how: event.how, caller: event.detail[AuditEvent.Fact.caller], count: count,
      mostCount: count, used: event.detail[AuditEvent.Fact.used].flatMap { Int($0) },
      limit: event.detail[AuditEvent.Fact.limit].flatMap { Int($0) }, since: event.time, sequence: event.sequence)
  }

  /// The first start of a document in a launch was recorded, but the document could not be shown: no process there has it.
  mutating func notShown(_ event: AuditEvent) {
    guard let instance = event.instance, let grant = event.grant else { return }
    for key in keys(of: instance, grant) { end(key, event, .notShown) }
  }

  mutating func stop(_ event: AuditEvent) {
    seen(event)
    guard let key = RecordedScope.Key(event), !event.standsForOthers else { return }
    let left = event.detail[AuditEvent.Fact.count].flatMap { Int($0) } ?? 0
    if left > 0 { active[key.instance]?[key]?.count = left } else { end(key, event, .stopped) }
  }

  mutating func scopeEnded(_ event: AuditEvent) {
    guard let key = RecordedScope.Key(event) else { return }
    // A broker that takes over from a dead one does not know which process it was.
    for each in key.process == nil ? keys(of: key.instance, key.grant) : [key] { end(each, event, event.scopeCause) }
  }

  /// - Parameter gap: in which it ended, where the entry comes later.
  mutating func end(
    _ key: RecordedScope.Key, _ event: AuditEvent, _ cause: RecordedScopeEnding.Cause, in gap: RecordedGap? = nil
  ) {
    guard let scope = active[key.instance]?.removeValue(forKey: key) else { return }
    if active[key.instance]?.isEmpty == true { active[key.instance] = nil }
    closed.append(
      .scope(
        scope,
        RecordedScopeEnding(
          cause: cause, rule: event.rule, reason: event.reason, time: gap?.to ?? event.time,
          certain: max(scope.since, gap?.from ?? event.time), sequence: event.sequence)))
  }

  func keys(of instance: String, _ grant: String) -> [RecordedScope.Key] {
    (active[instance] ?? [:]).keys.filter { $0.grant == grant }
  }

  func keys(of instance: String) -> [RecordedScope.Key] {
    (active[instance] ?? [:]).values.sorted { $0.sequence < $1.sequence }.map(\.key)
  }
}

extension RecordedScope.Key {
  /// The scope that an entry is about.
  init?(_ event: AuditEvent) {
    guard let instance = event.instance, let grant = event.grant else { return nil }
    self.init(
      instance: instance, process: event.detail[AuditEvent.Fact.process].flatMap { Int32($0) }, grant: grant)
  }
}

extension AuditEvent {
  /// Why a scope ended that the app had not stopped.
  var scopeCause: RecordedScopeEnding.Cause {
    switch how {
    case ScopeEnd.process: .processEnded
    case ScopeEnd.app: .appEnded
    case ScopeEnd.withdrawn: .withdrawn
    case ScopeEnd.broker: .brokerEnded
    default: rule == "TOK-11" ? .processEnded : .unknown
    }
  }
}
