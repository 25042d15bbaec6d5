internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// Bookmarks and document references (`io.ambit.Bookmarks`).
extension Broker {
  func bookmarks(_ call: CheckedCall, for instance: Instance) throws -> Answer {
    switch call.member {
    case "Create":
      let request = try BookmarksInterface.CreateCall(json: call.parameters)
      return Answer(BookmarksInterface.CreateReply(bookmark: try create(request, for: instance)).json)
    case "CreateContained":
      let request = try BookmarksInterface.CreateContainedCall(json: call.parameters)
      return Answer(BookmarksInterface.CreateReply(bookmark: try createContained(request, for: instance)).json)
    case "Resolve":
      let request = try BookmarksInterface.ResolveCall(json: call.parameters)
      return Answer(try resolve(request, by: Caller(call, for: .own), for: instance).json)
    case "Values":
      let request = try BookmarksInterface.ValuesCall(json: call.parameters)
      let asked = Resolution(kind: .bookmarkResolved, purpose: .bookmark, instance: instance)
      return Answer(values(of: try open(request.bookmark, asked)).json)
    default:
      let request = try BookmarksInterface.ResolveReferenceCall(json: call.parameters)
      return Answer(try resolve(request, for: instance).json)
    }
  }

  // MARK: Making one

  private func create(_ request: BookmarksInterface.CreateCall, for instance: Instance) throws -> String {
    try checkKeys(request.values)
    if let refusal = refusal(ofBookmark: request.kind, ofSomethingInside: request.inside != nil, for: instance) {
      try decide([
        event(
          .bookmarkCreated, .refused, instance, rule: refusal.rule, reason: refusal.reason,
          detail: [AuditEvent.Fact.scope: request.kind.rawValue])
      ])
      throw BookmarksInterface.Failure.notAllowed(refusal.reason)
    }
    var (grant, document) = try active(request.scope, for: instance)
    try makeRoom(forBookmarkOf: grant, instance)
    let scope = try self.scope(request, of: grant, for: instance)
    // The program that had it open may have saved it anew since its scope was started.
    if case .success(let location) = try search(grant, for: instance) {
      (grant, document) = (location.grant, location.document)
    }
    if request.readOnly || instance.app.rules.readOnly, grant.rights == .readWrite {
      grant = try readOnlyGrant(from: grant, instance)
    }
    let place = Place(of: document) ?? grant.place
    let inside = try request.inside.map { path in
      guard grant.kind.isFolder else { throw ErrorReply.invalidParameter("inside") }
      return try self.inside(path, of: document.descriptor)
    }
    let bookmark = Bookmark(
      bundleIdentifier: grant.bundleIdentifier, grant: grant.id, rights: grant.rights,
      path: document.path ?? grant.path, identity: document.identity, place: request.minimal ? nil : place,
      created: Clock.realtime(), scope: scope,
      values: request.minimal
        ? nil
        : try Bookmark.Values(
          of: inside?.1 ?? document, as: inside == nil ? grant.kind : nil, keys: request.values),
      inside: inside?.0)
    try grants.noteBookmark(grant.id)
    try decide([
      event(
        .bookmarkCreated, .allowed, instance, grant: grant, document: document,
        detail: [AuditEvent.Fact.scope: scope.name, AuditEvent.Fact.access: grant.rights.rawValue])
    ])
    FaultPoint.bookmarkSealed.pass()
    return Data(bookmark.sealed(with: key, for: .bookmark)).base64EncodedString()
  }

  /// The grant of a scope that is active, and what it shows.
  private func active(_ token: String, for instance: Instance) throws -> (Grant, FoundDocument) {
    let grant = try grant(ofToken: token, instance)
    guard let document = instance.shown[grant.id] else {
      try decide([
        event(.bookmarkCreated, .refused, instance, grant: grant, rule: "BMK-18", reason: "its scope is not started")
      ])
      throw BookmarksInterface.Failure.notActive
    }
    return (grant, document)
  }

  private func grant(ofToken token: String, _ instance: Instance) throws -> Grant {
    do { return try grant(ofScope: token, instance) } catch let error as ErrorReply {
      throw error.name == AccessInterface.Failure.revokedName
        ? BookmarksInterface.Failure.revoked : BookmarksInterface.Failure.invalidScope
    }
  }

  private func scope(
    _ request: BookmarksInterface.CreateCall, of grant: Grant, for instance: Instance
  ) throws -> Bookmark.Scope {
    switch request.kind {
    case .app: return .app
    // One of something in a folder is sealed for the folder's grant, which is more than others are meant to have.
    case .implicit: return request.inside == nil ? .implicit(boot: boot) : .app
    case .document:
      guard let relativeTo = request.relativeTo else { throw ErrorReply.invalidParameter("relativeTo") }
      // A folder would hand over what is put into it later, to whoever has the document.
      guard grant.kind == .file else { throw ErrorReply.invalidParameter("kind") }
      let (anchor, document) = try active(relativeTo, for: instance)
      return .document(Bookmark.Anchor(grant: anchor.id, identity: document.identity))
    }
  }

  /// Less than the user allowed is a grant of its own, so that what a bookmark opens is always what a grant says.
  private func readOnlyGrant(from grant: Grant, _ instance: Instance) throws -> Grant {
    let known = try grants.grant(
      for: grant.identity, of: grant.bundleIdentifier, rights: .readOnly, passed: grant.origin == .passed)
    if let known { return known }
    let less = Grant(
      id: Grant.makeID(), bundleIdentifier: grant.bundleIdentifier, kind: grant.kind, rights: .readOnly,
      origin: grant.origin, created: Clock.realtime(), identity: grant.identity, path: grant.path, place: grant.place,
      term: grant.term)
    try establish(
      [less], from: grant.id,
      [
        event(
          .grant, .allowed, instance, grant: less, how: "bookmark",
          detail: [
            AuditEvent.Fact.access: less.rights.rawValue, AuditEvent.Fact.documentKind: less.kind.rawValue,
            AuditEvent.Fact.parent: grant.id, AuditEvent.Fact.origin: less.origin.rawValue,
            AuditEvent.Fact.until: "the grant that it was made from ends",
          ])
      ])
    return less
  }

  // MARK: What it remembers

  /// Nothing is looked for, and nothing told that the app was not told when the bookmark was made.
  private func values(of bookmark: Bookmark) -> BookmarksInterface.ValuesReply {
    let values = bookmark.values
    let last = bookmark.inside?.path.pathNames.last
    let root = bookmark.grant.isEmpty ? "" : ScopeMounts.path(grant: bookmark.grant, name: bookmark.name) + "/"
    return BookmarksInterface.ValuesReply(
      keys: values?.keys ?? [], name: last ?? bookmark.name,
      path: bookmark.inside.map { root + $0.path } ?? String(root.dropLast()), kind: values?.kind.message,
      access: bookmark.rights.message, size: values.map { Int(clamping: $0.size) },
      created: values.map { Int($0.birth) }, modified: values.map { Int($0.modified) },
      volumeName: values?.volumeName)
  }
}

extension Bookmark.Values {
  /// - Parameter kind: what it was granted as, if it was itself.
  init(of document: FoundDocument, as kind: Folders.DocumentKind? = nil, keys: [String]) throws {
    let status = try document.descriptor.status()
    // Not where it is mounted: only what a person would call it.
    let mount = document.path.flatMap { MountTable.covering($0, in: MountTable.entries()) }
    let volume = mount?.point.lastPathName ?? "/"
    self.init(
      keys: keys, kind: kind ?? document.kind, size: status.size, birth: status.birth, modified: status.modified,
      volumeName: volume)
  }
}
