import Foundation
import TestSupport
import Testing

/// `ambit crashcheck` as a command, for each user.
@Suite(.serialized) struct CrashcheckTests {
  private static let save = """
    import os, sys
    with open(".t", "w") as f:
      f.write(sys.argv[1] * 3000); f.flush()
      if "file" in sys.argv: os.fsync(f.fileno())
    os.rename(".t", "letter.txt")
    if "folder" in sys.argv:
      d = os.open(".", os.O_RDONLY); os.fsync(d)
    """

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let program: [String]
    /// Harmful verdicts that some states have; all others have none.
    let harmful: Set<String>
    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "in place", program: ["/bin/sh", "-c", "echo new >letter.txt"], harmful: ["torn", "lost"]),
    Case(name: "sed", program: ["sed", "-i", "s/old/new/", "letter.txt"], harmful: ["torn", "lost"]),
    Case(name: "nothing synced", program: ["python3", "-c", save, "new"], harmful: ["torn", "lost"]),
    Case(name: "the file synced", program: ["python3", "-c", save, "new", "file"], harmful: ["lost"]),
    Case(name: "the folder synced", program: ["python3", "-c", save, "new", "folder"], harmful: ["torn"]),
    Case(name: "both synced", program: ["python3", "-c", save, "new", "file", "folder"], harmful: []),
    Case(
      name: "removed and renamed",
      program: ["/bin/sh", "-c", "echo new >.t; sync .t; rm letter.txt; mv .t letter.txt"],
      harmful: ["missing", "lost"]),
  ]

  private static let verdicts = ["whole-old", "whole-new", "torn", "lost", "missing"]

  private func check(_ world: Workspace, _ options: [String], _ program: [String]) throws -> (Outcome, JSON) {
    let outcome = try world.run(
      ["/bin/sh", "-c", "cd Papers && exec \"$@\"", "sh", try Products.path("ambit"), "crashcheck", "--format", "json"]
        + options
        + ["--"] + program, patience: .seconds(60))
    return (outcome, try #require(JSON(outcome.output), "\(outcome)"))
  }

  @Test(arguments: TestUser.all, cases) func `ways to save are told apart`(user: TestUser, each: Case) throws {
    try Workspace.with(user) { world in
      try world.document("letter.txt", "old\n")
      let (outcome, json) = try check(world, ["--document", "letter.txt"], each.program)
      let found = Set(Self.verdicts.dropFirst(2).filter { json["verdicts"]?[$0] != 0 })
      #expect(found == each.harmful, "\(outcome)")
      #expect(outcome.exit == .status(each.harmful.isEmpty ? 0 : 1), "\(outcome)")
      #expect(json["incomplete"]?.strings == [])
      #expect(json["stories"]?.array?.count == each.harmful.count)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `what may not be read does no harm, unless it has a content`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try world.document("letter.txt", "old\n")
      let save =
        "mkdir -m 0 shut; : >empty; chmod 0 empty; echo new >.t; sync .t .; mv .t letter.txt; rmdir shut; rm -f empty; sync ."
      let (outcome, json) = try check(world, ["--document", "letter.txt", "--kill"], ["/bin/sh", "-c", save])
      #expect(outcome.exit == .status(0), "\(outcome)")
      #expect(json["verdicts"]?["torn"] == 0 && json["incomplete"]?.strings == [])

      try world.document("secret", "something")
      _ = try world.run(["chmod", "0", "\(world.home)/Papers/secret"])
      let refused = try world.run(
        [try Products.path("ambit"), "crashcheck", "--document", "\(world.home)/Papers/letter.txt", "--", "true"])
      #expect(refused.exit == .status(125) && refused.errors.contains("Papers/secret may not be read"), "\(refused)")
    }
  }

  @Test(arguments: TestUser.all) func `a command reads a database that recovers`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let made = try world.run(["sqlite3", "\(world.home)/Papers/d.db", "create table t(x); insert into t values(1)"])
      #expect(made.exit == .status(0), "\(made)")
      let (outcome, json) = try check(
        world,
        ["--document", "d.db", "--reopen", "sqlite3 {} 'pragma integrity_check; select * from t'", "--states", "400"],
        ["sqlite3", "d.db", "pragma synchronous=extra; insert into t values(2)"])
      #expect(outcome.exit == .status(0), "\(outcome)")
      #expect(
        json["versions"] == 2 && json["verdicts"]?["whole-old"] != 0 && json["verdicts"]?["whole-new"] != 0,
        "\(outcome)")
    }
  }

  @Test(arguments: TestUser.all) func `a program that is killed at each call leaves the old or the new`(user: TestUser)
    throws
  {
    try Workspace.with(user) { world in
      try world.document("letter.txt", "old\n")
      let (outcome, json) = try check(
        world, ["--kill", "--document", "letter.txt"], ["python3", "-c", Self.save, "new", "file", "folder"])
      #expect(outcome.exit == .status(0), "\(outcome)")
      #expect(json["kills"]?["whole-old"] != 0 && json["kills"]?["whole-new"] != 0, "\(outcome)")
      // The last run counts.
      #expect(try world.read("\(world.home)/Papers/letter.txt") == String(repeating: "new", count: 3000))
      #expect(try world.names() == ["letter.txt"])

      let (torn, its) = try check(
        world, ["--kill", "--document", "letter.txt"], ["/bin/sh", "-c", "echo newer >letter.txt"])
      #expect(torn.exit == .status(1) && its["kills"]?["torn"] != 0, "\(torn)")
    }
  }

  @Test(arguments: TestUser.one(.ordinary)) func `harmful states are kept, and the report tells a story`(user: TestUser)
    throws
  {
    try Workspace.with(user) { world in
      try world.document("letter.txt", "old\n")
      let outcome = try world.run([
        try Products.path("ambit"), "crashcheck", "--document", "Papers/letter.txt", "--keep", "\(world.home)/kept",
        "--", "sed",
        "-i", "s/old/new/", "Papers/letter.txt",
      ])
      #expect(outcome.exit == .status(1), "\(outcome)")
      #expect(outcome.output.contains("The shortest way to a torn document"))
      #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(outcome)")
      let kept = try FileManager.default.contentsOfDirectory(atPath: "\(world.home)/kept")
      #expect(kept.contains { $0.hasPrefix("torn-") } && kept.contains { $0.hasPrefix("lost-") })
    }
  }

  @Test(arguments: TestUser.one(.root)) func `wrong usage, missing programs, nothing to see`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let ambit = try Products.path("ambit")
      try world.document("letter.txt", "old\n")
      let document = ["--document", "Papers/letter.txt"]
      #expect(try world.run([ambit, "crashcheck", "--", "true"]).exit == .status(2))
      #expect(try world.run([ambit, "crashcheck"] + document).exit == .status(2))
      #expect(
        try world.run([ambit, "crashcheck"] + document + ["--watch", "/usr/share/doc", "--", "true"]).exit == .status(2)
      )
      #expect(try world.run([ambit, "crashcheck"] + document + ["--", "no-such-program"]).exit == .status(127))
      let nothing = try world.run([ambit, "crashcheck"] + document + ["--", "true"])
      #expect(nothing.exit == .status(3) && nothing.output.contains("changed nothing"), "\(nothing)")
    }
  }
}

extension Workspace {
  fileprivate func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(home)/Papers").sorted()
  }
}
