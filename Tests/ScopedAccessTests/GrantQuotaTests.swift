import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct `The quota of grants` {
  /// Android's own: a list that is cut to its length, the oldest first; and a list that takes no more.
  @Test(arguments: [nil, 1, 25, 128, 512, 1000] as [Int?], [false, true])
  func `LIM-10, LIM-11, LIM-12: agrees with a simple model under random operations`(limit: Int?, releases: Bool) {
    var generator = Seeded(seed: UInt64(limit ?? 7))
    let quota = GrantQuota(limit: limit, releasesOldest: releases)
    var held: [Int] = []
    var model: [Int] = []
    var (refused, released, failures) = (0, 0, 0)
    for step in 0..<Rounds.few(1500, of: 6000) {
      if Int.random(in: 0..<8, using: &generator) == 0, !held.isEmpty {
        let index = Int.random(in: 0..<held.count, using: &generator)
        model.removeAll { $0 == held[index] }
        held.remove(at: index)
        continue
      }
      // Some at once: all of them, or none.
      let new = (0..<Int.random(in: 1...3, using: &generator)).map { 3 * step + $0 }
      switch quota.answer(held: held.count, new: new.count) {
      case .admit(let count):
        released += count
        held.removeFirst(count)
        held += new
      case .refuse(let number):
        refused += 1
        if number != limit || (releases && new.count <= number) { failures += 1 }
      }
      let all = model + new
      if let limit {
        if all.count <= limit { model = all } else if releases, new.count <= limit { model = all.suffix(limit) }
      } else {
        model = all
      }
      if held != model { failures += 1 }
    }
    #expect(failures == 0)
    if let limit {
      #expect(releases ? released > 100 && (refused > 0) == (limit < 3) : refused > 100 && released == 0)
    }
  }

  @Test func `more than the quota, from another policy, come down to it at the next`() {
    #expect(GrantQuota(limit: 5, releasesOldest: true).answer(held: 9) == .admit(ending: 5))
    #expect(GrantQuota(limit: 5, releasesOldest: false).answer(held: 9) == .refuse(limit: 5))
    #expect(GrantQuota(limit: 5, releasesOldest: false).answer(held: 9, new: 0) == .admit(ending: 0))
  }
}
