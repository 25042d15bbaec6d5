internal import Audit
internal import BrokerCore
internal import Decisions
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// Starting and stopping security scopes (`io.ambit.Access`), and the use of started documents.
@BrokerLoop
final class ScopeService {
  private let tokens: ScopeTokens
  private let ownership: ScopeOwnership
  private let scopes: ActiveScopes
  private let leaks: LeakDetector
  private let documents: GrantLocator
  private let locator: DocumentLocator
  private let sidecars: SidecarKeeper
  private let grants: GrantStore
  private let issuer: GrantIssuer
  private let revoker: GrantRevoker
  private let trail: AuditTrail
  private let jobs: Jobs
  private let clock: any LoopClock
  private let events: AppEvents
  #if AMBIT_MUTANTS
    /// Stops that had nothing to stop.
    private var debts: [String: Int] = [:]
  #endif

  init(
    _ tokens: ScopeTokens, _ ownership: ScopeOwnership, _ scopes: ActiveScopes, _ leaks: LeakDetector,
    _ documents: GrantLocator, _ locator: DocumentLocator, _ sidecars: SidecarKeeper, _ grants: GrantStore,
    _ issuer: GrantIssuer, _ revoker: GrantRevoker, _ trail: AuditTrail, _ jobs: Jobs, _ clock: any LoopClock,
    _ events: AppEvents
  ) {
    (self.tokens, self.ownership, self.scopes, self.leaks) = (tokens, ownership, scopes, leaks)
    (self.documents, self.locator, self.sidecars, self.grants) = (documents, locator, sidecars, grants)
    (self.issuer, self.revoker, self.trail, self.jobs) = (issuer, revoker, trail, jobs)
    (self.clock, self.events) = (clock, events)
  }

  func serve(_ call: CheckedCall, on connection: WireConnection, for instance: Instance) throws -> Course {
    switch call.member {
    case "Start":
      let request = try AccessInterface.StartCall(json: call.parameters)
      return try begin(request, by: Caller(call, for: request.process), for: instance)
    case "Stop":
      let request = try AccessInterface.StopCall(json: call.parameters)
      return try stop(request.scope, by: Caller(call, for: request.process), for: instance)
    default: return .waits { try await self.waiting(call, on: connection, for: instance) }
    }
  }

  /// - Returns: `nil`: further answers are events.
  private func waiting(
    _ call: CheckedCall, on connection: WireConnection, for instance: Instance
  ) async throws -> Answer? {
    switch call.member {
    case "Open": return try await open(try AccessInterface.OpenCall(json: call.parameters), for: instance)
    case "Release":
      try await release(try AccessInterface.ScopeCall(json: call.parameters).scope, for: instance)
      return Answer([:])
    case "Path":
      let grant = try tokens.grant(of: try AccessInterface.ScopeCall(json: call.parameters).scope, instance)
      let name = instance.scopes.exposed[grant.id]?.name ?? grant.name
      return Answer(
        AccessInterface.PathReply(
          path: ScopeMounts.path(grant: grant.id, name: name), name: name, kind: grant.kind.message,
          access: grant.rights.message, by: way(grant.id, instance)
        ).json)
    case "Events":
      events.subscribe(instance, on: connection)
      return nil
    case "Kept": return Answer(try issuer.kept(by: instance).json)
    case "HostPath":
      return Answer(try await hostPath(try AccessInterface.ScopeCall(json: call.parameters).scope, for: instance).json)
    default:
      let request = try AccessInterface.StatusCall(json: call.parameters)
      let process = ownership.knownOwner(Caller(call, for: request.process), instance)
      return Answer(
        AccessInterface.StatusReply(
          used: process.map { instance.scopes.owners.used(by: $0.pid) } ?? 0, limit: instance.scopes.owners.limit,
          holders: instance.holders(of: process, most: Instance.mostNamed)
        ).json)
    }
  }

