internal import Audit
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import SystemPackage
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// Starting and stopping security scopes (`io.ambit.Access`).
extension Broker {
  func access(_ call: CheckedCall, for instance: Instance) throws -> Answer {
    switch call.member {
    case "Start":
      let request = try AccessInterface.StartCall(json: call.parameters)
      return Answer(try start(request, by: Caller(call, for: request.process), for: instance).json)
    case "Stop":
      let request = try AccessInterface.StopCall(json: call.parameters)
      // When it is told that the scope is stopped, what belongs to the document is there.
      self.request?.awaitsWhatFollows = true
      let count = try stop(request.scope, by: Caller(call, for: request.process), for: instance)
      return Answer(AccessInterface.StopReply(count: count).json)
    case "Open": return try open(try AccessInterface.OpenCall(json: call.parameters), for: instance)
    case "Release":
      try release(try AccessInterface.ScopeCall(json: call.parameters).scope, for: instance)
      return Answer([:])
    case "Path":
      let grant = try grant(ofScope: try AccessInterface.ScopeCall(json: call.parameters).scope, instance)
      let name = instance.exposed[grant.id]?.name ?? grant.name
      return Answer(
        AccessInterface.PathReply(
          path: ScopeMounts.path(grant: grant.id, name: name), name: name, kind: grant.kind.message,
          access: grant.rights.message, by: way(grant.id, instance)
        ).json)
    case "Kept": return Answer(try kept(by: instance).json)
    case "HostPath":
      return Answer(try hostPath(try AccessInterface.ScopeCall(json: call.parameters).scope, for: instance).json)
    default:
      let request = try AccessInterface.StatusCall(json: call.parameters)
      let holders = instance.holders(of: knownOwner(Caller(call, for: request.process), instance))
      return Answer(
        AccessInterface.StatusReply(used: holders.count, limit: instance.owners.limit, holders: holders).json)
    }
  }

  /// The grant that a token opens for this instance. Any other token, whoever it was sealed for, is no token here.
  func grant(ofScope scope: String, _ instance: Instance) throws -> Grant {
    guard let id = grantID(ofScope: scope, instance), var grant = try grants.grant(id),
      grant.bundleIdentifier == instance.app.bundleIdentifier
    else {
      record(event(.refuse, .refused, instance, rule: "TOK-15", reason: "a token that is not of this launch"))
      throw AccessInterface.Failure.invalidScope
    }
    if grant.revoked != nil {
      record(event(.refuse, .refused, instance, grant: grant, rule: "AUD-1", reason: "the grant was withdrawn"))
      throw AccessInterface.Failure.revoked
    }
    grant.rights = rights(of: grant, for: instance)
    return grant
  }

  private func grantID(ofScope scope: String, _ instance: Instance) -> String? {
    if let known = instance.tokens[scope] { return known }
    guard let id = key.grant(of: scope, instance: instance.id) else { return nil }
    instance.tokens[scope] = id
    return id
  }

