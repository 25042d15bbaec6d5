import Testing
import Wire

/// How long one stays awake for the next message.
@Suite struct AdaptivePollingTests {
  private let most: Int64 = 1000

  private func eager(after waits: [Int64], processors: Int = 4) -> AdaptivePolling {
    var eagerness = AdaptivePolling(most: most, processors: processors)
    for wait in waits { eagerness.waited(wait) }
    return eagerness
  }

  @Test func `nobody stays awake who has not been answered soon, several times`() {
    #expect(eager(after: []).patience == 0)
    #expect(eager(after: Array(repeating: 10, count: 5)).patience == 0)
    #expect(eager(after: Array(repeating: 10, count: 6)).patience == most)
  }

  @Test func `an answer that takes long now and then changes nothing; three do`() {
    let soon = Array<Int64>(repeating: 10, count: 8)
    #expect(eager(after: soon + [5000, 5000]).patience == most)
    #expect(eager(after: soon + [5000, 5000, 5000]).patience == 0)
    // At the limit is still soon.
    #expect(eager(after: Array(repeating: most, count: 8)).patience == most)
    #expect(eager(after: Array(repeating: most + 1, count: 8)).patience == 0)
  }

  @Test func `with one processor nobody stays awake: it is needed by whoever answers`() {
    #expect(eager(after: Array(repeating: 0, count: 8), processors: 1).patience == 0)
    #expect(eager(after: Array(repeating: 0, count: 8), processors: 0).patience == 0)
    #expect(AdaptivePolling(most: -5, processors: 4).patience == 0)
  }

  @Test func `whatever comes, what was awake for nothing is little beside what was slept`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var eagerness = AdaptivePolling(most: most, processors: 2)
      var (last, wasted, idle): ([Int64], Int64, Int64) = ([], 0, 0)
      for _ in 0..<500 {
        let wait = Int64.random(in: 0...(Bool.random(using: &generator) ? 900 : 100_000), using: &generator)
        let expected = last.suffix(8).filter { $0 <= most }.count >= 6 ? most : 0
        #expect(eagerness.patience == expected)
        if wait > most {
          wasted += eagerness.patience
          idle += wait
        }
        eagerness.waited(wait)
        last.append(wait)
      }
      #expect(wasted <= idle)
    }
    // A caller who asks once a millisecond is slept for.
    #expect(eager(after: Array(repeating: 1_000_000, count: 20)).patience == 0)
  }
}
