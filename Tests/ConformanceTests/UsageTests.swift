import Audit
import Foundation
import Kernel
import TestSupport
import Testing

/// Limits on what a whole sandbox uses: memory, processor time, time, its container. The battery's own program takes too much of
/// each, and would hold it for much longer than a test waits.
@Suite(.serialized, .waiting)
struct UsageTests {
  /// What takes memory that no process has to itself. Files in memory an app has where they can be sealed against execution
  /// (`MFD_NOEXEC_SEAL`, Linux 6.3).
  static let takers =
    ["many processes", "segments"] + (KernelVersion.current >= KernelVersion(6, 3) ? ["memfd"] : [])

  private func take(
    _ world: Workspace, _ what: String, _ amount: Int, hold: Int = 25, limits: [String]
  ) throws -> (outcome: Outcome, status: [JSON]) {
    let program = [
      try Products.path("battery"), "take", "what=\(what)", "amount=\(amount)", "hold=\(hold)", "container=/home/user",
    ]
    return try run(world, limits, program)
  }

  private func run(_ world: Workspace, _ limits: [String], _ program: [String]) throws -> (
    outcome: Outcome, status: [JSON]
  ) {
    let file = "\(world.home)/status.json"
    let words =
      [try Products.path("ambit"), "run", "--json-status-fd", "3"] + limits.flatMap { ["--limit", $0] } + program
    let outcome = try world.run(["/bin/sh", "-c", "exec \"$@\" 3>'\(file)'", "sh"] + words)
    return (outcome, try world.read(file).split(separator: "\n").compactMap { JSON(String($0)) })
  }

