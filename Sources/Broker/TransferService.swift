internal import AppModel
internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// Passing a right on to another app (`io.ambit.Transfer`): never more than the one who passes has, and never longer.
extension Broker {
  func transfers(_ call: CheckedCall, for instance: Instance) throws -> Answer {
    switch call.member {
    case "Pass":
      let request = try TransferInterface.PassCall(json: call.parameters)
      return Answer(TransferInterface.Transfer(transfer: try pass(request, for: instance)).json)
    default:
      let request = try TransferInterface.Transfer(json: call.parameters)
      return Answer(TransferInterface.RedeemReply(document: try redeem(request.transfer, for: instance)).json)
    }
  }

  private func pass(_ request: TransferInterface.PassCall, for instance: Instance) throws -> String {
    let grant: Grant
    do { grant = try self.grant(ofScope: request.scope, instance) } catch let error as ErrorReply {
      throw error.name == AccessInterface.Failure.revokedName
        ? TransferInterface.Failure.revoked : TransferInterface.Failure.invalidScope
    }
    func refuse(_ reason: String, _ error: ErrorReply) throws -> Never {
      try decide([
        event(.passed, .refused, instance, grant: grant, rule: "TOK-18", reason: reason, detail: ["to": request.to])
      ])
      throw error
    }
    guard instance.app.rules.mayPass else {
      let reason =
        "the app may not pass rights on: it has no entitlement io.ambit.pass-grants, it was not allowed, or its policy says no"
      try refuse(reason, TransferInterface.Failure.notAllowed(reason))
    }
    if let fault = BundleIdentifier.check(request.to) {
      try refuse("no app can be called that", TransferInterface.Failure.notAllowed("“\(request.to)”: \(fault)"))
    }
    guard request.access == .readOnly || grant.rights == .readWrite else {
      try refuse("more than the app may do itself", TransferInterface.Failure.tooMuch)
    }
    let transfer = Transfer(
      to: request.to, parent: grant.id, grant: Grant.makeID(), rights: AccessRights(request.access),
      created: Clock.realtime())
    try decide([
      event(
        .passed, .allowed, instance, grant: grant,
        detail: ["to": request.to, AuditEvent.Fact.access: request.access.rawValue, "child": transfer.grant])
    ])
    return Data(transfer.sealed(with: key)).base64EncodedString()
  }

  private func redeem(_ text: String, for instance: Instance) throws -> DocumentMessage {
    let app = instance.app.bundleIdentifier
    func refuse(_ rule: String, _ reason: String, _ error: ErrorReply, _ grant: Grant? = nil) throws -> Never {
      record(event(.grant, .refused, instance, grant: grant, how: "passed", rule: rule, reason: reason))
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
    guard let parent = try grants.grant(transfer.parent), parent.revoked == nil else {
      try refuse("TOK-18", "the right that it was made from has ended", TransferInterface.Failure.revoked)
    }
    let found: Location
    switch try search(parent, for: instance) {
    case .success(let location): found = location
    case .failure(let why):
      let gone = TransferInterface.Failure.notFound(name: parent.name)
      try refuse("BMK-9", "\(parent.name) \(why.reason.rawValue)", gone, parent)
    }
    let known = try grants.grant(transfer.grant)
    // What the user has taken from this app since is not given back by a right that was passed on before.
    let lost = try grants.lastRevoked(parent.identity, of: app) ?? 0
    guard known?.revoked == nil, lost < transfer.created else {
      try refuse("AUD-1", "the grant was withdrawn", TransferInterface.Failure.revoked, known)
    }
    let grant = try known ?? inherit(transfer, from: parent, found.document, instance)
    return try expose(grant, as: found.document, to: instance, how: "passed")
  }

  private func inherit(
    _ transfer: Transfer, from parent: Grant, _ document: FoundDocument, _ instance: Instance
  ) throws -> Grant {
    let name = (document.path ?? parent.path).lastPathName
    if let refusal = refusal(of: parent.kind, named: name, for: instance) {
      record(
        event(
          .grant, .refused, instance, grant: parent, document: document, how: "passed", rule: refusal.rule,
          reason: refusal.reason))
      throw TransferInterface.Failure.notAllowed(refusal.reason)
    }
    try makeRoom(for: instance, refusal: TransferInterface.Failure.quotaReached)
    let rights = rights(of: parent, for: instance) == .readOnly ? .readOnly : transfer.rights
    if rights == .readWrite, let reason = refusal(ofWriting: document, for: instance) {
      record(
        event(
          .grant, .refused, instance, grant: parent, document: document, how: "passed", rule: "SBX-15", reason: reason))
      throw TransferInterface.Failure.notAllowed(reason)
    }
    let now = Clock.realtime()
    let grant = Grant(
      id: transfer.grant, bundleIdentifier: instance.app.bundleIdentifier, kind: parent.kind, rights: rights,
      origin: .passed, created: now, identity: parent.identity, path: document.path ?? parent.path,
      term: term(for: instance, at: now, within: parent))
    let events = [
      event(
        .grant, .allowed, instance, grant: grant, document: document, how: "passed",
        detail: [
          AuditEvent.Fact.access: rights.rawValue, "kind": grant.kind.rawValue, "parent": parent.id,
          "by": parent.bundleIdentifier, "until": "the right of \(parent.bundleIdentifier) ends",
        ])
    ]
    try establish([grant], from: parent.id, events)
    pin(document, for: grant.id)
    if instance.app.references { try log.append([reference(to: grant, isNew: true, document, instance)]) }
    try trimRecent(of: instance)
    return grant
  }
}
