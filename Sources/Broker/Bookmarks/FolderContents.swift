internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// Finds something in a folder that an app has, at any place in it.
@BrokerLoop
final class FolderContents {
  private let locator: DocumentLocator
  private let trail: AuditTrail

  init(_ locator: DocumentLocator, _ trail: AuditTrail) {
    (self.locator, self.trail) = (locator, trail)
  }

  /// The file at a path that an app gives, in a folder: no link is followed, and nothing above the folder reached.
  nonisolated static func find(_ path: String, in folder: Descriptor) throws -> (Bookmark.Inside, FoundDocument) {
    #if AMBIT_MUTANTS
      if Mutant.twoDotsFollowed.isActive {
        let document = try FoundDocument(try Descriptor.open(path, below: folder, flags: [.path, .noFollow]))
        return (Bookmark.Inside(path: path, identity: document.identity), document)
      }
    #endif
    let parts = path.pathNames
    guard !parts.isEmpty, !parts.contains(where: { $0 == "." || $0 == ".." }),
      let opened = try? Descriptor.open(
        parts.joined(separator: "/"), below: folder, flags: [.path, .noFollow], resolve: [.beneath, .noSymlinks]),
      let document = try? FoundDocument(opened)
    else { throw BookmarksInterface.Failure.notFound(name: parts.last ?? "") }
    return (Bookmark.Inside(path: parts.joined(separator: "/"), identity: document.identity), document)
  }

  /// Looks for it in the folder and nowhere else. The app can reach any file in its place, so that a file that replaced
  /// it needs no rule but the policy's.
  func find(
    _ inside: Bookmark.Inside, in folder: Descriptor, _ asked: Resolution, _ grant: Grant?
  ) async throws -> (path: String, document: FoundDocument, isSame: Bool) {
    #if AMBIT_MUTANTS
      if Mutant.containedByPath.isActive {
        let (there, document) = try Self.find(inside.path, in: folder)
        return (there.path, document, document.identity == inside.identity)
      }
    #endif
    var lookup = Lookup(
      .init(subject: "in \(grant?.id ?? asked.instance.app.bundleIdentifier)", identity: inside.identity),
      path: inside.path)
    lookup.folder = folder
    guard let looked = try await locator.find(lookup, for: asked.instance.id) else {
      let reason = "\(inside.path) \(ReplacementRule.Reason.unanswered.rawValue)"
      trail.record(AuditEvent(asked.kind, .refused, asked.instance, grant: grant, rule: "BMK-16", reason: reason))
      throw AccessInterface.Failure.unavailable(reason)
    }
    if let found = looked.found?.document, let path = looked.pathInside { return (path, found, true) }
    if asked.instance.app.replaced == .follow, let (there, document) = try? Self.find(inside.path, in: folder),
      document.kind == .file
    {
      return (there.path, document, false)
    }
    let name = inside.path.lastPathName
    trail.record(
      AuditEvent(
        asked.kind, .refused, asked.instance, grant: grant, rule: "BMK-9",
        reason: "\(name) was deleted, or has left the folder; last seen at \(inside.path) in it"))
    throw BookmarksInterface.Failure.notFound(name: name, lastPath: inside.path)
  }

  nonisolated static func check(keys: [String]) throws {
    guard keys.count <= 64, keys.allSatisfy({ $0.utf8.count <= 100 }) else {
      throw ErrorReply.invalidParameter("values")
    }
  }
}