  /// Starts a scope at once, if its document is where it is known to be.
  private func begin(
    _ request: AccessInterface.StartCall, by asking: Caller, for instance: Instance
  ) throws -> Course {
    let rest = Course.waits { Answer(try await self.start(request, by: asking, for: instance)) }
    #if AMBIT_MUTANTS
      if !debts.isEmpty { return rest }
    #endif
    let attempt = try attempt(request, by: asking, for: instance)
    guard attempt.wouldBeFirst else { return .done(Answer(try startShown(attempt))) }
    do {
      guard let location = try documents.locateQuickly(attempt.grant, for: instance),
        sidecars.isSettled(location.document)
      else { return rest }
      return .done(Answer(try startFirst(attempt, location)))
    } catch { throw failure(error, of: attempt) }
  }

  /// Starts a scope.
  ///
  /// - Parameter known: where its document has just been found; `nil`: it is looked for.
  func start(
    _ request: AccessInterface.StartCall, by asking: Caller, for instance: Instance, known: Location? = nil
  ) async throws -> AccessInterface.StartReply {
    let attempt = try attempt(request, by: asking, for: instance)
    #if AMBIT_MUTANTS
      if let debt = debts[attempt.grant.id], debt > 0 {
        debts[attempt.grant.id] = debt - 1
        return AccessInterface.StartReply(path: attempt.path, count: 1, by: nil)
      }
    #endif
    // A slot is taken only when nothing is waited for any more.
    guard attempt.wouldBeFirst else { return try startShown(attempt) }
    let step = BrokerLoop.step
    let location: Location
    do { location = try await find(request.scope, instance, known) } catch { throw failure(error, of: attempt) }
    // During a wait another process may have started it, taken the last slot, or ended.
    guard step == BrokerLoop.step else { return try startNow(request, by: asking, for: instance, location) }
    do { return try startFirst(attempt, location) } catch { throw failure(error, of: attempt) }
  }

  /// The same with a document that has just been found: nothing is waited for.
  @discardableResult
  func startNow(
    _ request: AccessInterface.StartCall, by asking: Caller, for instance: Instance, _ location: Location
  ) throws -> AccessInterface.StartReply {
    let attempt = try attempt(request, by: asking, for: instance)
    guard attempt.wouldBeFirst else { return try startShown(attempt) }
    do { return try startFirst(attempt, location) } catch { throw failure(error, of: attempt) }
  }

  private func attempt(
    _ request: AccessInterface.StartCall, by asking: Caller, for instance: Instance
  ) throws -> Attempt {
    let grant = try tokens.grant(of: request.scope, instance)
    #if AMBIT_MUTANTS
      let caller = Mutant.placeForgotten.isActive ? nil : request.caller
    #else
      let caller = request.caller
    #endif
    return Attempt(
      grant: grant, exposure: instance.scopes.exposed[grant.id] ?? .init(name: grant.name, how: grant.origin.rawValue),
      process: try ownership.owner(asking, instance), caller: caller?.cut(toBytes: 200),
      instance: instance)
  }

  /// The app's answer for a start that failed. Paths of the user's stay in the log.
  private func failure(_ error: any Error, of attempt: Attempt) -> any Error {
    switch error {
    case is CancellationError: return error
    case let refusal as Refusal: return AccessInterface.Failure.notAllowed(refusal.reason)
    case let reply as ErrorReply:
      trail.record(attempt.failed(reply.reason ?? "\(error)"))
      return reply
    default:
      trail.record(attempt.failed("\(error)"))
      return AccessInterface.Failure.unavailable(Self.sentence("\(attempt.exposure.name) cannot be shown", error))
    }
  }

  /// One start, as far as it is known before anything is decided.
  private struct Attempt {
    let grant: Grant
    let exposure: Exposure
    let process: SandboxProcess
    let caller: String?
    let instance: Instance

