internal import Audit
internal import BrokerCore
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Wire

/// Bookmarks and document references (`io.ambit.Bookmarks`).
@BrokerLoop
final class BookmarkService {
  private let maker: BookmarkMaker
  private let resolver: BookmarkResolver

  init(_ maker: BookmarkMaker, _ resolver: BookmarkResolver) {
    (self.maker, self.resolver) = (maker, resolver)
  }

  func serve(_ call: CheckedCall, for instance: Instance) async throws -> Answer {
    switch call.member {
    case "Create":
      let request = try BookmarksInterface.CreateCall(json: call.parameters)
      return Answer(BookmarksInterface.CreateReply(bookmark: try await maker.create(request, for: instance)).json)
    case "CreateContained":
      let request = try BookmarksInterface.CreateContainedCall(json: call.parameters)
      return Answer(BookmarksInterface.CreateReply(bookmark: try maker.createContained(request, for: instance)).json)
    case "Resolve":
      let request = try BookmarksInterface.ResolveCall(json: call.parameters)
      return Answer(try await resolver.resolve(request, by: Caller(call, for: .own), for: instance).json)
    case "Values":
      let request = try BookmarksInterface.ValuesCall(json: call.parameters)
      let asked = Resolution(kind: .bookmarkResolved, purpose: .bookmark, instance: instance)
      return Answer(Self.values(of: try resolver.open(request.bookmark, asked)).json)
    default:
      let request = try BookmarksInterface.ResolveReferenceCall(json: call.parameters)
      return Answer(try await resolver.resolve(request, for: instance).json)
    }
  }

  /// Nothing is looked for, and nothing told that the app was not told when the bookmark was made.
  nonisolated static func values(of bookmark: Bookmark) -> BookmarksInterface.ValuesReply {
    #if AMBIT_MUTANTS
      if Mutant.nameForgotten.isActive {
        return BookmarksInterface.ValuesReply(keys: [], name: "", path: "", access: bookmark.rights.message)
      }
    #endif
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
