/// Scores of names under a query, by the rules of fzf's second algorithm: the best alignment counts, found as Smith and Waterman do.
///
/// A matched character is worth 16, and more at the beginning of a word, at a change of case, at a number, or next to the one before;
/// the bonus of the first character counts twice. A gap costs 3, and 1 for each further character.
///
/// The value keeps its working memory between names, so that no name costs an allocation.
struct FuzzyMatch: Sendable {
  private static let match: Int32 = 16
  private static let gapStart: Int32 = -3
  private static let gapExtension: Int32 = -1
  private static let boundary: Int32 = 8
  private static let consecutive: Int32 = 4
  private static let afterWhite: Int32 = 10
  private static let afterDelimiter: Int32 = 9
  private static let camel: Int32 = 7

  /// By the class of a character and of the one before: `before * 8 + own`.
  private let bonuses: [Int32] = (0..<64).map { Self.bonus(UInt8($0 >> 3), UInt8($0 & 7)) }
  /// The first place of each character of the query.
  private var firsts: [Int] = []
  /// Of each place, from the first that matters.
  private var bonus: [Int32] = []
  /// A row for each character of the query: the best score that ends at a place, and how many places before it matched in a row.
  private var scores: [Int32] = []
  private var runs: [Int32] = []
  /// The matches of the row before, and of the present one.
  private var before: [Cell] = Array(repeating: Cell(), count: 256)
  private var present: [Cell] = Array(repeating: Cell(), count: 256)
  private var folded: [UInt32] = []
  private var cache = ScalarCache()

  private static func bonus(_ before: UInt8, _ own: UInt8) -> Int32 {
    if own > NameClass.other {
      if before == NameClass.white { return afterWhite }
      if before == NameClass.delimiter { return afterDelimiter }
      if before == NameClass.other { return boundary }
    }
    if before == NameClass.lower && own == NameClass.upper { return camel }
    if before != NameClass.number && own == NameClass.number { return camel }
    if own == NameClass.other { return boundary }
    return own == NameClass.white ? afterWhite : 0
  }

  // MARK: - Names

  /// - Returns: nil: the name does not answer the query. More is better.
  mutating func score(_ query: FuzzyQuery, _ names: NameTable, _ index: Int) -> Int32? {
    var total: Int32 = 0
    var places: [Int]?
    // By spans: an array hands each element out with a count of its references, and threads share that count.
    let terms = query.terms.span
    for place in terms.indices {
      guard let score = score(terms[place], names, index, &places) else { return nil }
      total += score
    }
    return total
  }

  /// Places of the characters that the query matches, in the composed name; nil: the name does not answer it.
  mutating func places(_ query: FuzzyQuery, _ names: NameTable, _ index: Int) -> [Int]? {
    var all: [Int] = []
    for term in query.terms {
      var places: [Int]? = []
      guard score(term, names, index, &places) != nil else { return nil }
      if !term.isInverse { all += places ?? [] }
    }
    return all
  }

  private mutating func score(
    _ term: FuzzyQuery.Term, _ names: NameTable, _ index: Int, _ places: inout [Int]?
  ) -> Int32? {
    let score: Int32?
    let plain = names.plainRange(index)
    if !plain.isEmpty {
      guard term.isPlain else { return term.isInverse ? 0 : nil }
      let classes = names.classes.span.extracting(plain)
      if term.isCaseSensitive {
        score = self.score(term.kind, names.raw.span.extracting(plain), classes, term.ascii.span, &places)
      } else {
        score = self.score(term.kind, names.lower.span.extracting(plain), classes, term.ascii.span, &places)
      }
    } else {
      let range = names.wideRange(index)
      let classes = names.wideClasses.span.extracting(range)
      if !term.isCaseSensitive && !term.keepsAccents {
        score = self.score(term.kind, names.bareLower.span.extracting(range), classes, term.scalars.span, &places)
      } else {
        var text = folded
        text.removeAll(keepingCapacity: true)
        for scalar in names.scalars[range] {
          let forms = cache.forms(scalar)
          text.append(term.isCaseSensitive ? (term.keepsAccents ? scalar : forms.bare) : forms.lower)
        }
        score = self.score(term.kind, text.span, classes, term.scalars.span, &places)
        folded = text
      }
    }
    guard term.isInverse else { return score }
    return score == nil ? 0 : nil
  }

