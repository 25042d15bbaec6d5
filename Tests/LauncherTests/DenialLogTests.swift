import TestSupport
import Testing

@testable import Launcher

@Suite struct `Which refusals are reported` {
  private let second: Int64 = 1_000_000_000
  private func refusal(_ number: Int) -> DenialLog.Refusal { .init(operation: "read", subject: "/srv/\(number)") }

  @Test func `the same within a second is one`() {
    var log = DenialLog(now: 0)
    #expect(log.take(refusal(1), now: 0) == 0)
    #expect(log.take(refusal(1), now: second - 1) == nil)
    #expect(log.take(refusal(2), now: second - 1) == 1)
    #expect(log.take(refusal(1), now: second) == 0)
  }

  @Test func `SBX-16: none is lost without being counted, in any order and at any speed`() {
    var generator = Seeded(seed: 16)
    for _ in 0..<50 {
      var log = DenialLog(now: 0)
      var now: Int64 = 0
      var (asked, reported, counted) = (0, 0, 0)
      var lastReports: [Int64] = []
      for _ in 0..<2_000 {
        now += Int64.random(in: 0...20_000_000, using: &generator)
        asked += 1
        if let suppressed = log.take(refusal(.random(in: 0...3_000, using: &generator)), now: now) {
          reported += 1
          counted += suppressed
          lastReports.append(now)
        }
      }
      #expect(reported + counted + log.suppressed == asked)
      // No more than the bucket has, in any second.
      for (index, time) in lastReports.enumerated() {
        let inSecond = lastReports[index...].prefix { $0 < time + second }.count
        #expect(inSecond <= DenialLog.burst + DenialLog.perSecond)
      }
    }
  }
}
