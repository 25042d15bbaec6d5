internal import Audit
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import Wire

/// The user hands documents to an app that has not asked for them (`io.ambit.Grants.Add`), as by dragging them onto it.
extension Broker {
  func add(_ request: GrantsInterface.AddCall, documents: [Descriptor]) throws -> GrantsInterface.AddReply {
    guard try grants.number(of: request.app) != nil else {
      throw GrantsInterface.Failure.notFound(
        "No app is called \(request.app); “ambit app list” has those that were launched.")
    }
    guard !documents.isEmpty else { throw ErrorReply.invalidParameter("app") }
    let found = try look(at: documents, "documents for \(request.app)")
    for each in found {
      let document = each.document
      let path = document.path ?? "the document"
      let own = request.access == .readWrite ? try refusal(ofWriting: document, for: request.app) : nil
      guard let reason = rules.refusal(of: document.kind, at: document.path) ?? each.unreadable ?? own else { continue }
      record(
        AuditEvent(
          .grant, .refused, app: request.app, document: Self.describe(document), how: Grant.Origin.user.rawValue,
          rule: "SBX-15", reason: reason))
      throw GrantsInterface.Failure.notGrantable("\(path) cannot be granted: \(reason)")
    }
    let granted = try grant(found, to: request.app, AccessRights(request.access))
    if let instance = instances.values.first(where: { $0.app.bundleIdentifier == request.app && $0.app.references }) {
      writeOwedReferences(instance)
    }
    return .init(grants: granted.map(\.id), access: granted.map(\.rights.message))
  }

  private func grant(_ chosen: [Chosen], to app: String, _ asked: AccessRights) throws -> [Grant] {
    var all: [(grant: Grant, chosen: Chosen, isNew: Bool)] = []
    let now = Clock.realtime()
    // What the app's own manifest calls a package is known while it runs.
    let packages = instances.values.first { $0.app.bundleIdentifier == app }?.app.packages ?? PackageTypes()
    for each in chosen {
      let (document, rights) = (each.document, each.rights(of: asked))
      if let same = all.first(where: { $0.chosen.document.identity == document.identity }) {
        all.append((same.grant, each, false))
      } else if let known = try grants.grant(for: document.identity, of: app, rights: rights) {
        all.append((known, each, false))
      } else {
        let new = Grant(
          id: Grant.makeID(), bundleIdentifier: app, kind: Self.kind(of: document, packages), rights: rights,
          origin: .user, created: now,
          identity: document.identity, path: document.path ?? "", place: each.place)
        all.append((new, each, true))
      }
    }
    let ids = all.map(\.grant.id)
    try establish(
      all.filter(\.isNew).map(\.grant), owed: ids,
      all.map { grant, chosen, isNew in
        var detail = [AuditEvent.Fact.access: grant.rights.rawValue, "kind": grant.kind.rawValue, "until": "withdrawn"]
        if !isNew { detail["kept"] = "true" }
        return AuditEvent(
          .grant, .allowed, app: app, grant: grant.id, document: Self.document(grant, chosen.document),
          how: Grant.Origin.user.rawValue, reason: chosen.lessening(of: asked), detail: detail)
      })
    for (grant, chosen, isNew) in all {
      // The user has now decided on it themselves.
      if !isNew {
        try grants.makeIndependent(grant.id)
        try grants.renew(grant.id, .init(decided: now))
      }
      pin(chosen.document, for: grant.id)
    }
    return all.map(\.grant)
  }

  /// Writes the references of what an app was handed while it did not run: only then can it see its container. Where its policy
  /// wants none they stay owed, for another policy.
  func writeOwedReferences(_ instance: Instance) {
    guard instance.app.references,
      let owed = try? grants.owedReferences(of: instance.app.bundleIdentifier), !owed.isEmpty
    else { return }
    let events = owed.map { grant, isFirst in reference(to: grant, isNew: isFirst, nil, instance) }
    _ = try? log.append(events)
    // What could not be written now is tried again.
    try? grants.settleReferences(zip(owed, events).filter { $1.result == .allowed }.map(\.0.grant.id))
  }
}
