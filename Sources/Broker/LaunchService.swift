internal import AppModel
internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import Policy
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// The user's side (`io.ambit.Launcher`): launching apps and answering their questions.
extension Broker {
  func launcher(_ call: CheckedCall, on connection: WireConnection) throws -> Answer? {
    switch call.member {
    case "Prepare": return try prepare(try .init(json: call.parameters), call.call.descriptors, on: connection)
    case "Attach":
      try attach(try .init(json: call.parameters), descriptors: call.call.descriptors)
      return Answer([:])
    case "Prompts":
      let instance = try instance(try LauncherInterface.PromptsCall(json: call.parameters).instance)
      instance.prompts = connection
      instance.awaitsPrompts = false
      ask(instance)
      return nil
    case "Answer":
      let request = try LauncherInterface.AnswerCall(json: call.parameters)
      let instance = try instance(request.instance)
      return Answer(try answer(request, documents: call.call.descriptors, instance).json)
    case "Denied":
      let request = try LauncherInterface.DeniedCall(json: call.parameters)
      if let preparation = prepared[request.instance] { return Answer(try refusedLaunch(request, preparation).json) }
      // Its launcher says last what was only counted, and by then the app may be over.
      return Answer(try denied(request, try ended[request.instance] ?? instance(request.instance)).json)
    case "Replace":
      let request = try LauncherInterface.ReplaceCall(json: call.parameters)
      return try replace(request, try instance(request.instance), on: connection).map { Answer($0.json) }
    case "Watches":
      let watching = try instance(try LauncherInterface.WatchesCall(json: call.parameters).instance)
      watchingApps.insert(watching.app.bundleIdentifier)
      return Answer([:])
    case "Ended":
      let request = try LauncherInterface.EndedCall(json: call.parameters)
      if let instance = instances[request.instance] { end(instance) }
      // Whoever waited for the app takes its databases to be whole.
      awaitSidecars(of: request.instance)
      guard let instance = ended[request.instance] else {
        try settle(request)
        return Answer(LauncherInterface.EndedReply().json)
      }
      recordExit(of: instance, request)
      return Answer(LauncherInterface.EndedReply(leaks: instance.leaks, reason: instance.endedBecause).json)
    case "Shutdown":
      leaving.begin(now: Clock.monotonic())
      return Answer([:])
    default:
      return Answer(LauncherInterface.InstancesReply(instances: instances.values.map(describe)).json)
    }
  }

  private func instance(_ id: String) throws -> Instance {
    guard let instance = instances[id] else { throw LauncherInterface.Failure.unknownInstance(id) }
    request?.hold(to: instance.app.rules)
    return instance
  }

  // MARK: Launching

  /// Where the ids of sandboxed apps begin when the broker is privileged: a range that systemd's table of ids lists as
  /// unused, above those of containers and below the sign bit.
  private static let firstHostID = 0x7000_0000

  /// Notes an app, and answers the host id that it runs as, if it has one of its own.
  private func register(_ bundleIdentifier: String, _ name: String, _ version: String?) throws -> UInt32? {
    let number = try grants.register(bundleIdentifier: bundleIdentifier, name: name, version: version)
    return privileged ? UInt32(Self.firstHostID + number) : nil
  }

