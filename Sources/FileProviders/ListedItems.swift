/// The items of a provider, while it lists its folders anew or tells their changes.
///
/// An item that goes from one folder to another is gone from the first and new in the second, in either order: a folder that has it counts.
package struct ListedItems: Sendable {
  private let known: [String: ProviderItem]
  /// The known items, by their folders.
  private let knownIn: [String: [String]]
  /// As the provider said it, with all that is wrong with it.
  private var said: [ProviderItem] = []
  /// The folders of those, by their identifiers.
  private var saidIn: [String: String] = [:]
  private var foldersIn: [String: [String]] = [:]
  private var gone: Set<String> = []

  /// - Parameter known: the items until now.
  package init(_ known: [ProviderItem]) {
    self.known = Dictionary(known.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
    knownIn = Dictionary(grouping: known, by: \.parent).mapValues { $0.map(\.identifier) }
  }

  private mutating func say(_ item: ProviderItem) {
    said.append(item)
    saidIn[item.identifier] = item.parent
    if item.isFolder { foldersIn[item.parent, default: []].append(item.identifier) }
  }

  /// How many the provider has told of.
  package var count: Int { said.count }

  /// A folder has exactly these.
  package mutating func list(_ content: [ProviderItem], of folder: String) {
    gone.formUnion(Set(knownIn[folder] ?? []).subtracting(content.map(\.identifier)))
    for item in content { say(item) }
  }

  /// A folder has changed (`PRV-9`).
  package mutating func change(_ changes: FolderChanges) {
    for (identifier, item) in changes.verdicts.sorted(by: { $0.key < $1.key }) {
      guard let item else {
        gone.insert(identifier)
        continue
      }
      // Two folders may tell of one move.
      if saidIn[identifier] != nil { said.removeAll { $0.identifier == identifier } }
      say(item)
    }
  }

  /// Items of the working set, as far as no folder has them.
  package mutating func add(_ items: [ProviderItem]) {
    for item in items where saidIn[item.identifier] == nil { say(item) }
  }

  private func isKnown(_ identifier: String) -> Bool {
    saidIn[identifier] == nil && known[identifier] != nil && !gone.contains(identifier)
  }

  /// The provider has told of it now.
  package func isTold(_ identifier: String) -> Bool { saidIn[identifier] != nil }

  package func contains(_ identifier: String) -> Bool { saidIn[identifier] != nil || isKnown(identifier) }

  package func folders(in folder: String) -> [String] {
    (foldersIn[folder] ?? []).filter { saidIn[$0] == folder }
      + (knownIn[folder] ?? []).filter { isKnown($0) && known[$0]?.isFolder == true }
  }

  /// All that there are now. A folder takes along the items in it that the provider says nothing of.
  package var all: [ProviderItem] {
    var reached: Set<String> = [ProviderItem.root, ProviderItem.trash]
    var open = Array(reached)
    while let folder = open.popLast() {
      for inner in folders(in: folder) where reached.insert(inner).inserted { open.append(inner) }
    }
    return said
      + known.values.filter { isKnown($0.identifier) && reached.contains($0.parent) }
      .sorted { $0.identifier < $1.identifier }
  }
}

/// The changes in a folder since an anchor; the last word about an item counts.
package struct FolderChanges: Sendable {
  /// By identifier; `nil`: it is gone.
  package private(set) var verdicts: [String: ProviderItem?] = [:]

  package init() {}

  package mutating func add(updated: [ProviderItem], deleted: [String]) {
    for identifier in deleted { verdicts[identifier] = .some(nil) }
    for item in updated { verdicts[item.identifier] = .some(item) }
  }
}