  private mutating func score<Unit: FixedWidthInteger>(
    _ kind: FuzzyQuery.Term.Kind, _ text: Span<Unit>, _ classes: Span<UInt8>, _ pattern: Span<Unit>,
    _ places: inout [Int]?
  ) -> Int32? {
    guard pattern.count <= text.count else { return nil }
    let start: Int
    switch kind {
    case .scattered: return scattered(text, classes, pattern, &places)
    case .exact:
      guard let found = exact(text, classes, pattern) else { return nil }
      start = found
    case .prefix:
      start = Self.isWhite(pattern[0]) ? 0 : Self.leadingWhite(classes)
      guard Self.has(text, pattern, at: start) else { return nil }
    case .suffix:
      let end = text.count - (Self.isWhite(pattern[pattern.count - 1]) ? 0 : Self.trailingWhite(classes))
      start = end - pattern.count
      guard Self.has(text, pattern, at: start) else { return nil }
    case .whole:
      start = Self.isWhite(pattern[0]) ? 0 : Self.leadingWhite(classes)
      let end = text.count - (Self.isWhite(pattern[pattern.count - 1]) ? 0 : Self.trailingWhite(classes))
      guard end - start == pattern.count, Self.has(text, pattern, at: start) else { return nil }
      places?.append(contentsOf: start..<end)
      return (Self.match + Self.afterWhite) * Int32(pattern.count) + Self.afterWhite
    }
    places?.append(contentsOf: start..<(start + pattern.count))
    return scoreOfRun(classes, start, pattern.count)
  }

  private static func isWhite(_ unit: some FixedWidthInteger) -> Bool {
    ScalarForms(UInt32(truncatingIfNeeded: unit)).kind == NameClass.white
  }

  private static func leadingWhite(_ classes: Span<UInt8>) -> Int {
    var count = 0
    while count < classes.count, classes[count] == NameClass.white { count += 1 }
    return count
  }

  private static func trailingWhite(_ classes: Span<UInt8>) -> Int {
    var count = 0
    while count < classes.count, classes[classes.count - 1 - count] == NameClass.white { count += 1 }
    return count
  }

  private static func has<Unit: FixedWidthInteger>(_ text: Span<Unit>, _ pattern: Span<Unit>, at start: Int) -> Bool {
    guard start >= 0, start + pattern.count <= text.count else { return false }
    for offset in 0..<pattern.count where text[start + offset] != pattern[offset] { return false }
    return true
  }

  private func bonus(_ classes: Span<UInt8>, _ place: Int) -> Int32 {
    bonuses[Int(place > 0 ? classes[place - 1] : NameClass.white) << 3 + Int(classes[place])]
  }

  // MARK: - As it stands

  /// The place with the best beginning; the first that is a beginning of a word is good enough.
  private func exact<Unit: FixedWidthInteger>(
    _ text: Span<Unit>, _ classes: Span<UInt8>, _ pattern: Span<Unit>
  ) -> Int? {
    var best: (place: Int, bonus: Int32)?
    for place in 0...(text.count - pattern.count) where text[place] == pattern[0] && Self.has(text, pattern, at: place)
    {
      let bonus = place == 0 ? Self.afterWhite : bonus(classes, place)
      if bonus > best?.bonus ?? -1 { best = (place, bonus) }
      if bonus >= Self.boundary { break }
    }
    return best?.place
  }

  private func scoreOfRun(_ classes: Span<UInt8>, _ start: Int, _ count: Int) -> Int32 {
    var score: Int32 = 0
    var first: Int32 = 0
    for place in start..<(start + count) {
      var own = bonus(classes, place)
      if place == start {
        first = own
        score += Self.match + 2 * own
        continue
      }
      if own >= Self.boundary && own > first { first = own }
      own = max(own, first, Self.consecutive)
      score += Self.match + own
    }
    return score
  }

