import Testing

@testable import Sandbox

/// Rules that change as they are asked, where an expectation can ask them.
private final class Gauge {
  private var gauge: LimitGauge
  init(_ gauge: LimitGauge) { self.gauge = gauge }
  func needsMeasuring(cheap: Int, now: Int64) -> Bool { gauge.needsMeasuring(cheap: cheap, now: now) }
  func isExceeded(by value: Int, cheap: Int, now: Int64, cost: Int64 = 0) -> Bool {
    gauge.isExceeded(by: value, cheap: cheap, now: now, cost: cost)
  }
  func room(cheap: Int) -> Int { gauge.room(cheap: cheap) }
}

private final class Rule {
  private var rule: UsageRule
  init(_ limits: UsageLimits, processors: Int, start: Int64, reading: UsageRule.Reading) {
    rule = UsageRule(limits, processors: processors, start: start, reading: reading)
  }
  func look(_ reading: UsageRule.Reading, now: Int64) -> [UsageRule.Demand] { rule.look(reading, now: now) }
  func measured(memory: Int, now: Int64) -> LimitExcess? { rule.measured(memory: memory, now: now) }
  func measured(space: Int, files: Int, now: Int64) -> LimitExcess? {
    rule.measured(space: space, files: files, now: now)
  }
  func pause(now: Int64) -> Int64 { rule.pause(now: now) }
}

/// The rule of when to measure, against a simple model: something dear that never grows faster than something cheap.
@Suite struct LimitGaugeTests {
  private static let recheck: Int64 = 5_000

