import Audit
import Foundation
import Glibc
import Kernel
import TestSupport
import Testing

/// `ambit suspend` and `ambit resume`, with running apps.
@Suite(.serialized, .waiting)
struct SuspensionTests {
  /// An app that writes into its container without end.
  private final class Counter {
    let app: AppRun
    let instance: String
    let pid: Int32
    let bundle: String
    private let file: String

    init(_ world: Workspace, _ script: String, options: [String] = []) throws {
      app = try world.launch(["/bin/sh", "-c", "echo ready; \(script)"], options: options)
      #expect(try app.process.readLine(patience: .seconds(30)) == "ready")
      let record = try #require(try world.instances().first)
      instance = try #require(record["instance"]?.string)
      pid = Int32(try #require(record["pid"]?.int))
      bundle = try #require(record["bundleIdentifier"]?.string)
      file = "\(world.container(bundle))/count"
      try goesOn()
    }

    var size: Int { ((try? FileManager.default.attributesOfItem(atPath: file)[.size]) as? Int) ?? 0 }

    func goesOn() throws {
      let before = size
      try Deadline.wait(for: "the app to write") { size > before }
    }

    func standsStill() {
      let before = size
      usleep(300_000)
      #expect(size == before)
    }
  }

  private static let counting = "while :; do echo x >>~/count; done"
  private static let forking = "f() { while :; do (echo x >>~/count); done; }; f & f & f & f"

