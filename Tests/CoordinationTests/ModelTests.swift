import Coordination
import Foundation
import TestSupport
import Testing

/// Random inputs against the plain rules of ``Model``. A failure prints its seed and a script; `AMBIT_SEED` plays that seed alone.
@Suite struct ModelTests {
  static func seeds(_ seeds: ClosedRange<UInt64>) -> [UInt64] {
    ProcessInfo.processInfo.environment["AMBIT_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? Array(seeds)
  }

  @Test(arguments: seeds(1...10)) func theRulesHoldAfterEachInput(seed: UInt64) throws {
    let counts = try ModelRun.play(seed: seed, steps: 10_000)
    // A run without one of these would show nothing.
    for name in ["granted", "reordered", "cancelled", "failed", "silent", "held", "cycle", "free"] {
      #expect(counts[name, default: 0] > 0, "\(name) never happened")
    }
  }

  /// The script of a failure leads to the same effects.
  @Test(arguments: seeds(1...10)) func aRunCanBePlayedAsAScript(seed: UInt64) throws {
    let (text, grants) = try ModelRun.script(seed: seed)
    let lines = try Script.play(text).split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix("  grant ") }.count == grants)
  }

  /// `COO-1`: readers come all the time, so that some are always there. The writer begins when those before it have ended.
  @Test(arguments: seeds(1...10)) func aSteadyStreamOfReadersLetsAWriterIn(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    var arbiter = Arbiter()
    var (readers, before): (Set<Int>, Set<Int>) = ([], [])
    let writer = 500
    for id in 1...1000 {
      let use: Intent.Use = id == writer ? .write([]) : .read([])
      let party = Party(app: "app", process: 1, purpose: "\(id)")
      let request = Request(client: id, party: party, intents: [Intent(Item("/doc"), use)])
      var effects = arbiter.apply(.request(id, request), at: 0)
      if id == writer { before = readers }
      while readers.count > 5 || random.chance(30), let done = readers.sorted().randomElement(using: &random) {
        readers.remove(done)
        before.remove(done)
        effects += arbiter.apply(.done(done), at: 0)
      }
      for case .grant(let granted, _) in effects {
        if granted == writer {
          #expect(before.isEmpty)
          return
        }
        // The readers after the writer wait.
        #expect(granted < writer)
        readers.insert(granted)
      }
    }
    Issue.record("the writer was not granted")
  }
}
