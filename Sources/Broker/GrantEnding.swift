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
  /// `user`, `app`, `quota`, `reference`, `removed`.
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
    var ended: [EndedGrant] = []
    for grant in all {
      pinned[grant.id] = nil
      leaveCatalog(grant.id)
      var result = EndedGrant(grant: grant)
      if ending.endsScopes { endScopes(of: grant, ending, &result) }
      ended.append(result)
    }
    removeReferences(to: all)
    return ended
  }

  private func endScopes(of grant: Grant, _ ending: GrantEnding, _ result: inout EndedGrant) {
    for instance in Array(instances.values) where instance.ledger.count(of: grant.id) > 0 {
      let document = instance.shown[grant.id]
      do {
        let mount = try hide(grant.id, instance)
        let holder = instance.ledger.end(grant.id)
        result.scopes += 1
        record(
          event(
            .scopeEnded, .allowed, instance, grant: grant, rule: ending.rule, reason: ending.reason,
            detail: holder.map { ["count": "\($0.count)"] } ?? [:]))
        let left = outlived(mount, document, grant, instance)
        result.outlived += left.holds
        if left.killed { result.killed = true }
      } catch {
        // As at a stop: nothing weaker than ending the app is safe.
        record(
          event(.scopeEnded, .failed, instance, grant: grant, rule: "TOK-3", reason: "\(error); the app is ended"))
        instance.endedBecause = "the document \(grant.name) could not be taken away from it"
        try? instance.process.signalProcess(SIGKILL)
        result.killed = true
      }
    }
  }

  /// What is still open of a document that was taken away is written down with what it can be used for, and ended with the app
  /// where its policy says so (`TOK-16`).
  ///
  /// - Parameter mount: as ``ScopeMounts/hide(grant:name:)`` answers it.
  func outlived(
    _ mount: UInt64?, _ document: FoundDocument?, _ grant: Grant?, _ instance: Instance
  ) -> (holds: [Hold], killed: Bool) {
    guard let mount, let document, let processes = instance.processes else { return ([], false) }
    let (holds, isComplete) = HeldFiles(processes).holds(onMount: mount, of: document.descriptor)
    let ends = instance.app.rules.endsOutlived
    // Another folder may be mounted in it, which is no descriptor; then there is nobody to name.
    if holds.isEmpty, isComplete, grant?.kind == .folder { return ([], false) }
    var detail = [
      AuditEvent.Fact.holders: holds.isEmpty
        ? "a descriptor on its way" : holds.map(\.description).joined(separator: "; ")
    ]
    if !isComplete { detail["more"] = "true" }
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
    if folder { rights.append("open what is in the folder") }
    return "process \(process) can \(rights.joined(separator: " and "))\(mapped ? ", mapped" : "")"
  }
}
