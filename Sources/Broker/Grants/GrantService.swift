internal import AppModel
internal import Audit
internal import BrokerCore
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import Policy
internal import ScopedAccess
internal import Wire

/// The user's side of grants (`io.ambit.Grants`): the grants of each app, giving, and taking back.
@BrokerLoop
final class GrantService {
  private let host: BrokerHost
  private let grants: GrantStore
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let locator: DocumentLocator
  private let places: OfferedPlaces
  private let issuer: GrantIssuer
  private let revoker: GrantRevoker
  private let references: ReferenceFiles
  private let identities: IdentityService
  private let entitlements: EntitlementService
  private let remover: AppRemover

  init(
    _ host: BrokerHost, _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ locator: DocumentLocator,
    _ places: OfferedPlaces, _ issuer: GrantIssuer, _ revoker: GrantRevoker, _ references: ReferenceFiles,
    _ identities: IdentityService, _ entitlements: EntitlementService, _ remover: AppRemover
  ) {
    (self.host, self.grants, self.trail, self.sessions) = (host, grants, trail, sessions)
    (self.locator, self.places, self.issuer, self.revoker) = (locator, places, issuer, revoker)
    (self.references, self.identities, self.entitlements, self.remover) = (
      references, identities, entitlements, remover
    )
  }

  func serve(_ call: CheckedCall) async throws -> Answer {
    switch call.member {
    case "List":
      let app = try GrantsInterface.ListCall(json: call.parameters).app
      return Answer(GrantsInterface.ListReply(grants: try grants.records(of: app).map(describe)).json)
    case "Add":
      return Answer(
        try await add(try GrantsInterface.AddCall(json: call.parameters), documents: call.call.descriptors).json)
    case "Revoke":
      let request = try GrantsInterface.RevokeCall(json: call.parameters)
      return Answer(try await revoke(request, document: call.call.descriptors.first).json)
    case "Apps": return Answer(GrantsInterface.AppsReply(apps: try apps()).json)
    case "Entitlements":
      let answers = try entitlements.answers(of: try GrantsInterface.EntitlementsCall(json: call.parameters).app)
      func said(_ answer: Bool) -> [String] { answers.filter { $0.value == answer }.map(\.key.rawValue).sorted() }
      return Answer(GrantsInterface.EntitlementsReply(allowed: said(true), refused: said(false)).json)
    case "Identities": return Answer(GrantsInterface.IdentitiesReply(identities: try identities.list()).json)
    case "Forget":
      return Answer(try identities.forget(try GrantsInterface.ForgetCall(json: call.parameters).app).json)
    default: return Answer(try await remover.remove(try GrantsInterface.RemoveCall(json: call.parameters)).json)
    }
  }

  func add(_ request: GrantsInterface.AddCall, documents: [Descriptor]) async throws -> GrantsInterface.AddReply {
    guard !documents.isEmpty else { throw ErrorReply.invalidParameter("app") }
    let (_, found) = try await confirmed {
      guard try grants.number(of: request.app) != nil else {
        throw GrantsInterface.Failure.notFound(
          "No app is called \(request.app); “ambit app list” has those that were launched.")
      }
      return true
    } across: { _ in
      try await locator.examine(documents, "documents for \(request.app)")
    }
    for each in found {
      let document = each.document
      let path = document.path ?? "the document"
      let own = request.access == .readWrite ? try issuer.refusal(ofWriting: document, for: request.app) : nil
      guard let reason = places.refusal(of: document.kind, at: document.path, for: nil) ?? each.unreadable ?? own else {
        continue
      }
      trail.record(
        AuditEvent(
          .grant, .refused, app: request.app, document: AuditEvent.Document(document), how: Grant.Origin.user.rawValue,
          rule: "SBX-15", reason: reason))
      throw GrantsInterface.Failure.notGrantable("\(path) cannot be granted: \(reason)")
    }
    let granted = try issuer.grant(found, to: request.app, AccessRights(request.access))
    if let instance = sessions.instances.values.first(where: {
      $0.app.bundleIdentifier == request.app && $0.app.references
    }) {
      references.writeOwed(instance)
    }
    return .init(grants: granted.map(\.id), access: granted.map(\.rights.message))
  }

  private func apps() throws -> [GrantsInterface.App] {
    let records = try grants.records()
    return try grants.knownApps().map { app in
      let identity = try grants.identity(of: app.bundleIdentifier)
      return GrantsInterface.App(
        bundleIdentifier: app.bundleIdentifier, name: app.name, version: app.version,
        grants: records.count { $0.grant.bundleIdentifier == app.bundleIdentifier },
        running: sessions.running(app.bundleIdentifier).count,
        container: host.openContainer(app.bundleIdentifier) != nil, path: identity?.path,
        digest: identity?.digest.description)
    }
  }