    @BrokerLoop var path: String { ScopeMounts.path(grant: grant.id, name: exposure.name) }
    @BrokerLoop var wouldBeFirst: Bool { instance.scopes.owners.wouldBeFirst(grant.id, by: process.pid) }

    @BrokerLoop func failed(_ reason: String) -> AuditEvent {
      AuditEvent(.start, .failed, instance, grant: grant, reason: reason)
    }

    @BrokerLoop
    func event(
      _ result: AuditEvent.Result, document: FoundDocument? = nil, rule: String? = nil, reason: String? = nil,
      count: Int? = nil
    ) -> AuditEvent {
      AuditEvent(
        .start, result, instance, grant: grant, document: document, how: exposure.how, rule: rule, reason: reason,
        detail: ScopeService.facts(instance, process, grant, caller, count))
    }
  }

  /// Finds the document, and waits until the files that belong to it are beside it.
  private func find(_ scope: String, _ instance: Instance, _ known: Location?) async throws -> Location {
    var location = known
    for _ in 0..<Self.mostTurns {
      let found =
        if let location { location } else {
          try await documents.locate(for: instance) { try tokens.grant(of: scope, instance) }
        }
      let step = BrokerLoop.step
      try await sidecars.settled(found.document)
      if step == BrokerLoop.step { return found }
      // The database may be another file by now.
      location = nil
    }
    throw AccessInterface.Failure.unavailable("the document is being saved all the time")
  }

  private static let mostTurns = 8

  /// A start of a document that is shown already, or one without a slot.
  private func startShown(_ attempt: Attempt) throws -> AccessInterface.StartReply {
    let (instance, grant, process) = (attempt.instance, attempt.grant, attempt.process)
    let answer = instance.scopes.owners.start(grant.id, by: process.pid, at: clock.realtime, caller: attempt.caller)
    switch answer {
    case .limitReached:
      #if AMBIT_MUTANTS
        if Mutant.fullStarts.isActive { return AccessInterface.StartReply(path: attempt.path, count: 1, by: nil) }
      #endif
      let (limit, holders) = (instance.scopes.owners.limit, instance.holders(of: process, most: Instance.mostNamed))
      let names = holders.map { holder in
        let place = holder.caller.map { " at \($0)" } ?? ""
        return "\(holder.name) (\(holder.count)×, since \(holder.since)\(place))"
      }
      try trail.decide([
        attempt.event(
          .refused, rule: "LIM-1",
          reason: "all \(limit) scope slots of process \(process.inside) are in use, by "
            + names.joined(separator: ", ") + (limit > names.count ? " and \(limit - names.count) more" : ""))
      ])
      #if AMBIT_MUTANTS
        if Mutant.holdersUnnamed.isActive { throw AccessInterface.Failure.limitReached(limit: limit, holders: []) }
      #endif
      throw AccessInterface.Failure.limitReached(limit: limit, holders: holders)

    case .crowded:
      let used = instance.scopes.owners.used
      let reason = "the app's processes hold \(used) scopes together, and no more are kept for one app"
      try trail.decide([attempt.event(.refused, rule: "LIM-1", reason: reason)])
      throw AccessInterface.Failure.crowded(reason)

    case .first:
      _ = instance.scopes.owners.stop(grant.id, by: process.pid)
      throw AccessInterface.Failure.unavailable("the document is not shown")

    case .nested, .shared:
      let count = if case .nested(let count) = answer { count } else { 1 }
      do { try trail.decide([attempt.event(.allowed, count: count)]) } catch {
        _ = instance.scopes.owners.stop(grant.id, by: process.pid)
        throw error
      }
      grants.noteUse(grant.id, at: clock.realtime)
      return AccessInterface.StartReply(path: attempt.path, count: count, by: way(grant.id, instance))
    }
  }