  private func prepare(
    _ request: LauncherInterface.PrepareCall, _ files: [Descriptor], on connection: WireConnection
  ) throws -> Answer {
    guard leaving.by == nil else { throw LauncherInterface.Failure.leaving }
    let policy = try launchRules.policy(for: request)
    let app = try identify(request, files)
    let identifier = app.identifier
    // In a container that the user has named there may be several apps, and each is asked about.
    let program = request.container == nil ? "" : app.digest.description
    let entitled = try entitle(request, of: identifier, program: program, under: policy)
    let capabilities = Capabilities(policy: policy, entitlements: entitled.ruling.given)
    let name = launchRules.name(of: request)
    let filters = try filters.filters(for: capabilities)
    let hostID = try register(identifier, name, request.manifest?.version)
    try remember(entitled, of: identifier, program: program)
    try noteSharing(request, of: identifier)
    do {
      try makeContainer(identifier, hostID: hostID)
    } catch {
      throw LauncherInterface.Failure.failed(
        "the container \(container(of: identifier)) cannot be made: \(error). "
          + "If the app has put something else in the place of one of its folders, remove that.")
    }
    let rules = launchRules.grantRules(for: request, capabilities)
    var answer = LauncherInterface.Capabilities(capabilities, variables: request.variables)
    answer.grants = rules
    let network = capabilities.hasOwnNetwork ? self.network.take() : nil
    let id = Grant.makeID()
    prepared[id] = Preparation(
      connection: connection.id, bundleIdentifier: identifier, name: name, policy: capabilities.policyName,
      hostID: hostID, rules: rules, seccomp: capabilities.seccompNames,
      settings: capabilities.settingsText,
      entitlements: entitled,
      interpreter: request.script == nil ? nil : request.program,
      narrowed: capabilities.narrowings.map { "\($0.field) = \($0.to)" })
    return Answer(
      LauncherInterface.PrepareReply(
        instance: id, bundleIdentifier: identifier, name: name, container: container(of: identifier),
        hostID: hostID.map { Int($0) } ?? -1, filters: filters.count,
        network: network != nil, capabilities: answer, notices: entitled.notices,
        path: app.path, digest: app.digest.description
      ).json, descriptors: filters + namespaces + (network.map { [$0] } ?? []))
  }

  /// The container's own folders. The app may have replaced any of them by something else: what is not a folder is
  /// refused, and no link is followed.
  private func makeContainer(_ bundleIdentifier: String, hostID: UInt32?) throws(KernelError) {
    let all = try Descriptor.open(folders.containers, flags: [.read, .directory, .noFollow])
    try makeFolder(bundleIdentifier, in: all, owner: hostID)
    let container = try Descriptor.open(bundleIdentifier, below: all, flags: [.read, .directory, .noFollow])
    for name in ["Documents", "Library", "tmp"] { try makeFolder(name, in: container, owner: hostID) }
  }

