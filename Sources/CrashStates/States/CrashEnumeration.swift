/// The states that a crash may leave, at any moment of a trace; each once.
///
/// Crashes between two barriers (``Trace/Operation/isBarrier``) need no points of their own: a step that was not begun and one that
/// was lost leave the same. If a point has few choices, all of them are taken. Of many, the likely troublemakers come first: every
/// prefix, everything with one choice lost, everything lost but for one choice; then random ones.
package struct CrashEnumeration: Sequence, IteratorProtocol, Sendable {
  private let trace: Trace
  /// The steps before which a crash is looked at, and how many states of each.
  private let moments: [(step: Int, budget: Int)]
  private var current = 0
  private var walk: (point: CrashPoint, choices: Walk)?
  private var seen: Set<Key> = []
  private var found = 0
  private var random: SplitMix

  /// Choices of all points together, as far as a number can say it; several may lead to one state.
  package let possible: Double
  /// Whether every choice is taken.
  package let isExhaustive: Bool
  /// Moments at which a crash leaves something different.
  package var momentCount: Int { moments.count }
  /// States so far.
  package var count: Int { seen.count }

  private struct Key: Hashable {
    let digest: ContentDigest
    let acknowledged: Int
  }

  /// - Parameters:
  ///   - states: at most so many.
  ///   - seed: of the random ones; the same seed gives the same states.
  package init(_ trace: Trace, states: Int, seed: UInt64) {
    self.trace = trace
    random = SplitMix(state: seed)
    let steps = trace.steps.indices.filter { trace.steps[$0].operation.isBarrier } + [trace.steps.count]
    // A point holds contents, so each is made when its turn has come.
    let possible = steps.map { CrashPoint(trace, before: $0).possible }
    self.possible = possible.reduce(0, +)
    // The small ones first; the others share what is left.
    var budgets = [Int](repeating: 0, count: steps.count)
    var left = states
    for (place, number) in steps.indices.sorted(by: { possible[$0] < possible[$1] }).enumerated() {
      let share = left / (steps.count - place)
      budgets[number] = possible[number] <= Double(share) ? Int(possible[number]) : share
      left -= budgets[number]
    }
    moments = zip(steps, budgets).map { ($0, $1) }
    isExhaustive = zip(possible, budgets).allSatisfy { $0 <= Double($1) }
  }

  package mutating func next() -> CrashState? {
    while current < moments.count {
      let (step, budget) = moments[current]
      if walk == nil {
        let point = CrashPoint(trace, before: step)
        walk = (point, Walk(point, budget: budget))
      }
      while found < budget, let point = walk?.point, let choice = walk?.choices.next(point, &random) {
        let state = CrashState(point: point, choice: choice)
        if seen.insert(Key(digest: state.digest, acknowledged: state.acknowledged)).inserted {
          found += 1
          return state
        }
      }
      current += 1
      (walk, found) = (nil, 0)
    }
    return nil
  }
}

/// The choices of one point, in the order in which they are tried.
private enum Walk: Sendable {
  case every([Int]?)
  case sample(corners: [[Int]], place: Int, attempts: Int)

  init(_ point: CrashPoint, budget: Int) {
    if point.possible <= Double(budget) {
      self = .every(point.axes.map { _ in 0 })
      return
    }
    let corners = Self.corners(point)
    // A part of the states is left for chance.
    let most = max(1, budget * 3 / 4)
    let chosen = corners.count <= most ? corners : (0..<most).map { corners[$0 * corners.count / most] }
    self = .sample(corners: chosen, place: 0, attempts: budget * 10)
  }

  private static func corners(_ point: CrashPoint) -> [[Int]] {
    let steps =
      point.names.steps
      + point.trace.steps[..<point.step].indices.filter { point.trace.steps[$0].operation.file != nil }
    var corners = (steps.sorted() + [point.step]).reversed().map(point.choice(losingFrom:))
    let nothing = point.axes.map { _ in 0 }
    let everything = point.choice(losingFrom: 0)
    for base in [nothing, everything] {
      for (axis, count) in point.axes.enumerated() {
        for value in 0..<count where value != base[axis] {
          var choice = base
          choice[axis] = value
          corners.append(choice)
        }
      }
    }
    return corners
  }

  mutating func next(_ point: CrashPoint, _ random: inout SplitMix) -> [Int]? {
    switch self {
    case .every(let choice):
      self = .every(choice.flatMap { Self.successor(of: $0, point.axes) })
      return choice
    case .sample(let corners, let place, let attempts):
      guard attempts > 0 else { return nil }
      self = .sample(corners: corners, place: place + 1, attempts: attempts - 1)
      return place < corners.count ? corners[place] : Self.any(point, &random)
    }
  }

  private static func successor(of choice: [Int], _ axes: [Int]) -> [Int]? {
    var next = choice
    for axis in next.indices {
      next[axis] += 1
      if next[axis] < axes[axis] { return next }
      next[axis] = 0
    }
    return nil
  }

  /// A prefix, or everything, in which some choices are made anew.
  private static func any(_ point: CrashPoint, _ random: inout SplitMix) -> [Int] {
    let end = random.below(2) == 0 ? point.step : random.below(point.step + 1)
    var choice = point.choice(losingFrom: end)
    let share = [10, 30, 60, 100][random.below(4)]
    for (axis, count) in point.axes.enumerated() where random.below(100) < share { choice[axis] = random.below(count) }
    return choice
  }
}

/// Numbers that a seed determines.
struct SplitMix: Sendable {
  var state: UInt64

  mutating func below(_ limit: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return limit > 0 ? Int((mixed ^ (mixed >> 31)) % UInt64(limit)) : 0
  }
}
