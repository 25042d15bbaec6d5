import Kernel

/// The order of the list. Facts are read in slices between two frames, so that no folder is too large for a key press.
struct ListSorting: Sendable {
  /// Indexes into the entries, in the order of the list.
  var listed: [Int] = []
  /// Of the first entries, as far as they are known.
  var facts: [EntryFacts] = []
  /// More entries than this are sorted by name and kind alone.
  static let most = 200_000
  /// As many entries are asked about at once.
  static let slice = 4000
}

extension PickerModel {
  /// The entries that the order needs facts of next.
  var wantedFacts: Range<Int> {
    guard view.order.needsFacts, entries.count <= ListSorting.most else { return 0..<0 }
    let start = sorting.facts.count
    return start..<min(entries.count, start + ListSorting.slice)
  }

  /// The order that was asked for waits for facts.
  var isSorting: Bool { !wantedFacts.isEmpty }

  /// - Returns: the list has changed its order.
  mutating func learn(facts: [EntryFacts]) -> Bool {
    sorting.facts += facts
    guard view.order.needsFacts, !isSorting else { return false }
    arrange()
    return true
  }

  mutating func sort(by order: ListOrder, reversed: Bool) {
    guard !order.needsFacts || entries.count <= ListSorting.most else {
      say("There are too many names here to sort them by \(order.rawValue).")
      return
    }
    (view.order, view.isReversed) = (order, reversed)
    if !isSorting { arrange() }
    say(
      "Sorted by \(order.rawValue)\(reversed ? ", reversed" : ""). \(order.key) again reverses it, Ctrl-S goes to the next order."
    )
  }

  /// Its own key once more turns an order round.
  mutating func press(order: ListOrder) { sort(by: order, reversed: view.order == order && !view.isReversed) }

  /// The entries in the order of the list, as far as their facts are known.
  func listing() -> [Int] {
    let order = isSorting ? ListOrder.name : view.order
    let reverses = !isSorting && view.isReversed
    if order == .name && !reverses || order.needsFacts && sorting.facts.count < entries.count {
      return Array(entries.indices)
    }
    let split = entries.firstIndex { $0.kind != .folder } ?? entries.count
    let (folders, files) = (Array(0..<split), Array(split..<entries.count))
    switch order {
    case .name: return folders.reversed() + files.reversed()
    case .kind:
      let sorted = sorted(files, by: { Self.kind(entries[$0]) }, reverses)
      return folders + sorted
    case .date:
      return sorted(folders, by: { -sorting.facts[$0].modified.clamped }, reverses)
        + sorted(files, by: { -sorting.facts[$0].modified.clamped }, reverses)
    case .size: return folders + sorted(files, by: { -sorting.facts[$0].size.clamped }, reverses)
    }
  }

  private func sorted<Key: Comparable>(_ indexes: [Int], by key: (Int) -> Key, _ reverses: Bool) -> [Int] {
    let keyed = indexes.map { (key: key($0), index: $0) }
    return keyed.sorted { left, right in
      if left.key == right.key { return left.index < right.index }
      return (left.key < right.key) != reverses
    }.map(\.index)
  }

  /// The extension in lower case, and nothing for a name without; special files come last.
  private static func kind(_ entry: Entry) -> Kind {
    let name = entry.name.bytes
    let isPlain = entry.kind == .file || entry.kind == .package
    guard isPlain, let dot = name.lastIndex(of: 0x2E), dot > 0 else { return Kind(group: isPlain ? 0 : 1, bytes: []) }
    return Kind(group: 0, bytes: Folding.fold(String(decoding: name[(dot + 1)...], as: UTF8.self)))
  }

  private struct Kind: Comparable {
    let group: Int
    let bytes: [UInt8]

    static func < (left: Kind, right: Kind) -> Bool {
      left.group != right.group ? left.group < right.group : left.bytes.lexicographicallyPrecedes(right.bytes)
    }
  }
}

extension Int64 {
  /// Has an opposite.
  fileprivate var clamped: Int64 { Swift.max(self, -Int64.max) }
}

extension OpenFolder {
  /// The facts of some entries, of the file that each name leads to; opens nothing.
  func facts(of entries: some Sequence<Entry>) -> [EntryFacts] {
    entries.map { entry in
      guard let status = try? FileStatus(of: entry.name, in: descriptor.rawValue) else { return .unknown }
      return EntryFacts(size: status.size, modified: status.modifiedNanoseconds)
    }
  }
}
