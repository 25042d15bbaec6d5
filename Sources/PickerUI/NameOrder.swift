/// The order of names, fast: by eight bytes of their keys at a time.
///
/// The keys can be made while further names are still being read.
struct NameOrder {
  private struct Item {
    /// The next eight bytes of the key; zeros after its end.
    var bytes: UInt64
    let start: UInt32
    let index: UInt32
  }

  /// After each key; no name has a zero in it.
  private static let end = 8

  private var items: [Item] = []
  /// The keys, one after the other.
  private var keys: [UInt8] = []

  /// As `Entry.precedes` has it.
  static func sorted(_ entries: [Entry]) -> [Entry] {
    var (order, sorted) = (NameOrder(), entries)
    order.add(entries[...])
    order.sort(&sorted)
    return sorted
  }

  /// Takes up the entries that come next.
  mutating func add(_ entries: ArraySlice<Entry>) {
    // A number of one digit becomes three bytes.
    let capacity = entries.reduce(0) { $0 + 3 * $1.name.bytes.count + 1 + Self.end }
    let before = keys.count
    keys += unsafe [UInt8](unsafeUninitializedCapacity: capacity) { keys, count in
      for entry in entries {
        items.append(Item(bytes: 0, start: UInt32(before + count), index: UInt32(items.count)))
        func put(_ byte: UInt8) {
          unsafe keys[count] = byte
          count += 1
        }
        put(entry.kind == .folder ? 1 : 2)
        if entry.name.isPlain {
          Folding.order(entry.name.bytes.span, put)
        } else {
          // Decomposed it may be longer than there is room; beyond that, the name itself decides.
          for byte in Folding.orderKey(entry.name).prefix(3 * entry.name.bytes.count) { put(byte) }
        }
        for _ in 0..<Self.end { put(0) }
      }
    }
  }

  /// Sorts the entries that were taken up, all of them.
  mutating func sort(_ entries: inout [Entry]) {
    Self.sort(&items, items.indices, at: 0, keys, entries)
    Self.arrange(&entries, items.map { Int($0.index) })
  }

  /// Puts each entry into its place. They are moved and not copied, which would count references up and down.
  private static func arrange(_ entries: inout [Entry], _ order: [Int]) {
    var order = order
    for first in order.indices where order[first] != first {
      var place = first
      while order[place] != first {
        let next = order[place]
        entries.swapAt(place, next)
        order[place] = place
        place = next
      }
      order[place] = place
    }
  }

  private static func sort(
    _ items: inout [Item], _ range: Range<Int>, at depth: Int, _ keys: [UInt8], _ entries: [Entry]
  ) {
    let bytes = unsafe keys.span.bytes
    for index in range {
      let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: Int(items[index].start) + depth, as: UInt64.self)
      items[index].bytes = UInt64(bigEndian: word)
    }
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
          sort(&items, start..<end, at: depth + Self.end, keys, entries)
        }
      }
      start = end
    }
  }
}