  private func describe(_ record: GrantRecord) -> GrantsInterface.Grant {
    let grant = record.grant
    let identity = try? grants.identity(of: grant.bundleIdentifier)
    return GrantsInterface.Grant(
      grant: grant.id, bundleIdentifier: grant.bundleIdentifier, path: whereabouts(of: grant),
      kind: grant.kind.message, access: grant.rights.message, origin: grant.origin.message,
      created: Instance.rfc3339(grant.created), lastUsed: record.used.map(Instance.rfc3339), parent: record.parent,
      until: grant.term.until.map(Instance.rfc3339), endsWithLaunch: grant.term.launch != nil,
      bookmarks: record.bookmarks,
      uses: sessions.instances.values.sorted { $0.started < $1.started }.flatMap { instance in
        instance.scopes.owners.owners(of: grant.id).map { owned in
          GrantsInterface.Use(
            instance: instance.id, pid: Int(instance.pid), process: Int(instance.number(of: owned.process)),
            count: owned.holder.count, since: Instance.rfc3339(owned.holder.since), caller: owned.holder.caller)
        }
      }, appPath: identity?.path, appDigest: identity?.digest.description)
  }

  /// While a document is shown or kept open, the kernel knows where it is; else where it was last seen.
  private func whereabouts(of grant: Grant) -> String {
    let open =
      sessions.instances.values.compactMap { $0.scopes.shown[grant.id]?.descriptor }.first ?? locator.pinned(grant.id)
    return open?.currentPath ?? grant.path
  }

  private func revoke(
    _ request: GrantsInterface.RevokeCall, document: Descriptor?
  ) async throws -> GrantsInterface.RevokeReply {
    guard request.all || request.grant != nil || request.app != nil || request.path != nil else {
      throw ErrorReply.invalidParameter("all")
    }
    let identity = try? document.map { try FileIdentity(of: $0) }
    let records = try grants.records()
    let chosen = records.map(\.grant).filter { grant in
      if let id = request.grant, grant.id != id { return false }
      if let app = request.app, grant.bundleIdentifier != app { return false }
      guard let path = request.path else { return true }
      // The present file at the path is meant, in spite of earlier ones there; the path counts only for
      // documents that are gone.
      if let identity { return grant.identity == identity }
      return whereabouts(of: grant).isSamePath(as: path)
    }
    guard !chosen.isEmpty else { throw GrantsInterface.Failure.notFound(Self.absence(request)) }
    // First: a broker that dies after it has ended a grant does not come back to this. The end itself holds even if the disk is full.
    do {
      let all = chosen + (try grants.descendants(of: chosen.map(\.id)))
      try grants.noteWithdrawals(try all.map { ($0, try grants.parent(of: $0.id)) }, at: host.clock.realtime)
    } catch { complain("bookmarks that other apps passed on before may bring a withdrawn grant back: \(error)") }
    let ended = try revoker.end(chosen, GrantEnding(how: "user", rule: "AUD-1", reason: "the user withdrew the grant"))
    let gone = Set(ended.map(\.grant.id))
    let apps = Set(chosen.map(\.bundleIdentifier))
    let through = records.filter { record in
      !gone.contains(record.grant.id) && record.grant.kind.isFolder && apps.contains(record.grant.bundleIdentifier)
        && request.path.map { $0.lies(below: whereabouts(of: record.grant)) } ?? false
    }
    // It cannot be used from now on; the user is told when nothing of it is left.
    try await revoker.settled(ended)
    return .init(ended: ended.map(GrantsInterface.Ended.init), through: through.map(describe), note: trail.owedNote)
  }

  private static func absence(_ request: GrantsInterface.RevokeCall) -> String {
    if let grant = request.grant { return "No grant in force is called \(grant)." }
    switch (request.app, request.path) {
    case (let app?, let path?): return "\(app) has no grant of \(path)."
    case (let app?, nil): return "\(app) has no grant."
    case (nil, let path?): return "No app has a grant of \(path)."
    case (nil, nil): return "No app has a grant."
    }
  }
}

extension GrantsInterface.Ended {
  init(_ ended: EndedGrant) {
    self.init(
      grant: ended.grant.id, bundleIdentifier: ended.grant.bundleIdentifier, path: ended.grant.path,
      access: ended.grant.rights.message, scopes: ended.scopes,
      outlived: ended.outlived.map {
        GrantsInterface.Holder(
          pid: Int($0.process), reads: $0.reads, writes: $0.writes, mapped: $0.mapped, folder: $0.folder,
          changesFolder: $0.changesFolder, watches: $0.watches, instance: $0.instance)
      }, killed: ended.killed)
  }
}

extension Grant.Origin {
  var message: GrantsInterface.Origin {
    switch self {
    case .user: .user
    case .scripted: .scripted
    case .passed: .passed
    case .bookmark: .bookmark
    }
  }
}
