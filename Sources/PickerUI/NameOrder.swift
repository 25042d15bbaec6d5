/// The order of names, fast: by eight bytes of their keys at a time.
enum NameOrder {
  private struct Item {
    /// The next eight bytes of the key; zeros after its end.
    var bytes: UInt64
    let start: UInt32
    let end: UInt32
    let index: UInt32
  }

  /// As `Entry.precedes` has it.
  static func sorted(_ entries: [Entry]) -> [Entry] { order(of: entries).map { entries[Int($0)] } }

  /// Indexes of the entries in their order.
  static func order(of entries: [Entry]) -> [UInt32] {
    var keys: [UInt8] = []
    keys.reserveCapacity(entries.count * 24)
    var items: [Item] = []
    items.reserveCapacity(entries.count)
    for (index, entry) in entries.enumerated() {
      let start = keys.count
      keys.append(entry.kind == .folder ? 1 : 2)
      Folding.appendOrderKey(entry.name, to: &keys)
      items.append(Item(bytes: 0, start: UInt32(start), end: UInt32(keys.count), index: UInt32(index)))
    }
    sort(&items, items.indices, at: 0, keys, entries)
    return items.map(\.index)
  }

  private static func sort(
    _ items: inout [Item], _ range: Range<Int>, at depth: Int, _ keys: [UInt8], _ entries: [Entry]
  ) {
    for index in range { items[index].bytes = word(keys, items[index], depth) }
    items[range].sort { $0.bytes < $1.bytes }
    var start = range.lowerBound
    while start < range.upperBound {
      let bytes = items[start].bytes
      var end = start + 1
      while end < range.upperBound, items[end].bytes == bytes { end += 1 }
      if end - start > 1 {
        if bytes & 0xFF == 0 {
          // The keys are equal; the names differ in case, accents or zeros.
          items[start..<end].sort {
            entries[Int($0.index)].name.bytes.lexicographicallyPrecedes(entries[Int($1.index)].name.bytes)
          }
        } else {
          sort(&items, start..<end, at: depth + 8, keys, entries)
        }
      }
      start = end
    }
  }

  private static func word(_ keys: [UInt8], _ item: Item, _ depth: Int) -> UInt64 {
    var word: UInt64 = 0
    for offset in 0..<8 {
      let place = Int(item.start) + depth + offset
      word = word << 8 | (place < item.end ? UInt64(keys[place]) : 0)
    }
    return word
  }
}
