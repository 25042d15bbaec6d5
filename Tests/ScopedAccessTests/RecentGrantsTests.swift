import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct `The list of what was used last` {
  private struct Known {
    var grant: String
    var used: Int64
    var isNeeded: Bool
  }

  /// A list as Windows keeps one: whatever is used goes to its front, and what is pushed out behind is forgotten unless needed.
  @Test(arguments: [1, 2, 7, 25])
  func `LIM-11: agrees with a simple model under random operations`(limit: Int) {
    var generator = Seeded(seed: UInt64(limit))
    let rule = RecentGrants(limit: limit)
    var known: [Known] = []
    var order: [String] = []
    var needed: Set<String> = []
    var (clock, evictions, survivals, failures): (Int64, Int, Int, Int) = (0, 0, 0, 0)
    for step in 0..<Rounds.few(1500, of: 4000) {
      // Several documents of one choice are of the same moment.
      if Int.random(in: 0..<3, using: &generator) > 0 { clock += 1 }
      let any = known.indices.randomElement(using: &generator)
      switch (Int.random(in: 0..<10, using: &generator), any) {
      case (0..<5, _), (_, nil):
        known.append(Known(grant: "\(step)", used: clock, isNeeded: false))
        order.insert("\(step)", at: 0)
      case (5..<8, let index?):
        clock += 1
        known[index].used = clock
        order.removeAll { $0 == known[index].grant }
        order.insert(known[index].grant, at: 0)
      case (8, let index?):
        known[index].isNeeded.toggle()
        needed.formSymmetricDifference([known[index].grant])
      case (_, let index?):
        order.removeAll { $0 == known[index].grant }
        known.remove(at: index)
      }
      let entries = known.map { RecentGrants.Entry(grant: $0.grant, used: $0.used, isNeeded: $0.isNeeded) }
      if rule.list(of: entries).map(\.grant) != Array(order.prefix(limit)) { failures += 1 }
      let gone = rule.evicted(from: entries).map(\.grant)
      if gone != order.dropFirst(limit).filter({ !needed.contains($0) }) { failures += 1 }
      evictions += gone.count
      known.removeAll { gone.contains($0.grant) }
      order.removeAll { gone.contains($0) }
      if order.count > limit { survivals += 1 }
      if known.count > limit + needed.count { failures += 1 }
    }
    #expect(failures == 0)
    #expect(evictions > 100 && survivals > 100, "\(evictions) \(survivals)")
  }

  @Test func `LIM-11: 26 of one moment are one too many, and the first of them goes`() {
    let entries = (0...25).map { RecentGrants.Entry(grant: "\($0)", used: 7, isNeeded: false) }
    #expect(RecentGrants(limit: 25).evicted(from: entries).map(\.grant) == ["0"])
    #expect(RecentGrants(limit: 25).list(of: entries).first?.grant == "25")
    #expect(RecentGrants(limit: 25).evicted(from: Array(entries.dropFirst())).isEmpty)
  }
}
