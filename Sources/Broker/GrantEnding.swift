internal import Audit
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// How a grant comes to its end.
struct GrantEnding {
  /// `user`, `app`, `quota`, `reference`, `removed`, `lifetime`.
  let how: String
  let rule: String
  let reason: String
  /// Active scopes end as well; otherwise what is started stays so until it is stopped.
  var endsScopes = true
}

/// A grant that has ended, and what that left.
struct EndedGrant {
  let grant: Grant
  var scopes = 0
  var outlived: [Hold] = []
  var killed = false
}

/// What an app may still have of a document that was taken away.
struct Held {
  /// Of which it has something, or in which others lie.
  var mount: BusyMount?
  /// The file was the app's own before it became the document: it may have been open all the time, on any mount.
  var wasOwn = false
}

/// The end of grants: at once, everywhere, and with everything that was made from them.
extension Broker {
  /// Ends grants, and those that were made from them. Nothing has ended if this throws.
  @discardableResult
  func end(_ given: [Grant], _ ending: GrantEnding) throws -> [EndedGrant] {
    let all = given + (try grants.descendants(of: given.map(\.id)))
    guard !all.isEmpty else { return [] }
    try decide(
      all.enumerated().map { index, grant in
        event(
          .revoke, about: grant, how: ending.how, rule: ending.rule,
          reason: index < given.count ? ending.reason : "\(ending.reason): of what it was made from")
      })
    do { try grants.revoke(all.map(\.id), at: Clock.realtime()) } catch {
      for grant in all {
        record(event(.revoke, .failed, about: grant, how: ending.how, rule: ending.rule, reason: "\(error)"))
      }
      throw error
    }
    FaultPoint.grantsRevoked.pass()
    var ended: [EndedGrant] = []
    for grant in all {
      pinned[grant.id] = nil
      leaveCatalog(grant.id)
      var result = EndedGrant(grant: grant)
      if ending.endsScopes { endScopes(of: grant, ending, in: Array(instances.values), &result) }
      ended.append(result)
    }
    removeReferences(to: all)
    return ended
  }

  /// - Parameter some: running apps; those of them that have started it lose it.
  func endScopes(of grant: Grant, _ ending: GrantEnding, in some: [Instance], _ result: inout EndedGrant) {
    for instance in some where instance.owners.isActive(grant.id) {
      let document = instance.shown[grant.id]
      do {
        let held = try hide(grant.id, instance, atOnce: true)
        for owned in instance.owners.end(grant.id) {
          result.scopes += 1
          record(
            event(
              .scopeEnded, .allowed, instance, grant: grant, how: AuditEvent.ScopeEnd.withdrawn, rule: ending.rule,
              reason: ending.reason,
              detail: facts(of: owned.holder, instance.number(of: owned.process))))
        }
        let left = outlived(held, document, grant, instance)
        result.outlived += left.holds
        if left.killed { result.killed = true }
      } catch {
        cannotHide(grant, instance, .scopeEnded, error)
        result.killed = true
      }
    }
  }

  /// What is still open of a document that was taken away is written down with what it can be used for, and ended with the app
  /// where its policy says so (`TOK-16`).
  ///
  /// - Parameter held: as ``hide(_:_:)`` answers it.
  func outlived(
    _ held: Held, _ document: FoundDocument?, _ grant: Grant?, _ instance: Instance
  ) -> (holds: [Hold], killed: Bool) {
    guard held.mount != nil || held.wasOwn, let document, let table = instance.table else { return ([], false) }
    let found = HeldFiles(table).holds(on: held.mount, orAny: held.wasOwn, of: document.descriptor)
    let holds = found.holds
    if holds.isEmpty, found.isComplete {
      guard let mount = held.mount else { return ([], false) }
      // What is mounted in a folder keeps it in use as well, and the kernel does not tell one from the other. Then there is
      // nobody to name, unless a descriptor is on its way, which may be of it.
      if !mount.inner.isEmpty, !found.sends { return ([], false) }
    }
    let ends = instance.app.rules.endsOutlived
    var detail = [
      AuditEvent.Fact.holders: holds.isEmpty
        ? "a descriptor on its way" : holds.map(\.description).joined(separator: "; ")
    ]
    if !found.isComplete { detail["more"] = "true" }
    record(
      event(
        .outlived, ends ? .refused : .allowed, instance, grant: grant, document: document, rule: "TOK-16",
        reason: ends ? "the app is ended" : "what is open stays so until it is closed", detail: detail))
    if ends {
      // Not only the processes that were found: what one has, it may have sent to another a moment ago.
      instance.endedBecause = "it still had \(grant?.name ?? "a document") open after its scope had ended"
      try? instance.process.signalProcess(SIGKILL)
    }
    return (holds, ends)
  }

  /// An event about a grant, whoever of its app is running.
  func event(
    _ kind: AuditEvent.Kind, _ result: AuditEvent.Result = .allowed, about grant: Grant, how: String, rule: String,
    reason: String, detail: [String: String] = [:]
  ) -> AuditEvent {
    AuditEvent(
      kind, result, app: grant.bundleIdentifier, grant: grant.id, document: Self.document(grant, nil), how: how,
      rule: rule, reason: reason, detail: detail)
  }
}

extension Hold: CustomStringConvertible {
  /// “process 7 can read and write, mapped”.
  public var description: String {
    var rights: [String] = []
    if reads { rights.append("read") }
    if writes { rights.append("write") }
    if folder { rights.append("open what is in the folder\(changesFolder ? " and change it" : " for reading")") }
    return "process \(process) can \(rights.joined(separator: " and "))\(mapped ? ", mapped" : "")"
  }
}
