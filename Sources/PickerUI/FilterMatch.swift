/// How well a name answers the filter; lower is better, and comes first in the list.
enum MatchTier: Int, Sendable, CaseIterable {
  case whole, beginning, inside, scattered
}

/// The filter: the typed text is looked for in a row, and failing that scattered over the name in order.
enum FilterMatch {
  /// Both sides folded (`Folding.fold`). nil: no match. An empty filter matches everything.
  static func tier(of needle: [UInt8], in name: [UInt8]) -> MatchTier? {
    if needle.count > name.count { return nil }
    if let start = firstOffset(of: needle, in: name) {
      return start > 0 ? .inside : needle.count == name.count ? .whole : .beginning
    }
    return scattered(needle, in: name) == nil ? nil : .scattered
  }

  /// Offsets of the characters of `name` that the filter matched, for emphasis.
  static func matchedCharacters(of filter: String, in name: String) -> Set<Int> {
    let needle = Folding.fold(filter)
    if needle.isEmpty { return [] }
    // Characters are folded one by one, which keeps track of the character of each byte. In the rare name that folds otherwise as a
    // whole (a final sigma), the emphasis may be missing; the match is not.
    var bytes: [UInt8] = []
    var owner: [Int] = []
    for (offset, character) in name.enumerated() {
      let folded = Folding.fold(String(character))
      bytes += folded
      owner += Array(repeating: offset, count: folded.count)
    }
    if let start = firstOffset(of: needle, in: bytes) { return Set(owner[start..<(start + needle.count)]) }
    return Set((scattered(needle, in: bytes) ?? []).map { owner[$0] })
  }

  private static func firstOffset(of needle: [UInt8], in name: [UInt8]) -> Int? {
    guard let first = needle.first else { return 0 }
    var start = 0
    while start + needle.count <= name.count {
      if name[start] == first {
        var length = 1
        while length < needle.count, name[start + length] == needle[length] { length += 1 }
        if length == needle.count { return start }
      }
      start += 1
    }
    return nil
  }

  private static func scattered(_ needle: [UInt8], in name: [UInt8]) -> [Int]? {
    var offsets: [Int] = []
    for (offset, byte) in name.enumerated() where offsets.count < needle.count && byte == needle[offsets.count] {
      offsets.append(offset)
    }
    return offsets.count == needle.count ? offsets : nil
  }
}
