internal import AppModel
internal import Audit
internal import BrokerCore
internal import Decisions
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import Policy
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// Takes an app over from its launcher, before it begins or after another broker has died.
@BrokerLoop
final class LaunchAttacher {
  private let host: BrokerHost
  private let grants: GrantStore
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let preparer: LaunchPreparer
  private let references: ReferenceFiles
  private let suspensions: SuspensionService
  private let openings: OpeningService

  init(
    _ host: BrokerHost, _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ preparer: LaunchPreparer,
    _ references: ReferenceFiles, _ suspensions: SuspensionService, _ openings: OpeningService
  ) {
    (self.host, self.grants, self.trail, self.sessions) = (host, grants, trail, sessions)
    (self.preparer, self.references, self.suspensions) = (preparer, references, suspensions)
    self.openings = openings
  }

  func attach(
    _ request: LauncherInterface.AttachCall, descriptors: [Descriptor]
  ) throws -> Instance {
    guard descriptors.count == 5 else {
      throw LauncherInterface.Failure.failed("an instance comes with 5 descriptors, not with \(descriptors.count)")
    }
    let preparation = sessions.prepared[request.instance]
    guard request.resume || preparation != nil, sessions.instances[request.instance] == nil else {
      throw LauncherInterface.Failure.unknownInstance(request.instance)
    }
    if let fault = BundleIdentifier.check(request.bundleIdentifier) { throw LauncherInterface.Failure.failed(fault) }
    guard request.scopeLimit > 0 else { throw ErrorReply.invalidParameter("scopeLimit") }
    guard let replaced = ReplacementRule.Setting(rawValue: request.replaced) else {
      throw ErrorReply.invalidParameter("replaced")
    }

    let hostID =
      if let preparation { preparation.hostID } else {
        try preparer.register(request.bundleIdentifier, request.name, nil)
      }
    let rules = preparation?.rules ?? request.grants
    let app = AppDescription(
      bundleIdentifier: request.bundleIdentifier, name: request.name, policy: request.policy,
      scopeLimit: request.scopeLimit, references: request.references,
      rules: rules, decisions: DocumentRules(rules), replaced: replaced, path: request.path, digest: request.digest)
    let handed = KernelEdge.Handed(
      process: descriptors[0], instance: descriptors[1], documents: descriptors[2], table: descriptors[4],
      hostID: hostID,
      executes: app.rules.executesPicked)
    // Before the app can connect: of everything that it sends the kernel then says which process did.
    try UnixSocket.nameSenders(on: descriptors[3])
    let instance = Instance(
      id: request.instance, app: app, pid: Int32(truncatingIfNeeded: request.pid), process: descriptors[0],
      endpoint: WireEndpoint(
        listener: descriptors[3], service: WireService(info: .broker, interfaces: Interface.app), limits: .app,
        now: host.clock.monotonic),
      sandbox: InstanceSandbox(
        mounts: host.kernel.mounts(handed, host.home),
        staging: Staging(in: host.staging, instance: request.instance, hostID: hostID),
        table: SandboxTable(folder: handed.table, processes: host.kernel.processes(handed)),
        suspension: host.kernel.suspension(
          handed, GroupFreezer(of: request.instance, in: GroupRecords(host.folders.groups)))),
      hostID: hostID, started: host.clock.realtime)

    var detail = [
      AuditEvent.Fact.policy: app.policy, AuditEvent.Fact.limit: "\(app.scopeLimit)", "name": app.name,
      AuditEvent.Fact.path: app.path, AuditEvent.Fact.digest: app.digest,
    ]
    detail[AuditEvent.Fact.interpreter] = preparation?.interpreter
    detail[AuditEvent.Fact.seccomp] = preparation?.seccomp
    detail[AuditEvent.Fact.settings] = preparation?.settings
    if let entitled = preparation?.entitlements {
      func note(_ fact: String, _ words: [String]) {
        if !words.isEmpty { detail[fact] = words.joined(separator: " ") }
      }
      note(AuditEvent.Fact.entitlements, entitled.ruling.given.words)
      note(AuditEvent.Fact.withheld, entitled.ruling.withheld.map(\.word))
      detail[AuditEvent.Fact.answered] = entitled.answered
    }
    if let narrowed = preparation?.narrowed, !narrowed.isEmpty {
      detail["narrowed"] = narrowed.joined(separator: ", ")
    }
    instance.facts = detail
    var events = [AuditEvent(request.resume ? .attach : .launch, .allowed, instance, detail: detail)]
    if !request.resume, !request.degraded.isEmpty { events.append(degraded(request.degraded, instance)) }
    if request.resume { events += try resume(instance) }
    try trail.decide(events)
    sessions.prepared[request.instance] = nil
    sessions.add(instance)
    // An app's acts under another broker are unknown, and so are the acts of one that its filter does not hold.
    if request.resume || request.degraded.contains(where: { $0.layer == "seccomp" }) {
      sessions.watchingApps.insert(app.bundleIdentifier)
    }
    if request.resume { suspensions.recall(instance) }
    try openings.begin(preparation?.given ?? [], instance)
    references.writeOwed(instance)
    FaultPoint.attached.pass()
    return instance
  }

  /// That an app runs with less than its policy requires or its plan asks for. The launcher has decided so, by the kernel's
  /// features and its user's consent; here it is written down before the app starts.
  private func degraded(_ layers: [LauncherInterface.DegradedLayer], _ instance: Instance) -> AuditEvent {
    var detail = [AuditEvent.Fact.layers: layers.map(\.layer).joined(separator: ", ")]
    let allowed = layers.filter(\.allowed).map(\.layer)
    if !allowed.isEmpty { detail[AuditEvent.Fact.allowed] = allowed.joined(separator: ", ") }
    for layer in layers { detail["layer.\(layer.layer)"] = "\(layer.enforcement.rawValue): \(layer.reason)" }
    return AuditEvent(
      .degraded, .allowed, instance, how: allowed.isEmpty ? "kernel" : "allowed",
      reason: layers.map { "\($0.layer): \($0.reason)" }.joined(separator: "; "), detail: detail)
  }

  /// Takes over an app whose broker died. Its slots are not known any more, so shown documents are taken away: the app loses
  /// access cleanly and can start again with the tokens that it has (`AUD-10`).
  private func resume(_ instance: Instance) throws -> [AuditEvent] {
    var events: [AuditEvent] = []
    #if AMBIT_MUTANTS
      let shown = Set(Mutant.brokerLeavesMounts.isActive ? [] : try instance.sandbox.mounts.hideAll())
    #else
      let shown = Set(try instance.sandbox.mounts.hideAll())
    #endif
    for (id, places) in Dictionary(grouping: try instance.sandbox.mounts.placeholders(), by: \.grant) {
      let grant = try grants.grant(id)
      let names = places.map(\.name).sorted()
      // A document that was renamed has several places. New URLs have the name that it has now.
      let name = names.first { $0.isSamePath(as: grant?.name ?? "") } ?? names[0]
      instance.scopes.exposed[id] = .init(
        name: name, earlier: names.filter { !$0.isSamePath(as: name) }, how: "resumed")
      guard names.contains(where: { shown.contains(ScopeMounts.path(grant: id, name: $0)) }) else { continue }
      grants.noteUse(id, at: host.clock.realtime)
      events.append(
        AuditEvent(
          .scopeEnded, .allowed, instance, grant: grant, how: AuditEvent.ScopeEnd.broker,
          reason: "the broker that started it is gone")
      )
    }
    return events
  }
}
