import Audit
import Foundation
import TestSupport
import Testing

/// LIM-11, and leaks.
@Suite(.serialized, .waiting)
struct QuotaTests {
  @Test(arguments: TestUser.one(.root))
  func `LIM-11: under windows, of what nothing keeps the 25 used last stay, and use renews`(user: TestUser) throws {
    try withPicked(user, 25, "\"windows\"", references: false, together: 1, extra: 60) { (world, app) throws in
      func started(_ name: String) throws -> Bool {
        let done = try app.start(name)
        if done { try app.stop(name) }
        return done
      }
      let full = try app.tell("kept")
      #expect(full["maximum"] == 1000 && full["recentMaximum"] == 25 && full["kept"] == 0, "\(full.text)")
      #expect(full["recent"]?.strings?.first == "24.txt" && full["recent"]?.strings?.count == 25)
      #expect(try world.grants().count == 25 && world.audit(.revoke).isEmpty)

      // The oldest is used, and another one is kept by a bookmark: the two next to them go.
      #expect(try started("m0"))
      #expect(try app.start("m3"))
      let bookmark = try app.bookmark("m3")
      try app.stop("m3")
      #expect(try app.tell("kept")["recent"]?.strings?.prefix(2) == ["3.txt kept", "0.txt"])
      #expect(try app.start("m2"))
      try app.stop("m2")
      for number in 25...26 { try app.pick(as: "m\(number)") }
      let ended = try world.audit(.revoke)
      #expect(ended.map { $0.document?.name } == ["1.txt", "4.txt"], "\(ended)")
      #expect(ended.allSatisfy { $0.rule == "LIM-11" && $0.how == "quota" })
      #expect(try !started("m1") && !started("m4"))
      #expect(try started("m0") && started("m2"))
      // What is started stays so until it is stopped.
      #expect(try app.start("m5"))
      for number in 27...60 { try app.pick(as: "m\(number)") }
      #expect(try app.read("m5").content == "5")
      #expect(try !app.start("m5"), "its grant has ended")
      #expect(try !started("m0") && !started("m6"))
      #expect(try world.grants().count == 26)

      // Kept, it is there after 58 others, and in the next launch; using it pushes out what is not kept.
      #expect(try app.tell("kept")["kept"] == 1)
      let oldest = try #require(try app.tell("kept")["recent"]?.strings?.last)
      #expect(try app.tell("resolve", ["bookmark": .string(bookmark), "as": "kept"]).url != nil)
      #expect(try started("kept"))
      #expect(try app.tell("kept")["recent"]?.strings?.first == "3.txt kept")
      #expect(try world.grants().count == 25)
      #expect(try world.audit(.revoke).last?.document?.name == oldest)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `what an app leaves started is reported when it ends`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let status = "\(world.home)/status.json"
      let ambit = try Products.path("ambit")
      let script = "url=$(ambitctl pick); ambitctl start \"$url\" --caller script:1; ambitctl start \"$url\""
      let outcome = try world.run([
        "/bin/sh", "-c",
        "exec '\(ambit)' run --trace --json-status-fd 3 --pick '\(document)' /bin/sh -c '\(script)' 3>'\(status)'",
      ])
      #expect(outcome.exit == .status(0), "\(outcome)")
      #expect(outcome.errors.contains("leaked") && outcome.errors.contains("script:1"), "\(outcome)")
      let events = try world.read(status).split(separator: "\n").compactMap { JSON(String($0)) }
      #expect(events.map { $0["event"]?.string } == ["started", "granted", "leaked", "exited"])
      let leak = try #require(events.first { $0["event"] == "leaked" })
      #expect(leak["document"]?.string == document && leak["count"] == 2 && leak["caller"] == "script:1")
      let ended = try #require(try world.audit(.scopeEnded).first)
      #expect(ended.detail[AuditEvent.Fact.caller] == "script:1" && ended.detail[AuditEvent.Fact.since] != nil)
      // Who stops what they start leaves nothing, and nothing is said.
      let tidy = try world.ambit(
        "run", "--trace", "--pick", document, "/bin/sh", "-c", "ambitctl with $(ambitctl pick) -- cat")
      #expect(tidy.output == "text" && !tidy.errors.contains("leaked"), "\(tidy)")
    }
  }
}

/// Thousands, one after another.
@Suite(.serialized, .waiting)
struct QuotaRaceTests {
  @Test(arguments: TestUser.all)
  func `LIM-11: under windows, the 1,001st bookmark is refused, and the 1,001st document is not`(user: TestUser) throws
  {
    try withPicked(user, 0, "\"windows\"", references: false, extra: 1001) { (world, app) throws in
      for _ in 0..<1000 {
        try app.pick(as: "d")
        #expect(try app.start("d"))
        _ = try app.bookmark("d")
        try app.stop("d")
      }
      #expect(try app.tell("kept")["kept"] == 1000)
      // Another bookmark of what is kept anyhow needs no room.
      #expect(try app.start("d"))
      _ = try app.bookmark("d")
      try app.pick(as: "last")
      #expect(try app.start("last"))
      let answer = try app.tell("bookmark", ["of": "last"])
      #expect(answer["bookmark"] == nil && answer["posix"] == "EDQUOT", "\(answer.text)")
      #expect(answer["sentence"]?.string?.contains("1000") == true)
      #expect(try world.audit(.bookmarkCreated).last?.rule == "LIM-11")
      #expect(try app.tell("release", ["of": "d"]).isDone)
      _ = try app.bookmark("last")
    }
  }

  @Test(arguments: TestUser.all)
  func `LIM-12: under xdp, 3,000 documents meet no limit`(user: TestUser) throws {
    try withPicked(user, 3000, "\"xdp\"") { (world, app) throws in
      #expect(try world.grants().count == 3000)
      for number in [0, 1500, 2999] { #expect(try app.start("m\(number)")) }
      #expect(try world.audit(.revoke).isEmpty && world.audit(.limit).isEmpty)
    }
  }
}

private func policy(_ world: Workspace, _ persisted: String, references: Bool = true) throws -> [String] {
  let path = "\(world.home)/quota.toml"
  try world.write(
    "inherits = \"stress\"\n[grants]\npersisted = \(persisted)\n[scopes]\nreferences = \(references)\n", to: path)
  return ["--policy", path]
}

/// A probe that has picked so many documents, `m0` and on.
///
/// - Parameters:
///   - together: how many are chosen at a time.
///   - extra: how many can be chosen after that, one at a time.
private func withPicked(
  _ user: TestUser, _ count: Int, _ persisted: String, references: Bool = true, together: Int = 200, extra: Int = 1,
  _ body: (Workspace, AppRun) throws -> Void
) throws {
  try Workspace.with(user) { world in
    let documents = try (0..<count + extra).map { try world.document("Papers/\($0).txt", "\($0)") }
    // Answers from a file: a command line has an end.
    let answers = "\(world.home)/answers.toml"
    let batches = stride(from: 0, to: count, by: together).map { documents[$0..<min($0 + together, count)] }
    let all = batches + documents[count...].map { [$0] }
    let text = all.map { "[[answer]]\npick = [\($0.map { "\"\($0)\"" }.joined(separator: ","))]\n" }
    try world.write(text.joined(), to: answers)
    let app = try world.probe(options: try policy(world, persisted, references: references) + ["--answers", answers])
    let picked = try app.tell("pickMany", ["count": .number(Double(batches.count))], patience: .seconds(120))
    try #require(picked["picked"] == .number(Double(count)), "\(picked.text)")
    try body(world, app)
  }
}
