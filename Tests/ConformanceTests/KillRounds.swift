import Audit
import Foundation
import TestSupport
import Testing

/// Launches that are killed, and what is looked for after each.
struct KillRounds {
  enum Victim: CaseIterable { case launcher, `init`, broker }

  /// A launch of one round.
  private struct Launch {
    let process: ChildProcess
    /// Its terminal, which is another process's as well: when the first of a session dies, the kernel itself sets the
    /// terminal right.
    let terminal: TerminalRun?

    var isRaw: Bool { terminal.map { $0.settings != $0.initialSettings } ?? false }

    /// The launcher, as far as it has come to being one.
    var launcher: Int32? {
      if terminal == nil { return process.hasEnded ? nil : process.pid }
      return ProcessTable.children(of: process.pid).first { !KillRounds.isBroker($0) }
    }
  }

  private let world: Workspace
  /// How many there are.
  private let rounds: Int
  private let groups: OwnGroups?
  private var namespaces: NamespaceWatch
  private var random = Seeded(seed: 20_261)
  private var mounts: [String] = []
  private var mountNamespaces: Set<String>?
  private var launchTime: UInt32 = 20_000
  /// How many were killed as what.
  private var killed: [Victim: Int] = [:]
  /// In how many rounds there was, at the moment of the kill, what must not stay.
  private var seen = (groups: 0, raw: 0)
  /// Groups of launchers that were killed with their broker: the next broker takes them away.
  private var forsaken: Set<String> = []
  /// How far the log went when it was last looked at, and how many launches that had been answered it then had.
  private var noted = ChainMark()
  private var answered = 0

  init(_ world: Workspace, _ groups: OwnGroups?, rounds: Int) throws {
    self.world = world
    self.rounds = rounds
    self.groups = groups
    namespaces = try NamespaceWatch()
  }

  mutating func warmUp() throws {
    #expect(try world.ambit("run", "/bin/true").exit == .status(0))
    mounts = ownMounts()
    mountNamespaces = NamespaceWatch.mountNamespaces()
  }

  /// How long it takes until an app runs, in microseconds.
  private mutating func measure() throws {
    let begin = ContinuousClock.now
    let app = try world.launch(["/bin/echo", "up"])
    _ = try app.process.readLine(patience: .seconds(30))
    launchTime = min(60_000, UInt32(clamping: Int((ContinuousClock.now - begin) / .microseconds(1))))
    _ = try app.process.waitForExit()
  }

  // MARK: A round

  mutating func run(_ number: Int) throws {
    if number % 50 == 0 { try measure() }
    let launch = try start(number)
    let victim = Victim.allCases.randomElement(using: &random) ?? .launcher
    // On a busy machine it would often not be there yet, and its launcher is killed instead.
    if victim == .`init`, number % 2 == 0 { try Deadline.wait(for: "an init") { Self.findInit(of: launch) != nil } }
    // Two of three within the time that a launch takes on this machine just now, one beyond.
    usleep(UInt32.random(in: 0...(number % 3 == 0 ? 4 * launchTime : launchTime), using: &random))
    let family = family
    let brokers = family.filter { Self.isBroker($0.pid) }
    namespaces.look(at: family.subtracting(brokers))
    // It makes the network of the next launch by moving there for a moment, and keeps it.
    namespaces.look(at: brokers, but: "net")
    if launch.isRaw { seen.raw += 1 }
    if let groups, !forsaken.isSuperset(of: groups.ofLaunches) { seen.groups += 1 }
    let running = family.map(\.pid).filter(Self.runsItsApp)
    try kill(victim, of: launch, brokers)
    var left = ""
    try Deadline.wait(.seconds(1), for: "the end, after round \(number) (\(victim)), of \(left)") {
      left = whatIsLeft(of: launch, withGroups: victim != .broker)
      return left.isEmpty
    }
    if victim == .broker, let groups { forsaken.formUnion(groups.ofLaunches) }
    launch.process.kill()
    launch.process.closeInput()
    try checkLog(has: running)
    if number % 10 == 9 { try checkNamespaces(after: launch) }
  }

