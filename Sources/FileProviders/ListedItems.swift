/// The items of a provider, while it lists its folders anew or tells their changes.
///
/// An item that goes from one folder to another is gone from the first and new in the second, in either order: a folder that has it counts.
package struct ListedItems: Sendable {
  private let known: [ProviderItem]
  /// The known items, by their identifiers.
  private let places: [String: Int]
  /// The known items, by their folders.
  private let knownIn: [String: [Int]]
  /// As the provider said it, with all that is wrong with it.
  private var said: [ProviderItem] = []
  /// Those that count, by their identifiers.
  private var told: [String: Told] = [:]
  private var foldersIn: [String: [String]] = [:]
  private var gone: Set<String> = []
  /// A change has taken the place of something that was said before.
  private var isCorrected = false
  /// All that was said is known, and shown so.
  private var isAsBefore = true

  /// The word of an item that counts.
  private struct Told: Sendable {
    var folder: String
    /// Of ``said``: a change takes the place of all that was said before it.
    let first: Int
    /// More than once in listings is a fault of the provider's.
    var times: Int
  }

  /// How many the provider has told of.
  package private(set) var count = 0
  /// Of everything that the provider has said.
  package private(set) var bytes = 0

  /// - Parameter known: the items until now.
  package init(_ known: [ProviderItem]) {
    self.known = known
    var (places, knownIn): ([String: Int], [String: [Int]]) = ([:], [:])
    places.reserveCapacity(known.count)
    for (index, item) in known.enumerated() {
      places[item.identifier] = index
      knownIn[item.parent, default: []].append(index)
    }
    (self.places, self.knownIn) = (places, knownIn)
  }

  private mutating func say(_ item: ProviderItem) {
    func note(_ told: inout Told) { (told.folder, told.times) = (item.parent, told.times + 1) }
    note(&told[item.identifier, default: Told(folder: item.parent, first: said.count, times: 0)])
    said.append(item)
    if isAsBefore { isAsBefore = places[item.identifier].map { known[$0].isShown(as: item) } ?? false }
    count += 1
    bytes += item.bytes
    if item.isFolder { foldersIn[item.parent, default: []].append(item.identifier) }
  }

  /// A folder has exactly these.
  package mutating func list(_ content: [ProviderItem], of folder: String) {
    told.reserveCapacity(told.count + content.count)
    said.reserveCapacity(said.count + content.count)
    for item in content { say(item) }
    // An item that has been told of is there, in whichever folder.
    for index in knownIn[folder] ?? [] where told[known[index].identifier] == nil {
      gone.insert(known[index].identifier)
    }
  }

  /// A folder has changed (`PRV-9`).
  package mutating func change(_ changes: FolderChanges) {
    for identifier in changes.order {
      guard let item = changes.verdicts[identifier] ?? nil else {
        if gone.insert(identifier).inserted { bytes += identifier.utf8.count }
        continue
      }
      // Two folders may tell of one move.
      if let before = told.removeValue(forKey: identifier) { (count, isCorrected) = (count - before.times, true) }
      say(item)
    }
  }

  /// Items of the working set, as far as no folder has them.
  package mutating func add(_ items: [ProviderItem]) {
    for item in items where told[item.identifier] == nil { say(item) }
  }

  private func isKnown(_ identifier: String) -> Bool {
    told[identifier] == nil && places[identifier] != nil && !gone.contains(identifier)
  }

  /// The provider has told of it now.
  package func isTold(_ identifier: String) -> Bool { told[identifier] != nil }

  package func contains(_ identifier: String) -> Bool { told[identifier] != nil || isKnown(identifier) }

  package func folders(in folder: String) -> [String] {
    (foldersIn[folder] ?? []).filter { told[$0]?.folder == folder }
      + (knownIn[folder] ?? []).lazy.map { known[$0] }.filter { $0.isFolder && isKnown($0.identifier) }
      .map(\.identifier)
  }

  /// Whether exactly the known items are there, each of them shown as it is.
  package var isUnchanged: Bool { isAsBefore && gone.isEmpty && told.count == count }

  /// All that there are now. A folder takes along the items in it that the provider says nothing of.
  package var all: [ProviderItem] {
    var reached: Set<String> = [ProviderItem.root, ProviderItem.trash]
    var open = Array(reached)
    while let folder = open.popLast() {
      for inner in folders(in: folder) where reached.insert(inner).inserted { open.append(inner) }
    }
    var present = said
    if isCorrected {
      present = said.indices.filter { $0 >= told[said[$0].identifier]?.first ?? 0 }.map { said[$0] }
    }
    return present
      + known.filter { isKnown($0.identifier) && reached.contains($0.parent) }
      .sorted { $0.identifier < $1.identifier }
  }
}

/// The changes in a folder since an anchor; the last word about an item counts.
package struct FolderChanges: Sendable {
  /// By identifier; `nil`: it is gone.
  package private(set) var verdicts: [String: ProviderItem?] = [:]
  /// The identifiers, each once.
  fileprivate private(set) var order: [String] = []
  /// Of the verdicts.
  package private(set) var bytes = 0

  package init() {}

  package mutating func add(updated: [ProviderItem], deleted: [String]) {
    for identifier in deleted { judge(identifier, nil) }
    for item in updated { judge(item.identifier, item) }
  }

  private mutating func judge(_ identifier: String, _ item: ProviderItem?) {
    bytes += item?.bytes ?? identifier.utf8.count
    if let before = verdicts.updateValue(item, forKey: identifier) {
      bytes -= before?.bytes ?? identifier.utf8.count
    } else {
      order.append(identifier)
    }
  }
}
