import Audit
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Launches that end, or go on, while no broker is there (`AUD-5`).
@Suite(.serialized, .waitingLong)
struct UnsettledLaunchTests {
  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-5: a launch whose launcher was killed with the broker is over with the next broker, and so are its scopes`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let app = try launched(world)
      let broker = try #require(try world.brokerProcess())
      app.process.signal(SIGSTOP)
      #expect(kill(broker, SIGKILL) == 0)
      app.process.kill()
      try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
      #expect(try world.audit(.exit).isEmpty)
      try askForBroker(world)
      try Deadline.wait(for: "the end of the launch") { try world.audit(.exit).count == 1 }
      let launch = try #require(try world.audit(.launch).first)
      let exit = try #require(try world.audit(.exit).first)
      #expect(exit.instance == launch.instance && exit.app == launch.app && exit.pid == launch.pid)
      #expect(exit.how == "recovery" && exit.detail.isEmpty)
      #expect(exit.reason?.contains("process \(launch.pid ?? 0), its init, is gone") == true, "\(exit)")
      let picture = try self.picture(world)
      #expect(picture["instances"]?.array?.isEmpty == true, "\(picture.text)")
      #expect(picture["grants"]?.array?.count == 1, "\(picture.text)")
      #expect(picture["grants"]?.array?.first?["scopes"]?.array?.isEmpty == true, "\(picture.text)")
      #expect(try records(world).isEmpty)
      // Once is enough.
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      try askForBroker(world)
      #expect(try world.audit(.exit).count == 1)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `AUD-5: a launch whose launcher does not run just now is not over, whoever starts the next brokers`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let policy = "\(world.home)/launch.toml"
      try world.write("inherits = \"default\"\n[grants]\nlifetime = \"launch\"\n", to: policy)
      let app = try launched(world, options: ["--policy", policy])
      app.process.signal(SIGSTOP)
      for round in 0..<2 {
        let broker = try #require(try world.brokerProcess())
        #expect(kill(broker, SIGKILL) == 0)
        try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
        try askForBroker(world)
        // At last longer than launchers that run take to hand their apps over.
        usleep(round == 0 ? 500_000 : 3_500_000)
        // What was granted for as long as it runs is its own still.
        #expect(try world.audit(.exit).isEmpty && world.audit(.revoke).isEmpty)
        #expect(try records(world).count == 1)
      }
      let launch = try #require(try world.audit(.launch).first)
      let listed = try world.ambit("ps")
      #expect(
        listed.output.contains("runs as process \(launch.pid ?? 0), and no broker knows it yet")
          && !listed.output.contains("No app is running"), "\(listed)")
      #expect(
        JSON(try world.ambit("ps", "--format", "json").output)?["awaited"]?.array?.first?["instance"]?.string
          == launch.instance)
      func running() throws -> JSON? {
        let picture = try self.picture(world)
        let instances = picture["instances"]?.array ?? []
        #expect(instances.count == 1 && instances[0]["entry"]?.int == Int(launch.sequence), "\(picture.text)")
        return instances.first
      }
      #expect(try running()?["isOrphaned"] == true)
      app.process.signal(SIGCONT)
      try Deadline.wait(for: "the app to be taken over") { try !world.instances().isEmpty }
      #expect(try running()?["isOrphaned"] == false)
      #expect(try app.start())
      #expect(try app.finish() == .status(0))
      try Deadline.wait(for: "its end") { try world.audit(.revoke).count == 1 }
      #expect(try world.audit(.exit).first?.detail["status"] == "0")
      #expect(try records(world).isEmpty)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `an app that ends while no broker is there ended as its launcher says it, once that can`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try launched(world)
      let launch = try #require(try world.audit(.launch).first)
      let broker = try #require(try world.brokerProcess())
      app.process.signal(SIGSTOP)
      #expect(kill(broker, SIGKILL) == 0)
      #expect(kill(try #require(launch.pid), SIGKILL) == 0)
      try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
      try askForBroker(world)
      usleep(500_000)
      #expect(try world.audit(.exit).isEmpty)
      app.process.signal(SIGCONT)
      _ = try app.process.waitForExit()
      let exit = try #require(try world.audit(.exit).first)
      #expect(exit.instance == launch.instance && exit.app == launch.app && exit.detail == ["signal": "9"], "\(exit)")
      #expect(try world.audit(.exit).count == 1)
      #expect(try records(world).isEmpty)
      let picture = try self.picture(world)
      #expect(picture["instances"]?.array?.isEmpty == true, "\(picture.text)")
    }
  }

  /// An app that has a document started.
  private func launched(_ world: Workspace, options: [String] = []) throws -> AppRun {
    let app = try world.probe(picks: [try world.document("letter.txt", "text")], options: options)
    try app.pick()
    #expect(try app.start())
    #expect(try records(world).count == 1)
    return app
  }

  /// By whatever wants one. One that is dying may still take a connection, and hang up.
  private func askForBroker(_ world: Workspace) throws {
    try Deadline.wait(for: "another broker") { try world.ambit("grants", "--format", "json").exit == .status(0) }
    #expect(try world.grants().count == 1)
  }

  private func records(_ world: Workspace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(world.ambitHome)/run/launchers")
  }

  private func picture(_ world: Workspace) throws -> JSON {
    let answer = try world.ambit("audit", "at", "now", "--format", "json")
    return try #require(JSON(answer.output), "\(answer)")
  }
}
