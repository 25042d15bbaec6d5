import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct `The owners of scopes` {
  @Test func `LIM-1, LIM-2: each process has the whole limit, and what one uses is nobody else's`() {
    var owners = ScopeOwners(limit: 2)
    #expect(owners.start("a", by: 1, at: 1) == .first)
    #expect(owners.start("b", by: 1, at: 2) == .first)
    let before = owners
    #expect(owners.start("c", by: 1, at: 3) == .limitReached)
    #expect(owners == before)
    #expect(owners.start("c", by: 2, at: 4) == .first)
    #expect(owners.start("a", by: 2, at: 5) == .shared)
    #expect(owners.start("b", by: 2, at: 6) == .limitReached)
    #expect(owners.stop("c", by: 2) == .last)
    #expect(owners.start("b", by: 2, at: 7) == .shared)
    #expect(owners.used == 4 && owners.used(by: 1) == 2 && owners.used(by: 2) == 2)
  }

  @Test func `TOK-4: a document is there until the last process has stopped it as often as it has started it`() {
    var owners = ScopeOwners(limit: 2)
    #expect(owners.start("a", by: 1, at: 1) == .first)
    #expect(owners.start("a", by: 2, at: 2) == .shared)
    #expect(owners.start("a", by: 2, at: 3) == .nested(count: 2))
    #expect(owners.stop("a", by: 1) == .shared)
    #expect(owners.isActive("a"))
    #expect(owners.stop("a", by: 2) == .nested(count: 1))
    #expect(owners.stop("a", by: 2) == .last)
    #expect(!owners.isActive("a"))
  }

  @Test func `TOK-5: a stop by a process that has not started it does nothing, whoever else has`() {
    var owners = ScopeOwners(limit: 2)
    #expect(owners.stop("a", by: 1) == .inactive)
    _ = owners.start("a", by: 1, at: 1)
    _ = owners.start("b", by: 2, at: 2)
    let before = owners
    #expect(owners.stop("a", by: 2) == .inactive)
    #expect(owners.stop("a", by: 3) == .inactive)
    #expect(owners == before && owners.used(by: 2) == 1)
  }

  @Test func `TOK-11: the end of a process gives back what it held, and nobody else's`() throws {
    var owners = ScopeOwners(limit: 3)
    _ = owners.start("a", by: 1, at: 1, caller: "A.swift:1")
    _ = owners.start("a", by: 1, at: 2, caller: "A.swift:2")
    _ = owners.start("b", by: 1, at: 3)
    _ = owners.start("b", by: 2, at: 4)
    let ended = owners.end(process: 1)
    #expect(ended.map(\.grant) == ["a", "b"] && ended.map(\.count) == [2, 1] && ended[0].caller == "A.swift:1")
    #expect(!owners.isActive("a") && owners.isActive("b"))
    #expect(owners.all.map(\.process) == [2] && owners.used == 1)
    #expect(owners.end(process: 1) == [])
  }

  @Test func `AUD-1: a document's end takes it from every process`() {
    var owners = ScopeOwners(limit: 1)
    for process in 1...3 { _ = owners.start("a", by: Int32(process), at: 1) }
    #expect(owners.start("b", by: 2, at: 1) == .limitReached)
    #expect(owners.end("a").map(\.process) == [1, 2, 3])
    #expect(owners.used == 0 && owners.start("b", by: 2, at: 2) == .first)
  }

  @Test func `what the processes of one app make a broker hold has bounds, and a stop makes room again`() {
    var owners = ScopeOwners(limit: 2, mostProcesses: 2, mostSlots: 3)
    #expect(owners.start("a", by: 1, at: 1) == .first)
    #expect(owners.start("a", by: 2, at: 1) == .shared)
    let before = owners
    #expect(owners.start("a", by: 3, at: 1) == .crowded)
    #expect(owners == before)
    #expect(owners.start("b", by: 1, at: 1) == .first)
    #expect(owners.start("b", by: 2, at: 1) == .crowded)
    // Starting again what one has started takes nothing; and one's own limit is still the reason that counts first.
    #expect(owners.start("a", by: 2, at: 1) == .nested(count: 2))
    #expect(owners.start("c", by: 1, at: 1) == .limitReached)
    _ = owners.end(process: 1)
    #expect(owners.start("a", by: 3, at: 1) == .shared)
    // One process alone can always use its whole limit.
    var alone = ScopeOwners(limit: 5, mostSlots: 3)
    #expect((0..<5).allSatisfy { alone.start("\($0)", by: 1, at: 1) == .first })
    #expect(alone.start("0", by: 2, at: 1) == .crowded)
  }

  // MARK: At random

  /// What it should be, in the simplest form: a table of counts.
  private struct Model {
    let limit: Int
    let mostProcesses: Int
    let mostSlots: Int
    var counts: [[Int]]

    func used(_ process: Int) -> Int { counts[process].count { $0 > 0 } }
    func isActive(_ grant: Int) -> Bool { counts.contains { $0[grant] > 0 } }
    var used: Int { counts.indices.reduce(0) { $0 + used($1) } }

    mutating func start(_ grant: Int, _ process: Int) -> ScopeOwners.StartAnswer {
      if counts[process][grant] > 0 {
        counts[process][grant] += 1
        return .nested(count: counts[process][grant])
      }
      let own = used(process)
      if own == limit { return .limitReached }
      if used == mostSlots || (own == 0 && counts.indices.count { used($0) > 0 } == mostProcesses) { return .crowded }
      let wasActive = isActive(grant)
      counts[process][grant] = 1
      return wasActive ? .shared : .first
    }

    mutating func stop(_ grant: Int, _ process: Int) -> ScopeOwners.StopAnswer {
      if counts[process][grant] == 0 { return .inactive }
      counts[process][grant] -= 1
      if counts[process][grant] > 0 { return .nested(count: counts[process][grant]) }
      return isActive(grant) ? .shared : .last
    }
  }

  fileprivate typealias Shape = (limit: Int, documents: Int, processes: Int, most: Int, slots: Int)

  /// Many documents for few slots, few for many, one process and more of them than there may be.
  fileprivate static let shapes: [Shape] = [
    (limit: 1, documents: 3, processes: 4, most: 3, slots: 100), (2, 5, 3, 3, 5), (4, 4, 2, 8, 100),
    (3, 9, 6, 4, 9), (8, 5, 1, 1, 8), (6, 12, 5, 4, 16),
  ]

  @Test(arguments: shapes)
  fileprivate func `LIM-1, LIM-2, TOK-4, TOK-5, TOK-11: agree with a table of counts, over 180,000 random steps in all`(
    _ shape: Shape
  ) {
    agree(shape, steps: 30_000)
  }

  fileprivate func agree(_ shape: Shape, steps: Int) {
    let (limit, documents, processes, most, slots) = shape
    var generator = Seeded(seed: UInt64(limit * 1000 + documents * 10 + processes))
    let names = (0..<documents).map { "grant\($0)" }
    var owners = ScopeOwners(limit: limit, mostProcesses: most, mostSlots: slots)
    var model = Model(
      limit: limit, mostProcesses: most, mostSlots: slots,
      counts: Array(repeating: Array(repeating: 0, count: documents), count: processes))
    var (refused, crowded, shared, failures) = (0, 0, 0, 0)

    for step in 0..<steps {
      let grant = Int(generator.next() % UInt64(documents))
      let process = Int(generator.next() % UInt64(processes))
      var agrees: Bool
      switch generator.next() % 64 {
      case 0:
        let held = owners.end(process: Int32(process)).map(\.count).sorted()
        agrees = held == model.counts[process].filter { $0 > 0 }.sorted()
        model.counts[process] = Array(repeating: 0, count: documents)
      case 1:
        let held = owners.end(names[grant]).map { [Int($0.process), $0.holder.count] }
        agrees =
          held == model.counts.indices.filter { model.counts[$0][grant] > 0 }.map { [$0, model.counts[$0][grant]] }
        for process in model.counts.indices { model.counts[process][grant] = 0 }
      case 2:
        let was = model.counts[process][grant] > 0
        model.counts[process][grant] = 0
        agrees = owners.end(names[grant], of: Int32(process)) == (was && !model.isActive(grant))
      case 3...31: agrees = owners.stop(names[grant], by: Int32(process)) == model.stop(grant, process)
      default:
        let answer = owners.start(names[grant], by: Int32(process), at: Int64(step))
        agrees = answer == model.start(grant, process)
        if answer == .limitReached { refused += 1 }
        if answer == .crowded { crowded += 1 }
        if answer == .shared { shared += 1 }
      }
      agrees = agrees && owners.isActive(names[grant]) == model.isActive(grant)
      if step % 16 == 0 {
        let all = owners.all.map { "\($0.process) \($0.holder.grant) \($0.holder.count)" }.sorted()
        let expected = model.counts.indices.flatMap { process in
          (0..<documents).filter { model.counts[process][$0] > 0 }.map {
            "\(process) \(names[$0]) \(model.counts[process][$0])"
          }
        }
        agrees =
          agrees && all == expected.sorted() && owners.used == model.used
          && owners.mostUsed == model.counts.indices.map(model.used).max()
      }
      if !agrees { failures += 1 }
    }
    #expect(failures == 0)
    // The sequences went where the rule is decided.
    #expect(documents <= limit || refused > 100)
    #expect(processes == 1 || shared > 100)
    #expect((processes <= most && slots >= processes * limit) || crowded > 100)
  }
}

/// The same for longer random sequences.
@Suite struct ScopeOwnersRaceTests {
  @Test(arguments: `The owners of scopes`.shapes)
  fileprivate func `LIM-1, LIM-2, TOK-4, TOK-5, TOK-11: agree with a table of counts, over a million random steps`(
    _ shape: `The owners of scopes`.Shape
  ) {
    `The owners of scopes`().agree(shape, steps: 170_000)
  }
}
