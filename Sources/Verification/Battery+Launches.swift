internal import Foundation
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// The probes about launching: links that wait for the next launch, and the remains of a sandbox.
extension Battery {
  /// The container on the host.
  private var container: String { options.launcher.isAmbit ? stage.ambitContainer : stage.container }
  /// Where a marker in it is, inside.
  private var markerInside: String {
    options.launcher.isAmbit ? "/home/user/\(stage.marker)" : "\(stage.container)/\(stage.marker)"
  }

  func runLaunches() throws {
    try plantLinks()
    try replaceContainer()
    try raceLaunches()
    try leaveDaemon()
    try killLaunchers()
  }

  private func answer(_ program: Program, _ ending: Program.Ending) -> String {
    if case .exit(let status) = ending, status == 42 || status == 43 { return "the launch went on inside" }
    let said = program.errorText.split(separator: "\n").first.map(String.init) ?? "\(ending)"
    return "the launch was refused: \(said.replacing(stage.folder, with: "…").prefix(160))"
  }

  // MARK: B4, B5, B6

  /// Links in the container, made before a launch that makes something there (CVE-2026-87766).
  private func plantLinks() throws {
    guard options.launcher.isAmbit || usesPlanted else {
      inside.append(
        Attempt("B4", "links", .unable, "the launcher's command line makes nothing at {planted} in the container"))
      return
    }
    let targets = [
      ("absolute", stage.victim), ("old root", "/oldroot\(stage.victim)"),
      ("relative", "\(String(repeating: "../", count: 20))\(stage.victim.dropFirst())"),
    ]
    for (name, target) in targets {
      let places =
        options.launcher.isAmbit ? ["Documents", "Library", "tmp"].map { "\(container)/\($0)" } : [stage.planted]
      for place in places {
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: target)
      }
      let program = try launch(["look", markerInside], picks: [[stage.document]])
      let ending = try program.finish()
      inside.append(
        stage.victimIsUntouched
          ? Attempt("B4", name, .refused, answer(program, ending))
          : Attempt("B4", name, .reached, "the launch made something on the host, where a link led"))
      stage.clearVictim()
      // The behaviour of a launcher that goes by names. The old root is there during a launch alone.
      if name != "old root" {
        try? Data().write(to: URL(fileURLWithPath: "\(places[0])/made"))
        if !stage.victimIsUntouched {
          controls.append(Attempt("B4", name, .reached, "a file by that name lands there"))
        }
        stage.clearVictim()
      }
      for place in places { try? FileManager.default.removeItem(atPath: place) }
    }
  }

  private var usesPlanted: Bool {
    if case .prefix(let words) = options.launcher { words.contains { $0.contains("{planted}") } } else { false }
  }

  /// The container itself, replaced by a link (CVE-2024-42472).
  private func replaceContainer() throws {
    let aside = "\(container).aside"
    try KernelError.check("rename", container) { unsafe rename(container, aside) }
    defer {
      _ = unsafe unlink(container)
      _ = unsafe rename(aside, container)
    }
    try FileManager.default.createSymbolicLink(atPath: container, withDestinationPath: stage.victim)
    let program = try launch(["look", markerInside], picks: [[stage.document]])
    let ending = try program.finish()
    if ending == .exit(43) {
      inside.append(Attempt("B5", "container", .reached, "the folder that the link leads to is the app's container"))
    } else if !stage.victimIsUntouched {
      inside.append(Attempt("B5", "container", .reached, "the launch made something where the link leads"))
    } else {
      inside.append(Attempt("B5", "container", .refused, answer(program, ending)))
    }
    stage.clearVictim()
    let plain = try launchUnconfined(["look", "\(container)/\(stage.marker)"])
    if try plain.finish() == .exit(43) {
      controls.append(Attempt("B5", "container", .reached, "a program that goes by the name gets there"))
    }
  }

  /// The same while launches are under way, as fast as the names can be exchanged (CVE-2021-30465).
  private func raceLaunches() throws {
    let link = "\(container).link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: stage.victim)
    defer { _ = unsafe unlink(link) }
    let swapper = try Program([stage.program, "swap", container, link], environment: environment)
    guard try swapper.readLine() == "ready" else {
      inside.append(Attempt("B6", "race", .unable, "nothing can be exchanged here. \(swapper.said)"))
      return
    }
    var (launches, wins, refusals) = (0, 0, 0)
    let end = ContinuousClock.now + options.raceBudget
    while ContinuousClock.now < end {
      switch try launch(["look", markerInside]).finish() {
      case .exit(43): wins += 1
      case .exit(42): break
      default: refusals += 1
      }
      launches += 1
    }
    // The control: the same question without a launcher.
    var seen = false
    for _ in 0..<20_000 where !seen {
      seen = FileManager.default.fileExists(atPath: "\(container)/\(stage.marker)")
    }
    swapper.closeInput()
    _ = try swapper.finish()
    try setRight(link)
    if seen { controls.append(Attempt("B6", "race", .reached, "the exchange can be seen by name")) }
    let count = "\(wins) wins in \(launches) launches (\(refusals) refused)"
    inside.append(
      wins > 0 || !stage.victimIsUntouched
        ? Attempt("B6", "race", .reached, count)
        : refusals == launches
          ? Attempt("B6", "race", .unable, "no launch came through: \(count)")
          : Attempt("B6", "race", .refused, count))
    stage.clearVictim()
  }

  /// After an odd number of exchanges the two names have each other's place.
  private func setRight(_ link: String) throws {
    guard (try? FileManager.default.destinationOfSymbolicLink(atPath: container)) != nil else { return }
    let aside = "\(container).aside"
    try KernelError.check("rename", container) { unsafe rename(container, aside) }
    try KernelError.check("rename", link) { unsafe rename(link, container) }
    try KernelError.check("rename", aside) { unsafe rename(aside, link) }
  }

  // MARK: C9, C10

  /// Every process of a sandbox has its output open. When no process has it open any more, none is left.
  private func leaveDaemon() throws {
    for isInside in [true, false] {
      let program = isInside ? try launch(["daemon"]) : try launchUnconfined(["daemon"])
      let attempt: Attempt
      if try !program.hasEnded(within: .seconds(5)) {
        attempt = Attempt("C9", "daemon", .unable, "the launcher waits for whatever the app has left behind")
      } else if try program.isSilent(within: .seconds(1)) {
        attempt = Attempt("C9", "daemon", .refused, "dead within a second of the sandbox's end")
      } else {
        attempt = Attempt("C9", "daemon", .reached, "still alive a second after the sandbox's end")
      }
      if isInside { inside.append(attempt) } else { controls.append(attempt) }
      try end(program)
    }
  }

  /// The launcher killed at moments spread over a launch, and once everything runs.
  private func killLaunchers() throws {
    let rounds = 12
    for isInside in [true, false] {
      var survivor: String?
      for round in 0..<rounds {
        let program = isInside ? try launch(["hold"]) : try launchUnconfined(["hold"])
        if round < rounds - 4 {
          usleep(UInt32(round) * 2_000)
        } else if try program.readLine() == nil {
          throw BatteryError("the battery does not run in the sandbox. \(program.said)")
        }
        program.kill()
        _ = try program.finish()
        if try !program.isSilent(within: .seconds(1)) {
          survivor = round < rounds - 4 ? "killed \(round * 2) ms after its start" : "killed while the app runs"
        }
        try end(program)
        if survivor != nil { break }
      }
      let attempt =
        survivor.map { Attempt("C10", "kill", .reached, "processes outlive their launcher, \($0)") }
        ?? Attempt("C10", "kill", .refused, "launcher killed at \(rounds) moments, nobody left")
      if isInside { inside.append(attempt) } else { controls.append(attempt) }
    }
  }

  /// The remaining processes end with their input, except a launcher's own process that waits for something else.
  func end(_ program: Program) throws {
    program.closeInput()
    if try program.isSilent(within: .milliseconds(500)) { return }
    program.killHolders()
    guard try program.isSilent(within: .seconds(5)) else {
      throw BatteryError("a program of the battery does not end. \(program.said)")
    }
  }
}
