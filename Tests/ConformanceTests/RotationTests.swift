import Audit
import Foundation
import Kernel
import Review
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// A log that goes on in another file every few dozen entries, and of which little is kept.
@Suite(.serialized, .waiting)
struct RotationTests {
  private static func keepLittle(_ world: Workspace) throws {
    try world.makeFolder("\(world.ambitHome)/config")
    try world.write("segment = \"64 KiB\"\nkeep_size = \"128 KiB\"\n", to: "\(world.ambitHome)/config/audit.toml")
  }

  private static func reader(_ world: Workspace) throws -> AuditReader {
    try AuditReader(path: "\(world.ambitHome)/state/audit.sqlite")
  }

  private static let points: [FaultPoint] =
    Rounds.areAll
    ? [.segmentEnded, .segmentMade, .somethingCarried, .removalSaid, .removalSigned] : [.segmentMade, .removalSaid]

  @Test(arguments: TestUser.inTurn(points))
  func `AUD-4: the broker is killed while the log goes on in another file or old ones go: nothing answered is lost`(
    user: TestUser, point: FaultPoint
  ) throws {
    try Workspace.with(user) { world in
      try Self.keepLittle(world)
      let triggers = "\(world.home)/triggers"
      try world.makeFolder(triggers)
      _ = unsafe chmod(triggers, 0o777)
      let app = try world.probe(
        picks: [try world.document("letter.txt", "text")],
        environment: ["AMBIT_FAULT": "kill \(point.rawValue) \(triggers)/now"])
      try app.pick()
      #expect(try app.start())
      try app.stop()
      let broker = try #require(try world.brokerProcess())
      let log = try Self.reader(world)
      try world.write("", to: "\(triggers)/now")
      var last: Int64 = 0
      func startAndStop() throws {
        guard try app.start() else { return }
        // It was answered: it is there, whoever dies.
        let event = try #require(try log.latest(1, matching: AuditQuery(kind: .start)).first)
        #expect(event.sequence > last)
        last = event.sequence
        // Nobody has it started any more where the broker has died since.
        _ = try app.tell("stop", ["of": "a"])
      }
      for _ in 0..<2000 where unsafe access("\(triggers)/now", F_OK) == 0 { try startAndStop() }
      try Deadline.wait(for: "another broker than the one that came by \(point)") {
        guard let next = try world.brokerProcess() else { return false }
        return try next != broker && !world.instances().isEmpty
      }
      // It goes on with what was begun, and with more of it.
      let number = try log.segments().last?.number ?? 0
      try Deadline.wait(for: "files that begin, and others that go") {
        for _ in 0..<8 { try startAndStop() }
        return try log.segments().last?.number ?? 0 > number + 1 && log.removedThrough() > 0
      }
      try Deadline.wait(for: "what is in force to be carried on") {
        var history = AccessHistory()
        for event in try log.events(limit: 100_000) { history.take(event) }
        return try Set(history.grants.keys) == Set(world.grants().compactMap { $0["grant"]?.string })
          && Set(history.instances.keys) == Set(world.instances().compactMap { $0["instance"]?.string })
      }
      #expect(try app.finish() == .status(0))
      let found = try log.verified()
      #expect(found.begins != nil && found.first > 1)
      #expect(try world.ambit("audit", "verify").exit == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-4: a broker that is stopped in the midst of what it carries leaves a file that stands alone`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      try Self.keepLittle(world)
      let held = "\(world.home)/held"
      // More than are carried at a time.
      let documents = try (0..<100).map { try world.document("\($0).txt") }
      let app = try world.probe(picks: documents, environment: ["AMBIT_FAULT": "hold somethingCarried \(held)"])
      for number in documents.indices { try app.pick(as: "\(number)") }
      #expect(try app.finish() == .status(0))
      let broker = try #require(try world.brokerProcess())
      let log = try Self.reader(world)
      try world.write("", to: held)
      var isHeld = false
      while !isHeld {
        let run = try world.start([try Products.path("ambit"), "run", "/bin/true"])
        try Deadline.wait(.seconds(30), for: "a launch, or a file that is begun") {
          isHeld = try !run.hasEnded && log.latest(1, matching: AuditQuery()).first?.kind == .carried
          return isHeld || run.hasEnded
        }
        // Nobody is there who would start another one.
        if isHeld { run.kill() }
      }
      #expect(kill(broker, SIGTERM) == 0)
      #expect(unsafe unlink(held) == 0)
      try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }
      let last = try #require(try log.latest(1, matching: AuditQuery(kind: .logRotated)).first)
      let after = try log.events(after: last.sequence, limit: 100_000)
      #expect(after.filter { $0.kind == .carried && $0.grant != nil }.count >= 100)
      #expect(after.contains { $0.kind == .carriedAll } && after.last?.kind == .brokerStopped)
      #expect(try log.segments().allSatisfy(\.standsAlone))
      #expect(try world.ambit("audit", "verify").exit == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `AUD-4: the files are listed, with what is kept; who asks what is gone is told so`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try Self.keepLittle(world)
      var number = 0
      try Deadline.wait(.seconds(60), for: "a file that is removed") {
        number += 1
        #expect(try world.ambit("run", "--container", "io.ambit.A\(number)", "/bin/true").exit == .status(0))
        return try Self.reader(world).removedThrough() > 0
      }
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      try Deadline.wait(for: "the broker to end") { try world.brokerProcess() == nil }
      let listed = try #require(JSON(try world.ambit("audit", "segments", "--format", "json").output))
      let files = try #require(listed["segments"]?.array)
      #expect(files.count >= 2 && listed["keepSize"] == 131072 && listed["segmentSize"] == 65536)
      #expect(files.allSatisfy { $0["standsAlone"] == true })
      let first = try #require(files.first?["first"]?.int)
      #expect(first > 1)
      let table = try world.ambit("audit", "segments").output
      #expect(table.contains("a file holds 64 KiB; 128 KiB of it is kept.") && table.contains("\(first)–"))
      let verified = try world.ambit("audit", "verify").output
      #expect(verified.contains("begins at \(first): entries up to \(first - 1) were removed on"))
      #expect(try world.audit(.logRemoved).last?.detail["through"] == "\(first - 1)")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a file about the log that cannot be meant keeps the broker from running, and says where`(user: TestUser) throws
  {
    try Workspace.with(user) { world in
      try Self.keepLittle(world)
      try world.write("keep_size = \"little\"\n", to: "\(world.ambitHome)/config/audit.toml")
      let outcome = try world.ambit("run", "/bin/true")
      #expect(outcome.exit == .status(125) && outcome.errors.contains("config/audit.toml:1:13: keep_size must be"))
    }
  }
}
