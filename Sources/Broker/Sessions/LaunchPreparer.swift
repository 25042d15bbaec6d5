internal import AppModel
internal import Audit
internal import BrokerCore
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import Policy
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// Prepares a launch: the app's identity, its rights, its container, and the filters that it is launched with.
@BrokerLoop
final class LaunchPreparer: LoopMember {
  private let host: BrokerHost
  private let rules: LaunchRules
  private let grants: GrantStore
  private let sessions: SessionTable
  private let identification: AppIdentification
  private let entitlements: EntitlementService
  private let places: OfferedPlaces
  private let openings: OpeningService
  private let shutdown: Shutdown
  private let filters: FilterStore
  private var network = SpareNetwork()
  /// Where the ids of sandboxed apps begin when the broker is privileged: a range that systemd's table of ids lists as
  /// unused, above those of containers and below the sign bit.
  private static let firstHostID = 0x7000_0000

  init(
    _ host: BrokerHost, _ rules: LaunchRules, _ grants: GrantStore, _ sessions: SessionTable,
    _ identification: AppIdentification, _ entitlements: EntitlementService, _ places: OfferedPlaces,
    _ openings: OpeningService, _ shutdown: Shutdown
  ) {
    (self.host, self.rules, self.grants, self.sessions) = (host, rules, grants, sessions)
    (self.identification, self.entitlements, self.places) = (identification, entitlements, places)
    (self.openings, self.shutdown) = (openings, shutdown)
    filters = FilterStore(folder: host.folders.filters)
  }

  /// Notes an app, and answers the host id that it runs as, if it has one of its own.
  func register(_ bundleIdentifier: String, _ name: String, _ version: String?) throws -> UInt32? {
    let number = try grants.register(bundleIdentifier: bundleIdentifier, name: name, version: version)
    return host.privileged ? UInt32(Self.firstHostID + number) : nil
  }

  func prepare(
    _ request: LauncherInterface.PrepareCall, _ files: [Descriptor], on connection: WireConnection
  ) async throws -> Answer {
    guard !shutdown.hasBegun else { throw LauncherInterface.Failure.leaving }
    let policy = try rules.policy(for: request)
    let app = try await identification.identify(request, Array(files.prefix(request.files.count)), on: connection)
    // The files may have been waited for.
    guard !shutdown.hasBegun else { throw LauncherInterface.Failure.leaving }
    let identifier = app.identifier
    // In a container that the user has named there may be several apps, and each is asked about.
    let program = request.container == nil ? "" : app.digest.description
    let entitled = try entitlements.entitle(request, of: identifier, program: program, under: policy)
    let capabilities = Capabilities(policy: policy, entitlements: entitled.ruling.given)
    let name = rules.name(of: request)
    let filters = try self.filters.filters(for: capabilities)
    let hostID = try register(identifier, name, request.manifest?.version)
    try entitlements.remember(entitled, of: identifier, program: program)
    try places.noteSharing(request, of: identifier)
    let grantRules = rules.grantRules(for: request, capabilities)
    do {
      try makeContainer(identifier, hostID: hostID, inbox: grantRules.inbox)
    } catch {
      throw LauncherInterface.Failure.failed(
        "the container \(host.container(of: identifier)) cannot be made: \(error). "
          + "If the app has put something else in the place of one of its folders, remove that.")
    }
    var answer = LauncherInterface.Capabilities(capabilities, variables: request.variables)
    answer.grants = grantRules
    let given = try await openings.prepare(
      request.given, Array(files.dropFirst(request.files.count)),
      for: OpeningTarget(app: identifier, place: app.path, rules: grantRules))
    guard !shutdown.hasBegun else { throw LauncherInterface.Failure.leaving }
    let network = capabilities.hasOwnNetwork ? self.network.take() : nil
    let id = Grant.makeID()
    sessions.prepared[id] = Preparation(
      connection: connection.id, bundleIdentifier: identifier, name: name, policy: capabilities.policyName,
      hostID: hostID, rules: grantRules, seccomp: capabilities.seccompNames,
      settings: capabilities.settingsText,
      entitlements: entitled,
      interpreter: request.script == nil ? nil : request.program,
      narrowed: capabilities.narrowings.map { "\($0.field) = \($0.to)" }, given: given)
    return Answer(
      LauncherInterface.PrepareReply(
        instance: id, bundleIdentifier: identifier, name: name, container: host.container(of: identifier),
        hostID: hostID.map { Int($0) } ?? -1, filters: filters.count,
        network: network != nil, capabilities: answer, notices: entitled.notices,
        path: app.path, digest: app.digest.description, given: given.map(\.path)
      ).json, descriptors: filters + host.namespaces + (network.map { [$0] } ?? []))
  }

  /// The container's own folders. The app may have replaced any of them by something else: all but folders are
  /// refused, and no link is followed.
  private func makeContainer(_ bundleIdentifier: String, hostID: UInt32?, inbox: Bool) throws(KernelError) {
    let all = try host.containers()
    try makeFolder(bundleIdentifier, in: all, owner: hostID)
    let container = try Descriptor.open(bundleIdentifier, below: all, flags: [.read, .directory, .noFollow])
    for name in ["Documents", "Library", "tmp"] { try makeFolder(name, in: container, owner: hostID) }
    guard inbox else { return }
    let documents = try Descriptor.open("Documents", below: container, flags: [.read, .directory, .noFollow])
    try makeFolder("Inbox", in: documents, owner: hostID)
  }

  private func makeFolder(_ name: String, in folder: Descriptor, owner: UInt32?) throws(KernelError) {
    do throws(KernelError) {
      try folder.makeDirectory(name, mode: 0o700)
    } catch { if error.errno != .fileExists { throw error } }
    let made = try Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow])
    if let owner, try made.status().userID != owner { try made.changeOwner(owner) }
  }

  // MARK: LoopMember

  /// The next spare network, when every request has been answered.
  func finishTurn(now: Int64) { network.makeIfWanted() }
}