  func start(
    _ request: AccessInterface.StartCall, by asking: Caller, for instance: Instance
  ) throws -> AccessInterface.StartReply {
    let grant = try grant(ofScope: request.scope, instance)
    let exposure = instance.exposed[grant.id] ?? .init(name: grant.name, how: grant.origin.rawValue)
    let name = exposure.name
    let path = ScopeMounts.path(grant: grant.id, name: name)
    let caller = request.caller.map { String($0.prefix(200)) }
    let process = try owner(asking, instance)
    let answer = instance.owners.start(grant.id, by: process.pid, at: Clock.realtime(), caller: caller)

    switch answer {
    case .limitReached:
      let (limit, holders) = (instance.owners.limit, instance.holders(of: process, most: Instance.mostNamed))
      let names = holders.map { holder in
        let place = holder.caller.map { " at \($0)" } ?? ""
        return "\(holder.name) (\(holder.count)×, since \(holder.since)\(place))"
      }
      try decide([
        event(
          .start, .refused, instance, grant: grant, how: exposure.how, rule: "LIM-1",
          reason: "all \(limit) scope slots of process \(process.inside) are in use, by "
            + names.joined(separator: ", ") + (limit > names.count ? " and \(limit - names.count) more" : ""),
          detail: facts(instance, process, grant, caller))
      ])
      throw AccessInterface.Failure.limitReached(limit: limit, holders: holders)

    case .crowded:
      let reason = "the app's processes hold \(instance.owners.used) scopes together, and no more are kept for one app"
      try decide([
        event(
          .start, .refused, instance, grant: grant, how: exposure.how, rule: "LIM-1", reason: reason,
          detail: facts(instance, process, grant, caller))
      ])
      throw AccessInterface.Failure.crowded(reason)

    case .nested, .shared:
      let count = if case .nested(let count) = answer { count } else { 1 }
      do {
        try decide([
          event(
            .start, .allowed, instance, grant: grant, how: exposure.how,
            detail: facts(instance, process, grant, caller, count)
          )
        ])
      } catch {
        _ = instance.owners.stop(grant.id, by: process.pid)
        throw error
      }
      grants.noteUse(grant.id, at: Clock.realtime())
      return AccessInterface.StartReply(path: path, count: count, by: way(grant.id, instance))

    case .first:
      do {
        let location = try locate(grant, for: instance)
        let document = location.document
        try awaitSidecars(of: document)
        // It may have come there since it was granted.
        let own = grant.rights == .readWrite ? OwnFiles.refusal(ofWriting: document.path, own: instance.app.path) : nil
        if let refusal = refusal(ofUsing: location.grant, for: instance)
          ?? own.map({ Refusal(rule: "SBX-15", reason: $0) })
        {
          try decide([
            event(
              .start, .refused, instance, grant: grant, document: document, how: exposure.how, rule: refusal.rule,
              reason: refusal.reason, detail: facts(instance, process, grant, caller))
          ])
          throw refusal
        }
        if grant.rights == .readWrite, grant.kind == .file, let other = location.sidecar {
          throw StateError(
            "\(other) says that another program has the database open or died over it; close it there first")
        }
        if grant.rights == .readWrite, grant.kind == .file { try hold(document, of: grant, for: instance) }
        if instance.exposed[grant.id] != exposure {
          try instance.mounts.prepare(grant: grant.id, name: name, kind: grant.kind)
        }
        try decide([
          event(
            .start, .allowed, instance, grant: grant, document: document, how: exposure.how,
            detail: facts(instance, process, grant, caller, 1))
        ])
        try show(document, of: grant, as: exposure, to: instance)
        FaultPoint.documentShown.pass()
        instance.exposed[grant.id] = exposure
        noteEnd(of: location.grant, instance)
        grants.noteUse(grant.id, at: Clock.realtime())
        // It is started, whatever becomes of the list.
        try? trimRecent(of: instance)
      } catch {
        // Nothing was shown, so nothing may be counted.
        _ = instance.owners.stop(grant.id, by: process.pid)
        instance.holds.removeValue(forKey: grant.id)?.release()
        if error is Waiting || error is WaitingForSidecars { throw error }
        if let refusal = error as? Refusal { throw AccessInterface.Failure.notAllowed(refusal.reason) }
        record(event(.start, .failed, instance, grant: grant, reason: (error as? ErrorReply)?.reason ?? "\(error)"))
        if error is ErrorReply { throw error }
        throw AccessInterface.Failure.unavailable(Self.sentence("\(name) cannot be shown", error))
      }
      return AccessInterface.StartReply(path: path, count: 1, by: way(grant.id, instance))
    }
  }

  /// Keeps other programs out of a database while the app has it (``DatabaseHold``).
  private func hold(_ document: FoundDocument, of grant: Grant, for instance: Instance) throws {
    do {
      instance.holds[grant.id] = try DatabaseHold.take(document, for: instance.id, of: instance.app.bundleIdentifier) {
        instances[$0] != nil
      }
    } catch let refusal as DatabaseHold.Refusal {
      switch refusal {
      case .held(let other):
        let app = instances[other]?.app.name ?? "another app"
        throw StateError(
          "\(app) has started this database in write-ahead mode, and two apps would lose commits; stop it there first")
      case .open(let path):
        throw StateError("another program has the database \(path) open in write-ahead mode; close it there first")
      }
    }
  }

  private func way(_ grant: String, _ instance: Instance) -> AccessWay? {
    instance.mounts.method(of: grant) == .descriptors ? .descriptor : nil
  }

  /// What an app is told of an error that no rule stands behind: the call and its answer, and none of the user's paths.
  static func sentence(_ failure: String, _ error: any Error) -> String {
    let cause =
      (error as? KernelError).map { ": the kernel answered \($0.call) with “\($0.errno)” (\($0.errno.symbol))" } ?? ""
    return "\(failure)\(cause); “ambit audit log” has the whole sentence"
  }

