import Audit
import Foundation
import TestSupport
import Testing

/// Group O of the catalogue: the audit log, and a broker that dies.
@Suite(.serialized, .waiting)
struct AuditConformanceTests {
  @Test(arguments: TestUser.one(.root))
  func `AUD-3: a grant's record says who, what, how, which rights, when and until when`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let began = Date()
      let app = try world.probe(picks: [document, document])
      try app.pick()
      try app.pick(as: "b", ["readOnly": true])
      let grants = try world.audit(.grant)
      try #require(grants.count == 2)
      let inode = try FileManager.default.attributesOfItem(atPath: document)[.systemFileNumber] as? UInt64
      let pid = try #require(try world.instances().first?["pid"]?.int)
      for grant in grants {
        #expect(grant.app == Workspace.identifier("Probe"))
        #expect(grant.pid == Int32(pid))
        #expect(grant.instance?.isEmpty == false)
        #expect(grant.document?.path == document)
        #expect(grant.document?.inode == inode)
        #expect(grant.document?.volume?.isEmpty == false)
        #expect(grant.how == "scripted")
        #expect(grant.result == .allowed)
        #expect(grant.time >= began.addingTimeInterval(-1) && grant.time <= Date().addingTimeInterval(1))
        #expect(grant.detail["until"]?.isEmpty == false)
      }
      #expect(grants.map { $0.detail[AuditEvent.Fact.access] } == ["readWrite", "readOnly"])
      #expect(grants[0].grant != grants[1].grant)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-3: a bookmark for reading only is a grant of its own, whose record names its parent`(user: TestUser) throws
  {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
      #expect(try app.start())
      let answer = try app.tell("bookmark", ["of": "a", "readOnly": true])
      let bookmark = try #require(answer["bookmark"], "\(answer.text)")
      let grants = try world.audit(.grant)
      try #require(grants.count == 2)
      #expect(grants[1].how == "bookmark")
      #expect(grants[1].detail["parent"] == grants[0].grant)
      #expect(grants[1].detail[AuditEvent.Fact.access] == "readOnly")
      // And it is what it says.
      _ = try app.tell("resolve", ["bookmark": bookmark, "as": "b"])
      #expect(try app.start("b"))
      #expect(try app.read("b").content == "text")
      #expect(try app.tell("append", ["of": "b", "text": "x"]).errno == "EROFS")
      #expect(try app.tell("append", ["of": "a", "text": "x"]).isDone)
    }
  }

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

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-4: each start and each stop is a record with its count, and a stop too many is none`(user: TestUser) throws
  {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      for count in 1...3 { #expect(try app.tell("countedStart", ["of": "a"])["count"]?.int == count) }
      for left in [2, 1, 0, 0] { #expect(try app.tell("countedStop", ["of": "a"])["count"]?.int == left) }
      let events = try world.audit().drop { $0.kind != .start }
      let said = events.map { "\($0.kind.rawValue) \($0.result.rawValue) \($0.detail[AuditEvent.Fact.count] ?? "-")" }
      #expect(
        said == [
          "start allowed 1", "start allowed 2", "start allowed 3", "stop allowed 2", "stop allowed 1",
          "stop allowed 0",
        ])
      let used = events.map { $0.detail[AuditEvent.Fact.used] }
      #expect(used == ["1", "1", "1", "1", "1", "0"])
      #expect(events.allSatisfy { $0.app == Workspace.identifier("Probe") && $0.document?.path == document })
      #expect(Set(events.map(\.grant)).count == 1 && events.first?.grant != nil)
      // Nothing came of the one too many: one start is one start.
      #expect(try app.tell("countedStart", ["of": "a"])["count"] == 1)
      #expect(try app.finish() == .status(0))
      let ended = try world.audit(.scopeEnded)
      #expect(ended.map { $0.detail[AuditEvent.Fact.count] } == ["1"])
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

  @Test(arguments: TestUser.one(.root), ["deleted", "cut"])
  func `AUD-8: an entry that was taken out of a broker's log is named, and so is an end that was cut off`(
    user: TestUser, how: String
  ) throws {
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
      let first = how == "deleted" ? last - 4 : last - 2
      let condition = how == "deleted" ? "sequence = \(first)" : "sequence >= \(first)"
      let changed = try world.run(["/usr/bin/python3", "-I", "-c", Self.cutter, log, condition])
      #expect(changed.output == (how == "deleted" ? "1\n" : "3\n"), "\(changed)")
      for more in [[], ["--format", "json"]] {
        let told = try world.run([try Products.path("ambit"), "audit", "verify"] + more)
        #expect(told.exit == .status(1), "\(told)")
        let missing = how == "deleted" ? "entry \(first) is missing" : "entries \(first) to \(last) are missing"
        #expect((told.output + told.errors).contains(missing), "\(told)")
      }
      // Nor does a broker go on with one that is shorter than what was signed of it.
      guard how == "cut" else { return }
      let next = try world.ambit("run", "/bin/echo", "ran")
      #expect(next.exit == .status(125) && next.output.isEmpty && next.errors.contains("damaged"), "\(next)")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-6: rules are held against the log of two apps, and the entries and the app that violate them are named`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let contract = try world.document("Contracts/plan.txt", "plan")
      let letter = try world.document("letter.txt", "text")
      let editor = try world.probe("Editor", picks: [contract])
      let viewer = try world.probe("Viewer", picks: [contract, letter])
      try editor.pick()
      try viewer.pick(["readOnly": true])
      try viewer.pick(as: "b")
      for app in [editor, viewer] { #expect(try app.start()) }
      #expect(try viewer.start("b"))
      #expect(try editor.tell("append", ["of": "a", "text": "!"]).isDone)
      try editor.stop()
      for app in [editor, viewer] { #expect(try app.finish() == .status(0)) }
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      let rules = "\(world.home)/rules.toml"
      func check(_ text: String) throws -> (exit: ChildProcess.Exit, violations: [JSON]) {
        try world.write(text, to: rules)
        let outcome = try world.ambit("audit", "check", rules, "--format", "json")
        let rule = try #require(JSON(outcome.output)?["rules"]?.array?.first, "\(outcome)")
        return (outcome.exit, rule["violations"]?.array ?? [])
      }
      func entry(_ app: String, _ kind: AuditEvent.Kind, _ document: String) throws -> Int {
        let found = try world.audit(kind).first {
          $0.app == Workspace.identifier(app) && $0.document?.path == document
        }
        return Int(try #require(found).sequence)
      }
      let writes = "[[rule]]\nname = \"w\"\nkind = \"no-writes\"\nbelow = \"\(world.home)/Contracts\"\n"
      let written = try check(writes)
      #expect(written.exit == .status(1))
      #expect(written.violations.compactMap { $0["entry"]?.int } == [try entry("Editor", .start, contract)])
      #expect(try check("\(writes)except = [\"\(Workspace.identifier("Editor"))\"]\n").exit == .status(0))
      #expect(try check("\(writes)apps = [\"\(Workspace.identifier("Viewer"))\"]\n").exit == .status(0))
      // The viewer never stopped what it had started; its end did.
      let stops = "[[rule]]\nname = \"s\"\nkind = \"stops-within\"\nwithin = \"1h\"\n"
      let left = try check("\(stops)or_exit = false\n")
      #expect(left.exit == .status(1))
      #expect(
        try left.violations.compactMap { $0["entry"]?.int }
          == [entry("Viewer", .start, contract), entry("Viewer", .start, letter)])
      let most = "[[rule]]\nname = \"m\"\nkind = \"scopes-at-most\"\nmost ="
      #expect(try check("\(most) 2\n").exit == .status(0))
      let many = try check("\(most) 1\n")
      #expect(many.exit == .status(1))
      #expect(many.violations.compactMap { $0["entry"]?.int } == [try entry("Viewer", .start, letter)])
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

  @Test(arguments: TestUser.all)
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

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-10: when the broker is stopped, scopes end with it and grants stay`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
      #expect(try app.start())
      let broker = try #require(try world.brokerProcess())
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      // It has said goodbye, and may need a moment to be gone.
      try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
      #expect(try app.read().errno == refused)
      try Deadline.wait(for: "the app to be taken over") { try !world.instances().isEmpty }
      #expect(try app.start())
      #expect(try app.read().content == "text")
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