  // MARK: - Scattered

  private mutating func scattered<Unit: FixedWidthInteger>(
    _ text: Span<Unit>, _ classes: Span<UInt8>, _ pattern: Span<Unit>, _ places: inout [Int]?
  ) -> Int32? {
    let count = pattern.count
    if firsts.count < count { firsts = Array(repeating: 0, count: count) }
    var place = 0
    for index in 0..<count {
      let wanted = pattern[index]
      while place < text.count, text[place] != wanted { place += 1 }
      if place == text.count { return nil }
      firsts[index] = place
      place += 1
    }
    if count == 1 { return single(text, classes, pattern[0], &places) }
    let first = firsts[0]
    var last = text.count - 1
    while text[last] != pattern[count - 1] { last -= 1 }
    // At once, at the beginning of a word: no other alignment can be worth more.
    if firsts[count - 1] - first == count - 1, bonus(classes, first) == Self.afterWhite {
      places?.append(contentsOf: firsts[..<count])
      return (Self.match + Self.afterWhite) * Int32(count) + Self.afterWhite
    }
    if places == nil { return sparse(text, classes, pattern, last) }
    let width = last - first + 1
    prepare(classes, first, width, cells: width * count)
    firstRow(text, pattern[0], first, width)
    var best: (score: Int32, column: Int) = (0, 0)
    for row in 1..<count {
      let ends = fillRow(row, text, pattern[row], first, width)
      if row == count - 1 { best = ends }
    }
    if places != nil { trace(count, first, width, best.column, &places) }
    return best.score
  }

  /// One character: its first place with the best bonus, and the first beginning of a word at the latest.
  private func single<Unit: FixedWidthInteger>(
    _ text: Span<Unit>, _ classes: Span<UInt8>, _ wanted: Unit, _ places: inout [Int]?
  ) -> Int32 {
    var best: (score: Int32, place: Int) = (0, firsts[0])
    for place in firsts[0]..<text.count where text[place] == wanted {
      let bonus = bonus(classes, place)
      let score = Self.match + 2 * bonus
      if score > best.score { best = (score, place) }
      if bonus >= Self.boundary { break }
    }
    places?.append(best.place)
    return best.score
  }

  private mutating func prepare(_ classes: Span<UInt8>, _ first: Int, _ width: Int, cells: Int) {
    if bonus.count < width { bonus = Array(repeating: 0, count: max(256, width)) }
    for column in 0..<width { bonus[column] = bonus(classes, first + column) }
    if scores.count < cells {
      scores = Array(repeating: 0, count: max(4096, cells))
      runs = Array(repeating: 0, count: max(4096, cells))
    }
  }

  private mutating func firstRow<Unit: FixedWidthInteger>(
    _ text: Span<Unit>, _ wanted: Unit, _ first: Int, _ width: Int
  ) {
    var before: Int32 = 0
    var isInGap = false
    for column in 0..<width {
      if text[first + column] == wanted {
        before = Self.match + 2 * bonus[column]
        runs[column] = 1
        isInGap = false
      } else {
        before = max(before + (isInGap ? Self.gapExtension : Self.gapStart), 0)
        runs[column] = 0
        isInGap = true
      }
      scores[column] = before
    }
  }

  /// - Returns: the row's first best score, and its column.
  private mutating func fillRow<Unit: FixedWidthInteger>(
    _ row: Int, _ text: Span<Unit>, _ wanted: Unit, _ first: Int, _ width: Int
  ) -> (score: Int32, column: Int) {
    let start = row * width
    let begin = firsts[row] - first
    var isInGap = false
    var left: Int32 = 0
    var best: (score: Int32, column: Int) = (0, begin)
    for column in begin..<width {
      let gap = left + (isInGap ? Self.gapExtension : Self.gapStart)
      var matched: Int32 = 0
      var run: Int32 = 0
      if text[first + column] == wanted {
        let diagonal = start + column - width - 1
        matched = scores[diagonal] + Self.match
        var own = bonus[column]
        run = runs[diagonal] + 1
        if run > 1 {
          let atStart = bonus[column - Int(run) + 1]
          if own >= Self.boundary && own > atStart { run = 1 } else { own = max(own, Self.consecutive, atStart) }
        }
        if matched + own < gap {
          matched += bonus[column]
          run = 0
        } else {
          matched += own
        }
      }
      runs[start + column] = run
      isInGap = matched < gap
      left = max(matched, gap, 0)
      scores[start + column] = left
      if left > best.score { best = (left, column) }
    }
    return best
  }

