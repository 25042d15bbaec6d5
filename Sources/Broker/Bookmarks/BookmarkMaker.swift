internal import Audit
internal import BrokerCore
internal import Decisions
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// Makes bookmarks: of a document whose scope is active, of something in a folder that the app has, and of something in its own container
/// (`BMK-17`). They give no access that the app has not got anyway.
@BrokerLoop
final class BookmarkMaker {
  private let host: BrokerHost
  private let grants: GrantStore
  private let key: SealingKey
  private let trail: AuditTrail
  private let tokens: ScopeTokens
  private let documents: GrantLocator
  private let issuer: GrantIssuer

  init(
    _ host: BrokerHost, _ grants: GrantStore, _ key: SealingKey, _ trail: AuditTrail, _ tokens: ScopeTokens,
    _ documents: GrantLocator, _ issuer: GrantIssuer
  ) {
    (self.host, self.grants, self.key, self.trail) = (host, grants, key, trail)
    (self.tokens, self.documents, self.issuer) = (tokens, documents, issuer)
  }

  /// The item of a file provider that a path of the host's stands for.
  var provided: (_ path: String) -> (provider: String, item: String)? = { _ in nil }

  func create(_ request: BookmarksInterface.CreateCall, for instance: Instance) async throws -> String {
    try FolderContents.check(keys: request.values)
    if let refusal = instance.app.decisions.refusal(
      ofMaking: request.kind.scope, ofSomethingInside: request.inside != nil)
    {
      try trail.decide([
        AuditEvent(
          .bookmarkCreated, .refused, instance, rule: refusal.rule, reason: refusal.reason,
          detail: [AuditEvent.Fact.scope: request.kind.rawValue])
      ])
      throw BookmarksInterface.Failure.notAllowed(refusal.reason)
    }
    var (grant, document) = try active(request.scope, for: instance)
    try issuer.makeRoom(forBookmarkOf: grant, instance)
    let scope = try self.scope(request, of: grant, for: instance)
    // The program that had it open may have saved it anew since its scope was started.
    let found = try await documents.search(for: instance) { try active(request.scope, for: instance).0 }
    if case .success(let location) = found { (grant, document) = (location.grant, location.document) }
    #if AMBIT_MUTANTS
      let isReadOnly = request.readOnly && !Mutant.readOnlyDropped.isActive || instance.app.rules.readOnly
    #else
      let isReadOnly = request.readOnly || instance.app.rules.readOnly
    #endif
    if isReadOnly, grant.rights == .readWrite {
      grant = try readOnlyGrant(from: grant, instance)
    }
    guard request.inside == nil || grant.kind.isFolder else { throw ErrorReply.invalidParameter("inside") }
    let facts = try await facts(of: document, grant.kind, request, instance)
    let bookmark = Bookmark(
      bundleIdentifier: grant.bundleIdentifier, grant: grant.id, rights: grant.rights,
      path: document.path ?? grant.path, identity: document.identity,
      place: request.minimal ? nil : facts.place ?? grant.place,
      created: host.clock.realtime, scope: scope,
      values: facts.values,
      inside: facts.inside,
      provided: facts.inside == nil
        ? document.path.flatMap { provided($0) }.map { .init(provider: $0.provider, item: $0.item) } : nil)
    try grants.noteBookmark(grant.id)
    try trail.decide([
      AuditEvent(
        .bookmarkCreated, .allowed, instance, grant: grant, document: document,
        detail: [AuditEvent.Fact.scope: scope.name, AuditEvent.Fact.access: grant.rights.rawValue])
    ])
    FaultPoint.bookmarkSealed.pass()
    return Data(bookmark.sealed(with: key, for: .bookmark)).base64EncodedString()
  }

  /// The facts that a bookmark holds beside its grant's.
  private struct Facts: Sendable {
    let place: Place?
    let inside: Bookmark.Inside?
    let values: Bookmark.Values?
  }

  /// The file system may be one that keeps its callers waiting (`BMK-16`).
  private func facts(
    of document: FoundDocument, _ kind: Folders.DocumentKind, _ request: BookmarksInterface.CreateCall,
    _ instance: Instance
  ) async throws -> Facts {
    let path = document.path ?? ""
    let place = request.inside.map { path.path(of: $0) } ?? path
    do {
      let facts = try await documents.ask(about: place, for: instance.id) {
        let inside = try request.inside.map { try FolderContents.find($0, in: document.descriptor) }
        return Facts(
          place: Place(of: document), inside: inside?.0,
          values: request.minimal
            ? nil
            : try Bookmark.Values(of: inside?.1 ?? document, as: inside == nil ? kind : nil, keys: request.values))
      }
      // It may have been stopped meanwhile.
      _ = try active(request.scope, for: instance)
      return facts
    } catch let error as StateError { throw AccessInterface.Failure.unavailable("\(place.lastPathName): \(error)") }
  }