  /// Every fourth at a terminal, every seventh in a control group.
  private func start(_ number: Int) throws -> Launch {
    let command =
      ["run"] + (groups != nil && number % 7 == 0 ? ["--limit", "cgroup=true"] : []) + ["/bin/sleep", "1000"]
    guard number % 4 == 3 else {
      return Launch(process: try world.launch(Array(command.dropFirst())).process, terminal: nil)
    }
    let words = ([try Products.path("ambit")] + command).joined(separator: " ")
    let terminal = try world.terminal(["/bin/sh", "-c", "\(words); read line"])
    return Launch(process: terminal.process, terminal: terminal)
  }

  private mutating func kill(_ victim: Victim, of launch: Launch, _ brokers: Set<ProcessTable.Process>) throws {
    if launch.terminal != nil { try Deadline.wait(for: "the launcher") { launch.launcher != nil } }
    switch victim {
    case .launcher: break
    case .`init`:
      if let found = Self.findInit(of: launch) {
        Glibc.kill(found, SIGKILL)
        killed[.`init`, default: 0] += 1
        // Its launcher ends by itself.
        return
      }
    case .broker:
      for broker in brokers where ProcessTable.isThere(broker) {
        Glibc.kill(broker.pid, SIGKILL)
        killed[.broker, default: 0] += 1
      }
      // The launcher looks for another broker meanwhile, or starts one.
      usleep(UInt32.random(in: 0...launchTime, using: &random))
    }
    if let launcher = launch.launcher { Glibc.kill(launcher, SIGKILL) }
    killed[.launcher, default: 0] += 1
  }

  private static func findInit(of launch: Launch) -> Int32? {
    launch.launcher.flatMap { ProcessTable.children(of: $0).first(where: ProcessTable.isInit) }
  }

  // MARK: What is left

  private var family: Set<ProcessTable.Process> {
    ProcessTable.alive(ProcessTable.tree(below: getpid())).filter { $0.pid != getpid() }
  }
  private static func isBroker(_ pid: Int32) -> Bool { ProcessTable.commandLine(pid).contains("broker serve") }

  /// Whether it is a sandbox's init whose app runs. An app becomes what it is only when the broker has answered, and the broker
  /// answers when the launch is in the log.
  private static func runsItsApp(_ pid: Int32) -> Bool {
    ProcessTable.isInit(pid)
      && ProcessTable.children(of: pid).contains { ProcessTable.commandLine($0) == "/bin/sleep 1000 " }
  }

  /// The log is whole by every rule there is, has all that it had after the round before, and the launches of these inits.
  private mutating func checkLog(has running: [Int32]) throws {
    let log = try AuditReader(path: "\(world.ambitHome)/state/audit.sqlite")
    let found = try log.verified(anchors: noted.sequence > 0 ? [noted] : [])
    let launches = try log.events(matching: AuditQuery(kind: .launch), after: noted.sequence, limit: 1_000)
    #expect(Set(running).isSubset(of: launches.compactMap(\.pid)), "\(running) in \(launches)")
    noted = found.last
    answered += running.count
  }

  /// What is dead and waits for its parent still has its namespaces. Of what was started here the harness takes the status.
  private func reapOrphans(except launch: Launch) {
    _ = launch.process.hasEnded
    for orphan in ProcessTable.children(of: getpid())
    where orphan != launch.process.pid && !ProcessTable.isAlive(orphan) { ProcessTable.reap(orphan) }
  }

  /// What there is, besides brokers, that was not there before the launch; in words.
  private func whatIsLeft(of launch: Launch, withGroups: Bool) -> String {
    reapOrphans(except: launch)
    let survivors = family.filter {
      !Self.isBroker($0.pid) && (launch.terminal == nil || $0.pid != launch.process.pid)
    }
    var left = survivors.isEmpty ? [] : [ProcessTable.describe(survivors)]
    if launch.isRaw { left.append("a terminal with other settings") }
    if withGroups, let groups { left += groups.ofLaunches.filter { !forsaken.contains($0) } }
    return left.joined(separator: "; ")
  }

  /// What is mounted on the host, but for what the tests beside this one mount in folders of theirs.
  private func ownMounts() -> [String] {
    ProcessTable.mounts(getpid()).filter { line in
      line.contains(world.folder) || !["/ambit-test-", "/ambit-scoped-"].contains { line.contains($0) }
    }
  }