  private func makeFolder(_ name: String, in folder: Descriptor, owner: UInt32?) throws(KernelError) {
    do throws(KernelError) {
      try folder.makeDirectory(name, mode: 0o700)
    } catch { if error.errno != .fileExists { throw error } }
    let made = try Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow])
    if let owner, try made.status().userID != owner { try made.changeOwner(owner) }
  }

  private func attach(_ request: LauncherInterface.AttachCall, descriptors: [Descriptor]) throws {
    guard descriptors.count == 5 else {
      throw LauncherInterface.Failure.failed("an instance comes with 5 descriptors, not with \(descriptors.count)")
    }
    let preparation = prepared[request.instance]
    guard request.resume || preparation != nil, instances[request.instance] == nil else {
      throw LauncherInterface.Failure.unknownInstance(request.instance)
    }
    if let fault = BundleIdentifier.check(request.bundleIdentifier) { throw LauncherInterface.Failure.failed(fault) }
    guard request.scopeLimit > 0 else { throw ErrorReply.invalidParameter("scopeLimit") }
    guard let replaced = ReplacementRule.Setting(rawValue: request.replaced) else {
      throw ErrorReply.invalidParameter("replaced")
    }

    let hostID =
      if let preparation { preparation.hostID } else {
        try register(request.bundleIdentifier, request.name, nil)
      }
    let app = AppDescription(
      bundleIdentifier: request.bundleIdentifier, name: request.name, policy: request.policy,
      scopeLimit: request.scopeLimit, references: request.references,
      rules: preparation?.rules ?? request.grants, replaced: replaced, path: request.path, digest: request.digest)
    self.request?.hold(to: app.rules)
    // Before the app can connect: of everything that it sends the kernel then says which process did.
    try UnixSocket.nameSenders(on: descriptors[3])
    let instance = Instance(
      id: request.instance, app: app, pid: Int32(truncatingIfNeeded: request.pid), process: descriptors[0],
      endpoint: WireEndpoint(
        listener: descriptors[3], service: WireService(info: Self.info, interfaces: Interface.app), limits: .app,
        now: Clock.monotonic()),
      mounts: ScopeMounts(
        home: home, instance: descriptors[1], documents: descriptors[2], hostID: hostID,
        executes: app.rules.executesPicked),
      staging: Staging(in: staging, instance: request.instance, hostID: hostID), table: descriptors[4],
      hostID: hostID, started: Clock.realtime())

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
    var events = [event(request.resume ? .attach : .launch, .allowed, instance, detail: detail)]
    if !request.resume, !request.degraded.isEmpty { events.append(degraded(request.degraded, instance)) }
    if request.resume { events += try resume(instance) }
    try decide(events)
    prepared[request.instance] = nil
    instances[instance.id] = instance
    // What an app did under another broker is not known, nor what one does that its filter does not hold.
    if request.resume || request.degraded.contains(where: { $0.layer == "seccomp" }) {
      watchingApps.insert(app.bundleIdentifier)
    }
    writeOwedReferences(instance)
    FaultPoint.attached.pass()
  }

  /// That an app runs with less than its policy requires or its plan asks for. The launcher has decided so, by what the kernel
  /// offers and what its user allows; here it is written down before the app starts.
  private func degraded(_ layers: [LauncherInterface.DegradedLayer], _ instance: Instance) -> AuditEvent {
    var detail = [AuditEvent.Fact.layers: layers.map(\.layer).joined(separator: ", ")]
    let allowed = layers.filter(\.allowed).map(\.layer)
    if !allowed.isEmpty { detail[AuditEvent.Fact.allowed] = allowed.joined(separator: ", ") }
    for layer in layers { detail["layer.\(layer.layer)"] = "\(layer.enforcement.rawValue): \(layer.reason)" }
    return event(
      .degraded, .allowed, instance, how: allowed.isEmpty ? "kernel" : "allowed",
      reason: layers.map { "\($0.layer): \($0.reason)" }.joined(separator: "; "), detail: detail)
  }

  /// Takes over an app whose broker died. Its slots are not known any more, so what was shown is taken away: the app
  /// loses access cleanly and can start again with the tokens that it has (`AUD-10`).
  private func resume(_ instance: Instance) throws -> [AuditEvent] {
    var events: [AuditEvent] = []
    let shown = Set(try instance.mounts.hideAll())
    for (id, places) in Dictionary(grouping: try instance.mounts.placeholders(), by: \.grant) {
      let grant = try grants.grant(id)
      let names = places.map(\.name).sorted()
      // A document that was renamed has several places. New URLs have the name that it has now.
      let name = names.first { $0.isSamePath(as: grant?.name ?? "") } ?? names[0]
      instance.exposed[id] = .init(name: name, earlier: names.filter { !$0.isSamePath(as: name) }, how: "resumed")
      guard names.contains(where: { shown.contains(ScopeMounts.path(grant: id, name: $0)) }) else { continue }
      grants.noteUse(id, at: Clock.realtime())
      events.append(
        event(
          .scopeEnded, .allowed, instance, grant: grant, how: AuditEvent.ScopeEnd.broker,
          reason: "the broker that started it is gone")
      )
    }
    return events
  }

  // MARK: Ending

  /// An app has ended: its scopes end, its slots come back, and what was mounted for it goes with its namespace
  /// (`TOK-11`, `LIM-4`). How it ended is for its launcher to say, if that is still there.
  func end(_ instance: Instance) {
    guard instances.removeValue(forKey: instance.id) != nil else { return }
    instance.leaks += describe(instance).scopes
    let (events, held) = endScopes(
      of: instance, how: AuditEvent.ScopeEnd.app, reason: "the app ended without stopping it")
    clean(instance.id, instance.staging.removeAll)
    _ = try? log.append(events)
    FaultPoint.ended.pass()
    // What it had it may have sent to another launch.
    for (held, document, grant) in held { _ = outlived(held, document, grant, instance) }
    forgetWatches(of: instance.app.bundleIdentifier)
    try? grants.flushUses()
    endLaunches([instance.id])
    if instance.prompts != nil || awaitsLauncher(of: instance) {
      ended[instance.id] = instance
    } else {
      recordExit(of: instance, nil)
    }
  }

  /// - Parameter report: `nil` if the launcher is gone without a word.
  func recordExit(of instance: Instance, _ report: LauncherInterface.EndedCall?) {
    ended[instance.id] = nil
    unsettled.records.removeAll { $0.instance == instance.id }
    released.append(instance)
    forsake([instance.id])
    tellRefusals(of: instance)
    if let excess = Self.excess(report) {
      record(event(.limit, .refused, instance, reason: "the app was ended", detail: excess))
    }
    let reason = instance.endedBecause.map { "the app was ended: \($0)" }
    record(
      event(
        .exit, .allowed, instance, reason: reason ?? (report == nil ? "its launcher was ended" : nil),
        detail: Self.outcome(report)))
    LauncherRecords(folders).remove(instance.id)
    forsakenApps.insert(instance.app.bundleIdentifier)
  }

  /// How an app ended, as its launcher says it.
  static func outcome(_ report: LauncherInterface.EndedCall?) -> [String: String] {
    guard let report else { return [:] }
    return report.signal == 0
      ? [AuditEvent.Fact.status: "\(report.status)"] : [AuditEvent.Fact.signal: "\(report.signal)"]
  }

  /// The limit that it went beyond.
  static func excess(_ report: LauncherInterface.EndedCall?) -> [String: String]? {
    report?.limit.map { hit in
      [
        AuditEvent.Fact.exceeded: hit.limit.rawValue, AuditEvent.Fact.value: "\(hit.value)",
        AuditEvent.Fact.ceiling: "\(hit.ceiling)",
      ]
    }
  }

  private func endScopes(
    of instance: Instance, how: String, reason: String
  ) -> (events: [AuditEvent], held: [(Held, FoundDocument?, Grant?)]) {
    var left: [(Held, FoundDocument?, Grant?)] = []
    let events = instance.owners.all.map { owned in
      let grant = (try? grants.grant(owned.holder.grant)) ?? nil
      let document = instance.shown[owned.holder.grant]
      // The app's mount namespace may be gone already, and with it what was mounted there.
      if instance.owners.end(owned.holder.grant, of: owned.process),
        let held = try? hide(owned.holder.grant, instance)
      {
        left.append((held, document, grant))
      }
      return event(
        .scopeEnded, .allowed, instance, grant: grant, how: how, reason: reason,
        detail: facts(of: owned.holder, instance.number(of: owned.process)))
    }
    return (events, left)
  }

  /// The broker ends before the app: nothing stays shown that nobody could take away.
  func leave(_ instance: Instance) {
    instances[instance.id] = nil
    _ = try? log.append(endScopes(of: instance, how: AuditEvent.ScopeEnd.broker, reason: "the broker ended").events)
    // Nobody else would, before the next broker.
    try? instance.mounts.emptyExit()
    clean(instance.id, instance.staging.removeAll)
  }

  private func describe(_ instance: Instance) -> LauncherInterface.Instance {
    LauncherInterface.Instance(
      instance: instance.id, bundleIdentifier: instance.app.bundleIdentifier, name: instance.app.name,
      pid: Int(instance.pid), policy: instance.app.policy, started: Instance.rfc3339(instance.started),
      used: instance.owners.mostUsed, limit: instance.owners.limit,
      scopes: instance.owners.all.map { describe($0.holder, instance.number(of: $0.process), instance) },
      path: instance.app.path, digest: instance.app.digest)
  }
}
