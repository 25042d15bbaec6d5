internal import Audit
internal import Folders
internal import Kernel
internal import ScopedAccess
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
      return Answer(try start(request, for: instance).json)
    case "Stop":
      let request = try AccessInterface.ScopeCall(json: call.parameters)
      return Answer(AccessInterface.StopReply(count: try stop(request.scope, for: instance)).json)
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
          access: grant.rights.message
        ).json)
    default:
      return Answer(
        AccessInterface.StatusReply(
          used: instance.ledger.used, limit: instance.ledger.limit, holders: instance.holders
        ).json)
    }
  }

  /// The grant that a token opens for this instance. Any other token, whoever it was sealed for, is no token here.
  func grant(ofScope scope: String, _ instance: Instance) throws -> Grant {
    guard let id = grantID(ofScope: scope, instance), let grant = try grants.grant(id),
      grant.bundleIdentifier == instance.app.bundleIdentifier
    else {
      record(event(.refuse, .refused, instance, rule: "TOK-15", reason: "a token that is not of this launch"))
      throw AccessInterface.Failure.invalidScope
    }
    if grant.revoked != nil {
      record(event(.refuse, .refused, instance, grant: grant, rule: "AUD-1", reason: "the grant was withdrawn"))
      throw AccessInterface.Failure.revoked
    }
    return grant
  }

  private func grantID(ofScope scope: String, _ instance: Instance) -> String? {
    if let known = instance.tokens[scope] { return known }
    guard let id = key.grant(of: scope, instance: instance.id) else { return nil }
    instance.tokens[scope] = id
    return id
  }

  func start(_ request: AccessInterface.StartCall, for instance: Instance) throws -> AccessInterface.StartReply {
    let grant = try grant(ofScope: request.scope, instance)
    let exposure = instance.exposed[grant.id] ?? .init(name: grant.name, how: grant.origin.rawValue)
    let name = exposure.name
    let path = ScopeMounts.path(grant: grant.id, name: name)
    let caller = request.caller.map { String($0.prefix(200)) }
    let ledger = instance.ledger

    switch instance.ledger.start(grant.id, at: Clock.realtime(), caller: caller) {
    case .limitReached:
      let names = instance.holders.map { "\($0.name) (\($0.count)×, since \($0.since))" }.joined(separator: ", ")
      try decide([
        event(
          .start, .refused, instance, grant: grant, how: exposure.how, rule: "LIM-1",
          reason: "all \(ledger.limit) scope slots are in use, by \(names)", detail: facts(instance, caller))
      ])
      throw AccessInterface.Failure.limitReached(limit: ledger.limit, holders: instance.holders)

    case .nested(let count):
      do {
        try decide([
          event(.start, .allowed, instance, grant: grant, how: exposure.how, detail: facts(instance, caller, count))
        ])
      } catch {
        instance.ledger = ledger
        throw error
      }
      return AccessInterface.StartReply(path: path, count: count)

    case .first:
      do {
        let location = try locate(grant, for: instance)
        let document = location.document
        if grant.rights == .readWrite, grant.kind == .file, let other = location.sidecar {
          throw StateError(
            "\(other) says that another program has the database open or died over it; close it there first")
        }
        if instance.exposed[grant.id] != exposure {
          try instance.mounts.prepare(grant: grant.id, name: name, kind: grant.kind)
        }
        try decide([
          event(
            .start, .allowed, instance, grant: grant, document: document, how: exposure.how,
            detail: facts(instance, caller, 1))
        ])
        try show(document, of: grant, as: name, to: instance)
        FaultPoint.documentShown.pass()
        instance.exposed[grant.id] = exposure
        grants.noteUse(grant.id, at: Clock.realtime())
      } catch {
        // Nothing was shown, so nothing may be counted.
        instance.ledger = ledger
        if error is Waiting { throw error }
        record(event(.start, .failed, instance, grant: grant, reason: (error as? ErrorReply)?.reason ?? "\(error)"))
        if error is ErrorReply { throw error }
        throw AccessInterface.Failure.unavailable("\(name) cannot be shown; the broker's log says why")
      }
      return AccessInterface.StartReply(path: path, count: 1)
    }
  }

  private func stop(_ scope: String, for instance: Instance) throws -> Int {
    guard let id = grantID(ofScope: scope, instance) else {
      record(event(.refuse, .refused, instance, rule: "TOK-15", reason: "a token that is not of this launch"))
      throw AccessInterface.Failure.invalidScope
    }
    let grant = try grants.grant(id)
    switch instance.ledger.stop(id) {
    case .inactive: return 0
    case .nested(let count):
      try decide([event(.stop, .allowed, instance, grant: grant, detail: facts(instance, nil, count))])
      return count
    case .last:
      grants.noteUse(id, at: Clock.realtime())
      let document = instance.shown[id]
      let mount: UInt64?
      do { mount = try hide(id, instance) } catch {
        // The app would go on using what the books say it no longer has. Nothing weaker than ending it is safe.
        record(event(.stop, .failed, instance, grant: grant, rule: "TOK-3", reason: "\(error); the app is ended"))
        try? instance.process.signalProcess(SIGKILL)
        throw AccessInterface.Failure.unavailable("the document cannot be taken away")
      }
      try decide([event(.stop, .allowed, instance, grant: grant, detail: facts(instance, nil, 0))])
      _ = outlived(mount, document, grant, instance)
      return 0
    }
  }

  private func show(
    _ document: FoundDocument, of grant: Grant, as name: String, to instance: Instance
  ) throws(KernelError) {
    // A folder has room for what an app makes before it renames it; a file that it may not change is not saved.
    let isSaved = grant.kind == .file && grant.rights == .readWrite
    let staging = isSaved ? try instance.staging.make(grant.id, name: name) : nil
    do throws(KernelError) {
      try instance.mounts.show(document, grant: grant.id, name: name, rights: grant.rights, in: staging)
    } catch {
      instance.staging.empty(grant.id, name: name)
      throw error
    }
    instance.shown[grant.id] = document
    // A file system that may keep one waiting does not tell what happens elsewhere.
    if grant.kind == .file, !mayWait(document.path ?? "") { files.add(grant.id, document) }
  }

  /// Takes a document away.
  ///
  /// - Returns: the number of its mount, if the app still has something of it open.
  @discardableResult
  func hide(_ grant: String, _ instance: Instance) throws(KernelError) -> UInt64? {
    let document = instance.shown.removeValue(forKey: grant)
    if document != nil { files.remove(grant) }
    guard let exposure = instance.exposed[grant] else { return nil }
    defer {
      if let document, let folder = instance.staging.folder(of: grant), let area = try? instance.staging.area() {
        keepSidecars(of: document, grant, name: exposure.name, from: folder, through: area)
      }
      instance.staging.empty(grant, name: exposure.name)
    }
    let held = try instance.mounts.hide(grant: grant, name: exposure.name)
    FaultPoint.documentHidden.pass()
    return held
  }

  /// Keeps a document open, so that it is found wherever it is moved while this broker runs. With privilege the kernel
  /// finds it by its handle and nothing has to be kept.
  func pin(_ document: FoundDocument, for grant: String) {
    catalog(grant, document.identity, at: document.path)
    // What is kept open can be asked about at any time, so it is not where an answer may take long.
    guard !privileged, !mayWait(document.path ?? "") else { return }
    if pinned[grant] == nil, pinned.count >= Self.pinLimit, let any = pinned.keys.first { pinned[any] = nil }
    pinned[grant] = document.descriptor
  }

  private func facts(_ instance: Instance, _ caller: String?, _ count: Int? = nil) -> [String: String] {
    var facts = ["used": "\(instance.ledger.used)", "limit": "\(instance.ledger.limit)"]
    facts["caller"] = caller
    facts["count"] = count.map { "\($0)" }
    return facts
  }
}

extension Folders.DocumentKind {
  var message: Wire.DocumentKind { self == .file ? .file : .folder }
  init(_ message: Wire.DocumentKind) { self = message == .file ? .file : .folder }
}

extension AccessRights {
  var message: DocumentAccess { self == .readOnly ? .readOnly : .readWrite }
  init(_ message: DocumentAccess) { self = message == .readOnly ? .readOnly : .readWrite }
}
