import Foundation
import Testing

/// The same in a larger number: a million inputs in `make races`.
@Suite struct ModelRaceTests {
  private static let rounds = ProcessInfo.processInfo.environment["AMBIT_RACE_ROUNDS"].flatMap(Int.init) ?? 1_000

  @Test(arguments: ModelTests.seeds(101...110)) func theRulesHoldAfterManyInputs(seed: UInt64) throws {
    try ModelRun.play(seed: seed, steps: Self.rounds * 20)
  }
}
