internal import Foundation
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// Memory and disk space without end (H2, B21, I13). Attempts that may end the whole sandbox need launches of their own.
///
/// A policy's limits may be larger than this machine has room for. So a limit of the policy is set lower for these launches: they
/// try whether a limit holds, and the evidence gives the policy's number. If the policy sets none, none is set, and taking a
/// bounded amount is an escape.
extension Battery {
  private struct Attempted {
    let entry: String
    let name: String
    /// Bytes or files to take.
    let amount: Int
    /// The limit that ought to stop it: its key, its lowered value, and the policy's value.
    let key: String
    let lowered: Int
    let policy: Int?
    let unit: String
  }

  private static let megabyte = 1 << 20

  private var attempted: [Attempted] {
    let megabyte = Self.megabyte
    let memory = options.limits.memory
    let space = options.limits.container
    let memories = ["one process", "many processes", "memfd", "segments"].map { ("H2", $0) } + [("I13", "sockets")]
    return memories.map { entry, name in
      Attempted(
        entry: entry, name: name, amount: 512 * megabyte, key: "memory", lowered: 128 * megabyte, policy: memory,
        unit: "MiB")
    }
      + ["container", "deleted file"].map {
        Attempted(
          entry: "B21", name: $0, amount: 256 * megabyte, key: "container", lowered: 32 * megabyte, policy: space,
          unit: "MiB")
      } + [
        Attempted(
          entry: "B21", name: "files", amount: 4000, key: "container_files", lowered: 2000,
          policy: options.limits.containerFiles, unit: "files")
      ]
  }

  func runLimits() throws {
    for each in attempted {
      if let reason = obstacle(to: each) {
        inside.append(Attempt(each.entry, each.name, .unable, reason))
        continue
      }
      inside.append(try attempt(each, isInside: true))
      try clearContainer()
      let control = try attempt(each, isInside: false)
      // Outside nothing is held: having had it is enough.
      controls.append(control)
      try clearContainer()
    }
  }

  /// It must not bring the machine down where nothing stops it.
  private func obstacle(to each: Attempted) -> String? {
    if each.key == "memory" {
      let available = Self.availableMemory
      return available < 3 * each.amount
        ? "the machine has too little free memory to try (\(available / Self.megabyte) MiB)" : nil
    }
    let folder = options.launcher.isAmbit ? stage.ambitHome : stage.container
    let free = try? FileManager.default.attributesOfFileSystem(forPath: folder)
    guard let bytes = (free?[.systemFreeSize] as? NSNumber)?.intValue, bytes < 4 * 256 * Self.megabyte else {
      return nil
    }
    return "the disk has too little free space to try (\(bytes / Self.megabyte) MiB)"
  }

  private static var availableMemory: Int {
    let text = (try? String(contentsOfFile: "/proc/meminfo", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
    return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) << 10
  }

  private func attempt(_ each: Attempted, isInside: Bool) throws -> Attempt {
    var lowered: Int?
    if isInside, options.launcher.isAmbit, let policy = each.policy { lowered = min(policy, each.lowered) }
    // Long enough for a launcher that looks from time to time.
    var settings = ["what=\(each.name)", "amount=\(each.amount)", "hold=\(isInside ? 2 : 0)"]
    settings += ["container=\(isInside && options.launcher.isAmbit ? "/home/user" : stage.container)"]
    if !isInside { settings.append("control=1") }
    let program =
      isInside
      ? try launch(["take"] + settings, more: lowered.map { ["--limit", "\(each.key)=\($0)"] } ?? [])
      : try launchUnconfined(["take"] + settings)
    let ending = try program.finish()
    let remark =
      lowered.flatMap { lowered in
        each.policy.map { "under a limit of \(amount(lowered, each)), which the policy has at \(amount($0, each))" }
      } ?? "without a limit"
    if program.outputText.contains("taken\n") {
      return Attempt(
        each.entry, each.name, .reached, "\(amount(each.amount, each)) were taken \(remark), and there was no end")
    }
    let words = program.outputText.split(separator: "\n").first?.split(separator: "\t").map(String.init) ?? []
    if words.count == 3, words[0] == "refused" {
      return Attempt(each.entry, each.name, .refused, error: words[1], "\(words[2]), \(remark)")
    }
    // The launcher says so of an app that was ended, in the way that shells have.
    if ending == .exit(128 + SIGKILL) || ending == .signal(SIGKILL) {
      return Attempt(each.entry, each.name, .refused, "ended \(remark)")
    }
    return Attempt(each.entry, each.name, .unable, "it ended with \(ending). \(program.said)")
  }

  private func amount(_ value: Int, _ each: Attempted) -> String {
    each.unit == "MiB" ? "\(value / Self.megabyte) MiB" : "\(value) \(each.unit)"
  }

  /// The space taken is given back before the next attempt.
  private func clearContainer() throws {
    for container in [stage.container, stage.ambitContainer] {
      for name in (try? FileManager.default.contentsOfDirectory(atPath: container)) ?? [] where name.hasPrefix("b21") {
        try? FileManager.default.removeItem(atPath: "\(container)/\(name)")
      }
    }
  }
}
