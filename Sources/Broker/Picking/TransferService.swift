internal import AppModel
internal import Audit
internal import BrokerCore
internal import Decisions
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// Passing a right on to another app (`io.ambit.Transfer`): never more than the one that passes has, and never longer.
@BrokerLoop
final class TransferService {
  private let grants: GrantStore
  private let key: SealingKey
  private let trail: AuditTrail
  private let tokens: ScopeTokens
  private let documents: GrantLocator
  private let locator: DocumentLocator
  private let issuer: GrantIssuer
  private let references: ReferenceFiles
  private let clock: any LoopClock

  init(
    _ grants: GrantStore, _ key: SealingKey, _ trail: AuditTrail, _ tokens: ScopeTokens, _ documents: GrantLocator,
    _ locator: DocumentLocator, _ issuer: GrantIssuer, _ references: ReferenceFiles, _ clock: any LoopClock
  ) {
    (self.grants, self.key, self.trail, self.tokens) = (grants, key, trail, tokens)
    (self.documents, self.locator, self.issuer, self.references) = (documents, locator, issuer, references)
    self.clock = clock
  }

  func serve(_ call: CheckedCall, for instance: Instance) async throws -> Answer {
    switch call.member {
    case "Pass":
      let request = try TransferInterface.PassCall(json: call.parameters)
      return Answer(TransferInterface.Transfer(transfer: try pass(request, for: instance)).json)
    default:
      let request = try TransferInterface.Transfer(json: call.parameters)
      return Answer(TransferInterface.RedeemReply(document: try await redeem(request.transfer, for: instance)).json)
    }
  }

  private func pass(_ request: TransferInterface.PassCall, for instance: Instance) throws -> String {
    let grant: Grant
    do { grant = try tokens.grant(of: request.scope, instance) } catch let error as ErrorReply {
      throw error.name == AccessInterface.Failure.revokedName
        ? TransferInterface.Failure.revoked : TransferInterface.Failure.invalidScope
    }
    func refuse(_ reason: String, _ error: ErrorReply) throws -> Never {
      try trail.decide([
        AuditEvent(
          .passed, .refused, instance, grant: grant, rule: "TOK-18", reason: reason, detail: ["to": request.to])
      ])
      throw error
    }
    #if AMBIT_MUTANTS
      let mayPass = instance.app.rules.mayPass || Mutant.passesAlways.isActive
    #else
      let mayPass = instance.app.rules.mayPass
    #endif
    guard mayPass else {
      let reason =
        "the app may not pass rights on: it has no entitlement io.ambit.pass-grants, it was not allowed, or its policy says no"
      try refuse(reason, TransferInterface.Failure.notAllowed(reason))
    }
    if let fault = BundleIdentifier.check(request.to) {
      try refuse("no app can be called that", TransferInterface.Failure.notAllowed("“\(request.to)”: \(fault)"))
    }
    #if AMBIT_MUTANTS
      let mayWrite = grant.rights == .readWrite || Mutant.passesMore.isActive
    #else
      let mayWrite = grant.rights == .readWrite
    #endif
    guard request.access == .readOnly || mayWrite else {
      try refuse("more than the app may do itself", TransferInterface.Failure.tooMuch)
    }
    let transfer = Transfer(
      to: request.to, parent: grant.id, grant: Grant.makeID(), rights: AccessRights(request.access),
      created: clock.realtime)
    try trail.decide([
      AuditEvent(
        .passed, .allowed, instance, grant: grant,
        detail: ["to": request.to, AuditEvent.Fact.access: request.access.rawValue, "child": transfer.grant])
    ])
    return Data(transfer.sealed(with: key)).base64EncodedString()
  }

  private func redeem(_ text: String, for instance: Instance) async throws -> DocumentMessage {
    let app = instance.app.bundleIdentifier
    func refuse(_ rule: String, _ reason: String, _ error: ErrorReply, _ grant: Grant? = nil) throws -> Never {
      trail.record(AuditEvent(.grant, .refused, instance, grant: grant, how: "passed", rule: rule, reason: reason))
      throw error
    }
    let transfer: Transfer
    do throws(Bookmark.OpenError) {
      transfer = try Transfer.open(Array(Data(base64Encoded: text) ?? Data()), with: key, app: app)
    } catch {
      let told = TransferInterface.Failure.badSeal("not sealed for this app, or changed since")
      switch error {
      case .brokenSeal: try refuse("TOK-15", "bad seal", told)
      case .otherApp(let other): try refuse("TOK-15", "sealed for \(other)", told)
      }
    }
    func inForce() throws -> Grant {
      guard let parent = try grants.grant(transfer.parent), parent.revoked == nil else {
        try refuse("TOK-18", "the right that it was made from has ended", TransferInterface.Failure.revoked)
      }
      return parent
    }
    var parent = try inForce()
    let found: Location
    switch try await documents.search(for: instance, inForce) {
    case .success(let location): (found, parent) = (location, location.grant)
    case .failure(let why):
      let gone = TransferInterface.Failure.notFound(name: parent.name)
      try refuse("BMK-9", "\(parent.name) \(why.reason.rawValue)", gone, parent)
    }
    let known = try grants.grant(transfer.grant)
    // A document that the user has taken from this app since is not given back by a right that was passed on before.
    let lost = try grants.lastRevoked(parent.identity, of: app) ?? 0
    guard known?.revoked == nil, lost < transfer.created else {
      try refuse("AUD-1", "the grant was withdrawn", TransferInterface.Failure.revoked, known)
    }
    let grant = try known ?? inherit(transfer, from: parent, found.document, instance)
    return try issuer.expose(grant, as: found.document, to: instance, how: "passed")
  }

  private func inherit(
    _ transfer: Transfer, from parent: Grant, _ document: FoundDocument, _ instance: Instance
  ) throws -> Grant {
    let name = (document.path ?? parent.path).lastPathName
    if let refusal = instance.refusal(of: parent.kind, named: name) {
      trail.record(
        AuditEvent(
          .grant, .refused, instance, grant: parent, document: document, how: "passed", rule: refusal.rule,
          reason: refusal.reason))
      throw TransferInterface.Failure.notAllowed(refusal.reason)
    }
    try issuer.makeRoom(for: instance, refusal: TransferInterface.Failure.quotaReached)
    let rights = instance.rights(of: parent) == .readOnly ? .readOnly : transfer.rights
    if rights == .readWrite, let reason = instance.refusal(ofWriting: document) {
      trail.record(
        AuditEvent(
          .grant, .refused, instance, grant: parent, document: document, how: "passed", rule: "SBX-15", reason: reason))
      throw TransferInterface.Failure.notAllowed(reason)
    }
    let now = clock.realtime
    let grant = Grant(
      id: transfer.grant, bundleIdentifier: instance.app.bundleIdentifier, kind: parent.kind, rights: rights,
      origin: .passed, created: now, identity: parent.identity, path: document.path ?? parent.path,
      term: instance.term(at: now, within: parent))
    let events = [
      AuditEvent(
        .grant, .allowed, instance, grant: grant, document: document, how: "passed",
        detail: [
          AuditEvent.Fact.access: rights.rawValue, "kind": grant.kind.rawValue, "parent": parent.id,
          "by": parent.bundleIdentifier, "until": "the right of \(parent.bundleIdentifier) ends",
        ])
    ]
    try issuer.establish([grant], from: parent.id, events)
    locator.pin(document, for: grant.id)
    if instance.app.references { try trail.append([references.reference(to: grant, isNew: true, document, instance)]) }
    try issuer.trimRecent(of: instance)
    return grant
  }
}
