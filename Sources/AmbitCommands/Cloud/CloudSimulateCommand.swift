internal import ArgumentParser
internal import CloudSync
internal import Foundation
internal import Kernel
internal import Launcher
internal import Synchronization
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit cloud simulate`: lives of devices and a cloud, from seeds.
struct CloudSimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Play lives of two or three devices with the cloud: faults, crashes and users, on a clock of their own.",
    discussion: """
      The engine and the cloud's rules are the real ones; disks, network and users are models. A seed is one life: it is the same at \
      every run. Afterwards everything heals, and it is checked that all devices agree, that every write is there, kept as a conflict or \
      deleted by a user who had seen it, and that nothing partial was ever visible. A life that fails is shrunk to the decisions that it \
      needs, and its steps are printed.

        ambit cloud simulate --seeds 10000
        ambit cloud simulate --first 4711 --seeds 1 --log   the steps of one life
        ambit cloud simulate --fault conflictNotKept        a fault, which is found
        ambit cloud simulate --faults                       which there are
        ambit cloud simulate --documents 10000              the engine's speed

      Exit status: 0 all lives were sound, 1 one was not.
      """)
  @Option(help: "How many lives.") var seeds: UInt64 = 1000
  @Option(help: "The first seed.") var first: UInt64 = 1
  @Option(help: "Steps with faults in them, of each life.") var steps = 240
  @Option(help: "A deliberate fault.") var fault: String?
  @Flag(help: "List the deliberate faults.") var faults = false
  @Flag(help: "Print the steps of the first life.") var log = false
  @Flag(
    help:
      "Print the acts of the first life and its end as JSON, for a replay with real processes (scripts/cloud-real.py).")
  var acts = false
  @Option(help: "Measure instead: so many documents go from one device to another, without faults.") var documents: Int?
  @Option(help: "table or json.") var format: OutputFormat = .table

  func validate() throws {
    guard steps > 0, steps <= 100_000 else { throw ValidationError("--steps is 1 to 100000.") }
    guard seeds > 0, !first.addingReportingOverflow(seeds).overflow else {
      throw ValidationError("--seeds is 1 or more.")
    }
    guard (1...1_000_000).contains(documents ?? 1) else { throw ValidationError("--documents is 1 to 1000000.") }
    if let fault, PlantedFault(rawValue: fault) == nil {
      throw ValidationError("There is no fault \(fault); --faults lists them.")
    }
  }

  func run() throws {
    if faults { return try list() }
    if acts { return try writeActs() }
    if let documents { return try exchange(documents) }
    let planted = fault.flatMap { PlantedFault(rawValue: $0) }
    if log {
      let lines = Simulation.log(seed: first, planted: planted, steps: steps)
      return try Output.standard.write(lines.joined(separator: "\n") + "\n")
    }
    let began = Clock.monotonic()
    let result = try play(planted)
    try report(result, seconds: Double(Clock.monotonic() - began) / 1e9)
    if result.failed != nil { throw ExitCode(1) }
  }

  private func writeActs() throws {
    let life = SettledLife(seed: first, steps: steps)
    if let failure = life.failure { throw Launcher.Failure("seed \(first): \(failure)") }
    let object: JSONObject = [
      "devices": .int(Int64(life.devices)),
      "acts": .array(life.acts.map { .array($0.map { .string($0) }) }),
      "listing": .array(life.listing.map { .string($0) }), "kept": .array(life.kept.map { .string($0) }),
    ]
    try Output.standard.write(object.text + "\n")
  }

  private func exchange(_ documents: Int) throws {
    let began = Clock.monotonic()
    var exchange = Exchange()
    let arrived = exchange.run(documents: documents)
    let seconds = Double(Clock.monotonic() - began) / 1e9
    guard arrived == documents else { throw Launcher.Failure("\(arrived) of \(documents) documents arrived.") }
    if format == .json {
      let object: JSONObject = [
        "documents": .int(Int64(documents)), "milliseconds": .int(Int64(seconds * 1000)),
        "messages": .int(Int64(exchange.messages)),
      ]
      return try Output.standard.write(object.text + "\n")
    }
    let milliseconds = (seconds * 1000).formatted(.number.precision(.fractionLength(0)))
    try Output.standard.write(
      "\(Style(for: 1).green("✓")) \(documents) documents in \(exchange.messages) messages: \(milliseconds) ms of the engines "
        + "and the ledger\n")
  }

  private struct Result {
    var lives: UInt64 = 0
    var steps = 0
    /// The failing life with the lowest seed.
    var failed: Life?
  }

  /// A thread for each processor; each takes the next seeds. After a failure, higher seeds are not played any more.
  private func play(_ planted: PlantedFault?) throws -> Result {
    let state = Mutex((next: first, result: Result()))
    let (end, steps, batch) = (first + seeds, steps, UInt64(16))
    let progress = StatusLine()
    let workers = try (0..<max(1, Poll.processors)).map { _ in
      try Worker {
        while true {
          let from = state.withLock { state -> UInt64? in
            guard state.next < end, state.result.failed.map({ $0.seed > state.next }) ?? true else { return nil }
            defer { state.next += min(batch, end - state.next) }
            return state.next
          }
          guard let from else { return }
          for seed in from..<(from + min(batch, end - from)) {
            let life = Simulation.run(seed: seed, planted: planted, steps: steps)
            let lives = state.withLock { state in
              state.result.lives += 1
              state.result.steps += life.steps
              if life.failure != nil, state.result.failed.map({ $0.seed > seed }) ?? true { state.result.failed = life }
              return state.result.lives
            }
            if lives.isMultiple(of: 500) { progress.tell("\(lives) lives") }
            if life.failure != nil { break }
          }
        }
      }
    }
    for worker in workers { worker.finish() }
    progress.clear()
    return state.withLock { $0.result }
  }

  private func report(_ result: Result, seconds: Double) throws {
    let style = Style(for: 1)
    let speed = Int(Double(result.lives) / max(seconds, 1e-9))
    guard let life = result.failed, let failure = life.failure else {
      guard format == .table else { return try write(result, nil, speed) }
      return try Output.standard.write(
        "\(style.green("✓")) \(result.lives) lives, \(result.steps / Int(max(1, result.lives))) steps each: all sound "
          + "(\(speed) lives a second)\n")
    }
    let (short, isShortest) = shortened(life)
    guard format == .table else { return try write(result, short, speed) }
    try Output.standard.write(
      """
      \(style.red("✗")) seed \(life.seed): \(failure)
        \(life.decisions.count) decisions, of which \(short.decisions.count) \(isShortest ? "are needed" : "are left after a minute"):

      \(short.log.map { "  \($0)" }.joined(separator: "\n"))

      Again: ambit cloud simulate --first \(life.seed) --seeds 1\(fault.map { " --fault \($0)" } ?? "")

      """)
  }

  /// Shrinks a life for a minute at most, and says how far it is.
  private func shortened(_ life: Life) -> (Life, isShortest: Bool) {
    let progress = StatusLine()
    let began = Clock.monotonic()
    var told = began
    defer { progress.clear() }
    return Simulation.shrink(life) { left in
      let now = Clock.monotonic()
      if now - told > 200_000_000 {
        told = now
        progress.tell("seed \(life.seed) fails; \(left) decisions are left")
      }
      return now - began < 60_000_000_000
    }
  }

  private func write(_ result: Result, _ short: Life?, _ speed: Int) throws {
    var object: JSONObject = [
      "lives": .int(Int64(result.lives)), "steps": .int(Int64(result.steps)), "livesPerSecond": .int(Int64(speed)),
      "sound": .bool(result.failed == nil),
    ]
    if let short, let failed = result.failed, let failure = failed.failure {
      object["failure"] = .object([
        "seed": .string("\(failed.seed)"), "reason": .string("\(failure)"),
        "decisions": .int(Int64(failed.decisions.count)),
        "needed": .int(Int64(short.decisions.count)), "log": .array(short.log.map { .string($0) }),
      ])
    }
    try Output.standard.write(object.text + "\n")
  }

  private func list() throws {
    try Output.standard.write(PlantedFault.allCases.map { "\($0.rawValue)\n" }.joined())
  }
}