  @Test func `nothing is measured while the cheap quantity is within the ceiling`() {
    let gauge = Gauge(LimitGauge(boundWithCeiling: 1000, recheck: Self.recheck))
    for cheap in [0, 500, 1000] { #expect(!gauge.needsMeasuring(cheap: cheap, now: 0)) }
    #expect(gauge.needsMeasuring(cheap: 1001, now: 0))
    #expect(gauge.room(cheap: 400) == 600)
  }

  @Test func `what was measured and found small is not measured again before it could have grown too large`() {
    let gauge = Gauge(LimitGauge(boundWithCeiling: 1000, recheck: Self.recheck))
    #expect(gauge.needsMeasuring(cheap: 5000, now: 0))
    #expect(!gauge.isExceeded(by: 200, cheap: 5000, now: 0))
    #expect(!gauge.needsMeasuring(cheap: 5800, now: 1))
    #expect(gauge.room(cheap: 5800) == 0)
    #expect(gauge.needsMeasuring(cheap: 5801, now: 2))
    #expect(gauge.isExceeded(by: 1001, cheap: 5801, now: 2))
  }

  @Test func `what shrank in one place may have grown in another, so it is measured again after a while`() {
    let gauge = Gauge(LimitGauge(boundWithCeiling: 1000, recheck: Self.recheck))
    #expect(!gauge.isExceeded(by: 900, cheap: 5000, now: 0))
    #expect(!gauge.needsMeasuring(cheap: 4000, now: Self.recheck - 1))
    #expect(gauge.needsMeasuring(cheap: 4000, now: Self.recheck))
    #expect(!gauge.isExceeded(by: 900, cheap: 4000, now: Self.recheck))
    // Nothing has moved since: nothing to measure.
    #expect(!gauge.needsMeasuring(cheap: 4000, now: 3 * Self.recheck))
  }

  @Test
  func `something of unknown size is measured after a while if anything has moved, and the dearer the more seldom`() {
    let gauge = Gauge(
      LimitGauge(relativeWithCeiling: 8000, cheap: 5000, unmeasured: 500, recheck: Self.recheck, start: 100))
    #expect(!gauge.needsMeasuring(cheap: 5000, now: 100 + 2 * Self.recheck))
    // As much was taken here as others gave back.
    #expect(!gauge.needsMeasuring(cheap: 4999, now: 99 + Self.recheck))
    #expect(gauge.needsMeasuring(cheap: 4999, now: 100 + Self.recheck))
    #expect(!gauge.isExceeded(by: 100, cheap: 4999, now: 10_000, cost: Self.recheck))
    #expect(!gauge.needsMeasuring(cheap: 5000, now: 10_000 + 99 * Self.recheck))
    #expect(gauge.needsMeasuring(cheap: 5000, now: 10_000 + 100 * Self.recheck))
  }

  @Test func `something of unknown size is measured for the first time after little growth`() {
    let gauge = Gauge(
      LimitGauge(relativeWithCeiling: 8000, cheap: 123_456, unmeasured: 500, recheck: Self.recheck, start: 0))
    #expect(!gauge.needsMeasuring(cheap: 123_956, now: 0))
    #expect(gauge.needsMeasuring(cheap: 123_957, now: 0))
    #expect(gauge.room(cheap: 123_456) == 1000 && gauge.room(cheap: 123_956) == 500)
    // A small ceiling is approached in smaller steps.
    let small = Gauge(LimitGauge(relativeWithCeiling: 80, cheap: 0, unmeasured: 500, recheck: Self.recheck, start: 0))
    #expect(!small.needsMeasuring(cheap: 10, now: 0))
    #expect(small.needsMeasuring(cheap: 11, now: 0))
  }

  /// Growth that others cause raises the cheap quantity alone; what is freed lowers it. Whatever happens: before the dear one
  /// is beyond the ceiling by more than a step, it is measured, as long as it only grows as the cheap one does.
  @Test func `in random sequences no excess goes unnoticed`() {
    var random = SystemRandomNumberGenerator()
    for round in 0..<500 {
      let ceiling = Int.random(in: 100...5000, using: &random)
      let isBound = Bool.random(using: &random)
      var dear = isBound ? 0 : Int.random(in: 0...ceiling / 2, using: &random)
      var others = isBound ? 0 : Int.random(in: 0...10_000, using: &random)
      let unmeasured = ceiling / 8
      let gauge = Gauge(
        isBound
          ? LimitGauge(boundWithCeiling: ceiling, recheck: .max)
          : LimitGauge(
            relativeWithCeiling: ceiling, cheap: dear + others, unmeasured: unmeasured, recheck: .max, start: 0))
      var measurements = 0
      for step in 0..<200 {
        let growth = Int.random(in: 0...ceiling / 10, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: others += growth
        case 1: dear += growth
        default: break
        }
        let cheap = dear + others
        if gauge.needsMeasuring(cheap: cheap, now: Int64(step)) {
          measurements += 1
          #expect(gauge.isExceeded(by: dear, cheap: cheap, now: Int64(step)) == (dear > ceiling), "round \(round)")
          if dear > ceiling { break }
        } else {
          #expect(dear <= ceiling + max(1, ceiling / 64), "round \(round), step \(step)")
          // And there is room for at least as much as it says.
          #expect(isBound && cheap <= ceiling ? gauge.room(cheap: cheap) == ceiling - cheap : true)
        }
      }
      #expect(measurements < 150, "measuring at every step would be no rule")
    }
  }
}

@Suite struct UsageRuleTests {
  private static let second: Int64 = 1_000_000_000

  @Test func `processor time is what has been seen, whoever is gone since`() {
    let rule = Rule(UsageLimits(cpuTime: 2), processors: 2, start: 0, reading: .init())
    #expect(rule.look(.init(cpuTime: 2 * Self.second), now: 1).isEmpty)
    // Two processes end, and nobody waited for them.
    #expect(rule.look(.init(cpuTime: 0), now: 2).isEmpty)
    #expect(rule.look(.init(cpuTime: Self.second), now: 3).isEmpty)
    #expect(
      rule.look(.init(cpuTime: Self.second + 1), now: 4) == [.end(LimitExcess(.cpuTime, value: 3, ceiling: 2))])
  }