  /// The first start of a document shows it. Nothing is waited for in here: a decision stays so until it is shown.
  private func startFirst(_ attempt: Attempt, _ location: Location) throws -> AccessInterface.StartReply {
    let (instance, grant, document) = (attempt.instance, attempt.grant, location.document)
    let exposure = attempt.exposure
    _ = instance.scopes.owners.start(grant.id, by: attempt.process.pid, at: clock.realtime, caller: attempt.caller)
    do {
      try check(attempt, location)
      if grant.rights == .readWrite, grant.kind == .file { try scopes.hold(document, of: grant, for: instance) }
      if instance.scopes.exposed[grant.id] != exposure {
        try instance.sandbox.mounts.prepare(grant: grant.id, name: exposure.name, kind: grant.kind)
      }
      try trail.decide([attempt.event(.allowed, document: document, count: 1)])
      try scopes.show(document, of: grant, as: exposure, to: instance)
    } catch {
      // Nothing was shown, so nothing may be counted.
      _ = instance.scopes.owners.stop(grant.id, by: attempt.process.pid)
      instance.scopes.holds.removeValue(forKey: grant.id)?.release()
      throw error
    }
    FaultPoint.documentShown.pass()
    instance.scopes.exposed[grant.id] = exposure
    // A grant from before has to be taken away when the policy says so, though it does not end.
    instance.scopes.ends[grant.id] = instance.app.decisions.end(ofGrantDecided: location.grant.term.decided)
    grants.noteUse(grant.id, at: clock.realtime)
    // It is started, even if the list cannot be kept.
    try? issuer.trimRecent(of: instance)
    return AccessInterface.StartReply(path: attempt.path, count: 1, by: way(grant.id, instance))
  }

  /// Whether the policy allows the start, and no other program has the database open.
  private func check(_ attempt: Attempt, _ location: Location) throws {
    let (instance, grant, document) = (attempt.instance, attempt.grant, location.document)
    // It may have come there since it was granted.
    let own = grant.rights == .readWrite ? OwnFiles.refusal(ofWriting: document.path, own: instance.app.path) : nil
    let refusal =
      instance.refusal(ofUsing: location.grant, now: clock.realtime) ?? own.map { Refusal(rule: "SBX-15", reason: $0) }
    if let refusal {
      try trail.decide([attempt.event(.refused, document: document, rule: refusal.rule, reason: refusal.reason)])
      throw refusal
    }
    if grant.rights == .readWrite, grant.kind == .file, let other = location.sidecar {
      throw StateError("\(other) says that another program has the database open or died over it; close it there first")
    }
  }

  private func way(_ grant: String, _ instance: Instance) -> AccessWay? {
    instance.sandbox.mounts.method(of: grant) == .descriptors ? .descriptor : nil
  }

  /// The app's answer for an error that no rule stands behind: the call and its answer, and none of the user's paths.
  static func sentence(_ failure: String, _ error: any Error) -> String {
    let cause =
      (error as? KernelError).map { ": the kernel answered \($0.call) with “\($0.errno)” (\($0.errno.symbol))" } ?? ""
    return "\(failure)\(cause); “ambit audit log” has the whole sentence"
  }

