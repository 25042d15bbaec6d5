internal import Audit
internal import BrokerCore
internal import FileProviders
internal import Folders
internal import Paths
internal import ScopedAccess
internal import SystemPackage
internal import Wire

/// A document that an app has just been handed.
struct HandedDocument {
  let grant: Grant
  let chosen: Chosen
  let isNew: Bool
  let message: DocumentMessage
}

/// Hands documents that its user has decided on to a running app: grants, their places inside, references, and the entries of the log.
@BrokerLoop
final class DocumentHandover {
  private let grants: GrantStore
  private let trail: AuditTrail
  private let locator: DocumentLocator
  private let issuer: GrantIssuer
  private let references: ReferenceFiles
  private let clock: any LoopClock
  /// The documents of file providers.
  var provided: ProvidedContents?

  init(
    _ grants: GrantStore, _ trail: AuditTrail, _ locator: DocumentLocator, _ issuer: GrantIssuer,
    _ references: ReferenceFiles, _ clock: any LoopClock
  ) {
    (self.grants, self.trail, self.locator) = (grants, trail, locator)
    (self.issuer, self.references, self.clock) = (issuer, references, clock)
  }

  /// The user's decision.
  struct Decision {
    var origin: Grant.Origin
    var asked: AccessRights
    var term: Grant.Term
    /// It answers the app's own question.
    var isPick = false
    /// The app's own action that it was chosen for.
    var action: String?
    /// The app has made it.
    var isAppMade = false
    /// The grants' names where they were promised beforehand, one for each document.
    var promised: [String]?
  }

  /// - Returns: one for each of the documents. All are handed over, or none.
  func hand(_ chosen: [Chosen], to instance: Instance, _ decision: Decision) throws -> [HandedDocument] {
    let now = clock.realtime
    var granted: [(grant: Grant, chosen: Chosen, isNew: Bool)] = []
    for (index, each) in chosen.enumerated() {
      let (document, rights) = (each.document, each.rights(of: decision.asked))
      guard let path = document.path else { throw StateError("the document has no place in the file system") }
      let promised = decision.promised?[index]
      // The same document may have been chosen by two of its names.
      if let same = granted.first(where: { $0.chosen.document.identity == document.identity }) {
        granted.append((same.grant, each, false))
      } else if let known = try grants.grant(for: document.identity, of: instance.app.bundleIdentifier, rights: rights)
      {
        granted.append((known, each, false))
      } else {
        let new = Grant(
          id: promised ?? Grant.makeID(), bundleIdentifier: instance.app.bundleIdentifier,
          kind: instance.kind(of: document), rights: rights, origin: decision.origin, created: now,
          identity: document.identity, path: path, place: each.place, term: decision.term,
          isAppMade: decision.isAppMade)
        granted.append((new, each, true))
      }
      if let promised, granted[index].grant.id != promised {
        throw StateError("the grants of \(path) changed in this moment; try again")
      }
    }
    let kept = Set(granted.lazy.filter { !$0.isNew }.map(\.grant.id))
    try issuer.makeRoom(for: instance, new: granted.count { $0.isNew }, besides: kept)
    let messages = try granted.map {
      try issuer.expose($0.grant, as: $0.chosen.document, to: instance, how: decision.origin.rawValue)
    }
    try issuer.establish(
      granted.filter(\.isNew).map(\.grant), granted.flatMap { events($0, $1, isNew: $2, decision, instance) })
    for (grant, chosen, isNew) in granted {
      if !isNew { try renew(grant, chosen, decision) }
      locator.pin(chosen.document, for: grant.id)
    }
    if instance.app.references {
      // Only bookmarks lead to a provider's document (`REF-5`).
      try trail.append(
        granted.filter { provided?.isProvided($0.chosen.document.path ?? "") != true }
          .map { references.reference(to: $0.grant, isNew: $0.isNew, $0.chosen.document, instance) })
    }
    try issuer.trimRecent(of: instance)
    return zip(granted, messages).map { granted, message in
      HandedDocument(grant: granted.grant, chosen: granted.chosen, isNew: granted.isNew, message: message)
    }
  }

  /// Whether the provider of a document does not let it be used so.
  func lacks(_ capability: ProviderItem.Capabilities, _ path: String) -> Bool {
    provided?.lacks(capability, path) == true
  }

  /// The user has now decided on it themselves. A grant that lasts is not cut short by being given for a launch.
  private func renew(_ grant: Grant, _ chosen: Chosen, _ decision: Decision) throws {
    if let path = chosen.document.path, !grant.path.isSamePath(as: path) {
      grants.move(grant.id, to: path, place: chosen.place)
    }
    try grants.makeIndependent(grant.id)
    var term = decision.term
    if !decision.isPick, term.launch != nil {
      (term.launch, term.until) = (grant.term.launch, grant.term.until == nil ? nil : term.until)
    }
    try grants.renew(grant.id, term)
  }

  private func events(
    _ grant: Grant, _ chosen: Chosen, isNew: Bool, _ decision: Decision, _ instance: Instance
  ) -> [AuditEvent] {
    let lessening = chosen.lessening(of: decision.asked)
    var grantEvent = AuditEvent(
      .grant, .allowed, instance, grant: grant, document: chosen.document, how: decision.origin.rawValue,
      detail: ["access": grant.rights.rawValue, "kind": grant.kind.rawValue, "until": grant.term.words])
    guard decision.isPick else {
      grantEvent.reason = lessening
      if !isNew { grantEvent.detail["kept"] = "true" }
      return [grantEvent]
    }
    var pick = AuditEvent(
      .pick, .allowed, instance, grant: grant, document: chosen.document, how: decision.origin.rawValue,
      reason: lessening, detail: [AuditEvent.Fact.documentKind: grant.kind.rawValue])
    if let action = decision.action { pick.detail[AuditEvent.Fact.action] = action }
    // It holds from now on.
    if !isNew { pick.detail[AuditEvent.Fact.until] = decision.term.words }
    return isNew ? [pick, grantEvent] : [pick]
  }
}
