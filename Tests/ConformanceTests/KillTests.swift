import Audit
import Foundation
import TestSupport
import Testing

/// SIGKILL for launcher, broker or init, at random moments of a launch and after it.
///
/// Everything happens in a process that is the parent of whatever loses its own: who survives is among its children.
@Suite struct KillTests {
  private enum Victim: CaseIterable { case launcher, `init`, broker }

  @Test(arguments: TestUser.all)
  func `a thousand kills at random moments leave no process, mount or descriptor behind within a second`(
    user: TestUser
  ) async {
    await #expect(processExitsWith: .success) { [name = user.rawValue as String] in
      let user = try #require(TestUser(rawValue: name))
      try ProcessTable.adoptOrphans()
      try Workspace.with(user) { world in
        var rounds = Rounds(world)
        try rounds.warmUp()
        for number in 0..<1_000 { try rounds.run(number) }
        try rounds.conclude()
      }
    }
  }

  private struct Rounds {
    let world: Workspace
    private var random = Seeded(seed: 20_261)
    private var mounts: [String] = []
    private var launchTime: UInt32 = 20_000
    /// How many were killed as what, and how many launches came as far as a running sandbox.
    private var killed: [Victim: Int] = [:]

    init(_ world: Workspace) { self.world = world }

    mutating func warmUp() throws {
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      mounts = ProcessTable.mounts(getpid())
    }

    /// How long it takes until an app runs, in microseconds.
    private mutating func measure() throws {
      let begin = ContinuousClock.now
      let app = try world.launch(["/bin/echo", "up"])
      _ = try app.process.readLine(patience: .seconds(30))
      launchTime = min(60_000, UInt32(clamping: Int((ContinuousClock.now - begin) / .microseconds(1))))
      _ = try app.process.waitForExit()
    }

    mutating func run(_ number: Int) throws {
      if number % 50 == 0 { try measure() }
      let app = try world.launch(["/bin/sleep", "1000"])
      // Two of three within the time that a launch takes on this machine just now, one beyond.
      usleep(UInt32.random(in: 0...(number % 3 == 0 ? 4 * launchTime : launchTime), using: &random))
      let victim = Victim.allCases.randomElement(using: &random) ?? .launcher
      switch victim {
      case .launcher: break
      case .`init`:
        for process in ProcessTable.tree(below: app.process.pid)
        where process.pid != app.process.pid && !isBroker(process) {
          kill(process.pid, SIGKILL)
          killed[.`init`, default: 0] += 1
        }
      case .broker:
        for process in family where isBroker(process) {
          kill(process.pid, SIGKILL)
          killed[.broker, default: 0] += 1
        }
        // The launcher looks for another broker meanwhile, or starts one.
        usleep(UInt32.random(in: 0...launchTime, using: &random))
      }
      app.process.kill()
      killed[.launcher, default: 0] += 1
      try Deadline.wait(
        .seconds(1), for: "the end, after round \(number) (\(victim)), of \(ProcessTable.describe(survivors()))"
      ) { survivors().isEmpty }
    }

    private var family: Set<ProcessTable.Process> { ProcessTable.alive(ProcessTable.tree(below: getpid())) }
    private func isBroker(_ process: ProcessTable.Process) -> Bool {
      ProcessTable.commandLine(process.pid).contains("broker serve")
    }

    /// Whoever is left below this process and is no broker.
    private func survivors() -> Set<ProcessTable.Process> {
      for orphan in ProcessTable.children(of: getpid()) where !ProcessTable.isAlive(orphan) {
        ProcessTable.reap(orphan)
      }
      return family.filter { $0.pid != getpid() && !isBroker($0) }
    }

    func conclude() throws {
      #expect(Victim.allCases.allSatisfy { (killed[$0] ?? 0) > 100 }, "\(killed)")
      try Deadline.wait(for: "instances to be forgotten") { try world.instances().isEmpty }
      #expect(ProcessTable.mounts(getpid()) == mounts)
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      let broker = try #require(try world.brokerProcess())
      // A new broker, which nothing has happened to yet, has as much open.
      let held = try #require(ProcessTable.descriptors(broker))
      _ = try world.ambit("broker", "stop")
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      let next = try #require(try world.brokerProcess())
      let fresh = try #require(ProcessTable.descriptors(next))
      #expect(held <= fresh + 3)
      // Read whole: no entry is missing, none torn.
      let launches = try world.audit(.launch).count
      #expect(
        (100..<1_000).contains(launches), "not spread over the whole of a launch: \(launches) of 1,000 came through")
    }
  }
}