  @Test(arguments: TestUser.inTurn([counting, forking]))
  func `an app does nothing while it is suspended, and goes on afterwards`(user: TestUser, script: String) throws {
    try Workspace.with(user) { world in
      let counter = try Counter(world, script)
      for name in [counter.instance, counter.bundle] {
        let answer = try world.ambit("suspend", name)
        #expect(answer.exit == .status(0) && answer.output.contains("is suspended"), "\(answer)")
        counter.standsStill()
        #expect(try world.ambit("suspend", name).output.contains("already"))
        #expect(try world.instances().first?["suspended"]?.string != nil)
        #expect(try world.ambit("ps").output.contains("suspended"))
        #expect(try world.ambit("resume", name).output.contains("runs again"))
        try counter.goesOn()
        #expect(try world.instances().first?["suspended"] == nil)
      }
      let events = try world.audit().filter { [.suspend, .resume].contains($0.kind) }
      #expect(events.map(\.kind) == [.suspend, .resume, .suspend, .resume])
      #expect(events.allSatisfy { $0.result == .allowed && $0.instance == counter.instance })
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `the answer is JSON for programs, and 1 where no such app runs`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let counter = try Counter(world, Self.counting)
      let answer = try world.ambit("suspend", counter.bundle, "--format", "json")
      let outcome = try #require(JSON(answer.output)?["instances"]?.array?.first, "\(answer)")
      #expect(outcome["instance"]?.string == counter.instance && outcome["changed"]?.bool == true)
      #expect((outcome["processes"]?.int ?? 0) >= 1)
      for verb in ["suspend", "resume"] {
        let none = try world.ambit(verb, "nothing")
        #expect(none.exit == .status(1) && none.errors.contains("nothing"), "\(none)")
      }
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a limit of time ends a suspended app`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let counter = try Counter(world, Self.counting, options: ["--limit", "wall_time=4s"])
      #expect(try world.ambit("suspend", counter.instance).exit == .status(0))
      #expect(try counter.app.process.waitForExit(patience: .seconds(30)) == .status(124))
    }
  }

  @Test(arguments: TestUser.inTurn([SIGTERM, SIGINT, SIGHUP]))
  func `a signal to the launcher ends a suspended app`(user: TestUser, signal: Int32) throws {
    try Workspace.with(user) { world in
      let counter = try Counter(world, "trap '' TERM INT HUP; \(Self.counting)")
      #expect(try world.ambit("suspend", counter.instance).exit == .status(0))
      counter.app.process.signal(signal)
      #expect(try counter.app.process.waitForExit() == .status(128 + signal))
      #expect(counter.app.process.allErrors.contains("suspended"), "\(counter.app.process.allErrors)")
      try Deadline.wait(for: "the event") { try world.audit(.exit).count == 1 }
      #expect(!FileManager.default.fileExists(atPath: "\(world.ambitHome)/run/suspended/\(counter.instance)"))
    }
  }

  @Test(arguments: TestUser.all)
  func `a suspended app ends with its launcher`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let counter = try Counter(world, Self.forking)
      #expect(try world.ambit("suspend", counter.instance).exit == .status(0))
      counter.app.process.kill()
      try Deadline.wait(for: "the sandbox to end") { kill(counter.pid, 0) == -1 && errno == ESRCH }
    }
  }

  @Test(arguments: TestUser.inTurn([SIGTERM, SIGKILL]))
  func `AUD-10: the next broker knows that it is suspended`(user: TestUser, signal: Int32) throws {
    try Workspace.with(user) { world in
      let counter = try Counter(world, Self.counting)
      #expect(try world.ambit("suspend", counter.instance).exit == .status(0))
      let since = try world.instances().first?["suspended"]?.string
      let broker = try #require(try world.brokerProcess())
      #expect(kill(broker, signal) == 0)
      try Deadline.wait(for: "another broker") { try world.brokerProcess().map { $0 != broker } ?? false }
      counter.standsStill()
      #expect(try world.instances().first?["suspended"]?.string == since && since != nil)
      #expect(try world.ambit("resume", counter.instance).exit == .status(0))
      try counter.goesOn()
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `an app goes on whose broker cannot be replaced`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let counter = try Counter(world, "trap 'exit 3' TERM; \(Self.counting)")
      #expect(try world.ambit("suspend", counter.instance).exit == .status(0))
      let broker = try #require(try world.brokerProcess())
      let away = "\(world.ambitHome).away"
      try FileManager.default.moveItem(atPath: world.ambitHome, toPath: away)
      try world.write("no folder", to: world.ambitHome)
      #expect(kill(broker, SIGKILL) == 0)
      counter.app.process.signal(SIGTERM)
      #expect(try counter.app.process.waitForExit(patience: .seconds(30)) == .status(3))
      #expect(counter.app.process.allErrors.contains("cannot be replaced"), "\(counter.app.process.allErrors)")
      try FileManager.default.removeItem(atPath: world.ambitHome)
      try FileManager.default.moveItem(atPath: away, toPath: world.ambitHome)
    }
  }

  /// The groups of this machine may be of version 1. A group of version 2 that holds all of the sandbox serves as well.
  @Test(.enabled(if: try Feature.cgroups.isHere(Self.unified != nil), "needs cgroups"), arguments: TestUser.one(.root))
  func `an app with a group of version 2 is frozen by it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let counter = try Counter(world, Self.counting)
      let group = "\(try #require(Self.unified))/ambit-\(counter.instance)"
      try FileManager.default.createDirectory(atPath: group, withIntermediateDirectories: false)
      defer { unsafe rmdir(group) }
      func write(_ text: String, _ file: String) throws {
        try Descriptor.open(file, flags: .write).writeAll(Array(text.utf8))
      }
      func read(_ file: String) throws -> String { try String(contentsOfFile: "\(group)/\(file)", encoding: .utf8) }
      for process in ProcessTable.tree(below: counter.pid) { try write("\(process.pid)", "\(group)/cgroup.procs") }
      // The broker looks for a group when it takes an app over.
      let groups = "\(world.ambitHome)/run/groups"
      try world.makeFolder(groups)
      try world.write("\(group)\n", to: "\(groups)/\(counter.instance)")
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      try Deadline.wait(for: "another broker") { try world.instances().first != nil }
      #expect(try world.ambit("suspend", counter.instance).exit == .status(0))
      #expect(try read("cgroup.freeze") == "1\n")
      counter.standsStill()
      #expect(try world.ambit("resume", counter.instance).exit == .status(0))
      #expect(try read("cgroup.freeze") == "0\n")
      try counter.goesOn()
      #expect(try world.ambit("suspend", counter.instance).exit == .status(0))
      counter.app.process.signal(SIGINT)
      #expect(try counter.app.process.waitForExit() == .status(130))
    }
  }