  /// Walks back from the best end to the places of the alignment.
  private func trace(_ count: Int, _ first: Int, _ width: Int, _ end: Int, _ places: inout [Int]?) {
    var row = count - 1
    var column = end
    var prefersMatch = true
    while column >= 0 {
      let start = row * width
      let begin = firsts[row] - first
      let own = scores[start + column]
      let diagonal = row > 0 && column >= begin && column > 0 ? scores[start + column - width - 1] : 0
      let left = column > begin ? scores[start + column - 1] : 0
      if own > diagonal && (own > left || own == left && prefersMatch) {
        places?.append(first + column)
        if row == 0 { return }
        row -= 1
      }
      let below = row + 1 < count && column + 1 < width && column + 1 >= firsts[row + 1] - first
      prefersMatch = runs[start + column] > 1 || below && runs[start + width + column + 1] > 0
      column -= 1
    }
  }
}

// MARK: - Scores alone

extension FuzzyMatch {
  /// A place at which a character of the query matches.
  struct Cell: Sendable {
    var place = 0
    /// Of the best alignment that ends here.
    var score: Int32 = 0
    var run: Int32 = 0
    /// A gap that goes on over this place is worth more than the match.
    var isInGap = false

    /// The score so many places later, if nothing matches before.
    func score(after distance: Int) -> Int32 {
      distance == 0 ? score : max(0, score - (isInGap ? 1 : 3) - Int32(distance - 1))
    }
  }

  /// The score of the alignment that `scattered` finds. Between matches a score only falls, so that they alone are looked at.
  private mutating func sparse<Unit: FixedWidthInteger>(
    _ text: Span<Unit>, _ classes: Span<UInt8>, _ pattern: Span<Unit>, _ last: Int
  ) -> Int32 {
    if before.count < text.count {
      before = Array(repeating: Cell(), count: text.count)
      present = before
    }
    var count = 0
    for place in firsts[0]...last where text[place] == pattern[0] {
      before[count] = Cell(place: place, score: Self.match + 2 * bonus(classes, place), run: 1)
      count += 1
    }
    var best: Int32 = 0
    for row in 1..<pattern.count {
      let wanted = pattern[row]
      var found = 0
      var above = 0
      best = 0
      for place in firsts[row]...last where text[place] == wanted {
        // The last match of the row above that is before this place; there is one.
        while above + 1 < count, before[above + 1].place < place { above += 1 }
        let diagonal = before[above]
        var own = bonus(classes, place)
        var cell = Cell(place: place, run: 1)
        var matched = diagonal.score(after: place - 1 - diagonal.place) + Self.match
        if diagonal.place == place - 1, diagonal.run > 0 {
          cell.run = diagonal.run + 1
          let atStart = bonus(classes, place - Int(diagonal.run))
          if own >= Self.boundary && own > atStart { cell.run = 1 } else { own = max(own, Self.consecutive, atStart) }
        }
        var gap = Self.gapStart
        if found > 0 {
          let left = present[found - 1]
          gap = left.score - (left.isInGap ? 1 : 3) - Int32(place - left.place - 1)
        }
        if matched + own < gap {
          matched += bonus(classes, place)
          cell.run = 0
        } else {
          matched += own
        }
        cell.isInGap = matched < gap
        cell.score = max(matched, gap)
        present[found] = cell
        found += 1
        best = max(best, cell.score)
      }
      count = found
      swap(&before, &present)
    }
    return best
  }
}