  private func stop(_ scope: String, by asking: Caller, for instance: Instance) throws -> Course {
    func done(_ count: Int) -> Course { .done(Answer(AccessInterface.StopReply(count: count))) }
    let id = try tokens.grantID(of: scope, instance)
    #if AMBIT_MUTANTS
      if Mutant.stopLeavesDebt.isActive, !instance.scopes.owners.isActive(id) {
        debts[id, default: 0] += 1
        return done(0)
      }
    #endif
    guard let process = ownership.knownOwner(asking, instance) else { return done(0) }
    #if AMBIT_MUTANTS
      if Mutant.stopTakesAnothers.isActive {
        let holders = instance.scopes.owners.holders(of: process.pid)
        if let first = holders.first, !holders.contains(where: { $0.grant == id }) {
          _ = instance.scopes.owners.stop(first.grant, by: process.pid)
          return done(0)
        }
      }
    #endif
    let grant = try grants.grant(id)
    let answer = instance.scopes.owners.stop(id, by: process.pid)
    switch answer {
    case .inactive: return done(0)
    case .nested, .shared:
      let count = if case .nested(let count) = answer { count } else { 0 }
      try trail.decide([
        AuditEvent(.stop, .allowed, instance, grant: grant, detail: Self.facts(instance, process, nil, nil, count))
      ])
      return done(count)
    case .last:
      #if AMBIT_MUTANTS
        if Mutant.stopLeavesMount.isActive { return done(0) }
      #endif
      grants.noteUse(id, at: clock.realtime)
      let document = instance.scopes.shown[id]
      let held: Held
      do { held = try scopes.hide(id, instance, atOnce: instance.app.rules.endsOutlived) } catch {
        scopes.cannotHide(grant, instance, .stop, error)
        throw AccessInterface.Failure.unavailable("the document cannot be taken away")
      }
      try trail.decide([
        AuditEvent(.stop, .allowed, instance, grant: grant, detail: Self.facts(instance, process, nil, nil, 0))
      ])
      _ = leaks.outlived(held, document, grant, instance, within: SearchTime())
      // When the app is told that the scope is stopped, the files that belong to the document are beside it.
      if sidecars.isSettled(grants: [id]) { return done(0) }
      return .waits {
        try await self.sidecars.settled(grants: [id])
        return Answer(AccessInterface.StopReply(count: 0))
      }
    }
  }

  fileprivate static func facts(
    _ instance: Instance, _ process: SandboxProcess, _ grant: Grant?, _ caller: String?, _ count: Int? = nil
  ) -> [String: String] {
    var facts = [
      AuditEvent.Fact.used: "\(instance.scopes.owners.used(by: process.pid))",
      AuditEvent.Fact.limit: "\(instance.scopes.owners.limit)", AuditEvent.Fact.process: "\(process.inside)",
    ]
    facts[AuditEvent.Fact.access] = grant?.rights.rawValue
    facts["caller"] = caller
    facts["count"] = count.map { "\($0)" }
    return facts
  }

  // MARK: Descriptors

  private func open(_ request: AccessInterface.OpenCall, for instance: Instance) async throws -> Answer {
    let grant = try tokens.grant(of: request.scope, instance)
    let wanted = request.access ?? grant.rights.message
    func refuse(_ reason: String, _ error: ErrorReply) throws -> Never {
      trail.record(AuditEvent(.descriptor, .refused, instance, grant: grant, rule: "TOK-14", reason: reason))
      throw error
    }
    func active() throws -> Exposure {
      guard instance.scopes.owners.isActive(grant.id), let exposure = instance.scopes.exposed[grant.id] else {
        try refuse("its scope is not started", AccessInterface.Failure.notActive)
      }
      return exposure
    }
    let exposure = try active()
    guard wanted == .readOnly || grant.rights == .readWrite else {
      try refuse("the grant is for reading only", AccessInterface.Failure.readOnly)
    }
    let path = request.path.flatMap { $0.isEmpty ? nil : $0 }
    if path != nil, !grant.kind.isFolder { throw ErrorReply.invalidParameter("path") }
    let isMade = request.create == true
    guard !isMade || path != nil && wanted == .readWrite else { throw ErrorReply.invalidParameter("create") }
    let descriptor: Descriptor
    do {
      let opening = ShownDocument.Wanted(
        grant.kind, writing: wanted == .readWrite && (path != nil || grant.kind == .file), path: path, making: isMade)
      descriptor = try await opened(opening, of: grant, as: exposure.name, for: instance)
    } catch let error as KernelError {
      trail.record(AuditEvent(.descriptor, .failed, instance, grant: grant, reason: "\(error)"))
      let name = path?.lastPathName ?? exposure.name
      throw AccessInterface.Failure.notOpened(
        "\(name) cannot be opened: \(error.errno) (\(error.errno.symbol))", code: error.errno.symbol)
    }
    // While its file system was waited for, its scope may have ended.
    _ = try active()
    var detail = [AuditEvent.Fact.access: wanted.rawValue]
    if let path { detail["inside"] = path }
    try trail.decide([
      AuditEvent(
        .descriptor, .allowed, instance, grant: grant, document: instance.scopes.shown[grant.id], detail: detail)
    ])
    return Answer([:], descriptors: [descriptor])
  }

