import CrashStates
import Paths
import TestSupport
import Testing

/// Properties of all sets of states, by random traces.
@Suite struct EnumerationTests {
  /// A trace of operations that make sense, on three names in two folders.
  private static func random(_ seed: UInt64, length: Int, namesOnly: Bool = false) -> Trace {
    var random = Seeded(seed: seed)
    var made = trace("oo", [])
    var tree = made.initial
    var next = 10
    var operations: [Trace.Operation] = []
    func anywhere() -> (FileTree.ID, String) {
      (Bool.random(using: &random) ? folder : inner, ["a", "b", "letter"].randomElement(using: &random) ?? "a")
    }
    while operations.count < length {
      let (place, name) = anywhere()
      let (other, second) = anywhere()
      let there = tree.child(name, of: place)
      let operation: Trace.Operation
      switch Int.random(in: 0..<(namesOnly ? 5 : 10), using: &random) {
      case 0 where there == nil:
        operation = .create(.init(next), .file([]), in: place, name: name)
        next += 1
      case 1 where there != nil: operation = .unlink(in: place, name: name)
      case 2 where there != nil && (place != other || name != second):
        operation = .rename(in: place, name: name, to: other, as: second)
      case 3 where there != nil && tree.child(second, of: other) != nil && (place != other || name != second):
        operation = .exchange(in: place, name: name, with: other, as: second)
      case 4 where Int.random(in: 0..<3, using: &random) == 0: operation = .sync(place, since: operations.count)
      case 5, 6:
        guard let there else { continue }
        operation = write(
          there, Int.random(in: 0...2, using: &random), ["x", "yy"].randomElement(using: &random) ?? "x")
      case 7:
        guard let there else { continue }
        operation = .resize(there, Int.random(in: 0...3, using: &random))
      case 8:
        guard let there else { continue }
        operation = .sync(there, since: operations.count)
      case 9 where Int.random(in: 0..<4, using: &random) == 0: operation = .acknowledge("")
      default: continue
      }
      tree.apply(operation)
      operations.append(operation)
    }
    made.steps = operations.map { .init($0) }
    return made
  }

  @Test func `every set has the prefixes of its trace, which lose nothing out of order`() {
    for seed in 0..<60 as Range<UInt64> {
      let made = Self.random(seed, length: 7)
      let enumeration = CrashEnumeration(made, states: 50_000, seed: seed)
      guard enumeration.isExhaustive else { continue }
      let found = Set(enumeration.map(\.tree.text))
      var tree = made.initial
      #expect(found.contains(tree.text), "seed \(seed)")
      for step in made.steps {
        tree.apply(step.operation)
        #expect(found.contains(tree.text), "\(tree.text) with seed \(seed)")
      }
    }
  }

  /// All subsets of the changes of names that keep the order of each folder and what was synced, tried one by one.
  private static func bruteForce(_ made: Trace) -> Set<String> {
    var found: Set<String> = []
    func folders(_ operation: Trace.Operation) -> Set<FileTree.ID> {
      switch operation {
      case .create(_, _, let place, _), .unlink(let place, _): [place]
      case .rename(let from, _, let to, _), .exchange(let from, _, let to, _): [from, to]
      default: []
      }
    }
    for end in 0...made.steps.count {
      let changes = (0..<end).filter { !folders(made.steps[$0].operation).isEmpty }
      for mask in 0..<(1 << changes.count) {
        let kept = Set(changes.enumerated().filter { mask & (1 << $0.offset) != 0 }.map(\.element))
        let isOrdered = changes.allSatisfy { change in
          !kept.contains(change)
            || changes.allSatisfy { earlier in
              earlier >= change || kept.contains(earlier)
                || folders(made.steps[earlier].operation).isDisjoint(with: folders(made.steps[change].operation))
            }
        }
        let isSynced = (0..<end).allSatisfy { number in
          guard case .sync(let place, let since) = made.steps[number].operation else { return true }
          return changes.allSatisfy {
            $0 >= since || kept.contains($0) || !folders(made.steps[$0].operation).contains(place)
          }
        }
        guard isOrdered, isSynced else { continue }
        var tree = made.initial
        for change in changes where kept.contains(change) { tree.apply(made.steps[change].operation) }
        found.insert(tree.text)
      }
    }
    return found
  }

  @Test func `the names that survive are those of every subset that keeps each folder's order`() {
    for seed in 0..<150 as Range<UInt64> {
      let made = Self.random(seed, length: 8, namesOnly: true)
      let enumeration = CrashEnumeration(made, states: 100_000, seed: seed)
      #expect(enumeration.isExhaustive)
      #expect(Set(enumeration.map(\.tree.text)) == Self.bruteForce(made), "seed \(seed)")
    }
  }

  @Test func `equal states are told once for each count of acknowledged saves`() {
    for seed in 0..<20 as Range<UInt64> {
      let found = CrashEnumeration(Self.random(seed, length: 7), states: 20_000, seed: seed).map {
        "\($0.acknowledged) \($0.tree.text)"
      }
      #expect(Set(found).count == found.count, "seed \(seed)")
    }
  }

  @Test func `a sample has at most the number that was asked for, and the same states for the same seed`() {
    let operations = (0..<30).map { write(letter, $0 * 4, "text") }
    let made = trace("oooo", operations)
    let enumeration = CrashEnumeration(made, states: 500, seed: 7)
    #expect(!enumeration.isExhaustive && enumeration.possible > 1e15)
    let found = enumeration.map(\.digest)
    #expect(found.count == 500)
    #expect(found == CrashEnumeration(made, states: 500, seed: 7).map(\.digest))
    #expect(found != CrashEnumeration(made, states: 500, seed: 8).map(\.digest))
  }

  @Test func `a sample has every prefix and every loss of a single step`() {
    let operations = (0..<12).map { write(letter, $0, "n") }
    let made = trace("oooooooooooo", operations)
    let found = Set(CrashEnumeration(made, states: 400, seed: 3).map(\.tree.text))
    for count in 0...12 {
      let text = "letter=" + String(repeating: "n", count: count) + String(repeating: "o", count: 12 - count)
      #expect(found.contains(text))
    }
    for place in 0..<12 {
      let text = (0..<12).map { $0 == place ? "o" : "n" }.joined()
      #expect(found.contains("letter=\(text)"))
    }
  }
}
