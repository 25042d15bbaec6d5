internal import AppModel
internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import Policy
internal import ScopedAccess
internal import Wire

/// The user's side of grants (`io.ambit.Grants`): who has what, giving, and taking it back.
extension Broker {
  func grantService(_ call: CheckedCall) throws -> Answer {
    switch call.member {
    case "List":
      let app = try GrantsInterface.ListCall(json: call.parameters).app
      return Answer(GrantsInterface.ListReply(grants: try grants.records(of: app).map(describe)).json)
    case "Add":
      return Answer(
        try add(try GrantsInterface.AddCall(json: call.parameters), documents: call.call.descriptors).json)
    case "Revoke":
      let request = try GrantsInterface.RevokeCall(json: call.parameters)
      return Answer(try revoke(request, document: call.call.descriptors.first).json)
    case "Apps": return Answer(GrantsInterface.AppsReply(apps: try apps()).json)
    case "Entitlements":
      let answers = try entitlementAnswers(of: try GrantsInterface.EntitlementsCall(json: call.parameters).app)
      func said(_ answer: Bool) -> [String] { answers.filter { $0.value == answer }.map(\.key.rawValue).sorted() }
      return Answer(GrantsInterface.EntitlementsReply(allowed: said(true), refused: said(false)).json)
    case "Identities": return Answer(GrantsInterface.IdentitiesReply(identities: try identities()).json)
    case "Forget":
      return Answer(try forgetIdentity(of: try GrantsInterface.ForgetCall(json: call.parameters).app).json)
    default: return Answer(try remove(try GrantsInterface.RemoveCall(json: call.parameters)).json)
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
      uses: instances.values.sorted { $0.started < $1.started }.flatMap { instance in
        instance.owners.owners(of: grant.id).map { owned in
          GrantsInterface.Use(
            instance: instance.id, pid: Int(instance.pid), process: Int(instance.number(of: owned.process)),
            count: owned.holder.count, since: Instance.rfc3339(owned.holder.since), caller: owned.holder.caller)
        }
      }, appPath: identity?.path, appDigest: identity?.digest.description)
  }

  /// While a document is shown or kept open, the kernel knows where it is; else where it was last seen.
  private func whereabouts(of grant: Grant) -> String {
    let open = instances.values.compactMap { $0.shown[grant.id]?.descriptor }.first ?? pinned[grant.id]
    return open?.currentPath ?? grant.path
  }

  private func revoke(
    _ request: GrantsInterface.RevokeCall, document: Descriptor?
  ) throws -> GrantsInterface.RevokeReply {
    guard request.all || request.grant != nil || request.app != nil || request.path != nil else {
      throw ErrorReply.invalidParameter("all")
    }
    let identity = try? document.map { try FileIdentity(of: $0) }
    let records = try grants.records()
    let chosen = records.map(\.grant).filter { grant in
      if let id = request.grant, grant.id != id { return false }
      if let app = request.app, grant.bundleIdentifier != app { return false }
      guard let path = request.path else { return true }
      // What is there now is what is meant, whatever stood at the path once; the path counts only for what is gone.
      if let identity { return grant.identity == identity }
      return whereabouts(of: grant).isSamePath(as: path)
    }
    guard !chosen.isEmpty else { throw GrantsInterface.Failure.notFound(Self.absence(request)) }
    // Nobody can use it from now on; the user is told when nothing of it is left.
    self.request?.awaitsWhatFollows = true
    let ended = try end(chosen, GrantEnding(how: "user", rule: "AUD-1", reason: "the user withdrew the grant"))
    let gone = Set(ended.map(\.grant.id))
    let apps = Set(chosen.map(\.bundleIdentifier))
    let through = records.filter { record in
      !gone.contains(record.grant.id) && record.grant.kind.isFolder && apps.contains(record.grant.bundleIdentifier)
        && request.path.map { $0.lies(below: whereabouts(of: record.grant)) } ?? false
    }
    return .init(ended: ended.map(Self.describe), through: through.map(describe), note: owedNote)
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

  static func describe(_ ended: EndedGrant) -> GrantsInterface.Ended {
    GrantsInterface.Ended(
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
