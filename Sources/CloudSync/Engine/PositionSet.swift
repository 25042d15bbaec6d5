/// A set of positions that is walked in rising order. Each step takes the same time, however few of the positions are in the set.
struct PositionSet: Hashable, Sendable {
  private(set) var count = 0
  /// A bit for each position, and a bit for each word that is not zero.
  private var words: [UInt64] = []
  private var summary: [UInt64] = []

  var isEmpty: Bool { count == 0 }

  func contains(_ position: Int) -> Bool {
    let word = position >> 6
    return word < words.count && words[word] & Self.bit(position) != 0
  }

  mutating func insert(_ position: Int) {
    let word = position >> 6
    while words.count <= word { words.append(0) }
    while summary.count <= word >> 6 { summary.append(0) }
    if words[word] & Self.bit(position) != 0 { return }
    words[word] |= Self.bit(position)
    summary[word >> 6] |= Self.bit(word)
    count += 1
  }

  mutating func remove(_ position: Int) {
    guard contains(position) else { return }
    let word = position >> 6
    words[word] &= ~Self.bit(position)
    if words[word] == 0 { summary[word >> 6] &= ~Self.bit(word) }
    count -= 1
  }

  mutating func set(_ position: Int, _ isMember: Bool) {
    if isMember { insert(position) } else { remove(position) }
  }

  /// The first position of the set that is not below `start`.
  func next(from start: Int) -> Int? {
    var word = start >> 6
    guard count > 0, word < words.count else { return nil }
    let rest = words[word] & Self.bits(from: start)
    if rest != 0 { return word << 6 + rest.trailingZeroBitCount }
    word += 1
    var group = word >> 6
    guard group < summary.count else { return nil }
    var groups = summary[group] & Self.bits(from: word)
    while groups == 0 {
      group += 1
      guard group < summary.count else { return nil }
      groups = summary[group]
    }
    word = group << 6 + groups.trailingZeroBitCount
    return word << 6 + words[word].trailingZeroBitCount
  }

  /// All positions, in rising order.
  var positions: [Int] {
    var result: [Int] = []
    result.reserveCapacity(count)
    var start = 0
    while let position = next(from: start) {
      result.append(position)
      start = position + 1
    }
    return result
  }

  private static func bit(_ position: Int) -> UInt64 { 1 << UInt64(position & 63) }
  private static func bits(from position: Int) -> UInt64 { ~0 << UInt64(position & 63) }
}
