internal import BrokerCore
internal import Catalog
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import Synchronization
internal import Wire

/// The items that apps want their user to find (`io.ambit.Index`), and the user's search in them. All of it is done by threads: an app
/// decides how much there is to write.
@BrokerLoop
final class IndexService {
  private let index: SharedIndex
  private let grants: GrantStore
  private let tokens: ScopeTokens
  private let jobs: Jobs

  init(_ host: BrokerHost, _ grants: GrantStore, _ tokens: ScopeTokens, _ jobs: Jobs) {
    index = SharedIndex(host.folders.searchIndex)
    (self.grants, self.tokens, self.jobs) = (grants, tokens, jobs)
  }

  func serve(_ call: CheckedCall, for instance: Instance) async throws -> Answer {
    let app = instance.app.bundleIdentifier
    guard call.member == "Put" else {
      let request = try IndexInterface.DeleteCall(json: call.parameters)
      try await work(for: app) { index, isWanted in
        try index.delete(of: app, identifiers: request.identifiers, domains: request.domains, while: isWanted)
      }
      return Answer([:])
    }
    let items = try IndexInterface.PutCall(json: call.parameters).items.map { item in
      IndexedItem(
        app: app, identifier: item.identifier, domain: item.domain, title: item.title, about: item.about,
        text: item.text, keywords: item.keywords, contentType: item.contentType,
        grant: try item.scope.map { try tokens.grant(of: $0, instance).id })
    }
    do {
      try await work(for: app) { index, isWanted in try index.put(items, while: isWanted) }
    } catch ItemIndex.Excess.items {
      throw IndexInterface.Failure.tooMany(limit: ItemIndex.mostItems)
    } catch ItemIndex.Excess.bytes { throw IndexInterface.Failure.tooLarge(limit: ItemIndex.mostBytes) }
    return Answer([:])
  }

  func search(_ request: InspectorInterface.SearchItemsCall) async throws -> InspectorInterface.SearchItemsReply {
    let (words, most) = (request.words, min(max(0, request.most), 1000))
    let items = try await work(for: "the user's search") { index, _ in try index.search(words, most: most) }
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
    let index = index
    jobs.start(owner: "index of \(app)", subject: "forget") { _ in
      guard index.isThere else { return }
      try? index.get().delete(of: app, identifiers: nil, domains: nil)
    } then: { (_: Void?) in
    }
  }

  private func work<Value: Sendable>(
    for owner: String, _ body: @escaping @Sendable (ItemIndex, () -> Bool) throws -> Value
  ) async throws -> Value {
    let index = index
    let result = try await jobs.run(owner: "index of \(owner)", subject: "") { heartbeat in
      Result { try body(index.get(), heartbeat.beat) }
    }
    guard let result else { throw StateError("the index does not answer in time") }
    return try result.get()
  }
}

/// The index, opened by the thread that uses it first: most apps index nothing.
private final class SharedIndex: Sendable {
  private let path: String
  private let index = Mutex<ItemIndex?>(nil)

  init(_ path: String) { self.path = path }

  var isThere: Bool { (try? Descriptor.open(path, flags: .path)) != nil }

  func get() throws -> ItemIndex {
    try index.withLock { index in
      if let index { return index }
      let made = try ItemIndex(path: path)
      index = made
      return made
    }
  }
}
