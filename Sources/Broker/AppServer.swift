internal import Audit
internal import BrokerCore
internal import Kernel
internal import Wire

/// The sockets of the apps, one in each sandbox, and the ends of their processes.
@BrokerLoop
final class AppServer: LoopMember {
  private let sessions: SessionTable
  private let picker: PickService
  private let access: ScopeService
  private let transfers: TransferService
  private let bookmarks: BookmarkService
  private let coordination: CoordinationService
  private let versions: VersionService
  private let catalog: CatalogService
  private let openings: OpeningService
  private let browser: BrowserService
  private let index: IndexService
  private let providers: ProviderExtensions
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
    _ sessions: SessionTable, _ picker: PickService, _ access: ScopeService, _ transfers: TransferService,
    _ bookmarks: BookmarkService, _ coordination: CoordinationService, _ versions: VersionService,
    _ catalog: CatalogService, _ openings: OpeningService, _ browser: BrowserService, _ index: IndexService,
    _ providers: ProviderExtensions, _ scopes: ActiveScopes, _ ender: SessionEnder, _ trail: AuditTrail,
    _ replies: PendingReplies
  ) {
    (self.sessions, self.picker, self.access, self.transfers) = (sessions, picker, access, transfers)
    (self.bookmarks, self.coordination, self.scopes, self.ender) = (bookmarks, coordination, scopes, ender)
    (self.trail, self.replies, self.versions, self.catalog) = (trail, replies, versions, catalog)
    (self.openings, self.browser, self.index, self.providers) = (openings, browser, index, providers)
    sessions.onRemove = {
      coordination.ended($0)
      catalog.ended($0)
      providers.ended($0)
    }
    sessions.onSuspend = { coordination.suspended($0) }
    sessions.onResume = { coordination.resumed($0) }
  }

  private func handle(_ event: WireEndpoint.Event, of instance: Instance) {
    switch event {
    case .call(let connection, let call): serve(call, on: connection, of: instance)
    case .closed(let connection):
      instance.requests.end(connection)
      coordination.left(connection)
      catalog.left(connection)
      providers.left(connection)
    case .broken(_, let reason):
      trail.record(AuditEvent(.protocolError, .refused, instance, rule: "F9", reason: reason))
    case .refused(let limit):
      trail.record(
        AuditEvent(.refuse, .refused, instance, rule: "F9", reason: "more than \(limit) connections at a time"))
    case .failed: break
    }
  }

  private func serve(_ call: CheckedCall, on connection: WireConnection, of instance: Instance) {
    let request = Request(on: connection)
    instance.requests.begin(request)
    request.serve(
      // An app is not told why: reasons name the user's folders. The user finds them in the log.
      failure: { error in
        let reason = "\(call.interface).\(call.member): \(error)"
        self.trail.record(AuditEvent(.refuse, .failed, instance, reason: reason))
        return AccessInterface.Failure.unavailable(ScopeService.sentence("the broker could not do this", error))
      }
    ) {
      switch call.interface {
      case PickerInterface.name where call.member != "Pick": return try await self.browser.serve(call, for: instance)
      case PickerInterface.name: return try await self.picker.pick(call, for: instance)
      case AccessInterface.name: return try await self.access.serve(call, on: connection, for: instance)
      case TransferInterface.name: return try await self.transfers.serve(call, for: instance)
      case CoordinationInterface.name:
        return try await self.coordination.serve(call, on: connection, for: instance)
      case VersionsInterface.name: return try await self.versions.serve(call, for: instance)
      case QueryInterface.name: return try await self.catalog.serve(call, on: connection, for: instance)
      case IndexInterface.name: return try self.index.serve(call, for: instance)
      case ProviderInterface.name: return try self.providers.serve(call, on: connection, for: instance)
      case OpeningInterface.name: return try await self.openings.serve(call, for: instance)
      default: return try await self.bookmarks.serve(call, for: instance)
      }
    } answer: { reply, descriptors in
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
      // After its messages: a stop that was on its way counts.
      for owner in entries[each.owners] where owner.hasHappened { scopes.ended(Int32(owner.tag), of: each.instance) }
    }
    served = []
  }
}
