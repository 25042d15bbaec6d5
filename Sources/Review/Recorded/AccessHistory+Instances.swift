internal import Audit
internal import Foundation

extension AccessHistory {
  mutating func begin(_ event: AuditEvent) {
    guard let id = event.instance, let app = event.app else { return }
    instances[id] = RecordedInstance(event, id: id, app: app, isInferred: false)
  }

  /// A broker has taken an app over: the scopes of the previous broker are taken away from it (`AUD-10`).
  mutating func attach(_ event: AuditEvent) {
    guard let id = event.instance, let app = event.app else { return }
    for key in keys(of: id) { end(key, event, .brokerEnded) }
    var instance = instances[id] ?? RecordedInstance(event, id: id, app: app, isInferred: true)
    instance.describe(event)
    (instance.isOrphaned, instance.gap, instance.brokersSince) = (false, nil, 0)
    instances[id] = instance
  }

  mutating func exit(_ event: AuditEvent) {
    guard let id = event.instance else { return }
    func gap(_ gap: RecordedGap?) -> RecordedGap? { gap.map { RecordedGap(from: $0.from, to: event.time) } }
    for key in keys(of: id) {
      // After the broker's death it is unknown whether the app would have stopped the scope.
      let orphaned = active[id]?[key]?.gap
      end(key, event, orphaned == nil ? .appEnded : .brokerEnded, in: gap(orphaned))
    }
    guard let instance = instances.removeValue(forKey: id) else { return }
    closed.append(
      .instance(
        instance,
        RecordedInstanceEnding(
          status: event.detail[AuditEvent.Fact.status].flatMap { Int($0) },
          signal: event.detail[AuditEvent.Fact.signal].flatMap { Int($0) }, reason: event.reason, isRecorded: true,
          time: event.time, certain: max(instance.since, instance.gap?.from ?? event.time), sequence: event.sequence)))
  }

  /// A launch that is first heard of by something that it did.
  mutating func appeared(_ event: AuditEvent, _ app: String) {
    guard let id = event.instance, instances[id] == nil else { return }
    instances[id] = RecordedInstance(event, id: id, app: app, isInferred: true)
  }

  mutating func outlived(_ event: AuditEvent) {
    guard let id = event.instance, let grant = event.grant else { return }
    instances[id]?.outlived[grant] = RecordedHold(
      document: event.document, holders: event.detail[AuditEvent.Fact.holders], since: event.time,
      sequence: event.sequence)
  }

  /// The previous broker has stopped or died. Its apps then keep the documents that were shown to them, until this broker takes
  /// them over or finds that they have ended. If the broker cannot find anything out about an app, no entry about it ever follows.
  /// That is known when yet another broker begins that does not wait for the app either. Nothing goes on when the machine is
  /// started anew.
  mutating func brokerStarted(_ event: AuditEvent) {
    let boot = event.detail[AuditEvent.Fact.boot] ?? boot
    let isOtherBoot = self.boot != nil && boot != self.boot
    self.boot = boot
    let awaited = Set(event.detail[AuditEvent.Fact.awaited]?.split(separator: " ").map(String.init) ?? [])
    for id in instances.keys.sorted() {
      guard var instance = instances[id] else { continue }
      if !awaited.contains(id) { instance.brokersSince += 1 }
      instance.isOrphaned = true
      let gap = instance.gap ?? RecordedGap(from: timeBefore ?? event.time, to: event.time)
      instance.gap = gap
      instances[id] = instance
      guard instance.brokersSince > 1 || isOtherBoot else {
        for key in keys(of: id) { active[id]?[key]?.gap = gap }
        continue
      }
      for key in keys(of: id) { end(key, event, .unknown, in: gap) }
      instances[id] = nil
      closed.append(
        .instance(
          instance,
          RecordedInstanceEnding(
            status: nil, signal: nil, reason: nil, isRecorded: false, time: gap.to,
            certain: max(instance.since, gap.from),
            sequence: event.sequence)))
    }
  }

  mutating func brokerStopped() {
    hasBroker = false
    for id in instances.keys { instances[id]?.isOrphaned = true }
  }
}

extension RecordedInstance {
  init(_ event: AuditEvent, id: String, app: String, isInferred: Bool) {
    self.init(
      id: id, app: app, name: nil, policy: nil, limit: nil, pid: event.pid, since: event.time, sequence: event.sequence,
      isInferred: isInferred)
    if event.kind == .launch || event.kind == .attach { describe(event) }
  }

  mutating func describe(_ event: AuditEvent) {
    name = event.detail[AuditEvent.Fact.name] ?? name
    policy = event.detail[AuditEvent.Fact.policy] ?? policy
    path = event.detail[AuditEvent.Fact.path] ?? path
    digest = event.detail[AuditEvent.Fact.digest] ?? digest
    limit = event.detail[AuditEvent.Fact.limit].flatMap { Int($0) } ?? limit
    pid = event.pid ?? pid
  }
}
