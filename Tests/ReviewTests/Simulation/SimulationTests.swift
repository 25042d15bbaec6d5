import Audit
import Foundation
import Policy
import Review
import TestSupport
import Testing

@Suite("A log under another policy")
struct SimulationTests {
  private func policy(_ settings: PolicySettings) -> Policy {
    Policy(name: "other", file: "other.toml", description: nil, lineage: [], settings: settings)
  }

  private func simulate(
    _ events: [AuditEvent], _ settings: PolicySettings, app: String? = nil
  ) -> (differences: [SimulatedDifference], simulation: Simulation) {
    var simulation = Simulation(policy: policy(settings), app: app)
    return (events.flatMap { simulation.take($0) }, simulation)
  }

  private func run(_ seed: UInt64, limit: Int = 3) -> RandomRun {
    var run = RandomRun(seed: seed, limit: limit)
    for _ in 0..<400 { run.step() }
    return run
  }

  @Test("Under the policy that held nothing changes, whatever happened", arguments: 0..<40)
  func same(seed: UInt64) {
    let run = run(seed)
    let (differences, simulation) = simulate(run.events, run.settings)
    #expect(differences.isEmpty && simulation.gaps.isEmpty, "\(differences.first as Any)")
    #expect(simulation.judged > 50)
  }

  @Test(
    "A smaller limit refuses the starts that find no slot, and those alone; later ones find the slots so left",
    arguments: 0..<20)
  func smallerLimit(seed: UInt64) {
    let run = run(seed)
    var less = run.settings
    less.scopeLimit = 1
    let (differences, _) = simulate(run.events, less)
    #expect(differences.allSatisfy { $0.field == "scopes.limit" && $0.outcome == .refused && $0.rule == "LIM-1" })
    // The same with nothing but a table of who holds what.
    var held: [RecordedScope.Key: Int] = [:]
    var expected: [Int64] = []
    for event in run.events {
      if event.kind == .brokerStarted || event.kind == .brokerStopped { held = [:] }
      guard let instance = event.instance else { continue }
      if event.kind == .exit { held = held.filter { $0.key.instance != instance } }
      guard let grant = event.grant else { continue }
      let process = event.detail["process"].flatMap { Int32($0) }
      let key = RecordedScope.Key(instance: instance, process: process, grant: grant)
      switch (event.kind, event.result) {
      case (.start, .allowed):
        let used = held.keys.count { $0.instance == instance && $0.process == process }
        if held[key] == nil, used >= 1 { expected.append(event.sequence) } else { held[key, default: 0] += 1 }
      case (.start, .failed): held = held.filter { $0.key.instance != instance || $0.key.grant != grant }
      case (.stop, .allowed):
        let left = Int(event.detail["count"] ?? "") ?? 0
        if let count = held[key] { held[key] = min(count - 1, left) > 0 ? min(count - 1, left) : nil }
      case (.scopeEnded, .allowed): held[key] = nil
      default: break
      }
    }
    #expect(differences.map(\.sequence) == expected)
    #expect(!expected.isEmpty)
  }

  @Test("A larger limit allows what was refused for want of a slot, and refuses nothing", arguments: 0..<20)
  func largerLimit(seed: UInt64) {
    let run = run(seed, limit: 1)
    var more = run.settings
    more.scopeLimit = 1000
    let (differences, _) = simulate(run.events, more)
    let refused = run.events.filter { $0.kind == .start && $0.result == .refused }.map(\.sequence)
    #expect(differences.map(\.sequence) == refused && !refused.isEmpty)
    #expect(differences.allSatisfy { $0.outcome == .allowed })
  }

  @Test("Only the app that is named is put under the other policy", arguments: 0..<5)
  func oneApp(seed: UInt64) {
    let run = run(seed)
    var none = run.settings
    none.picker.types = .only(["pdf"])
    let (differences, _) = simulate(run.events, none, app: "org.example.B")
    #expect(!differences.isEmpty && differences.filter { $0.because == nil }.allSatisfy { $0.app == "org.example.B" })
    #expect(simulate(run.events, none, app: "org.example.Nobody").differences.isEmpty)
  }

  @Test("What was not granted cannot be started, and every such entry names the one it follows from", arguments: 0..<10)
  func consequences(seed: UInt64) {
    let run = run(seed)
    var none = run.settings
    none.picker.modes = []
    let (differences, _) = simulate(run.events, none)
    // Nothing is left that any app got from its user, or started.
    let allowed = run.events.filter { $0.result == .allowed && [.pick, .start].contains($0.kind) }.map(\.sequence)
    let refused = Set(differences.filter { $0.outcome == .refused }.map(\.sequence))
    let escaped = run.events.filter { allowed.contains($0.sequence) && !refused.contains($0.sequence) }
    #expect(escaped.isEmpty)
    let own = Set(differences.filter { $0.because == nil }.map(\.sequence))
    #expect(differences.allSatisfy { $0.because.map(own.contains) ?? true })
    #expect(differences.allSatisfy { $0.field == "picker.modes" })
  }
}
