internal import Audit
internal import BrokerCore
internal import Cryptography
internal import Folders
internal import Foundation
internal import Kernel
internal import ScopedAccess
internal import Wire

/// The meaning of sealed bytes, and coordination, for the user (`io.ambit.Inspector`).
@BrokerLoop
final class InspectionService {
  private let grants: GrantStore
  private let key: SealingKey
  private let host: BrokerHost
  private let documents: GrantLocator
  private let coordination: CoordinationService
  private let index: IndexService

  init(
    _ grants: GrantStore, _ key: SealingKey, _ host: BrokerHost, _ documents: GrantLocator,
    _ coordination: CoordinationService, _ index: IndexService
  ) {
    (self.grants, self.key, self.host, self.documents) = (grants, key, host, documents)
    (self.coordination, self.index) = (coordination, index)
  }

  func serve(_ call: CheckedCall) async throws -> Answer {
    switch call.member {
    case "Coordination": return Answer(coordination.coordination())
    case "SearchItems": return Answer(try await index.search(try .init(json: call.parameters)).json)
    case "CancelCoordination":
      try coordination.cancel(try InspectorInterface.CancelCoordinationCall(json: call.parameters).access)
      return Answer([:])
    default: return try await bookmark(call)
    }
  }

  private func bookmark(_ call: CheckedCall) async throws -> Answer {
    let request = try InspectorInterface.BookmarkCall(json: call.parameters)
    guard let sealed = Data(base64Encoded: request.sealed) else {
      throw InspectorInterface.Failure.badSeal("not base64")
    }
    for purpose in [SealingKey.Purpose.bookmark, .reference] {
      guard let bookmark = try? Bookmark.open(Array(sealed), with: key, for: purpose) else { continue }
      return Answer(try await describe(bookmark, purpose))
    }
    throw InspectorInterface.Failure.badSeal("not sealed by this user's broker, or changed since")
  }

  private func describe(
    _ bookmark: Bookmark, _ purpose: SealingKey.Purpose
  ) async throws -> InspectorInterface.BookmarkReply {
    var reply = InspectorInterface.BookmarkReply(
      purpose: purpose == .bookmark ? .bookmark : .reference, app: bookmark.bundleIdentifier, grant: bookmark.grant,
      state: .unknown, access: bookmark.rights.message, kind: bookmark.values?.kind.message, scope: .app,
      made: bookmark.created.map(Instance.rfc3339), path: bookmark.path,
      identity: bookmark.identity.map(InspectorInterface.Identity.init),
      place: bookmark.place.map { .init(folder: .init($0.folder), name: $0.name) },
      values: bookmark.values?.keys ?? [])
    switch bookmark.scope {
    case .app: break
    case .implicit(let made):
      reply.scope = .implicit
      if made != host.boot {
        reply.until = "the machine was started anew since it was made: only its own app can open it"
      }
    case .document(let anchor):
      reply.scope = .document
      reply.relativeTo = .init(anchor.identity)
    }
    guard let grant = try grants.grant(bookmark.grant) else {
      reply.problem = "its grant is not known"
      return reply
    }
    reply.state = grant.revoked == nil ? .inForce : .withdrawn
    reply.origin = grant.origin.rawValue
    reply.kind = grant.kind.message
    guard grant.revoked == nil else {
      reply.problem = "the grant was withdrawn"
      return reply
    }
    let (_, found, verdict) = try await documents.look(for: grant, under: .follow)
    switch (found, verdict) {
    case (_, .refuse(let reason)): reply.problem = "\(grant.name) \(reason.rawValue); last seen at \(grant.path)"
    case (let found?, let verdict):
      let document = found.document
      let isSame = verdict == .identity && (bookmark.identity ?? document.identity) == document.identity
      reply.found = InspectorInterface.Found(
        path: document.path, matchedBy: isSame ? .identity : .path, by: found.by.rawValue,
        isStale: !isSame || document.path != bookmark.path, location: documents.isInTrash(document) ? "trash" : nil)
      if isSame, documents.isTaken(bookmark.path, from: document) {
        reply.problem = "another file stands at \(bookmark.path), where the document was"
      }
      if verdict == .follow {
        reply.problem =
          "the file itself is gone: only a policy with bookmarks.replaced = \"follow\" takes the one in its place"
      }
    case (nil, _): reply.problem = "\(grant.name) \(ReplacementRule.Reason.nothing.rawValue)"
    }
    return reply
  }
}

extension InspectorInterface.Identity {
  fileprivate init(_ identity: FileIdentity) {
    self.init(
      volume: Hexadecimal.text(identity.volume), handleType: Int(identity.handle.type),
      handle: Hexadecimal.text(identity.handle.bytes), inode: Int(truncatingIfNeeded: identity.inode),
      birth: identity.birth == 0 ? nil : Instance.rfc3339(identity.birth))
  }
}
