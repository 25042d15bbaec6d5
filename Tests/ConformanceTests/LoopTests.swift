import Audit
import Foundation
import Kernel
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// What takes long keeps nobody waiting but those whom it concerns.
@Suite(.serialized, .waiting)
struct LoopTests {
  /// A journal as SQLite keeps it for the next time: nobody has to roll it back.
  private static let journal = "head -c 512 /dev/zero >list.db-journal; echo kept >>list.db-journal"

  private func database(_ world: Workspace) throws -> String {
    let made = try world.run(
      ["/usr/bin/sqlite3", "-bail", "Papers/list.db", "CREATE TABLE t (a); INSERT INTO t VALUES (1)"])
    #expect(made.exit == .status(0), "\(made)")
    return "\(world.home)/Papers/list.db"
  }

  private func hold(_ point: FaultPoint, _ world: Workspace) throws -> (file: String, environment: [String: String]) {
    let file = "\(world.home)/held"
    try world.write("", to: file)
    return (file, ["AMBIT_FAULT": "hold \(point.rawValue) \(file)"])
  }

  @Test(arguments: TestUser.inTurn(["default", "strict"]))
  func `FSF-6: while a journal is put beside its database, others go on, and who starts the database waits for it`(
    user: TestUser, policy: String
  ) throws {
    try Workspace.with(user) { world in
      let (path, other) = (try database(world), try world.document("other.txt", "other\n"))
      let (held, environment) = try hold(.sidecarsDue, world)
      let stopping = try world.start(
        saving: [path], options: ["--policy", policy], environment: environment,
        "open; \(Self.journal); cd /; echo stopping; ambitctl stop \"$u\"; echo \"stopped $?\"")
      try stopping.wait(forOutput: "stopping\n")
      try Deadline.wait(for: "the journal to be taken") {
        try world.staged().contains { $0.hasSuffix(".sidecar-journal") }
      }
      let beside = try world.saving([other], as: "Beside", "open; cat other.txt")
      #expect(beside.output == "other\n", "\(beside)")
      let starting = try world.start(
        saving: [path], as: "Third", "echo starting; open; echo \"started $?\"; sqlite3 list.db 'SELECT a FROM t'")
      try starting.wait(forOutput: "starting\n")
      // Meanwhile everybody else is served.
      for _ in 0..<3 {
        #expect(try world.saving([other], as: "Beside", "open; cat other.txt").output == "other\n")
      }
      #expect(!stopping.allOutput.contains("stopped") && !starting.allOutput.contains("started"))
      #expect(try world.names() == ["list.db", "list.db-shm", "other.txt"])

      try FileManager.default.removeItem(atPath: held)
      #expect(try stopping.outcome().output == "stopping\nstopped 0\n")
      #expect(try starting.outcome().output == "starting\nstarted 0\n1\n")
      #expect(try world.names() == ["list.db", "list.db-journal", "other.txt"])
      #expect(try world.read("\(path)-journal").hasSuffix("kept\n"))
      let events = try world.audit()
      let kept = try #require(events.firstIndex { $0.kind == .replaced && $0.rule == "FSF-6" })
      let started = try #require(
        events.firstIndex { $0.kind == .start && $0.app == Workspace.identifier("Third") && $0.result == .allowed })
      #expect(kept < started)
      try Deadline.wait(for: "nothing to be left") { try world.staged().isEmpty }
    }
  }

  @Test(
    arguments: TestUser.inTurn([FaultPoint.sidecarsTaken, .sidecarsDue, .sidecarsCopied, .sidecarsKept]))
  func `FSF-6: a broker that is killed while a journal is put beside its database leaves that to the next one`(
    user: TestUser, point: FaultPoint
  ) throws {
    try Workspace.with(user) { world in
      let path = try database(world)
      // Where an app's identity can take it away as well.
      let trigger = "\(world.home)/triggers/now"
      try world.makeFolder("\(world.home)/triggers")
      _ = unsafe chmod("\(world.home)/triggers", 0o777)
      try world.write("", to: trigger)
      let app = try world.start(
        saving: [path], environment: ["AMBIT_FAULT": "kill \(point.rawValue) \(trigger)"],
        "open; \(Self.journal); cd /; ambitctl stop \"$u\"; echo end")
      _ = try app.outcome()
      #expect(unsafe access(trigger, F_OK) != 0, "nobody came by \(point)")
      // Its launcher has started the next one, or this does.
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      try Deadline.wait(for: "nothing to be left") { try world.staged().isEmpty }
      #expect(try world.names() == ["list.db", "list.db-journal"])
      #expect(try world.read("\(path)-journal").hasSuffix("kept\n"))
      let events = try world.audit(.replaced)
      #expect(!events.isEmpty && events.allSatisfy { $0.rule == "FSF-6" && $0.result == .allowed }, "\(events)")
    }
  }

  @Test(arguments: TestUser.one(.root), ["it ends", "it is killed"])
  func `FSF-6: a launch is over when what its app has left of a database stands beside that`(
    user: TestUser, how: String
  ) throws {
    try Workspace.with(user) { world in
      let path = try database(world)
      let (held, environment) = try hold(.sidecarsDue, world)
      let app = try world.start(
        saving: [path], environment: environment,
        "open; \(Self.journal); echo end; [ '\(how)' = 'it ends' ] || kill -9 $$")
      try app.wait(forOutput: "end\n")
      try Deadline.wait(for: "the journal to be taken") {
        try world.staged().contains { $0.hasSuffix(".sidecar-journal") }
      }
      // The app is over for everybody, and another one is launched meanwhile.
      try Deadline.wait(for: "the app to be over") { try world.instances().isEmpty }
      #expect(try world.ambit("run", "/bin/true").exit == .status(0))
      #expect(!app.hasEnded)
      // The hold stays until the journal is there.
      #expect(try world.names() == ["list.db", "list.db-shm"])

      try FileManager.default.removeItem(atPath: held)
      #expect(try app.outcome().exit == (how == "it ends" ? .status(0) : .status(137)))
      #expect(try world.names() == ["list.db", "list.db-journal"])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-6: a broker that is told to end puts journals beside their databases first`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let path = try database(world)
      let (held, environment) = try hold(.sidecarsDue, world)
      let app = try world.start(saving: [path], environment: environment, "open; \(Self.journal)")
      try Deadline.wait(for: "the journal to be taken") {
        try world.staged().contains { $0.hasSuffix(".sidecar-journal") }
      }
      let broker = try #require(try world.brokerProcess())
      #expect(kill(broker, SIGTERM) == 0)
      // It has read that it is to end.
      try Deadline.wait(for: "the signal to be read") {
        let status = (try? String(contentsOfFile: "/proc/\(broker)/status", encoding: .utf8)) ?? ""
        return !status.contains(try Regex("ShdPnd:\t0*4000\n"))
      }
      try FileManager.default.removeItem(atPath: held)
      #expect(try app.outcome().exit == .status(0))
      try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
      #expect(try world.read("\(path)-journal").hasSuffix("kept\n"))
      #expect(try world.audit(.replaced).map(\.rule) == ["FSF-6"])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `AUD-1: what is withdrawn is so at once, and others go on, while references to it are looked for`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let (document, other) = (try world.document("letter.txt", "text"), try world.document("other.txt", "other"))
      let (held, environment) = try hold(.referencesDue, world)
      let app = try world.probe(picks: [document, other], environment: environment)
      try app.pick()
      try app.pick(as: "other")
      #expect(try app.start())
      let grant = try #require(try world.grants().first { $0["path"]?.string == document }?["grant"]?.string)
      let revoking = try world.start([try Products.path("ambit"), "revoke", grant])
      try Deadline.wait(for: "the document to be taken away") { try app.read().errno != nil }
      #expect(try app.read().errno == refused)
      #expect(try !app.start())
      #expect(try app.start("other"))
      #expect(try app.read("other").content == "other")
      #expect(try world.grants().count == 1)
      #expect(try app.tell("references")["paths"]?.array?.count == 2)
      #expect(!revoking.hasEnded)

      try FileManager.default.removeItem(atPath: held)
      #expect(try revoking.outcome().exit == .status(0))
      #expect(try app.tell("references")["paths"]?.strings == ["/home/user/Documents/other.txt.ambitref"])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-1: references that a broker that was killed had still to remove, the next one removes`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let trigger = "\(world.home)/trigger"
      try world.write("", to: trigger)
      let app = try world.probe(
        picks: [document], environment: ["AMBIT_FAULT": "kill referencesDue \(trigger)"])
      try app.pick()
      let documents = "\(world.container(Workspace.identifier("Probe")))/Documents"
      #expect(try world.names(in: documents) == ["letter.txt.ambitref"])
      let grant = try #require(try world.grants().first?["grant"]?.string)
      _ = try world.ambit("revoke", grant)
      #expect(unsafe access(trigger, F_OK) != 0)
      try Deadline.wait(for: "the reference to be gone") {
        _ = try world.instances()
        return try world.names(in: documents).isEmpty
      }
      #expect(try !app.start())
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `PCK-8: while many documents that were picked are looked at, others go on`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let names = (10..<40).map { "\($0).txt" }
      for name in names { try world.document(name, name) }
      let answers = "\(world.home)/answers.toml"
      let list = names.map { "\"Papers/\($0)\"" }.joined(separator: ", ")
      try world.write("[[answer]]\npick = [\(list)]\n", to: answers)
      let (held, environment) = try hold(.picksDue, world)
      let app = try world.probe(options: ["--answers", answers], environment: environment)
      // Its broker is the one that holds.
      _ = try app.tell("status")
      try app.process.send(JSON.object(["do": "pick", "as": "a", "multiple": true]).text + "\n")
      let other = try world.probe("Other", picks: ["\(world.home)/Papers/10.txt"])
      try other.pick()
      #expect(try other.start())
      #expect(try other.read().content == "10.txt")
      // All of that while the first one waits.
      #expect(!app.process.allOutput.contains("didPick"))
      #expect(try world.grants("--app", Workspace.identifier("Probe")).isEmpty)

      try FileManager.default.removeItem(atPath: held)
      let answer = try #require(JSON(try app.process.readLine()))
      #expect(answer["didPick"] == 1 && answer["urls"]?.array?.count == names.count, "\(answer.text)")
      #expect(try app.start("a29"))
      #expect(try app.read("a29").content == "39.txt")
      #expect(try app.finish() == .status(0))
    }
  }
}
