internal import Audit
internal import Foundation
internal import Kernel
internal import ScopedAccess
internal import Wire

/// Bookmarks and document references (`io.ambit.Bookmarks`).
extension Broker {
  func bookmarks(_ call: CheckedCall, for instance: Instance) throws -> Answer {
    switch call.member {
    case "Create":
      let request = try BookmarksInterface.CreateCall(json: call.parameters)
      return Answer(BookmarksInterface.CreateReply(bookmark: try create(request, for: instance)).json)
    case "Resolve":
      let request = try BookmarksInterface.ResolveCall(json: call.parameters)
      return Answer(try resolve(request.bookmark, .bookmark, .bookmarkResolved, for: instance).json)
    default:
      let request = try BookmarksInterface.ResolveReferenceCall(json: call.parameters)
      return Answer(try resolve(request.reference, .reference, .referenceResolved, for: instance).json)
    }
  }

  private func create(_ request: BookmarksInterface.CreateCall, for instance: Instance) throws -> String {
    var grant: Grant
    do { grant = try self.grant(ofScope: request.scope, instance) } catch let error as ErrorReply {
      throw error.name == AccessInterface.Failure.revokedName
        ? BookmarksInterface.Failure.revoked : BookmarksInterface.Failure.invalidScope
    }
    guard let document = instance.shown[grant.id] else {
      try decide([
        event(.bookmarkCreated, .refused, instance, grant: grant, rule: "BMK-18", reason: "its scope is not started")
      ])
      throw BookmarksInterface.Failure.notActive
    }
    if request.readOnly, grant.rights == .readWrite { grant = try readOnlyGrant(from: grant, instance) }
    let path = document.descriptor.currentPath ?? grant.path
    let bookmark = Bookmark(
      bundleIdentifier: grant.bundleIdentifier, grant: grant.id, rights: grant.rights, path: path)
    try grants.noteBookmark(grant.id)
    try decide([event(.bookmarkCreated, .allowed, instance, grant: grant, document: document)])
    FaultPoint.bookmarkSealed.pass()
    return Data(bookmark.sealed(with: key, for: .bookmark)).base64EncodedString()
  }

  /// Less than the user allowed is a grant of its own, so that what a bookmark opens is always what a grant says.
  private func readOnlyGrant(from grant: Grant, _ instance: Instance) throws -> Grant {
    let known = try grants.grant(
      for: grant.identity, of: grant.bundleIdentifier, rights: .readOnly, passed: grant.origin == .passed)
    if let known { return known }
    let less = Grant(
      id: Grant.makeID(), bundleIdentifier: grant.bundleIdentifier, kind: grant.kind, rights: .readOnly,
      origin: grant.origin, created: Clock.realtime(), identity: grant.identity, path: grant.path)
    try establish(
      [less], from: grant.id,
      [
        event(
          .grant, .allowed, instance, grant: less, how: "bookmark", detail: ["access": "readOnly", "parent": grant.id])
      ])
    return less
  }

  private func resolve(
    _ text: String, _ purpose: SealingKey.Purpose, _ kind: AuditEvent.Kind, for instance: Instance
  ) throws -> BookmarksInterface.ResolveReply {
    func refuse(_ rule: String, _ reason: String, _ error: ErrorReply, _ grant: Grant? = nil) throws -> Never {
      record(event(kind, .refused, instance, grant: grant, rule: rule, reason: reason))
      throw error
    }
    guard let sealed = Data(base64Encoded: text) else {
      try refuse("BMK-20", "bad seal: not base64", BookmarksInterface.Failure.badSeal("not base64"))
    }
    let bookmark: Bookmark
    do throws(Bookmark.OpenError) {
      bookmark = try Bookmark.open(Array(sealed), with: key, for: purpose, app: instance.app.bundleIdentifier)
    } catch {
      // The app learns the same in both cases; which it was is the user's business.
      let told = BookmarksInterface.Failure.badSeal("not sealed for this app, or changed since")
      switch error {
      case .brokenSeal: try refuse("BMK-20", "bad seal", told)
      case .otherApp(let app): try refuse("BMK-4", "sealed for \(app)", told)
      }
    }
    guard let grant = try grants.grant(bookmark.grant) else {
      try refuse(
        "BMK-3", "its grant is not known", BookmarksInterface.Failure.notFound(name: bookmark.name))
    }
    guard grant.revoked == nil else {
      try refuse("AUD-1", "the grant was withdrawn", BookmarksInterface.Failure.revoked, grant)
    }
    guard let found = try? locate(grant) else {
      try refuse(
        "BMK-9", "the document was deleted, or another stands in its place",
        BookmarksInterface.Failure.notFound(name: grant.name), grant)
    }
    let isStale = found.document.path != bookmark.path || found.by == .place
    let matchedBy: BookmarksInterface.MatchedBy = found.by == .place ? .path : .identity
    try decide([
      event(
        kind, .allowed, instance, grant: grant, document: found.document,
        detail: ["matchedBy": matchedBy.rawValue, "by": found.by.rawValue, "stale": isStale ? "true" : "false"])
    ])
    return BookmarksInterface.ResolveReply(
      document: try expose(
        grant, as: found.document, to: instance, how: purpose == .bookmark ? "bookmark" : "reference"),
      isStale: isStale, matchedBy: matchedBy)
  }
}

extension Bookmark {
  fileprivate var name: String { (path as NSString).lastPathComponent }
}