  /// Of all that anybody was seen in, only what a broker is in is there.
  private mutating func checkNamespaces(after launch: Launch) throws {
    // A thread that was killed while it waited for the disk ends when the disk has answered, and is in them until then.
    var dying: [Int32] = []
    try Deadline.wait(.seconds(60), for: "the kernel to end \(dying.map(ProcessTable.describe))") {
      reapOrphans(except: launch)
      dying = ProcessTable.children(of: getpid()).filter { $0 != launch.process.pid && !ProcessTable.isAlive($0) }
      return dying.isEmpty
    }
    var left: [String] = []
    var brokers: [Int32] = []
    try Deadline.wait(
      .seconds(1), for: "the end of \(left), which has \(NamespaceWatch.holders(of: left)), beside \(brokers)"
    ) {
      reapOrphans(except: launch)
      // A launcher that was killed may have started one that only now is what it is to be.
      brokers = family.map(\.pid).filter(Self.isBroker)
      left = namespaces.left(beside: brokers)
      return left.isEmpty
    }
  }

  // MARK: The end

  func conclude() throws {
    #expect(Victim.allCases.allSatisfy { (killed[$0] ?? 0) > rounds / 10 }, "\(killed)")
    #expect(
      seen.raw > rounds / 50 && (groups == nil || seen.groups > rounds / 50), "too few had something to lose: \(seen)")
    #expect(namespaces.count > rounds, "only \(namespaces.count) namespaces were seen")
    try Deadline.wait(for: "instances to be forgotten") { try world.instances().isEmpty }
    #expect(ownMounts() == mounts)
    #expect(try world.ambit("run", "/bin/true").exit == .status(0))
    if let groups {
      let records = "\(world.ambitHome)/run/groups"
      try Deadline.wait(for: "the last groups to go, and what is written down of them") {
        try groups.ofLaunches.isEmpty && FileManager.default.contentsOfDirectory(atPath: records).isEmpty
      }
    }
    try checkMountNamespaces()
    // The launcher's end is seen by the test before the broker sees it.
    try Deadline.wait(for: "the last instance to be forgotten") { try world.instances().isEmpty }
    let broker = try #require(try world.brokerProcess())
    // A new broker, which nothing has happened to yet, has as much open.
    let held = ProcessTable.openFiles(broker)
    let heldNamespaces = NamespaceWatch.held(by: broker)
    _ = try world.ambit("broker", "stop")
    #expect(try world.ambit("run", "/bin/true").exit == .status(0))
    let next = try #require(try world.brokerProcess())
    let fresh = ProcessTable.openFiles(next)
    #expect(held.count <= fresh.count + 3, "\(held), and a new one has \(fresh)")
    // With the second launch it makes the network of a third.
    #expect(try world.ambit("run", "/bin/true").exit == .status(0))
    try Deadline.wait(for: "a new broker to hold as many of \(heldNamespaces)") {
      let fresh = NamespaceWatch.held(by: next)
      return heldNamespaces.allSatisfy { $1 <= fresh[$0] ?? 0 }
    }
    #expect(answered > rounds / 20, "too few launches had been answered when they were killed: \(answered)")
    let found = try AuditReader(path: "\(world.ambitHome)/state/audit.sqlite").verified(anchors: [noted])
    // A broker that is stopped leaves all of it signed; the one that runs now goes on from there.
    #expect(found.first == 1 && found.checkpoints > 0)
    let launches = try world.audit(.launch).count
    #expect(
      (rounds / 10..<rounds).contains(launches),
      "not spread over the whole of a launch: \(launches) of \(rounds) came through")
  }

  /// None is left that nobody is in and that none but this test's own programs hold, of all that the kernel has.
  private func checkMountNamespaces() throws {
    let now = NamespaceWatch.mountNamespaces()
    guard try Feature.mountNamespaces.isHere(now != nil), let before = mountNamespaces, let now else { return }
    var strays = now.subtracting(before)
    // Those of other programs come and go; one that was left is there each time.
    try Deadline.wait(.seconds(1), for: "mount namespaces that nobody is in: \(strays)") {
      strays.formIntersection(NamespaceWatch.mountNamespaces() ?? [])
      strays.subtract(NamespaceWatch.mountNamespacesInUse(except: Set(family.map(\.pid))))
      return strays.isEmpty
    }
  }
}
