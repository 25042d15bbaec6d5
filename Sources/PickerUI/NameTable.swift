internal import Kernel
internal import Synchronization

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
    let scored = Self.scored(query, names, candidates)
    found = scored.found
    ranked = query.ranks ? Self.sorted(found, by: scored.keys) : found
  }

  /// The names that answer a query, and the key of each by which it is ranked.
  private struct Scored: Sendable {
    var found: [Int] = []
    var keys: [UInt32] = []

    init(_ query: FuzzyQuery, _ names: NameTable, _ candidates: ArraySlice<Int>) {
      var match = FuzzyMatch()
      for index in candidates {
        guard let score = match.score(query, names, index) else { continue }
        found.append(index)
        // The highest score is 26 for each of 255 characters and 10 for each of 128 words.
        keys.append(UInt32(8191 - max(0, min(8191, score))) << 8 | UInt32(min(255, names.length(index))))
      }
    }
  }

  /// A part of the names that a thread of its own looks through.
  private final class Part: Sendable {
    private let result = Mutex<Scored?>(nil)
    private let candidates: ArraySlice<Int>

    init(_ candidates: ArraySlice<Int>) { self.candidates = candidates }

    /// - Returns: `nil`: there is no thread for it.
    func start(_ query: FuzzyQuery, _ names: NameTable) -> Worker? {
      try? Worker {
        let scored = Scored(query, names, self.candidates)
        self.result.withLock { $0 = scored }
      }
    }

    func scored(_ query: FuzzyQuery, _ names: NameTable) -> Scored {
      result.withLock { $0 } ?? Scored(query, names, candidates)
    }
  }

  /// Fewer names are not worth a thread.
  private static let fewest = 4096
  private static let mostThreads = 8

  private static func scored(_ query: FuzzyQuery, _ names: NameTable, _ candidates: [Int]) -> Scored {
    let threads = min(Poll.processors, mostThreads, candidates.count / fewest)
    guard threads > 1 else { return Scored(query, names, candidates[...]) }
    let size = (candidates.count + threads - 1) / threads
    let parts = stride(from: size, to: candidates.count, by: size).map { start in
      Part(candidates[start..<min(start + size, candidates.count)])
    }
    let workers = parts.map { $0.start(query, names) }
    var all = Scored(query, names, candidates[..<size])
    for (part, worker) in zip(parts, workers) {
      worker?.finish()
      let scored = part.scored(query, names)
      all.found += scored.found
      all.keys += scored.keys
    }
    return all
  }

  /// By 21 bits in two passes, which keep the order of equals.
  private static func sorted(_ values: [Int], by keys: [UInt32]) -> [Int] {
    guard values.count > 1 else { return values }
    var order = Array(0..<UInt32(values.count))
    var next = order
    for shift in [UInt32(0), 11] {
      var places = [Int](repeating: 0, count: 2049)
      for key in keys { places[Int(key >> shift & 2047) + 1] += 1 }
      for digit in 1...2047 { places[digit] += places[digit - 1] }
      for index in order {
        let digit = Int(keys[Int(index)] >> shift & 2047)
        next[places[digit]] = index
        places[digit] += 1
      }
      swap(&order, &next)
    }
    return order.map { values[Int($0)] }
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