  func createContained(_ request: BookmarksInterface.CreateContainedCall, for instance: Instance) throws -> String {
    try FolderContents.check(keys: request.values)
    if let refusal = instance.app.decisions.refusal(ofMaking: .app) {
      try trail.decide([AuditEvent(.bookmarkCreated, .refused, instance, rule: refusal.rule, reason: refusal.reason)])
      throw BookmarksInterface.Failure.notAllowed(refusal.reason)
    }
    let app = instance.app.bundleIdentifier
    let container = try Descriptor.open(host.container(of: app), flags: [.path, .directory, .noFollow])
    let (inside, document) = try FolderContents.find(request.path, in: container)
    let bookmark = Bookmark(
      bundleIdentifier: app, grant: "", rights: .readWrite, path: "/\(inside.path)", identity: document.identity,
      created: host.clock.realtime, values: try Bookmark.Values(of: document, keys: request.values), inside: inside)
    try trail.decide([
      AuditEvent(.bookmarkCreated, .allowed, instance, document: document, detail: [AuditEvent.Fact.scope: "container"])
    ])
    return Data(bookmark.sealed(with: key, for: .bookmark)).base64EncodedString()
  }

  /// The grant of a scope that is active, and the document that it shows.
  private func active(_ token: String, for instance: Instance) throws -> (Grant, FoundDocument) {
    let grant = try grant(ofToken: token, instance)
    #if AMBIT_MUTANTS
      if Mutant.unstartedBookmark.isActive, let opened = try? Descriptor.open(grant.path, flags: .place) {
        return (grant, try FoundDocument(opened))
      }
    #endif
    guard let document = instance.scopes.shown[grant.id] else {
      try trail.decide([
        AuditEvent(
          .bookmarkCreated, .refused, instance, grant: grant, rule: "BMK-18", reason: "its scope is not started")
      ])
      throw BookmarksInterface.Failure.notActive
    }
    return (grant, document)
  }

  private func grant(ofToken token: String, _ instance: Instance) throws -> Grant {
    do { return try tokens.grant(of: token, instance) } catch let error as ErrorReply {
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
    case .implicit: return request.inside == nil ? .implicit(boot: host.boot) : .app
    case .document:
      guard let relativeTo = request.relativeTo else { throw ErrorReply.invalidParameter("relativeTo") }
      // A folder would hand over later files in it, to every app with the document.
      guard grant.kind == .file else { throw ErrorReply.invalidParameter("kind") }
      let (anchor, document) = try active(relativeTo, for: instance)
      return .document(Bookmark.Anchor(grant: anchor.id, identity: document.identity))
    }
  }

  /// Rights below the user's are a grant of their own, so that a bookmark always opens exactly a grant's rights.
  private func readOnlyGrant(from grant: Grant, _ instance: Instance) throws -> Grant {
    let known = try grants.grant(
      for: grant.identity, of: grant.bundleIdentifier, rights: .readOnly, passed: grant.origin == .passed)
    if let known { return known }
    let less = Grant(
      id: Grant.makeID(), bundleIdentifier: grant.bundleIdentifier, kind: grant.kind, rights: .readOnly,
      origin: grant.origin, created: host.clock.realtime, identity: grant.identity, path: grant.path,
      place: grant.place,
      term: grant.term)
    try issuer.establish(
      [less], from: grant.id,
      [
        AuditEvent(
          .grant, .allowed, instance, grant: less, how: "bookmark",
          detail: [
            AuditEvent.Fact.access: less.rights.rawValue, AuditEvent.Fact.documentKind: less.kind.rawValue,
            AuditEvent.Fact.parent: grant.id, AuditEvent.Fact.origin: less.origin.rawValue,
            AuditEvent.Fact.until: "the grant that it was made from ends",
          ])
      ])
    return less
  }
}

extension Bookmark.Values {
  /// - Parameter kind: the kind that it was granted as, if it was itself.
  init(of document: FoundDocument, as kind: Folders.DocumentKind? = nil, keys: [String]) throws {
    let status = try document.descriptor.status()
    // Not its mount point: only a person's name for it.
    let mount = document.path.flatMap { MountTable.covering($0, in: MountTable.entries()) }
    let volume = mount?.point.lastPathName ?? "/"
    self.init(
      keys: keys, kind: kind ?? document.kind, size: status.size, birth: status.birth, modified: status.modified,
      volumeName: volume)
  }
}