  private static let unified: String? = {
    guard geteuid() == 0, let own = ControlGroupTable.current.unified?.own,
      unsafe access("\(own)/cgroup.procs", W_OK) == 0
    else { return nil }
    return own
  }()

  // MARK: At a terminal

  private func withShell(_ user: TestUser, _ body: (Workspace, TerminalRun) throws -> Void) throws {
    try Workspace.with(user) { world in
      let shell = try world.terminal(["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"])
      try shell.type("PS1='%''> '; AMBIT='\(try Products.path("ambit"))'; echo set''up\n")
      try shell.see("setup\r\n%> ")
      try body(world, shell)
      try shell.type("exit\n")
      _ = try shell.process.waitForExit()
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `at a terminal the job stays in front, and Ctrl-C ends the suspended app`(user: TestUser) throws {
    try withShell(user) { world, shell in
      try shell.type("$AMBIT run /bin/sh -c 'echo rea''dy; read line; echo got=\"$line\"; exec sleep 1000'\n")
      try shell.see("ready")
      let instance = try #require(try world.instances().first?["instance"]?.string)
      #expect(try world.ambit("suspend", instance).exit == .status(0))
      // Typed ahead, for the app. A job that had stopped would leave it to the shell.
      try shell.type("hello\n")
      usleep(300_000)
      #expect(!shell.isCooked)
      #expect(try world.ambit("resume", instance).exit == .status(0))
      try shell.see("got=hello")
      #expect(try world.ambit("suspend", instance).exit == .status(0))
      try shell.type("\u{3}")
      try shell.see("%> ")
      #expect(shell.isCooked)
      try shell.type("echo status=''$?\n")
      try shell.see("status=130")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `Ctrl-Z gives the shell back, and fg does not resume the app`(user: TestUser) throws {
    try withShell(user) { world, shell in
      try shell.type("$AMBIT run /bin/sh -c 'echo rea''dy; while read line; do echo got=\"$line\"; done'\n")
      try shell.see("ready")
      let instance = try #require(try world.instances().first?["instance"]?.string)
      #expect(try world.ambit("suspend", instance).exit == .status(0))
      try shell.type("\u{1a}")
      try shell.see("Stopped")
      try shell.see("%> ")
      #expect(shell.isCooked)
      try shell.type("fg\n")
      try shell.see("$AMBIT run")
      usleep(300_000)
      #expect(try world.instances().first?["suspended"]?.string != nil)
      let pid = Int32(try #require(try world.instances().first?["pid"]?.int))
      let family = ProcessTable.tree(below: pid).filter { $0.pid != pid }
      #expect(!family.isEmpty && family.allSatisfy { ProcessTable.state($0.pid) == "T" })
      #expect(try world.ambit("resume", instance).exit == .status(0))
      try shell.type("hello\n")
      try shell.see("got=hello")
      try shell.type("\u{3}")
      try shell.see("%> ")
    }
  }

  @Test func `a system short of memory ends suspended apps alone`() throws {
    try Workspace.with(.root) { world in
      let counter = try Counter(world, Self.counting)
      let running = try world.ambit("kill", "--memory-pressure", counter.bundle)
      #expect(running.exit == .status(1), "\(running)")
      #expect(try world.ambit("kill", "--memory-pressure", "--until", "0").output.contains("No app is suspended."))
      try counter.goesOn()
      #expect(try world.ambit("suspend", counter.instance).exit == .status(0))
      let ended = try world.ambit("kill", "--memory-pressure", "--until", "0")
      #expect(ended.exit == .status(0) && ended.output.contains("was ended"), "\(ended)")
      try Deadline.wait(for: "the app to end") { (try? world.instances().isEmpty) == true }
    }
  }
}
