/// The names of a folder, packed for the filter: a hundred thousand of them in a handful of arrays.
struct NameTable: Sendable {
  /// Names of ASCII alone, one after the other: as they are, in lower case, and the classes of their characters.
  private(set) var raw: [UInt8] = []
  private(set) var lower: [UInt8] = []
  private(set) var classes: [UInt8] = []
  private var starts: [UInt32] = [0]
  /// The other names, as composed characters: as they are, in lower case without accents, and the classes.
  private(set) var scalars: [UInt32] = []
  private(set) var bareLower: [UInt32] = []
  private(set) var wideClasses: [UInt8] = []
  private var wideStarts: [UInt32] = [0]

  init(_ entries: [Entry]) {
    raw.reserveCapacity(entries.count * 24)
    starts.reserveCapacity(entries.count + 1)
    wideStarts.reserveCapacity(entries.count + 1)
    var cache = ScalarCache()
    for entry in entries {
      if entry.name.isPlain {
        raw += entry.name.bytes
      } else {
        for scalar in entry.name.text.composedScalars {
          let forms = cache.forms(scalar)
          scalars.append(scalar)
          bareLower.append(forms.bareLower)
          wideClasses.append(forms.kind)
        }
      }
      starts.append(UInt32(raw.count))
      wideStarts.append(UInt32(scalars.count))
    }
    let kinds = NameClass.ascii
    lower = raw.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }
    classes = raw.map { kinds[Int($0)] }
  }

  /// Empty: the name has other characters than ASCII's.
  func plainRange(_ index: Int) -> Range<Int> { Int(starts[index])..<Int(starts[index + 1]) }
  func wideRange(_ index: Int) -> Range<Int> { Int(wideStarts[index])..<Int(wideStarts[index + 1]) }

  /// How many characters a name has, white space at its ends left out.
  func length(_ index: Int) -> Int {
    let plain = plainRange(index)
    return plain.isEmpty ? Self.length(wideClasses, wideRange(index)) : Self.length(classes, plain)
  }

  private static func length(_ classes: [UInt8], _ range: Range<Int>) -> Int {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, classes[end - 1] == NameClass.white { end -= 1 }
    while start < end, classes[start] == NameClass.white { start += 1 }
    return end - start
  }
}

/// The rows that a query leaves of a folder.
struct NameFilter {
  /// Indexes, in the order of the folder.
  private(set) var found: [Int] = []
  /// The same, the best first. Of two that answer equally well the shorter one comes first, then the one that comes first in the folder.
  private(set) var ranked: [Int] = []

  init(_ query: FuzzyQuery, _ names: NameTable, among candidates: [Int]) {
    guard !query.terms.isEmpty else {
      (found, ranked) = (candidates, candidates)
      return
    }
    var match = FuzzyMatch()
    var keys: [UInt32] = []
    for index in candidates {
      guard let score = match.score(query, names, index) else { continue }
      found.append(index)
      // The highest score is 26 for each of 255 characters and 10 for each of 128 words.
      keys.append(UInt32(8191 - max(0, min(8191, score))) << 8 | UInt32(min(255, names.length(index))))
    }
    ranked = query.ranks ? Self.sorted(found, by: keys) : found
  }

  /// By 21 bits in two passes, which keep the order of equals.
  private static func sorted(_ values: [Int], by keys: [UInt32]) -> [Int] {
    guard values.count > 1 else { return values }
    var order = Array(0..<values.count)
    var next = order
    for shift in [UInt32(0), 11] {
      var places = [Int](repeating: 0, count: 2049)
      for key in keys { places[Int(key >> shift & 2047) + 1] += 1 }
      for digit in 1...2047 { places[digit] += places[digit - 1] }
      for index in order {
        let digit = Int(keys[index] >> shift & 2047)
        next[places[digit]] = index
        places[digit] += 1
      }
      swap(&order, &next)
    }
    return order.map { values[$0] }
  }
}

/// The letters of a name that a filter matched, for emphasis.
enum Emphasis {
  /// Offsets of characters of `name`.
  static func characters(of query: FuzzyQuery, in name: String) -> Set<Int> {
    guard query.ranks else { return [] }
    let names = NameTable([Entry(name: FileName(name), kind: .file)])
    var match = FuzzyMatch()
    guard let places = match.places(query, names, 0), !places.isEmpty else { return [] }
    if !names.plainRange(0).isEmpty, name.count == names.raw.count { return Set(places) }
    // In the rare name that composes otherwise as a whole, the emphasis may be beside the letter; the match is not.
    let wanted = Set(places)
    var found: Set<Int> = []
    var place = 0
    for (offset, character) in name.enumerated() {
      let count = String(character).composedScalars.count
      if (place..<(place + count)).contains(where: wanted.contains) { found.insert(offset) }
      place += count
    }
    return found
  }
}
