import Foundation
import Measure

extension Bench {
  /// A profile of container engines: Podman's, which is Docker's with a few calls more (Debian:
  /// golang-github-containers-common).
  private static let profile = "/usr/share/containers/seccomp.json"

  /// What a system call costs more inside: by Ambit's filter, beside a container engine's, and when it is observed.
  func calls() -> [Row] { filter() + observer() }

  /// getppid(2), which does next to nothing itself. The engine's profile is measured as what it adds to Ambit's own.
  private func filter(rounds: Int = 31, count: Int = 200_000) -> [Row] {
    var contenders = [
      ("none", [inside, "call", "\(count)"]), ("ambit", [ambit, "run", inside, "call", "\(count)"]),
    ]
    let hasProfile = FileManager.default.fileExists(atPath: Self.profile)
    if hasProfile {
      contenders.append(("both", [ambit, "run", "--seccomp", Self.profile, inside, "call", "\(count)"]))
    }
    let (samples, note) = takeTurns(contenders, rounds: rounds)
    // Nanoseconds that come on top, round by round.
    func above(_ name: String, _ base: String) -> [Double] {
      zip(samples[name] ?? [], samples[base] ?? []).map { ($0 - $1) * 1000 }
    }
    return [
      Row(
        "calls", "the filter's part of a call", unit: "ns", ambit: above("ambit", "none").median,
        peer: "Podman's profile", other: above("both", "ambit").median, aim: .ratioAtMost(1),
        note: note
          ?? (hasProfile ? nil : "\(Self.profile) is not there; Debian has it in golang-github-containers-common"))
    ]
  }

  /// Opening a file that may be opened, with nobody watching and with the observer; and a call that is not observed.
  private func observer(rounds: Int = 31) -> [Row] {
    let file = "/usr/bin/env"
    let (opens, openNote) = takeTurns(
      [
        ("plain", [ambit, "run", inside, "open", "2000", file]),
        ("observed", [ambit, "run", "--policy", "observed", inside, "open", "2000", file]),
      ], rounds: rounds)
    let (others, otherNote) = takeTurns(
      [
        ("plain", [ambit, "run", inside, "call", "200000"]),
        ("observed", [ambit, "run", "--policy", "observed", inside, "call", "200000"]),
      ], rounds: rounds)
    let added = zip(opens["observed"] ?? [], opens["plain"] ?? []).map { $0 - $1 }.median
    return [
      Row(
        "calls", "the observer's part of an open", unit: "µs", ambit: added, aim: .valueAtMost(12), note: openNote),
      Row(
        "calls", "a call that is not observed", unit: "µs", ambit: others["observed"]?.median, peer: "no observer",
        other: others["plain"]?.median,
        ratio: zip(others["observed"] ?? [], others["plain"] ?? []).map { $0 / $1 }.median, aim: .ratioAtMost(1.05),
        note: otherNote),
    ]
  }

  /// Programs that stay take turns, each round in another order.
  private func takeTurns(_ contenders: [(String, [String])], rounds: Int) -> ([String: [Double]], String?) {
    var samples: [String: [Double]] = [:]
    var running: [(name: String, program: Conversation)] = []
    defer { for each in running { each.program.close() } }
    do {
      for (name, arguments) in contenders {
        let program = try Conversation(arguments, environment: environment, errors: "\(scratch)/errors-\(name)")
        try program.awaitReady()
        running.append((name, program))
      }
      for round in 0..<rounds + 2 {
        for index in running.indices {
          let (name, program) = running[(index + round) % running.count]
          let value = try program.turn()
          if round >= 2 { samples[name, default: []].append(value) }
        }
      }
    } catch { return (samples, "\(error)") }
    return (samples, nil)
  }
}
