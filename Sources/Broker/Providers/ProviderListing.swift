internal import BrokerCore
internal import FileProviders
internal import Wire

/// Asks a provider for its items: folder by folder, page by page (`PRV-8`), or for the changes since the last time (`PRV-9`).
@BrokerLoop
struct ProviderListing {
  private let provider: EnabledProvider
  private let extensions: ProviderExtensions
  /// Have a thread take many items in; `nil`: this listing takes in none.
  private let jobs: Jobs?
  /// The states up to which the items are known, by folder.
  private(set) var anchors: [String: String] = [:]
  private(set) var items: ListedItems
  /// The changes of all folders until now.
  private var changed = 0

  private static let most = ProviderTree.most + 1
  /// All items go from one folder to another.
  private static let mostChanges = 2 * most
  private static let mostBytes = 128 << 20
  /// More are a matter for a thread.
  private static let many = 1000
  private static let mostRounds = 10_000
  /// Of the name of an anchor or a page: 500 bytes, in base64.
  private static let longestName = 668
  private static let deepest = 64

  /// - Parameter known: the items until now.
  init(
    _ provider: EnabledProvider, _ extensions: ProviderExtensions, known: ListedItems = ListedItems([]),
    jobs: Jobs? = nil
  ) { (self.provider, self.extensions, items, self.jobs) = (provider, extensions, known, jobs) }

  /// Lists all items.
  ///
  /// - Parameter former: the anchors of the last time.
  mutating func list(after former: [String: String]) async throws {
    var folders = [ProviderItem.root]
    var seen: Set<String> = [ProviderItem.root]
    while let folder = folders.popLast() {
      if let changes = try await changes(of: folder, after: former[folder]) {
        try await take(changes.verdicts.count) { $0.change(changes) }
      } else {
        // Changes after that are told the next time, even if they come while the folder is listed.
        anchors[folder] = try await anchor(of: folder)
        do {
          let listed = try await content(of: folder, room: Self.most - items.count, Self.mostBytes - items.bytes)
          try await take(listed.count) { $0.list(listed, of: folder) }
        } catch let fault as ProviderFault
          where fault.word == "noSuchItem" && folder != ProviderItem.root && !items.isTold(folder)
        {
          // A folder around an item of the working set, which no listing shows.
          anchors[folder] = nil
        }
      }
      for inner in items.folders(in: folder) where seen.insert(inner).inserted { folders.append(inner) }
    }
    try await addWorkingSet(after: former[ProviderItem.workingSet])
  }

  /// Takes so many items in. Other requests do not wait for it.
  private mutating func take(
    _ number: Int, _ work: @escaping @Sendable (inout ListedItems) -> Void
  ) async throws {
    guard number > Self.many, let jobs else { return work(&items) }
    let before = items
    let after = try await jobs.run(owner: "location", subject: provider.identifier) { _ -> ListedItems in
      var items = before
      work(&items)
      return items
    }
    guard let after else { throw ProviderFault(description: "the items of \(provider.name) made no progress") }
    items = after
  }

  /// The working set, from all folders (`PRV-11`).
  private mutating func addWorkingSet(after anchor: String?) async throws {
    let folder = ProviderItem.workingSet
    do {
      let added: [ProviderItem]
      if let changes = try await changes(of: folder, after: anchor) {
        added = changes.verdicts.values.compactMap(\.self)
      } else {
        anchors[folder] = try await self.anchor(of: folder)
        added = try await content(of: folder, room: Self.most - items.count, Self.mostBytes - items.bytes)
      }
      try await take(added.count) { $0.add(added) }
      for item in added { try await addFolders(around: item) }
    } catch let fault as ProviderFault where fault.word == "noSuchItem" {
      // It has none.
    }
  }

