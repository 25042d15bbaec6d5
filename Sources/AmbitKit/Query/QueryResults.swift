internal import Foundation
internal import Paths
internal import Query
internal import Wire

/// The results of a query as its client has them, and what has become of them since that was told last.
struct QueryResults {
  private(set) var list: ResultList
  private(set) var items: [Int: NSMetadataItem] = [:]
  /// Changes that no notification has told.
  private(set) var untold = ResultList.Difference()
  /// The items that were removed, for the notification.
  private(set) var removed: [Int: NSMetadataItem] = [:]
  /// Own numbers, by those of the stream.
  private var numbers: [Int: Int] = [:]
  private var last = 0
  /// After the broker has ended and another one has taken over: results of before that are not found again yet, by their paths.
  private var missing: [PathKey: Int] = [:]
  /// The number of the stream.
  private var query = 0

  init(_ orders: [ResultOrder]) { list = ResultList(orders, by: AppTypes.decider) }

  /// Another stream of the same query tells from now on.
  mutating func follow(_ query: Int) {
    self.query = query
    numbers = [:]
    missing = Dictionary(
      items.map { (PathKey($1.record.path), $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// - Returns: what has become of the results by it.
  @discardableResult
  mutating func apply(_ update: QueryInterface.Update) -> Changes {
    var present: [(number: Int, record: MetadataRecord)] = []
    for item in update.present {
      let record = MetadataRecord(item)
      let number = numbers[item.item] ?? missing.removeValue(forKey: PathKey(record.path)) ?? last + 1
      last = max(last, number)
      numbers[item.item] = number
      present.append((number, record))
      if let known = items[number] {
        known.update(record, query: query, item: item.item)
      } else {
        items[number] = NSMetadataItem(record, query: query, item: item.item)
      }
    }
    var gone = update.removed.compactMap { numbers.removeValue(forKey: $0) }
    if update.phase == .gathered {
      gone += missing.values
      missing = [:]
    }
    let difference = list.apply(present, removed: gone)
    let former = gone.reduce(into: [:]) { $0[$1] = items[$1] }
    note(difference)
    return Changes(
      added: difference.added.compactMap { items[$0] }, changed: difference.changed.compactMap { items[$0] },
      removed: difference.removed.compactMap { former[$0] })
  }

  /// Items, as notifications tell of them.
  struct Changes {
    var added: [NSMetadataItem] = []
    var changed: [NSMetadataItem] = []
    var removed: [NSMetadataItem] = []
    var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }
  }

  private mutating func note(_ difference: ResultList.Difference) {
    for number in difference.removed {
      let item = items.removeValue(forKey: number)
      if let at = untold.added.firstIndex(of: number) {
        untold.added.remove(at: at)
        continue
      }
      untold.changed.removeAll { $0 == number }
      untold.removed.append(number)
      removed[number] = item
    }
    untold.added += difference.added
    if !difference.changed.isEmpty {
      let known = Set(untold.added).union(untold.changed)
      untold.changed += difference.changed.filter { !known.contains($0) }
    }
  }

  /// The untold changes, which are told now.
  mutating func takeUntold() -> Changes {
    defer {
      untold = ResultList.Difference()
      removed = [:]
    }
    return Changes(
      added: untold.added.compactMap { items[$0] }, changed: untold.changed.compactMap { items[$0] },
      removed: untold.removed.compactMap { removed[$0] }
    )
  }

  mutating func index(of item: NSMetadataItem) -> Int? {
    guard let number = items.first(where: { $0.value === item })?.key else { return nil }
    return list.index(of: number)
  }

  var ordered: [NSMetadataItem] { list.numbers.compactMap { items[$0] } }
}

extension MetadataRecord {
  init(_ item: QueryInterface.Item) {
    let kind: Kind =
      switch item.kind {
      case .file: .file
      case .folder: .folder
      case .package: .package
      }
    self.init(
      isExternal: item.external, path: item.path, kind: kind, size: item.size.map(Int64.init),
      created: item.created.map(Int64.init), modified: item.modified.map(Int64.init),
      isWritable: item.access == .readWrite, isHere: item.absent != true, container: item.container,
      reference: item.reference)
  }
}
