internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// Bookmarks of something in a folder that the app has: one that was picked, or its own container. They give no access
/// that the app has not got there anyway; they find it again, wherever the folder and the thing in it have gone (`BMK-17`).
extension Broker {
  func createContained(_ request: BookmarksInterface.CreateContainedCall, for instance: Instance) throws -> String {
    try checkKeys(request.values)
    if let refusal = refusal(ofBookmark: .app, for: instance) {
      try decide([event(.bookmarkCreated, .refused, instance, rule: refusal.rule, reason: refusal.reason)])
      throw BookmarksInterface.Failure.notAllowed(refusal.reason)
    }
    let app = instance.app.bundleIdentifier
    let container = try Descriptor.open(container(of: app), flags: [.path, .directory, .noFollow])
    let (inside, document) = try self.inside(request.path, of: container)
    let bookmark = Bookmark(
      bundleIdentifier: app, grant: "", rights: .readWrite, path: "/\(inside.path)", identity: document.identity,
      created: Clock.realtime(), values: try Bookmark.Values(of: document, keys: request.values), inside: inside)
    try decide([
      event(.bookmarkCreated, .allowed, instance, document: document, detail: [AuditEvent.Fact.scope: "container"])
    ])
    return Data(bookmark.sealed(with: key, for: .bookmark)).base64EncodedString()
  }

  /// What lies at a path that an app gives, in a folder: no link is followed, and nothing above the folder reached.
  func inside(_ path: String, of folder: Descriptor) throws -> (Bookmark.Inside, FoundDocument) {
    let parts = path.pathNames
    guard !parts.isEmpty, !parts.contains(where: { $0 == "." || $0 == ".." }),
      let opened = try? Descriptor.open(
        parts.joined(separator: "/"), below: folder, flags: [.path, .noFollow], resolve: [.beneath, .noSymlinks]),
      let document = try? FoundDocument(opened)
    else { throw BookmarksInterface.Failure.notFound(name: parts.last ?? "") }
    return (Bookmark.Inside(path: parts.joined(separator: "/"), identity: document.identity), document)
  }

  func resolveContained(
    _ bookmark: Bookmark, _ inside: Bookmark.Inside, _ asked: Resolution
  ) throws -> BookmarksInterface.ResolveReply {
    let instance = asked.instance
    let container = try Descriptor.open(
      container(of: instance.app.bundleIdentifier), flags: [.path, .directory, .noFollow])
    let found = try find(inside, in: container, asked, nil)
    let isStale = !found.path.isSamePath(as: inside.path) || !found.isSame
    var detail = [
      AuditEvent.Fact.matchedBy: found.isSame ? "identity" : "path",
      AuditEvent.Fact.stale: isStale ? "true" : "false", AuditEvent.Fact.scope: "container",
    ]
    let there = try? Descriptor.open(
      inside.path, below: container, flags: [.path, .noFollow], resolve: [.beneath, .noSymlinks])
    let isTaken = found.isSame && there.map { Self.isOther($0, than: found.document) } ?? false
    if isTaken { detail[AuditEvent.Fact.taken] = inside.path }
    try decide([event(asked.kind, .allowed, instance, document: found.document, detail: detail)])
    let name = found.path.lastPathName
    var message = DocumentMessage(
      scope: "", grant: "", name: name, kind: found.document.kind.message, access: .readWrite)
    // Where its container is, the app knows best.
    message.url = ""
    message.path = found.path
    return BookmarksInterface.ResolveReply(
      document: message, isStale: isStale, matchedBy: found.isSame ? .identity : .path, isPlaceTaken: isTaken)
  }

  /// Looks for it in the folder and nowhere else. In its place the app can reach whatever is there, so that a file that
  /// replaced it needs no rule but the policy's.
  func find(
    _ inside: Bookmark.Inside, in folder: Descriptor, _ asked: Resolution, _ grant: Grant?
  ) throws -> (path: String, document: FoundDocument, isSame: Bool) {
    var lookup = Lookup(
      .init(subject: "in \(grant?.id ?? asked.instance.app.bundleIdentifier)", identity: inside.identity),
      path: inside.path)
    lookup.folder = folder
    guard let looked = try looked(lookup) else {
      let reason = "\(inside.path) \(ReplacementRule.Reason.unanswered.rawValue)"
      record(event(asked.kind, .refused, asked.instance, grant: grant, rule: "BMK-16", reason: reason))
      throw AccessInterface.Failure.unavailable(reason)
    }
    if let found = looked.found?.document, let path = looked.pathInside { return (path, found, true) }
    if asked.instance.app.replaced == .follow, let (there, document) = try? self.inside(inside.path, of: folder),
      document.kind == .file
    {
      return (there.path, document, false)
    }
    let name = inside.path.lastPathName
    record(
      event(
        asked.kind, .refused, asked.instance, grant: grant, rule: "BMK-9",
        reason: "\(name) was deleted, or has left the folder; last seen at \(inside.path) in it"))
    throw BookmarksInterface.Failure.notFound(name: name, lastPath: inside.path)
  }

  func checkKeys(_ keys: [String]) throws {
    guard keys.count <= 64, keys.allSatisfy({ $0.utf8.count <= 100 }) else {
      throw ErrorReply.invalidParameter("values")
    }
  }
}