  private func expectEnd(
    _ world: Workspace, _ ended: (outcome: Outcome, status: [JSON]), by key: String, status: Int32 = 137,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let (outcome, events) = ended
    #expect(outcome.exit == .status(status), "\(outcome)", sourceLocation: sourceLocation)
    #expect(outcome.errors.contains("ambit: the app was ended: "), "\(outcome)", sourceLocation: sourceLocation)
    #expect(outcome.errors.contains("\(key) in the policy's [limits]"), "\(outcome)", sourceLocation: sourceLocation)
    let hit = events.first { $0["event"] == "limit" }
    #expect(hit?["limit"]?.string == key, "\(events)", sourceLocation: sourceLocation)
    #expect(hit?["value"] != nil && hit?["ceiling"] != nil, "\(events)", sourceLocation: sourceLocation)
    let events2 = try world.audit()
    #expect(events2.last { $0.kind == .limit || $0.kind == .exit }?.kind == .exit, sourceLocation: sourceLocation)
    let noted = events2.last { $0.kind == .limit }
    #expect(noted?.result == .refused && noted?.detail["ceiling"] != nil, sourceLocation: sourceLocation)
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `one process that asks for too much memory is refused it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let (outcome, status) = try take(world, "one process", 100 << 20, limits: ["memory=64MiB"])
      #expect(outcome.exit == .status(3) && outcome.output == "refused\tENOMEM\tmmap\n", "\(outcome)")
      #expect(status.last?["event"] == "exited")
      let fits = try take(world, "one process", 100 << 20, hold: 0, limits: ["memory=256MiB"])
      #expect(fits.outcome.exit == .status(0), "\(fits)")
    }
  }

  @Test("H2: an app whose processes together use too much memory is ended", arguments: TestUser.one(.ordinary))
  func memoryOfAll(user: TestUser) throws {
    try Workspace.with(user) { world in
      for what in Self.takers {
        try expectEnd(world, try take(world, what, 192 << 20, limits: ["memory=64MiB"]), by: "memory")
        let fits = try take(world, what, 32 << 20, hold: 0, limits: ["memory=128MiB"])
        #expect(fits.outcome.exit == .status(0) && fits.outcome.output == "taken\n", "\(what): \(fits)")
      }
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `memory that processes share counts once`(user: TestUser) throws {
    try Workspace.with(user) { world in
      // Seven shells of some 40 MB each, of which nearly all is the first one's.
      let script = """
        text=$(head -c 30000000 /dev/zero | tr '\\0' x); mkfifo wait; exec 9<>wait
        for i in 1 2 3 4 5 6; do (read -r -t 0.7 -u 9) & done; wait; echo ${#text}
        """
      let (outcome, _) = try run(world, ["memory=200MiB"], ["/bin/bash", "-c", script])
      #expect(outcome.exit == .status(0) && outcome.output == "30000000\n", "\(outcome)")
    }
  }

  @Test(
    "H5: processor time ends one process with SIGXCPU, and all of them together a second later",
    arguments: TestUser.one(.ordinary)
  )
  func processorTime(user: TestUser) throws {
    try Workspace.with(user) { world in
      let loop = "while :; do :; done"
      try expectEnd(world, try run(world, ["cpu_time=1"], ["/bin/sh", "-c", loop]), by: "cpu_time", status: 152)
      let deaf = "trap '' XCPU; \(loop)"
      try expectEnd(world, try run(world, ["cpu_time=1s"], ["/bin/sh", "-c", deaf]), by: "cpu_time")
      let many = "for i in 1 2 3 4; do (\(deaf)) & done; wait"
      try expectEnd(world, try run(world, ["cpu_time=1"], ["/bin/sh", "-c", many]), by: "cpu_time")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `an app whose time is over may tidy up, and has a second for it; the status is 124`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try expectEnd(world, try run(world, ["wall_time=1"], ["/bin/sleep", "25"]), by: "wall_time", status: 124)
      let tidy = "trap 'echo tidy; exit 5' TERM; sleep 25 & wait"
      let polite = try run(world, ["wall_time=1s"], ["/bin/sh", "-c", tidy])
      try expectEnd(world, polite, by: "wall_time", status: 124)
      #expect(polite.outcome.output == "tidy\n")
      let deaf = "trap '' TERM; while :; do sleep 0.1; done"
      try expectEnd(world, try run(world, ["wall_time=1"], ["/bin/sh", "-c", deaf]), by: "wall_time", status: 124)
      // One that ends in time is not touched.
      #expect(try world.ambit("run", "--limit", "wall_time=20", "/bin/sh", "-c", "exit 7").exit == .status(7))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `time goes on while the user is asked for a document`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let terminal = try world.terminal([
        try Products.path("ambit"), "run", "--limit", "wall_time=1", "/bin/sh", "-c", "ambitctl pick; sleep 25",
      ])
      #expect(try terminal.process.waitForExit() == .status(124))
    }
  }

  @Test("B21: an app that fills its container is ended", arguments: TestUser.one(.root))
  func container(user: TestUser) throws {
    try Workspace.with(user) { world in
      let space = ["container=16MiB"]
      for what in ["container", "deleted file"] {
        try expectEnd(world, try take(world, what, 64 << 20, limits: space), by: "container")
        // What an app leaves is its user's to remove.
        let containers = world.container("")
        for name in try FileManager.default.contentsOfDirectory(atPath: containers) {
          try? FileManager.default.removeItem(atPath: "\(containers)/\(name)/b21")
        }
      }
      let fits = try take(world, "container", 8 << 20, hold: 0, limits: space)
      #expect(fits.outcome.exit == .status(0), "\(fits)")
      try expectEnd(world, try take(world, "files", 3000, limits: ["container_files=500"]), by: "container_files")
    }
  }

  @Test func `a limit of the command line that makes no sense is refused with the words to use`() throws {
    try Workspace.with(.root) { world in
      for (limit, part) in [
        ("memory=lots", "--limit memory=lots: limits.memory must be bytes"),
        ("memry=1GiB", "did you mean \"memory\"?"), ("memory", "such as memory=512MiB"),
      ] {
        let outcome = try world.ambit("run", "--limit", limit, "/bin/true")
        #expect(outcome.exit == .status(125) && outcome.errors.contains(part), "\(outcome)")
      }
    }
  }
}

/// Control groups, where this machine lets root have some.
@Suite(.serialized, .waiting)
struct ControlGroupTests {
  static let available = geteuid() == 0 && ControlGroups([.memory, .pids]).places.count == 2

  /// The folders of the groups that are written down.
  private func folders(_ world: Workspace) -> [String] {
    let records = "\(world.ambitHome)/run/groups"
    return ((try? FileManager.default.contentsOfDirectory(atPath: records)) ?? []).flatMap { name in
      ((try? world.read("\(records)/\(name)")) ?? "").split(separator: "\n").map(String.init)
    }
  }

  private func isThere(_ folder: String) -> Bool { FileManager.default.fileExists(atPath: folder) }

  /// Starts an app in a group, and answers where the group is.
  private func launch(_ world: Workspace) throws -> (app: AppRun, folders: [String]) {
    let app = try world.launch(["/bin/sh", "-c", "echo ready; sleep 60"], options: ["--limit", "cgroup=true"])
    #expect(try app.process.readLine() == "ready")
    let folders = folders(world)
    #expect(!folders.isEmpty && folders.allSatisfy(isThere))
    return (app, folders)
  }

  @Test(
    "H2: a control group ends an app that uses too much memory",
    .enabled(if: try Feature.cgroups.isHere(available), "needs cgroups"))
  func memory() throws {
    try Workspace.with(.root) { world in
      let battery = try Products.path("battery")
      for what in UsageTests.takers {
        let outcome = try world.ambit(
          "run", "--limit", "cgroup=true", "--limit", "memory=64MiB", battery, "take", "what=\(what)",
          "amount=\(192 << 20)", "hold=25", "container=/home/user")
        #expect(outcome.exit == .status(137), "\(outcome)")
        #expect(outcome.errors.contains("64 MiB of 64 MiB; memory in the policy's [limits]"), "\(outcome)")
        #expect(try world.audit(.limit).last?.detail["exceeded"] == "memory")
        #expect(folders(world).isEmpty)
      }
      let fits = try world.ambit(
        "run", "--limit", "cgroup=true", "--limit", "memory=64MiB", "/bin/sh", "-c", "cat /proc/self/cgroup; exit 5")
      #expect(fits.exit == .status(5) && fits.errors.isEmpty, "\(fits)")
      // Of the groups above its own an app sees nothing.
      #expect(!fits.output.contains("ambit"))
    }
  }

  @Test("H1: a control group counts processes", .enabled(if: try Feature.cgroups.isHere(available), "needs cgroups"))
  func processes() throws {
    try Workspace.with(.root) { world in
      let (app, folders) = try launch(world)
      let pids = try #require(folders.first { isThere("\($0)/pids.max") })
      #expect(try world.read("\(pids)/pids.max") == "1025\n")
      try Deadline.wait(for: "the init and the two of the app") { try world.read("\(pids)/pids.current") == "3\n" }
      app.process.kill()
    }
  }

  @Test(
    "a group that cannot be made is in the log, and its layers do not hold",
    .enabled(if: try Feature.cgroups.isHere(available), "needs cgroups"))
  func unmade() throws {
    try Workspace.with(.root) { world in
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      // Nothing can be written down there, so nothing is made.
      try world.write("", to: "\(world.ambitHome)/run/groups")
      let without = try world.ambit("run", "--limit", "cgroup=true", "/bin/echo", "ran")
      #expect(without.output == "ran\n" && without.errors.contains("cannot be made"), "\(without)")
      #expect(try world.audit(.degraded).last?.detail["layers"]?.contains("cgroup") == true)
      let policy = "\(world.home)/p.toml"
      try world.write(
        "inherits = \"default\"\n[limits]\ncgroup = true\n[require]\nlayers = [\"memory\"]\n", to: policy)
      let refused = try world.ambit("run", "--policy", policy, "/bin/echo", "ran")
      #expect(refused.exit == .status(125) && refused.errors.contains("memory is partial here"), "\(refused)")
      #expect(try world.audit(.launch).last?.result == .refused)
    }
  }

  @Test(
    "no group stays behind: not of the launcher, nor of the init, nor of both with the broker",
    .enabled(if: try Feature.cgroups.isHere(available), "needs cgroups"))
  func removal() throws {
    try Workspace.with(.root) { world in
      func waitUntilGone(_ folders: [String]) throws {
        try Deadline.wait(.seconds(5), for: "\(folders) to be removed") { !folders.contains(where: isThere) }
        try Deadline.wait(.seconds(5), for: "the record to be removed") { self.folders(world).isEmpty }
      }
      let (first, ofFirst) = try launch(world)
      first.process.kill()
      try waitUntilGone(ofFirst)

      let (second, ofSecond) = try launch(world)
      let tasks = try world.read("\(ofSecond[0])/cgroup.procs").split(separator: "\n").compactMap { Int32($0) }
      for task in tasks { _ = kill(task, SIGKILL) }
      #expect(try second.process.waitForExit() == .status(128 + SIGKILL))
      try waitUntilGone(ofSecond)

      let (third, ofThird) = try launch(world)
      let broker = try #require(try world.brokerProcess())
      _ = kill(broker, SIGKILL)
      third.process.kill()
      // Nobody is left to do it, until the next broker.
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      try waitUntilGone(ofThird)
    }
  }

  @Test(arguments: TestUser.all)
  func `where there are no control groups the user hears of it, and a policy that requires them runs nothing`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let ambit = try Products.path("ambit")
      let policy = "\(world.home)/strict.toml"
      try world.write("inherits = \"default\"\n[limits]\ncgroup = true\n[require]\nlayers = [\"cgroup\"]\n", to: policy)
      let script = """
        '\(ambit)' run --limit cgroup=true /bin/echo ran; echo $?
        '\(ambit)' run --policy '\(policy)' /bin/echo ran; echo $?; '\(ambit)' broker stop
        """
      let outcome = try world.run(script: script, afterMounting: "mount -t tmpfs none /sys/fs/cgroup")
      #expect(outcome.output.hasPrefix("ran\n0\n125\n"), "\(outcome)")
      #expect(
        outcome.errors.contains("asks for a control group, and there is none to be had here for memory, pids"),
        "\(outcome)")
      #expect(outcome.errors.contains("cgroup is not enforced here"), "\(outcome)")
    }
  }
}
