internal import AppModel
internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// How grants come to be, within the quota of an app, and how a document is handed over.
@BrokerLoop
final class GrantIssuer {
  private let grants: GrantStore
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let revoker: GrantRevoker
  private let tokens: ScopeTokens
  private let locator: DocumentLocator
  private let clock: any LoopClock

  init(
    _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ revoker: GrantRevoker, _ tokens: ScopeTokens,
    _ locator: DocumentLocator, _ clock: any LoopClock
  ) {
    (self.grants, self.trail, self.sessions, self.revoker) = (grants, trail, sessions, revoker)
    (self.tokens, self.locator, self.clock) = (tokens, locator, clock)
  }

  /// Makes grants come to be together with the events that say so, or not at all. A process that dies in between leaves them
  /// to the next one (``takeBackUnwritten(_:_:)``).
  ///
  /// - Parameter owed: grants of which the app is still to get a reference.
  func establish(_ new: [Grant], from parent: String? = nil, owed: [String] = [], _ events: [AuditEvent]) throws {
    #if AMBIT_MUTANTS
      let events = events.map { event in
        var event = event
        if Mutant.parentUnwritten.isActive { event.detail[AuditEvent.Fact.parent] = nil }
        return event
      }
    #endif
    try grants.add(new, from: parent, owed: owed)
    FaultPoint.grantsAdded.pass()
    do { try trail.decide(events) } catch {
      grants.takeBack(new.map(\.id))
      throw error
    }
  }

  /// Gives a grant its place inside an instance, and makes the message that hands it over.
  func expose(
    _ grant: Grant, as document: FoundDocument, to instance: Instance, how: String
  ) throws -> DocumentMessage {
    let present = document.path.map { Grant.name(inside: $0) } ?? grant.name
    // While it is shown, a document stays where it is: an app is using that path.
    let name = instance.scopes.owners.isActive(grant.id) ? instance.scopes.exposed[grant.id]?.name ?? present : present
    // A place that was made stays.
    let known = instance.scopes.exposed[grant.id]
    if !(known?.name).isSamePath(as: name) {
      try instance.sandbox.mounts.prepare(grant: grant.id, name: name, kind: grant.kind)
      FaultPoint.placeMade.pass()
    }
    instance.scopes.exposed[grant.id] = known?.renamed(name, how: how) ?? .init(name: name, how: how)
    return DocumentMessage(
      scope: tokens.token(for: grant.id, instance), grant: grant.id, name: name, kind: grant.kind.message,
      access: instance.rights(of: grant).message)
  }

  func grant(_ chosen: [Chosen], to app: String, _ asked: AccessRights) throws -> [Grant] {
    var all: [(grant: Grant, chosen: Chosen, isNew: Bool)] = []
    let now = clock.realtime
    // Packages by the app's own manifest are known while it runs.
    let packages = sessions.running(app).first?.app.packages ?? PackageTypes()
    for each in chosen {
      let (document, rights) = (each.document, each.rights(of: asked))
      if let same = all.first(where: { $0.chosen.document.identity == document.identity }) {
        all.append((same.grant, each, false))
      } else if let known = try grants.grant(for: document.identity, of: app, rights: rights) {
        all.append((known, each, false))
      } else {
        let new = Grant(
          id: Grant.makeID(), bundleIdentifier: app, kind: packages.kind(of: document), rights: rights,
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
          .grant, .allowed, app: app, grant: grant.id, document: AuditEvent.Document(grant, chosen.document),
          how: Grant.Origin.user.rawValue, reason: chosen.lessening(of: asked), detail: detail)
      })
    for (grant, chosen, isNew) in all {
      // The user has now decided on it themselves.
      if !isNew {
        try grants.makeIndependent(grant.id)
        try grants.renew(grant.id, .init(decided: now))
      }
      locator.pin(chosen.document, for: grant.id)
    }
    return all.map(\.grant)
  }

  /// Why an app that need not run may not write a document: the document is a part of the app, or holds such a part.
  func refusal(ofWriting document: FoundDocument, for app: String) throws -> String? {
    let places = sessions.running(app).map(\.app.path)
    for own in Set(places + [try grants.identity(of: app)?.path].compactMap(\.self)) {
      if let refusal = OwnFiles.refusal(ofWriting: document.descriptor, at: document.path, own: own) { return refusal }
    }
    return nil
  }

  // MARK: Quotas

