import Foundation
import Measure

extension Bench {
  /// A container engine's own seccomp profile.
  private struct Engine {
    let name: String
    let profile: String
    /// What it takes to have it here.
    let source: String
  }

  private var engines: [Engine] {
    // As a path's text: `release` is a link.
    let build = ((ambit as NSString).deletingLastPathComponent as NSString).deletingLastPathComponent
    return [
      Engine(
        name: "Docker", profile: "\(build)/profiles/docker.json",
        source: "Docker's profile, which make deps-test fetches"),
      // Docker's with a few calls more.
      Engine(
        name: "Podman", profile: "/usr/share/containers/seccomp.json",
        source: "Podman's profile (Debian: golang-github-containers-common)"),
    ]
  }

  /// What a system call costs more inside: by Ambit's filter, beside a container engine's, and when it is observed.
  func calls() -> [Row] { filter() + observer() }

  /// getppid(2), which does next to nothing itself: under Ambit's filter, and under each engine's profile alone, which
  /// bubblewrap loads as Ambit has compiled it.
  private func filter(rounds: Int = 31, count: Int = 200_000) -> [Row] {
    let call = [inside, "call", "\(count)"]
    var contenders = [("none", call), ("ambit", [ambit, "run"] + call)]
    var missing: [String: String] = [:]
    for engine in engines {
      if let bubblewrap = find("bwrap"), let compiled = compile(engine) {
        let load = "exec '\(bubblewrap)' --ro-bind / / --seccomp 9 \"$@\" 9<'\(compiled)'"
        contenders.append((engine.name, ["/bin/sh", "-c", load, "sh"] + call))
      } else {
        missing[engine.name] = "it takes bubblewrap and \(engine.source)"
      }
    }
    let (samples, note) = takeTurns(contenders, rounds: rounds)
    return (engines.map(\.name) + ["none"]).map { peer in
      let pairs = zip(samples["ambit"] ?? [], samples[peer] ?? [])
      return Row(
        "calls", "getppid(2)", unit: "ns", ambit: (samples["ambit"]?.median).map { $0 * 1000 },
        peer: peer == "none" ? "no filter" : "\(peer)'s profile", other: (samples[peer]?.median).map { $0 * 1000 },
        ratio: pairs.map { $0 / $1 }.median, aim: peer == "none" ? nil : .ratioAtMost(1.02),
        note: note ?? missing[peer])
    }
  }

  /// An engine's profile as Ambit keeps it, compiled, once it has been used.
  private func compile(_ engine: Engine) -> String? {
    let folder = "\(scratch)/home/state/filters"
    func files() -> Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []) }
    guard FileManager.default.fileExists(atPath: engine.profile),
      (try? Child.timed([ambit, "run", "/bin/true"], environment: environment)) != nil
    else { return nil }
    let before = files()
    _ = try? Child.timed([ambit, "run", "--seccomp", engine.profile, "/bin/true"], environment: environment)
    // Behind the program stands its digest.
    guard let name = files().subtracting(before).first,
      let content = FileManager.default.contents(atPath: "\(folder)/\(name)")?.dropLast(32)
    else { return nil }
    let path = "\(scratch)/\(engine.name).bpf"
    return FileManager.default.createFile(atPath: path, contents: Data(content)) ? path : nil
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
