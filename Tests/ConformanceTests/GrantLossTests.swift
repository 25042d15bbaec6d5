import Audit
import Foundation
import GRDB
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// What becomes of the grants' files besides dying processes: the power, backups, other programs.
@Suite(.waiting) struct GrantLossTests {
  private static let files = ["grants.journal", "grants.sqlite-wal", "grants.sqlite"]

  /// Ends the broker at once, and waits until it is gone.
  private func killBroker(_ world: Workspace) throws {
    let broker = try #require(try world.brokerProcess())
    #expect(kill(broker, SIGKILL) == 0)
    try Deadline.wait(for: "the broker to end") { kill(broker, 0) != 0 && errno == ESRCH }
  }

  private func copy(_ from: String, _ to: String) throws {
    try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
    for name in Self.files {
      try? FileManager.default.removeItem(atPath: "\(to)/\(name)")
      guard FileManager.default.fileExists(atPath: "\(from)/\(name)") else { continue }
      try FileManager.default.copyItem(atPath: "\(from)/\(name)", toPath: "\(to)/\(name)")
      if let owner = try FileManager.default.attributesOfItem(atPath: "\(from)/\(name)")[.ownerAccountID] as? UInt32 {
        _ = unsafe chown("\(to)/\(name)", owner, owner)
      }
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-8: a grant that is in the log and not among the grants any more is said to be lost, once`(user: TestUser)
    throws
  {
    try Workspace.with(user) { world in
      let (state, backup) = ("\(world.ambitHome)/state", "\(world.folder)/backup")
      let documents = try ["before.txt", "after.txt"].map { try world.document($0, "text") }
      let app = try world.probe(picks: documents)
      try app.pick()
      let before = try world.grants()
      #expect(before.count == 1)
      try copy(state, backup)
      try app.pick(as: "b")
      let lost = try #require(
        try world.grants().compactMap { $0["grant"]?.string }.first { $0 != before[0]["grant"]?.string })
      app.process.kill()
      try killBroker(world)
      // As when the power had gone before it was on the disk.
      try copy(backup, state)
      for _ in 0..<2 {
        #expect(try world.grants().map { $0["grant"] } == before.map { $0["grant"] })
        let said = try world.audit(.revoke)
        #expect(said.map(\.grant) == [lost] && said.map(\.how) == ["recovery"])
        #expect(said.first?.document?.path == documents[1] && said.first?.rule == "AUD-8")
        try killBroker(world)
      }
      let verdict = try world.ambit("audit", "verify")
      #expect(verdict.exit == .status(0), "\(verdict)")
    }
  }

  /// As the log has it, which is what the grants have then.
  private func grantsByLog(_ world: Workspace) throws -> [String] {
    let at = try world.ambit("audit", "at", "now", "--format", "json")
    let grants = try #require(JSON(at.output)?["grants"]?.array, "\(at)")
    return grants.compactMap { $0["grant"]?.string }.sorted()
  }

  @Test(arguments: TestUser.one(.root))
  func
    `AUD-5, AUD-8: a backup of any age brings nothing back that was withdrawn, and what it lacks is said to be lost`(
      user: TestUser
    ) throws
  {
    try Workspace.with(user) { world in
      let (state, backup) = ("\(world.ambitHome)/state", "\(world.folder)/backup")
      let documents = try ["kept.txt", "withdrawn.txt", "later.txt"].map { try world.document($0, "text") }
      let app = Workspace.identifier("Probe")
      #expect(try world.probe(picks: []).finish() == .status(0))
      func ids() throws -> [String] { try world.grants().compactMap { $0["grant"]?.string }.sorted() }
      func stop() throws { #expect(try world.ambit("broker", "stop").exit == .status(0)) }
      #expect(try world.ambit("grant", app, documents[0], documents[1]).exit == .status(0))
      let before = try ids()
      try stop()
      try copy(state, backup)
      #expect(try world.ambit("revoke", "--document", documents[1]).exit == .status(0))
      #expect(try world.ambit("grant", app, documents[2]).exit == .status(0))
      let after = try ids()
      // Brokers that know nothing of a backup come and go.
      for _ in 0..<3 {
        try stop()
        #expect(try ids() == after && grantsByLog(world) == after)
      }
      try stop()
      try copy(backup, state)
      let left = before.filter(after.contains)
      for _ in 0..<2 {
        #expect(try ids() == left && grantsByLog(world) == left && left.count == 1)
        let lost = try world.audit(.revoke).filter { $0.how == "recovery" }
        #expect(lost.compactMap(\.grant) == after.filter { !left.contains($0) }, "\(lost)")
        try stop()
      }
      #expect(try world.ambit("audit", "verify").exit == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-5: a log that begins anew is told what is in force, once`(user: TestUser)
    throws
  {
    try Workspace.with(user) { world in
      let state = "\(world.ambitHome)/state"
      #expect(try world.probe(picks: []).finish() == .status(0))
      let document = try world.document("letter.txt", "text")
      #expect(try world.ambit("grant", Workspace.identifier("Probe"), document).exit == .status(0))
      let grants = try world.grants().compactMap { $0["grant"]?.string }
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      for name in try FileManager.default.contentsOfDirectory(atPath: state) where name.hasPrefix("audit") {
        try FileManager.default.removeItem(atPath: "\(state)/\(name)")
      }
      for _ in 0..<2 {
        #expect(try world.grants().compactMap { $0["grant"]?.string } == grants && grantsByLog(world) == grants)
        let told = try world.audit(.grant)
        #expect(told.map(\.grant) == grants && told.map(\.how) == ["recovery"] && told.map(\.rule) == ["AUD-8"])
        #expect(told.first?.document?.path == document)
        #expect(try world.ambit("broker", "stop").exit == .status(0))
      }
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `while another program has the grants locked, apps start and stop, and what needs the file is refused`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let documents = try (0..<4).map { try world.document("\($0).txt", "text") }
      let app = try world.probe(picks: documents)
      try app.pick()
      let other = try world.probe("Other", picks: documents)
      try other.pick()
      var configuration = Configuration()
      configuration.allowsUnsafeTransactions = true
      // The broker may be writing.
      configuration.busyMode = .timeout(10)
      let foreign = try DatabaseQueue(path: "\(world.ambitHome)/state/grants.sqlite", configuration: configuration)
      try foreign.unsafeReentrantWrite { try $0.execute(sql: "BEGIN EXCLUSIVE") }
      // What is granted now stays in the journal.
      try app.pick(as: "b")
      for _ in 0..<20 {
        for (probe, name) in [(app, "a"), (app, "b"), (other, "a")] {
          #expect(try probe.start(name))
          try probe.stop(name)
        }
      }
      let answer = try world.ambit("grants")
      #expect(answer.exit != .status(0) && answer.errors.contains("grants.sqlite"), "\(answer)")
      try foreign.unsafeReentrantWrite { try $0.execute(sql: "COMMIT") }
      try foreign.close()
      try Deadline.wait(for: "the grants to be listed") { try world.ambit("grants").exit == .status(0) }
      #expect(try world.grants().count == 3)
      // The broker has said it once.
      let said = try world.read("\(world.ambitHome)/state/broker.log").split(separator: "\n")
      #expect(said.count { $0.contains("grants.sqlite") } == 1)
    }
  }
}