  /// Before grants are made: by the policy's rule, the oldest give way or there are none (`LIM-10`, `LIM-11`). Under a policy with
  /// a list of the documents used last, a grant that leaves no reference needs no room.
  ///
  /// - Parameter kept: grants that are handed over anew with them, and do not give way.
  func makeRoom(
    for instance: Instance, new: Int = 1, besides kept: Set<String> = [],
    refusal: (Int) -> ErrorReply = PickerInterface.Failure.quotaReached
  ) throws {
    let rules = instance.app.rules
    #if AMBIT_MUTANTS
      if Mutant.quotaIgnored.isActive { return }
    #endif
    guard new > 0, let quota = rules.quota, rules.recent == nil || instance.app.references else { return }
    let held = try counted(instance)
    let answer = GrantQuota(limit: quota, releasesOldest: rules.releasesOldest).answer(held: held.count, new: new)
    let others = held.filter { !kept.contains($0) }
    if case .admit(let count) = answer, count <= others.count {
      guard count > 0 else { return }
      try revoker.end(
        try others.prefix(count).compactMap { try grants.grant($0) },
        GrantEnding(
          how: "quota", rule: "LIM-10",
          reason: "the oldest gives way: the profile \(rules.profile) keeps \(quota)", endsScopes: false))
      return
    }
    let more = new > 1 ? " and would get \(new) more" : ""
    try trail.decide([
      AuditEvent(
        .grant, .refused, instance, rule: rules.releasesOldest ? "LIM-10" : "LIM-11",
        reason: "the app has \(held.count) grants\(more), and the profile \(rules.profile) lets it keep \(quota)")
    ])
    throw refusal(quota)
  }

  /// The app's grants that count against its quota, the oldest first.
  private func counted(_ instance: Instance) throws -> [String] {
    try grants.persisted(of: instance.app.bundleIdentifier, onlyNeeded: instance.app.rules.recent != nil)
  }

  /// Before a bookmark is made: where the quota counts bookmarked grants, the first bookmark of a document needs room (`LIM-11`).
  func makeRoom(forBookmarkOf grant: Grant, _ instance: Instance) throws {
    let rules = instance.app.rules
    guard rules.recent != nil, let quota = rules.quota else { return }
    let kept = try counted(instance)
    guard kept.count >= quota, !kept.contains(grant.id) else { return }
    try trail.decide([
      AuditEvent(
        .bookmarkCreated, .refused, instance, grant: grant, rule: "LIM-11",
        reason: "the app keeps \(kept.count) documents, and the profile \(rules.profile) lets it keep \(quota)")
    ])
    throw BookmarksInterface.Failure.quotaReached(limit: quota)
  }

  /// After a document was granted or used: a grant that has fallen out of the list of those used last, and is needed by nothing
  /// else, ends (`LIM-11`). A started document stays so until it is stopped.
  func trimRecent(of instance: Instance) throws {
    let rules = instance.app.rules
    #if AMBIT_MUTANTS
      if Mutant.recentUnbounded.isActive { return }
    #endif
    guard let limit = rules.recent else { return }
    let evicted = RecentGrants(limit: limit).evicted(
      from: try grants.recency(of: instance.app.bundleIdentifier, forListOf: limit))
    try revoker.end(
      try evicted.compactMap { try grants.grant($0.grant) },
      GrantEnding(
        how: "quota", rule: "LIM-11",
        reason: "\(limit) others were used since, and nothing keeps it: the profile \(rules.profile)", endsScopes: false
      ))
  }

  /// The grants that the app may keep, and those of them that were used last.
  func kept(by instance: Instance) throws -> AccessInterface.KeptReply {
    let rules = instance.app.rules
    let entries = try grants.recency(of: instance.app.bundleIdentifier)
    let recent = try rules.recent.map { limit in
      try RecentGrants(limit: limit).list(of: entries).compactMap { entry -> AccessInterface.Recent? in
        guard let grant = try grants.grant(entry.grant) else { return nil }
        return .init(
          grant: grant.id, name: instance.scopes.exposed[grant.id]?.name ?? grant.name,
          used: Instance.rfc3339(entry.used),
          kept: entry.isNeeded)
      }
    }
    return AccessInterface.KeptReply(
      profile: rules.profile, kept: rules.recent == nil ? entries.count : entries.count(where: \.isNeeded),
      maximum: rules.quota, recent: recent ?? [], recentMaximum: rules.recent)
  }
}
