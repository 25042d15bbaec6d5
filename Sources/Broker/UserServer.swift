internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import Wire

/// The socket of the user's side.
@BrokerLoop
final class UserServer: LoopMember {
  private let endpoint: WireEndpoint
  private let launches: LaunchService
  private let grants: GrantService
  private let inspection: InspectionService
  private let coordination: CoordinationService
  private let versions: VersionService
  private let thumbnails: ThumbnailService
  private let catalog: CatalogService
  private let locations: LocationService
  private let sessions: SessionTable
  private let trail: AuditTrail
  private let replies: PendingReplies
  private var requests = RequestTable()

  init(
    _ endpoint: WireEndpoint, _ launches: LaunchService, _ grants: GrantService, _ inspection: InspectionService,
    _ coordination: CoordinationService, _ versions: VersionService, _ thumbnails: ThumbnailService,
    _ catalog: CatalogService, _ locations: LocationService, _ sessions: SessionTable, _ trail: AuditTrail,
    _ replies: PendingReplies
  ) {
    (self.endpoint, self.launches, self.grants, self.inspection) = (endpoint, launches, grants, inspection)
    (self.coordination, self.versions, self.catalog, self.sessions) = (coordination, versions, catalog, sessions)
    (self.trail, self.replies, self.locations, self.thumbnails) = (trail, replies, locations, thumbnails)
  }

  var hasConnections: Bool { !endpoint.connections.isEmpty }

  /// Whether a call has been read and is not answered. A launcher that takes questions for the user waits all the time.
  var owesAnswers: Bool {
    let askers = (Array(sessions.instances.values) + Array(sessions.ended.values))
      .compactMap { $0.picker.prompts?.connection.id }
    return endpoint.connections.values.contains { $0.isAwaitingReply && !askers.contains($0.id) }
  }

  /// From now on no client can connect, and waiting calls are not answered.
  func stop() {
    endpoint.stopListening()
    requests.endAll()
  }

  private func serve(_ call: CheckedCall, on connection: WireConnection) {
    // When a decision for it counts as written down: as the policy says of the app that it is about.
    var sync = AuditLog.Sync.group
    Request.begin(
      on: connection, waits: { requests.begin($0) }, failure: { Self.failure($0, of: call.interface) }
    ) {
      if call.interface == CoordinationInterface.name {
        return try self.coordination.serve(call, on: connection, for: nil)
      }
      return .waits {
        switch call.interface {
        case GrantsInterface.name: return try await self.grants.serve(call)
        case VersionsInterface.name: return try await self.versions.serve(call, for: nil)
        case ThumbnailsInterface.name: return try await self.thumbnails.serve(call, for: nil)
        case QueryInterface.name: return try await self.catalog.serve(call, on: connection, for: nil)
        case LocationsInterface.name: return try await self.locations.serve(call, on: connection)
        case InspectorInterface.name: return try await self.inspection.serve(call)
        default:
          return try await self.launches.serve(call, on: connection) { instance in
            if instance.app.rules.syncsFully { sync = .full }
          }
        }
      }
    } answer: { reply, descriptors in
      if call.call.oneway { return }
      self.replies.send(reply, descriptors: descriptors, on: connection, sync)
    }
  }

  private static func failure(_ error: any Error, of interface: String) -> ErrorReply {
    [GrantsInterface.name, CoordinationInterface.name, VersionsInterface.name, LocationsInterface.name].contains(
      interface)
      ? GrantsInterface.Failure.failed("\(error)") : LauncherInterface.Failure.failed("\(error)")
  }

  // MARK: LoopMember

  func appendEntries(to entries: inout [PollEntry], now: Int64) { _ = endpoint.appendEntries(to: &entries, now: now) }
  func nextDue(now: Int64) -> Int64? { endpoint.nextDue(now: now) }

  func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    for event in endpoint.process(entries, now: now) {
      switch event {
      case .call(let connection, let call): serve(call, on: connection)
      case .closed(let connection):
        requests.end(connection)
        coordination.left(connection)
        catalog.left(connection)
        launches.left(connection)
      case .broken(_, let reason):
        trail.record(AuditEvent(.protocolError, .refused, how: "user's socket", reason: reason))
      case .refused, .failed: break
      }
    }
  }
}

extension WireEndpoint {
  /// The socket that the user's commands and launchers connect to.
  static func user(_ listener: Descriptor, _ clock: any LoopClock) -> WireEndpoint {
    WireEndpoint(
      listener: listener, service: WireService(info: .broker, interfaces: Interface.user), limits: .user,
      now: clock.monotonic)
  }

  func nextDue(now: Int64) -> Int64? { timeout(now: now).map { now + Int64($0 / .nanoseconds(1)) } }
}

extension ServiceInfo {
  static let broker = ServiceInfo(version: AmbitVersion.current, url: "https://github.com/ambit-sandbox/ambit")
}