  private func stop(_ scope: String, by asking: Caller, for instance: Instance) throws -> Int {
    guard let id = grantID(ofScope: scope, instance) else {
      record(event(.refuse, .refused, instance, rule: "TOK-15", reason: "a token that is not of this launch"))
      throw AccessInterface.Failure.invalidScope
    }
    guard let process = knownOwner(asking, instance) else { return 0 }
    let grant = try grants.grant(id)
    let answer = instance.owners.stop(id, by: process.pid)
    switch answer {
    case .inactive: return 0
    case .nested, .shared:
      let count = if case .nested(let count) = answer { count } else { 0 }
      try decide([event(.stop, .allowed, instance, grant: grant, detail: facts(instance, process, nil, nil, count))])
      return count
    case .last:
      grants.noteUse(id, at: Clock.realtime())
      let document = instance.shown[id]
      let held: Held
      do { held = try hide(id, instance, atOnce: instance.app.rules.endsOutlived) } catch {
        cannotHide(grant, instance, .stop, error)
        throw AccessInterface.Failure.unavailable("the document cannot be taken away")
      }
      try decide([event(.stop, .allowed, instance, grant: grant, detail: facts(instance, process, nil, nil, 0))])
      _ = outlived(held, document, grant, instance)
      return 0
    }
  }

  private func show(
    _ document: FoundDocument, of grant: Grant, as exposure: Instance.Exposure, to instance: Instance
  ) throws(KernelError) {
    let name = exposure.name
    // A folder has room for what an app makes before it renames it; what it may not change is not saved.
    let isSaved = grant.kind != .folder && grant.rights == .readWrite
    let staging =
      isSaved
      ? try instance.staging.make(grant.id, name: name, also: exposure.earlier, kind: document.kind) : nil
    let misplaced: BusyMount?
    do throws(KernelError) {
      misplaced = try instance.mounts.show(
        document, grant: grant.id, name: name, also: exposure.earlier, rights: grant.rights, in: staging)
    } catch {
      instance.staging.discard(grant.id)
      throw error
    }
    if let misplaced {
      instance.staging.discard(grant.id)
      _ = outlived(Held(mount: misplaced), document, grant, instance)
      throw KernelError("move_mount", "the app has renamed the place of \(name)", errno: .resourceBusy)
    }
    instance.shown[grant.id] = document
    // A file system that may keep one waiting does not tell what happens elsewhere.
    if grant.kind != .folder, !mayWait(document.path ?? "") { files.add(grant.id, document) }
  }

  /// Takes a document away.
  ///
  /// - Parameter atOnce: it has to be unmounted when this returns, also where nobody has or reaches anything of it.
  /// - Returns: what the app may still have open of it.
  @discardableResult
  func hide(_ grant: String, _ instance: Instance, atOnce: Bool = false) throws(KernelError) -> Held {
    let document = instance.shown.removeValue(forKey: grant)
    instance.ends[grant] = nil
    if document != nil { files.remove(grant) }
    let hold = instance.holds.removeValue(forKey: grant)
    guard let exposure = instance.exposed[grant] else {
      hold?.release()
      return Held()
    }
    defer {
      var isKept = false
      if instance.staging.holdsAnything(grant, names: exposure.names) {
        if let document, document.kind == .file, let folder = instance.staging.folder(of: grant),
          let area = try? instance.staging.area()
        {
          keepSidecars(
            of: document, grant, names: exposure.names, from: folder, through: area, owner: instance.id, hold: hold)
          isKept = true
        }
        instance.staging.discard(grant)
      }
      if !isKept { hold?.release() }
    }
    let mount = try instance.mounts.hide(grant: grant, name: exposure.name, atOnce: atOnce)
    FaultPoint.documentHidden.pass()
    return Held(mount: mount, isElsewhere: document.map { instance.elsewhere.contains($0.identity) } ?? false)
  }

  /// Keeps a document open for a while, so that it is found wherever it is moved (``KeptDocuments``). With privilege the kernel
  /// finds it by its handle and nothing has to be kept.
  ///
  /// What is kept open keeps its volume mounted. So on volumes that people take away nothing is: there the folders are watched.
  func pin(_ document: FoundDocument, for grant: String) {
    catalog(grant, document.identity, at: document.path)
    // What is kept open can be asked about at any time, so it is not where an answer may take long.
    guard !privileged, !mayWait(document.path ?? ""), stays(document) else {
      pinned.remove(grant)
      return
    }
    pinned.keep(document, of: grant, now: Clock.monotonic())
  }

  /// Its volume is the system's or the user's home, which nobody unmounts.
  private func stays(_ document: FoundDocument) -> Bool {
    FileWatch.stays(document.descriptor, with: Self.staying(rules))
  }

  static func staying(_ rules: GrantRules) -> [String] { ["/", rules.home] }

  private func facts(
    _ instance: Instance, _ process: SandboxProcess, _ grant: Grant?, _ caller: String?, _ count: Int? = nil
  ) -> [String: String] {
    var facts = [
      AuditEvent.Fact.used: "\(instance.owners.used(by: process.pid))",
      AuditEvent.Fact.limit: "\(instance.owners.limit)", AuditEvent.Fact.process: "\(process.inside)",
    ]
    facts[AuditEvent.Fact.access] = grant?.rights.rawValue
    facts["caller"] = caller
    facts["count"] = count.map { "\($0)" }
    return facts
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
