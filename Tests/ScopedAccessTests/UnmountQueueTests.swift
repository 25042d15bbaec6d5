import ScopedAccess
import Testing

/// What scopes that have ended leave is unmounted together, and soon.
@Suite struct UnmountQueueTests {
  @Test func `the first waits for others, and no longer than a millisecond`() {
    var exit = UnmountQueue()
    #expect(exit.due == nil && exit.waiting == 0)
    #expect(exit.enter(now: 5) == 0)
    #expect(exit.due == 5 + UnmountQueue.patience)
    #expect(exit.enter(now: 900) == 1)
    #expect(exit.due == 5 + UnmountQueue.patience)
    exit.empty()
    #expect(exit.due == nil)
    #expect(exit.enter(now: 7000) == 0)
    #expect(exit.due == 7000 + UnmountQueue.patience)
  }

  @Test func `with every place taken nobody waits, and nobody comes in`() {
    var exit = UnmountQueue()
    for number in 0..<UnmountQueue.places { #expect(exit.enter(now: 3) == number) }
    #expect(exit.isFull && exit.due == 3)
    #expect(exit.enter(now: 4) == nil)
    exit.retry(at: 1000)
    #expect(exit.due == 1000)
    exit.empty()
    #expect(exit.enter(now: 4) == 0)
  }

  @Test func `whatever comes and goes, each has a place of its own, and none waits beyond its time`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var exit = UnmountQueue()
      var (taken, first): (Set<Int>, Int64?) = ([], nil)
      var now: Int64 = 0
      for _ in 0..<200 {
        now += Int64.random(in: 0...400_000, using: &generator)
        if let due = exit.due, due <= now {
          exit.empty()
          (taken, first) = ([], nil)
        }
        guard let place = exit.enter(now: now) else {
          Issue.record("full at \(now), and nobody was told")
          return
        }
        #expect(taken.insert(place).inserted && place < UnmountQueue.places)
        if first == nil { first = now }
        #expect(exit.waiting == taken.count)
        #expect(exit.due.map { $0 <= (first ?? 0) + UnmountQueue.patience } == true)
      }
    }
  }
}