  /// A folder that no listing shows is asked for by its identifier.
  private mutating func addFolders(around item: ProviderItem) async throws {
    var parent = item.parent
    for _ in 0..<Self.deepest {
      guard !ProviderItem.reserved.contains(parent), !items.contains(parent) else { return }
      guard let folder = try await extensions.ask(provider, .item, parent).items?.first.map(ProviderItem.init),
        folder.fault == nil, folder.isFolder
      else { return }
      guard items.count < Self.most else { throw tooMany }
      items.add([folder])
      parent = folder.parent
    }
  }

  // MARK: Changes

  /// The changes of a folder.
  ///
  /// - Returns: `nil`: it has to be listed.
  private mutating func changes(of folder: String, after anchor: String?) async throws -> FolderChanges? {
    guard var anchor else { return nil }
    var changes = FolderChanges()
    do {
      for _ in 0..<Self.mostRounds {
        let answer = try await extensions.ask(provider, .changes, folder, page: anchor)
        changes.add(updated: (answer.items ?? []).map(ProviderItem.init), deleted: answer.deleted ?? [])
        guard changes.verdicts.count <= Self.most else { throw tooMany }
        guard changed + changes.verdicts.count <= Self.mostChanges else {
          throw ProviderFault(description: "\(provider.name) tells more than \(Self.mostChanges) changes at once")
        }
        guard items.bytes + changes.bytes <= Self.mostBytes else { throw tooLong }
        guard let next = answer.next, next.utf8.count <= Self.longestName else { return nil }
        guard answer.more == true else {
          anchors[folder] = next
          changed += changes.verdicts.count
          return changes
        }
        guard next != anchor else { break }
        anchor = next
      }
    } catch let fault as ProviderFault where fault.word == "syncAnchorExpired" { return nil }
    throw ProviderFault(description: "\(provider.name) answers with changes without end")
  }

  private func anchor(of folder: String) async throws -> String? {
    do {
      let anchor = try await extensions.ask(provider, .anchor, folder).next
      return anchor.flatMap { $0.utf8.count <= Self.longestName ? $0 : nil }
    } catch let fault as ProviderFault where fault.provider != nil && fault.word != "notAuthenticated" {
      // The listing says it, if it is of any consequence.
      return nil
    }
  }

  // MARK: Pages

  private var tooMany: ProviderFault {
    ProviderFault(description: "\(provider.name) has more than \(ProviderTree.most) items")
  }

  private var tooLong: ProviderFault {
    ProviderFault(description: "\(provider.name) describes its items with more than \(Self.mostBytes >> 20) MiB")
  }

  /// All pages of a folder.
  ///
  /// - Parameters:
  ///   - room: items.
  ///   - memory: bytes.
  func content(
    of folder: String, room: Int = most, _ memory: Int = mostBytes
  ) async throws -> [ProviderItem] {
    var items: [ProviderItem] = []
    var bytes = 0
    var page: String?
    var pages: Set<String> = []
    var expired = 0
    while true {
      let answer: ProviderInterface.AnswerCall
      do {
        answer = try await extensions.ask(provider, .enumerate, folder, page: page)
      } catch let fault as ProviderFault {
        // The list begins anew (`PRV-8`).
        guard fault.word == "pageExpired", expired < 3 else { throw fault }
        expired += 1
        (items, bytes, page, pages) = ([], 0, nil, [])
        continue
      }
      let new = (answer.items ?? []).map(ProviderItem.init)
      items += new
      bytes += new.reduce(0) { $0 + $1.bytes }
      guard items.count <= room else { throw tooMany }
      guard bytes <= memory else { throw tooLong }
      page = answer.next
      if let page, page.utf8.count > Self.longestName {
        throw ProviderFault(description: "\(provider.name) answers with the name of a page of more than 500 bytes")
      }
      if let page, !pages.insert(page).inserted || pages.count > Self.mostRounds {
        throw ProviderFault(description: "\(provider.name) answers with pages without end")
      }
      if page == nil { return items }
    }
  }
}