  @Test func `an app whose time is over is asked once, and a second later it is ended`() {
    let rule = Rule(UsageLimits(wallTime: 5), processors: 1, start: 100, reading: .init())
    #expect(rule.pause(now: 100) == 5 * Self.second)
    #expect(rule.look(.init(), now: 100 + 5 * Self.second - 1).isEmpty)
    let excess = LimitExcess(.wallTime, value: 5, ceiling: 5)
    #expect(rule.look(.init(), now: 100 + 5 * Self.second) == [.askToEnd(excess)])
    #expect(rule.pause(now: 100 + 5 * Self.second) == Self.second)
    #expect(rule.look(.init(), now: 100 + 5 * Self.second + 1).isEmpty)
    #expect(
      rule.look(.init(), now: 100 + 6 * Self.second) == [.end(LimitExcess(.wallTime, value: 6, ceiling: 5))])
  }

  @Test func `memory is too much when it has been measured so twice`() {
    let rule = Rule(UsageLimits(memory: 1000), processors: 1, start: 0, reading: .init())
    #expect(rule.look(.init(memory: 1500), now: 1) == [.measureMemory])
    // A process that is starting another one: two with the same memory.
    #expect(rule.measured(memory: 1400, now: 1) == nil)
    #expect(rule.look(.init(memory: 700), now: 2) == [.measureMemory])
    #expect(rule.measured(memory: 700, now: 2) == nil)
    #expect(rule.look(.init(memory: 700), now: 3).isEmpty)
    #expect(rule.look(.init(memory: 1500), now: 4) == [.measureMemory])
    #expect(rule.measured(memory: 1100, now: 4) == nil)
    #expect(rule.look(.init(memory: 1500), now: 5) == [.measureMemory])
    #expect(rule.measured(memory: 1200, now: 5) == LimitExcess(.memory, value: 1200, ceiling: 1000))
  }

  @Test func `a container is measured when the disk gave out as much as it might take`() {
    let limits = UsageLimits(container: 800, containerFiles: 80)
    let rule = Rule(limits, processors: 1, start: 0, reading: .init(spaceTaken: 5000, filesTaken: 700))
    #expect(rule.look(.init(spaceTaken: 5100, filesTaken: 710), now: 1).isEmpty)
    #expect(rule.look(.init(spaceTaken: 5101, filesTaken: 710), now: 2) == [.measureContainer])
    #expect(rule.measured(space: 600, files: 20, now: 2) == nil)
    #expect(rule.look(.init(spaceTaken: 5301, filesTaken: 770), now: 3).isEmpty)
    #expect(rule.look(.init(spaceTaken: 5101, filesTaken: 771), now: 4) == [.measureContainer])
    #expect(rule.measured(space: 600, files: 81, now: 4) == LimitExcess(.containerFiles, value: 81, ceiling: 80))
    #expect(rule.measured(space: 801, files: 81, now: 4) == LimitExcess(.container, value: 801, ceiling: 800))
  }

  @Test func `the nearer a limit the sooner the next look; an app that does nothing is looked at less and less`() {
    let gibibyte = 1 << 30
    let rule = Rule(UsageLimits(memory: 64 * gibibyte), processors: 4, start: 0, reading: .init())
    #expect(rule.pause(now: 0) == Self.second)
    _ = rule.look(.init(memory: 60 * gibibyte), now: 1)
    #expect(rule.pause(now: 1) == Self.second / 4)
    _ = rule.look(.init(memory: 64 * gibibyte - 1), now: 2)
    #expect(rule.pause(now: 2) == 10_000_000)
    var pauses: [Int64] = []
    for now in 3..<10 {
      _ = rule.look(.init(memory: 64 * gibibyte - 1), now: Int64(now))
      pauses.append(rule.pause(now: Int64(now)))
    }
    #expect(pauses == pauses.sorted() && pauses.last == 250_000_000)
    _ = rule.look(.init(memory: 64 * gibibyte - 2), now: 11)
    #expect(rule.pause(now: 11) == 10_000_000)
  }

  @Test func `where nothing is limited nothing is looked at`() {
    #expect(!UsageLimits().needsWatching)
    #expect(!UsageLimits(processes: 5, openFiles: 5, fileSize: 5).needsWatching)
    #expect(Rule(UsageLimits(), processors: 1, start: 0, reading: .init()).pause(now: 0) == .max)
    #expect(UsageLimits(memory: 1).needsWatching && UsageLimits(wallTime: 1).needsWatching)
  }

  @Test(arguments: [
    (0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (1536, "1.5 KiB"), (1 << 20, "1 MiB"),
    ((1 << 20) - 1, "1023.9 KiB"),
    (5 << 30, "5 GiB"), (Int.max, "8388607.9 TiB"),
  ])
  func `amounts are told in the largest unit that fits, and never as more than they are`(count: Int, text: String) {
    #expect(LimitExcess.bytes(count) == text)
  }
}