  /// Where the file system may keep the loop waiting, a thread opens it.
  private func opened(
    _ wanted: ShownDocument.Wanted, of grant: Grant, as name: String, for instance: Instance
  ) async throws -> Descriptor {
    let shown = try instance.sandbox.mounts.place(grant: grant.id, name: name)
    guard instance.scopes.shown[grant.id]?.path.map(locator.mayWait) == true else { return try shown.open(wanted) }
    let outcome = try await jobs.run(owner: instance.app.bundleIdentifier, subject: "open \(grant.id)") { _ in
      Result { () throws(KernelError) in try shown.open(wanted) }
    }
    guard let outcome else { throw KernelError("open", "the file system does not answer", errno: .ioError) }
    return try outcome.get()
  }

  /// `TOK-19`: without any right but the one that is given up.
  private func release(_ scope: String, for instance: Instance) async throws {
    let grant = try tokens.grant(of: scope, instance)
    #if AMBIT_MUTANTS
      if Mutant.releaseIgnored.isActive { return }
    #endif
    let ended = try revoker.end(
      [grant], GrantEnding(how: "app", rule: "TOK-19", reason: "the app gave its grant up"))
    try await revoker.settled(ended)
  }

  // MARK: Where it lies on the host (`FSF-11`)

  private func hostPath(_ scope: String, for instance: Instance) async throws -> AccessInterface.HostPathReply {
    let grant = try tokens.grant(of: scope, instance)
    #if AMBIT_MUTANTS
      let isTold = instance.app.rules.tellsHostPaths || Mutant.placeAlwaysTold.isActive
    #else
      let isTold = instance.app.rules.tellsHostPaths
    #endif
    guard isTold else {
      try trail.decide([
        AuditEvent(
          .hostPath, .refused, instance, grant: grant, rule: "FSF-11",
          reason: "the policy \(instance.app.policy) does not let apps be told: [grants] host_paths")
      ])
      throw AccessInterface.Failure.notTold
    }
    let document: FoundDocument
    if let shown = instance.scopes.shown[grant.id] {
      document = shown
    } else {
      document = try await documents.locate(for: instance) { try tokens.grant(of: scope, instance) }.document
    }
    let path = standing(document)
    try trail.decide([
      AuditEvent(
        .hostPath, .allowed, instance, grant: grant, document: document,
        detail: [AuditEvent.Fact.known: path == nil ? "false" : "true"])
    ])
    return AccessInterface.HostPathReply(path: path)
  }

  /// The path that leads to a document now. The kernel's path of an open file may be old, or not representable
  /// as text: so it is tried.
  private func standing(_ document: FoundDocument) -> String? {
    guard let path = document.descriptor.currentPath, path.isText,
      let opened = try? Descriptor.open(path, flags: [.path, .noFollow], resolve: .noSymlinks),
      let there = try? FoundDocument(opened), there.identity == document.identity
    else { return nil }
    return path
  }
}

extension Folders.DocumentKind {
  var message: Wire.DocumentKind {
    switch self {
    case .file: .file
    case .folder: .folder
    case .package: .package
    }
  }
}

extension AccessRights {
  var message: DocumentAccess { self == .readOnly ? .readOnly : .readWrite }
  init(_ message: DocumentAccess) { self = message == .readOnly ? .readOnly : .readWrite }
}
