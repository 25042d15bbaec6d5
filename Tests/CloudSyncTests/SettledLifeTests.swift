import CloudSync
import Testing

/// Lives for a replay with real processes.
@Suite struct SettledLifeTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>) func aLifeThatSettlesAfterEachActIsSound(seed: UInt64) {
    let life = SettledLife(seed: seed, steps: 120)
    #expect(life.failure == nil)
    #expect(!life.acts.isEmpty)
    #expect(life.acts == SettledLife(seed: seed, steps: 120).acts)
  }
}
