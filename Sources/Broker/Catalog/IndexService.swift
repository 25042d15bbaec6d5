internal import BrokerCore
internal import Catalog
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import Wire

/// The items that apps want their user to find (`io.ambit.Index`), and the user's search in them.
@BrokerLoop
final class IndexService {
  private let path: String
  private let grants: GrantStore
  private let tokens: ScopeTokens
  /// Opened when it is used for the first time: most apps index nothing.
  private var index: ItemIndex?

  init(_ host: BrokerHost, _ grants: GrantStore, _ tokens: ScopeTokens) {
    path = host.folders.searchIndex
    (self.grants, self.tokens) = (grants, tokens)
  }

  private func opened() throws -> ItemIndex {
    if let index { return index }
    let made = try ItemIndex(path: path)
    index = made
    return made
  }

  func serve(_ call: CheckedCall, for instance: Instance) throws -> Answer {
    let app = instance.app.bundleIdentifier
    guard call.member == "Put" else {
      let request = try IndexInterface.DeleteCall(json: call.parameters)
      try opened().delete(of: app, identifiers: request.identifiers, domains: request.domains)
      return Answer([:])
    }
    let items = try IndexInterface.PutCall(json: call.parameters).items.map { item in
      IndexedItem(
        app: app, identifier: item.identifier, domain: item.domain, title: item.title, about: item.about,
        text: item.text, keywords: item.keywords, contentType: item.contentType,
        grant: try item.scope.map { try tokens.grant(of: $0, instance).id })
    }
    guard try opened().put(items) else { throw IndexInterface.Failure.tooMany(limit: ItemIndex.mostItems) }
    return Answer([:])
  }

  func search(_ request: InspectorInterface.SearchItemsCall) throws -> InspectorInterface.SearchItemsReply {
    let items = try opened().search(request.words, most: min(max(0, request.most), 1000))
    return .init(
      items: items.map { item in
        let grant = item.grant.flatMap { try? grants.grant($0) }
        return .init(
          app: item.app, identifier: item.identifier, title: item.title, about: item.about,
          contentType: item.contentType, path: grant?.revoked == nil ? grant?.path : nil)
      })
  }

  /// The app is removed.
  func forget(_ app: String) {
    guard index != nil || (try? Descriptor.open(path, flags: .path)) != nil else { return }
    try? opened().delete(of: app, identifiers: nil, domains: nil)
  }
}
