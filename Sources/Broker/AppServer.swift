internal import Audit
internal import BrokerCore
internal import Kernel
internal import Wire

/// The sockets of the apps, one in each sandbox, and the ends of their processes.
@BrokerLoop
final class AppServer: LoopMember {
  private let sessions: SessionTable
  private let services: AppServices
  private let scopes: ActiveScopes
  private let ender: SessionEnder
  private let trail: AuditTrail
  private let replies: PendingReplies
  /// Which entries are which, in one turn.
  private var served: [Served] = []

  private struct Served {
    let instance: Instance
    let process: Int
    let owners: Range<Int>
    let endpoint: Range<Int>
  }

  init(
    _ sessions: SessionTable, _ services: AppServices, _ scopes: ActiveScopes, _ ender: SessionEnder,
    _ trail: AuditTrail, _ replies: PendingReplies
  ) {
    (self.sessions, self.services, self.scopes, self.ender) = (sessions, services, scopes, ender)
    (self.trail, self.replies) = (trail, replies)
    sessions.onRemove = { services.ended($0) }
    sessions.onSuspend = { services.coordination.suspended($0) }
    sessions.onResume = { services.coordination.resumed($0) }
  }

  private func handle(_ event: WireEndpoint.Event, of instance: Instance) {
    switch event {
    case .call(let connection, let call): serve(call, on: connection, of: instance)
    case .closed(let connection):
      instance.requests.end(connection)
      services.left(connection)
    case .broken(_, let reason):
      trail.record(AuditEvent(.protocolError, .refused, instance, rule: "F9", reason: reason))
    case .refused(let limit):
      trail.record(
        AuditEvent(.refuse, .refused, instance, rule: "F9", reason: "more than \(limit) connections at a time"))
    case .failed: break
    }
  }

  private func serve(_ call: CheckedCall, on connection: WireConnection, of instance: Instance) {
    Request.begin(
      on: connection, waits: { instance.requests.begin($0) },
      // An app is not told why: reasons name the user's folders. The user finds them in the log.
      failure: { error in
        let reason = "\(call.interface).\(call.member): \(error)"
        self.trail.record(AuditEvent(.refuse, .failed, instance, reason: reason))
        return AccessInterface.Failure.unavailable(ScopeService.sentence("the broker could not do this", error))
      }
    ) {
      try self.services.serve(call, on: connection, for: instance)
    } answer: { reply, descriptors in
      if call.call.oneway { return }
      self.replies.send(
        reply, descriptors: descriptors, on: connection, instance.app.rules.syncsFully ? .full : .group)
    }
  }

  // MARK: LoopMember

  func appendEntries(to entries: inout [PollEntry], now: Int64) {
    served = sessions.instances.values.map { instance in
      let process = entries.count
      entries.append(PollEntry(instance.process, .read))
      let owners = entries.count..<(entries.count + instance.scopes.processes.count)
      for (pid, owner) in instance.scopes.processes {
        entries.append(PollEntry(owner.descriptor, .read, tag: Int(pid)))
      }
      return Served(
        instance: instance, process: process, owners: owners,
        endpoint: instance.endpoint.appendEntries(to: &entries, now: now))
    }
  }

  func nextDue(now: Int64) -> Int64? { sessions.instances.values.compactMap { $0.endpoint.nextDue(now: now) }.min() }

  func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    for each in served {
      for event in each.instance.endpoint.process(entries[each.endpoint], now: now) { handle(event, of: each.instance) }
      if entries[each.process].hasHappened { ender.end(each.instance) }
      // After its messages: a stop that was on its way counts. An app may end all of its processes at once.
      let time = SearchTime()
      for owner in entries[each.owners] where owner.hasHappened {
        scopes.ended(Int32(owner.tag), of: each.instance, within: time)
      }
    }
    served = []
  }
}
