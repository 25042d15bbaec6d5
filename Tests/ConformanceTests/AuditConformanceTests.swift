import Audit
import Foundation
import TestSupport
import Testing

/// Group O of the catalogue: the audit log, and a broker that dies.
@Suite(.serialized, .waiting)
struct AuditConformanceTests {
  @Test(arguments: TestUser.one(.root))
  func `AUD-3: from launch to exit, every decision is an event, numbered without a gap`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      try app.stop()
      _ = try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"])
      _ = try app.tell("resolve", ["bookmark": "AAAA", "as": "b"])
      _ = try app.tell("resolveReference", ["path": "/home/user/Documents/letter.txt.ambitref", "as": "c"])
      #expect(try app.start("c"))
      #expect(try app.finish() == .status(0))
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      let events = try world.audit()
      #expect(
        events.map { "\($0.kind.rawValue) \($0.result.rawValue)" } == [
          "brokerStarted allowed", "launch allowed", "pick allowed", "grant allowed", "reference allowed",
          "start allowed", "bookmarkCreated allowed", "stop allowed", "bookmarkResolved allowed",
          "bookmarkResolved refused", "referenceResolved allowed", "start allowed", "scopeEnded allowed",
          "exit allowed", "brokerStopped allowed",
        ])
      #expect(events.map(\.sequence) == Array(1...Int64(events.count)))
      #expect(events.last { $0.kind == .exit }?.detail[AuditEvent.Fact.status] == "0")
    }
  }

  /// Takes entries out of a log as somebody does who knows what guards it, and puts that back.
  private static let cutter = """
    import sqlite3, sys
    log = sqlite3.connect(sys.argv[1])
    guards = log.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in guards: log.execute(f"DROP TRIGGER {name}")
    print(log.execute(f"DELETE FROM entry WHERE {sys.argv[2]}").rowcount)
    for _, sql in guards: log.execute(sql)
    log.commit()
    """

  @Test(arguments: TestUser.one(.root))
  func `AUD-8: an end that was cut off a broker's log is named, and no broker goes on with it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
      for _ in 1...3 {
        #expect(try app.start())
        try app.stop()
      }
      #expect(try app.finish() == .status(0))
      let broker = try #require(try world.brokerProcess())
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
      let last = try #require(try world.audit().last?.sequence)
      // The control: nothing is wrong with it yet.
      let whole = try world.ambit("audit", "verify")
      #expect(whole.exit == .status(0), "\(whole)")

      let log = "\(world.ambitHome)/state/audit.sqlite"
      let first = last - 2
      let changed = try world.run(["/usr/bin/python3", "-I", "-c", Self.cutter, log, "sequence >= \(first)"])
      #expect(changed.output == "3\n", "\(changed)")
      for more in [[], ["--format", "json"]] {
        let told = try world.run([try Products.path("ambit"), "audit", "verify"] + more)
        #expect(told.exit == .status(1), "\(told)")
        #expect((told.output + told.errors).contains("entries \(first) to \(last) are missing"), "\(told)")
      }
      let next = try world.ambit("run", "/bin/echo", "ran")
      #expect(next.exit == .status(125) && next.output.isEmpty && next.errors.contains("damaged"), "\(next)")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `AUD-10: when the broker is killed, the running app loses access cleanly and can start again`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      var broker = try #require(try world.brokerProcess())
      for round in 1...3 {
        #expect(try app.start(), "round \(round)")
        #expect(try app.read().content == "text")
        #expect(kill(broker, SIGKILL) == 0)
        let dead = broker
        try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(dead) }
        // From the first moment on, and whether or not there is a broker, it is known that something runs.
        try Deadline.wait(for: "the app to be taken over") {
          let listed = try #require(JSON(try world.ambit("ps", "--format", "json").output))
          let known = listed["instances"]?.array?.count ?? 0
          #expect(known + (listed["awaited"]?.array?.count ?? 0) == 1, "round \(round): \(listed.text)")
          return known == 1
        }
        broker = try #require(try world.brokerProcess())
        // What was started is over, in the kernel as in the books.
        #expect(try app.tell("status")["used"] == 0, "round \(round)")
        #expect(try app.read().errno == refused, "round \(round)")
        #expect(try app.tell("mounts").content?.contains("letter.txt /documents") == false)
      }
      // Grants and tokens survive.
      #expect(try app.start())
      #expect(try app.tell("append", ["of": "a", "text": "!"]).isDone)
      #expect(try world.read(document) == "text!")
      #expect(try app.finish() == .status(0))
      #expect(try world.instances().isEmpty)
      let ended = try world.audit(.scopeEnded)
      #expect(ended.count == 4)
      #expect(ended.prefix(3).allSatisfy { $0.reason?.contains("gone") == true })
      _ = try world.audit()
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func
    `AUD-4, AUD-10: a start that was answered is in the log when the broker is killed, before and after the next one`(
      user: TestUser
    ) throws
  {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
      var broker = try #require(try world.brokerProcess())
      for round in 1...5 {
        // The launcher would start another broker at once. It also makes the app's connections, so this one has to be there.
        _ = try app.tell("status")
        app.process.signal(SIGSTOP)
        #expect(try app.start(), "round \(round)")
        #expect(kill(broker, SIGKILL) == 0)
        try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
        let listed = try world.ambit("audit", "log", "--kind", "start", "--format", "json")
        #expect(listed.output.split(separator: "\n").count == round, "\(listed)")
        let before = try world.audit()
        #expect(before.filter { $0.kind == .brokerStarted }.count == round)
        app.process.signal(SIGCONT)
        try Deadline.wait(for: "the app to be taken over") { try !world.instances().isEmpty }
        broker = try #require(try world.brokerProcess())
        let after = try world.audit()
        #expect(Array(after.prefix(before.count)) == before)
        #expect(after.dropFirst(before.count).first?.kind == .brokerStarted)
        #expect(after.filter { $0.kind == .start }.count == round)
      }
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.all)
  func `AUD-10: the broker is killed in the midst of starts and stops, and no mount goes stale`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document], arguments: ["spin"])
      _ = try app.process.readLine()
      for _ in 1...8 {
        var broker: Int32?
        try Deadline.wait(for: "a broker that has the app") {
          broker = try world.brokerProcess()
          return try broker != nil && !world.instances().isEmpty
        }
        // Only what comes from here on is read: the log grows by thousands of entries while this waits.
        let log = try AuditReader(path: "\(world.ambitHome)/state/audit.sqlite")
        let seen = try log.lastSequence()
        try Deadline.wait(for: "starts") {
          try !log.events(matching: AuditQuery(kind: .start), after: seen, limit: 1).isEmpty
        }
        #expect(kill(try #require(broker), SIGKILL) == 0)
      }
      try Deadline.wait(for: "the last broker to have the app") { try !world.instances().isEmpty }
      app.process.kill()
      try Deadline.wait(for: "the instance to end") { try world.instances().isEmpty }
      let last = try #require(try world.brokerProcess())
      // A thread of the broker's takes them away, and may not have had its turn.
      try Deadline.wait(for: "no mount to be left") {
        ProcessTable.mounts(last).allSatisfy { !$0.contains("letter.txt") }
      }
      _ = try world.audit()
      #expect(try world.read(document) == "text")
    }
  }
}
