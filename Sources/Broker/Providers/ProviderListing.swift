internal import BrokerCore
internal import FileProviders
internal import Wire

/// Asks a provider for its items: folder by folder, page by page (`PRV-8`), or for the changes since the last time (`PRV-9`).
@BrokerLoop
struct ProviderListing {
  private let provider: EnabledProvider
  private let extensions: ProviderExtensions
  /// The states up to which the items are known, by folder.
  private(set) var anchors: [String: String] = [:]
  private(set) var items: ListedItems

  private static let most = ProviderTree.most + 1
  private static let mostRounds = 10_000
  /// Of 500 bytes, in base64.
  private static let longestAnchor = 668
  private static let deepest = 64

  /// - Parameter known: the items until now.
  init(_ provider: EnabledProvider, _ extensions: ProviderExtensions, known: ListedItems = ListedItems([])) {
    (self.provider, self.extensions, items) = (provider, extensions, known)
  }

  /// Lists all items.
  ///
  /// - Parameter former: the anchors of the last time.
  mutating func list(after former: [String: String]) async throws {
    var folders = [ProviderItem.root]
    var seen: Set<String> = [ProviderItem.root]
    while let folder = folders.popLast() {
      if let changes = try await changes(of: folder, after: former[folder]) {
        items.change(changes)
      } else {
        // Changes after that are told the next time, even if they come while the folder is listed.
        anchors[folder] = try await anchor(of: folder)
        do {
          items.list(try await content(of: folder, room: Self.most - items.count), of: folder)
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

  /// The working set, from all folders (`PRV-11`).
  private mutating func addWorkingSet(after anchor: String?) async throws {
    let folder = ProviderItem.workingSet
    do {
      var added: [ProviderItem] = []
      if let changes = try await changes(of: folder, after: anchor) {
        added = changes.verdicts.values.compactMap(\.self)
      } else {
        anchors[folder] = try await self.anchor(of: folder)
        added = try await content(of: folder, room: Self.most - items.count)
      }
      items.add(added)
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
        guard let next = answer.next, next.utf8.count <= Self.longestAnchor else { return nil }
        guard answer.more == true else {
          anchors[folder] = next
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
      return anchor.flatMap { $0.utf8.count <= Self.longestAnchor ? $0 : nil }
    } catch let fault as ProviderFault where fault.provider != nil && fault.word != "notAuthenticated" {
      // The listing says it, if it is of any consequence.
      return nil
    }
  }

  // MARK: Pages

  private var tooMany: ProviderFault {
    ProviderFault(description: "\(provider.name) has more than \(ProviderTree.most) items")
  }

  /// All pages of a folder.
  func content(of folder: String, room: Int = most) async throws -> [ProviderItem] {
    var items: [ProviderItem] = []
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
        (items, page, pages) = ([], nil, [])
        continue
      }
      items += (answer.items ?? []).map(ProviderItem.init)
      guard items.count <= room else { throw tooMany }
      page = answer.next
      if let page, !pages.insert(page).inserted || pages.count > Self.mostRounds {
        throw ProviderFault(description: "\(provider.name) answers with pages without end")
      }
      if page == nil { return items }
    }
  }
}
