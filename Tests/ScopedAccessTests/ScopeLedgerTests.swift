import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct `The scope ledger` {
  @Test func `LIM-1: the start that would exceed the limit is refused and changes nothing`() {
    var ledger = ScopeLedger(limit: 2)
    #expect(ledger.start("a", at: 1, caller: "one") == .first)
    #expect(ledger.start("b", at: 2) == .first)
    let before = ledger
    #expect(ledger.start("c", at: 3) == .limitReached)
    #expect(ledger == before)
    #expect(ledger.count(of: "c") == 0)
  }

  @Test func `LIM-1, LIM-5: a document that holds a slot can be started again when all are taken`() {
    var ledger = ScopeLedger(limit: 1)
    #expect(ledger.start("a", at: 1) == .first)
    #expect(ledger.start("a", at: 2) == .nested(count: 2))
    #expect(ledger.used == 1)
  }

  @Test func `LIM-2: a stop makes room for the next start`() {
    var ledger = ScopeLedger(limit: 1)
    _ = ledger.start("a", at: 1)
    #expect(ledger.start("b", at: 2) == .limitReached)
    #expect(ledger.stop("a") == .last)
    #expect(ledger.start("b", at: 3) == .first)
  }

  @Test func `TOK-4: access ends with the stop that balances the first start`() {
    var ledger = ScopeLedger(limit: 3)
    _ = ledger.start("a", at: 1)
    _ = ledger.start("a", at: 2)
    _ = ledger.start("a", at: 3)
    #expect(ledger.stop("a") == .nested(count: 2))
    #expect(ledger.stop("a") == .nested(count: 1))
    #expect(ledger.used == 1)
    #expect(ledger.stop("a") == .last)
    #expect(ledger.used == 0)
  }

  @Test func `TOK-5: a stop of what is not active does nothing`() {
    var ledger = ScopeLedger(limit: 1)
    #expect(ledger.stop("a") == .inactive)
    _ = ledger.start("a", at: 1)
    _ = ledger.stop("a")
    let before = ledger
    #expect(ledger.stop("a") == .inactive)
    #expect(ledger == before)
    #expect(ledger.count(of: "a") == 0)
  }

  @Test func `LIM-8: a holder tells when and where its first start was, not its last`() throws {
    var ledger = ScopeLedger(limit: 2)
    _ = ledger.start("a", at: 10, caller: "Editor.swift:1")
    _ = ledger.start("a", at: 20, caller: "Editor.swift:2")
    let holder = try #require(ledger.holders.first)
    #expect(holder.since == 10)
    #expect(holder.caller == "Editor.swift:1")
    #expect(holder.count == 2)
  }

  @Test func `TOK-11: an end gives the slot back whatever is owed`() {
    var ledger = ScopeLedger(limit: 1)
    _ = ledger.start("a", at: 1)
    _ = ledger.start("a", at: 2)
    #expect(ledger.end("a")?.count == 2)
    #expect(ledger.end("a") == nil)
    #expect(ledger.start("b", at: 3) == .first)
  }

  /// What the ledger should be, in the simplest form: the holders' names in order, and a count for each.
  private struct Model {
    let limit: Int
    var order: [Int] = []
    var counts: [Int]

    mutating func start(_ grant: Int) -> ScopeLedger.StartAnswer {
      if counts[grant] > 0 {
        counts[grant] += 1
        return .nested(count: counts[grant])
      }
      if order.count == limit { return .limitReached }
      order.append(grant)
      counts[grant] = 1
      return .first
    }

    mutating func stop(_ grant: Int) -> ScopeLedger.StopAnswer {
      if counts[grant] == 0 { return .inactive }
      counts[grant] -= 1
      if counts[grant] > 0 { return .nested(count: counts[grant]) }
      order.removeAll { $0 == grant }
      return .last
    }

    mutating func end(_ grant: Int) -> Int? {
      let count = counts[grant]
      counts[grant] = 0
      order.removeAll { $0 == grant }
      return count == 0 ? nil : count
    }
  }

  /// Few documents for many slots, many for few, and as many: each reaches other corners.
  @Test(arguments: [(limit: 1, documents: 4), (2, 3), (3, 3), (8, 12), (8, 4), (16, 40)])
  func `LIM-1, LIM-2, TOK-4, TOK-5: agrees with a simple model under random operations`(
    limit: Int, documents: Int
  ) {
    var generator = Seeded(seed: UInt64(limit * 1000 + documents))
    let names = (0..<documents).map { "grant\($0)" }
    var ledger = ScopeLedger(limit: limit)
    var model = Model(limit: limit, counts: Array(repeating: 0, count: documents))
    var refused = 0
    var failures = 0

    for step in 0..<Rounds.few(8_000, of: 40_000) {
      let grant = Int.random(in: 0..<documents, using: &generator)
      let agrees: Bool
      switch Int.random(in: 0..<20, using: &generator) {
      case 0:
        agrees = ledger.end(names[grant])?.count == model.end(grant)
      case 1...9:
        agrees = ledger.stop(names[grant]) == model.stop(grant)
      default:
        let before = ledger.holders
        let answer = ledger.start(names[grant], at: Int64(step))
        agrees = answer == model.start(grant) && (answer != .limitReached || ledger.holders == before)
        if answer == .limitReached { refused += 1 }
      }
      let holders = ledger.holders
      let holds =
        agrees && holders.count == model.order.count && ledger.used <= limit
        && zip(holders, model.order).allSatisfy {
          $0.grant == names[$1] && $0.count == model.counts[$1] && $0.count > 0
        }
      if !holds { failures += 1 }
    }
    #expect(failures == 0)
    // The sequence went where the rule is decided: otherwise it would have shown nothing.
    #expect(documents <= limit || refused > 100)
  }
}
