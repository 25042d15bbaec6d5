import Audit
import Foundation
import TestSupport
import Testing

/// What is asked of a log that was copied from somewhere: no broker has to run for it.
@Suite(.serialized, .waiting)
struct AuditQuestionTests {
  private static let app = "org.example.A"

  /// An app is granted a document at 9:00, starts it at 9:01 and stops it at 9:30.
  private func log(_ world: Workspace) throws -> String {
    let path = "\(world.home)/copied.sqlite"
    let nine = 1_748_768_400.0
    let document = AuditEvent.Document(path: "/home/alice/Contracts/plan.txt", volume: "0a", inode: 7)
    func event(
      _ kind: AuditEvent.Kind, _ minutes: Double, _ facts: [String: String] = [:], grant: String? = "g"
    ) -> AuditEvent {
      AuditEvent(
        kind, time: Date(timeIntervalSince1970: nine + minutes * 60), app: Self.app, instance: "i", pid: 9,
        grant: grant, document: grant.map { _ in document }, how: "user", detail: facts)
    }
    let log = try AuditLog(path: path)
    try log.append([
      event(.launch, -1, ["policy": "default", "limit": "256"], grant: nil), event(.pick, 0),
      event(.grant, 0, ["access": "readWrite", "kind": "file", "until": "withdrawn"]),
      event(.start, 1, ["access": "readWrite", "process": "2", "count": "1", "used": "1", "limit": "256"]),
      event(.stop, 30, ["process": "2", "count": "0"]), event(.exit, 40, grant: nil),
    ])
    try log.flush()
    for file in try FileManager.default.contentsOfDirectory(atPath: world.home) where file.hasPrefix("copied") {
      try world.user.own("\(world.home)/\(file)")
    }
    return path
  }

  @Test func `entries are listed by app, document and time, and by all of them together`() throws {
    try Workspace.with(TestUser.all[0]) { world in
      let log = try log(world)
      func entries(_ more: String...) throws -> [Int64] {
        let command = [try Products.path("ambit"), "audit", "log", "--log", log, "--format", "json"]
        let answer = try world.run(command + more)
        #expect(answer.exit == .status(0), "\(answer)")
        return answer.output.split(separator: "\n").compactMap { line in
          JSON(String(line))?["sequence"]?.int.map(Int64.init)
        }
      }
      let path = "/home/alice/Contracts/plan.txt"
      #expect(try entries("--app", Self.app) == [1, 2, 3, 4, 5, 6])
      #expect(try entries("--document", path) == [2, 3, 4, 5])
      #expect(try entries("--document", "/home/alice/Contracts/../Contracts/plan.txt", "--limit", "2") == [4, 5])
      #expect(try entries("--document", "/home/alice/Contracts") == [])
      #expect(try entries("--until", "2025-06-01T09:00:30Z") == [1, 2, 3])
      #expect(try entries("--since", "2025-06-01T09:01:00Z", "--until", "2025-06-01T09:30:00Z") == [4, 5])
      #expect(
        try entries("--app", Self.app, "--document", path, "--until", "2025-06-01T09:05:00Z", "--limit", "1") == [4])
      let wrong = try world.ambit("audit", "log", "--log", log, "--until", "soon")
      #expect(wrong.exit != .status(0) && wrong.errors.contains("--until takes a time"), "\(wrong)")
      let never = try world.ambit("audit", "log", "--log", log, "--since", "1h", "--until", "2h")
      #expect(never.exit != .status(0) && never.errors.contains("--until is before --since"), "\(never)")
      let endless = try world.ambit("audit", "log", "--log", log, "--until", "1h", "--follow")
      #expect(endless.exit != .status(0) && endless.errors.contains("leave out --until"), "\(endless)")
    }
  }

  @Test func `a log that is named has to be there, and the user's own need not`() throws {
    try Workspace.with(TestUser.all[0]) { world in
      let words = [
        ["audit", "log"], ["audit", "export", "--as", "jsonl", "--to", "-"], ["audit", "at", "now"],
      ]
      for words in words {
        let answer = try world.run([try Products.path("ambit")] + words + ["--log", "\(world.home)/none.sqlite"])
        #expect(answer.exit == .status(2) && answer.output.isEmpty, "\(words): \(answer)")
        #expect(answer.errors.contains("There is no audit log at \(world.home)/none.sqlite"), "\(words): \(answer)")
      }
      for words in words.dropLast() {
        let answer = try world.run([try Products.path("ambit")] + words)
        #expect(answer.exit == .status(0) && answer.output.isEmpty, "\(words): \(answer)")
      }
    }
  }

  @Test func `a database that was copied alone is said to lack its newest entries, and no rule holds of it`() throws {
    try Workspace.with(TestUser.all[0]) { world in
      let (alone, rules) = ("\(world.home)/alone.sqlite", "\(world.home)/rules.toml")
      try FileManager.default.copyItem(atPath: try log(world), toPath: alone)
      try world.user.own(alone)
      try world.write("[[rule]]\nname = \"n\"\nkind = \"scopes-at-most\"\nmost = 3\n", to: rules)
      for (words, status) in [
        (["check", alone, rules], 2), (["check", rules, "--log", alone], 2), (["log", "--log", alone], 0),
        (["at", "now", "--log", alone], 0), (["simulate", alone, "--policy", "strict"], 0),
        (["simulate", "--log", alone, "--policy", "strict"], 0), (["segments", alone], 0),
        (["export", "--as", "jsonl", "--to", "-", "--log", alone], 0),
      ] as [([String], Int32)] {
        let answer = try world.run([try Products.path("ambit"), "audit"] + words)
        #expect(answer.exit == .status(status), "\(words): \(answer)")
        #expect(answer.errors.contains("may lack its newest entries: there is no \(world.home)/alone.head"), "\(words)")
        if status == 2 { #expect(answer.output.contains("cannot be judged"), "\(answer)") }
      }
    }
  }

  @Test func `a simulation for an app that the log has no launch of says so`() throws {
    try Workspace.with(TestUser.all[0]) { world in
      let log = try log(world)
      for format in ["table", "json"] {
        let answer = try world.ambit(
          "audit", "simulate", log, "--policy", "strict", "--app", "org.example.typo", "--format", format)
        #expect(answer.exit == .status(1) && answer.output.isEmpty, "\(answer)")
        #expect(answer.errors.contains("no launch of org.example.typo is in the log"), "\(answer)")
      }
    }
  }

  @Test func `AUD-5: who could reach what at a moment is asked of a copied log, as a database and as lines of JSON`()
    throws
  {
    try Workspace.with(TestUser.all[0]) { world in
      let log = try log(world)
      let lines = "\(world.home)/copied.jsonl"
      try world.write(try world.ambit("audit", "log", "--log", log, "--format", "json").output, to: lines)
      for file in [log, lines] {
        func at(_ time: String, _ more: String...) throws -> JSON {
          let answer = try world.run(
            [try Products.path("ambit"), "audit", "at", "2025-06-01T\(time):00Z", "--log", file, "--format", "json"]
              + more)
          return try #require(JSON(answer.output), "\(answer)")
        }
        #expect(try at("08:00")["entry"] == 0)
        #expect(try at("08:59")["grants"]?.array?.isEmpty == true)
        let then = try at("09:10")
        let grant = try #require(then["grants"]?.array?.first)
        #expect(grant["app"]?.string == Self.app && grant["access"] == "readWrite" && grant["how"] == "user")
        #expect(grant["scopes"]?.array?.first?["process"] == 2 && then["entry"] == 4)
        #expect(try at("09:35")["grants"]?.array?.first?["scopes"]?.array?.isEmpty == true)
        #expect(try at("09:45")["instances"]?.array?.isEmpty == true)
        let path = "/home/alice/Contracts/plan.txt"
        #expect(try at("09:10", "--document", path)["grants"]?.array?.count == 1)
        #expect(try at("09:10", "--document", "/home/alice/Contracts")["grants"]?.array?.isEmpty == true)
        #expect(try at("09:10", "--app", "org.example.B")["grants"]?.array?.isEmpty == true)
      }
      let table = try world.ambit("audit", "at", "2025-06-01T09:10:00Z", "--log", log).output
      #expect(table.contains("1 grant was in force") && table.contains("● in i (process 2)"), "\(table)")
    }
  }

  @Test
  func `AUD-6: rules are checked offline: they hold, are violated by entries that are named, or cannot be judged`()
    throws
  {
    try Workspace.with(TestUser.all[0]) { world in
      let log = try log(world)
      let rules = "\(world.home)/rules.toml"
      func check(_ text: String, _ more: String...) throws -> Outcome {
        try world.write(text, to: rules)
        return try world.run([try Products.path("ambit"), "audit", "check", log, rules] + more)
      }
      let nobodyWrites = "[[rule]]\nname = \"w\"\nkind = \"no-writes\"\nbelow = \"/home/alice/Contracts\"\n"
      let violated = try check(nobodyWrites)
      #expect(violated.exit == .status(1) && violated.output.contains("entry 4"), "\(violated)")
      let holds = try check(nobodyWrites + "except = [\"\(Self.app)\"]\n")
      #expect(holds.exit == .status(0) && holds.output.contains("holds"), "\(holds)")
      let late = try check("[[rule]]\nname = \"s\"\nkind = \"stops-within\"\nwithin = \"10m\"\n", "--format", "json")
      #expect(late.exit == .status(1))
      #expect(JSON(late.output)?["rules"]?.array?.first?["violations"]?.array?.first?["entry"] == 4, "\(late)")
      let wrong = try check(nobodyWrites + "excpt = []\n")
      #expect(wrong.exit == .status(2) && wrong.errors.contains("rules.toml:5:1"), "\(wrong)")
      #expect(wrong.errors.contains("did you mean \"except\"?"))
      // The log goes on from a moment before which nothing is known.
      let late2 = "\(world.home)/late.jsonl"
      let entries = try world.ambit("audit", "log", "--log", log, "--format", "json").output.split(separator: "\n")
      try world.write(entries.dropFirst(3).joined(separator: "\n"), to: late2)
      try world.write("[[rule]]\nname = \"n\"\nkind = \"scopes-at-most\"\nmost = 3\n", to: rules)
      let unknown = try world.ambit("audit", "check", late2, rules)
      #expect(unknown.exit == .status(2) && unknown.output.contains("cannot be judged"), "\(unknown)")
      // A hole, one twice, and backwards: none of them is a log, and the line is named.
      let (twice, backwards) = ([entries[0], entries[1], entries[1]], [entries[1], entries[0]])
      for (lines, line, words) in [
        (Array(entries.prefix(2) + entries.dropFirst(3)), 3, "entry 3 is missing"),
        (Array(entries.prefix(1) + entries.dropFirst(3)), 2, "entries 2 to 3 are missing"),
        (twice, 3, "entry 2 stands behind entry 2"), (backwards, 2, "entry 1 stands behind entry 2"),
      ] {
        try world.write(lines.joined(separator: "\n"), to: late2)
        for command in [["check", late2, rules], ["at", "now", "--log", late2]] {
          let answer = try world.run([try Products.path("ambit"), "audit"] + command)
          #expect(answer.exit == .status(2) && answer.errors.contains("late.jsonl:\(line): \(words)"), "\(answer)")
        }
      }
      let words = try world.ambit("audit", "check", "--explain", rules)
      #expect(words.output.contains("never had more than 3 scopes started at a time"), "\(words)")
    }
  }

  @Test func `another policy is asked about a copied log; one that does not exist is told by name`() throws {
    try Workspace.with(TestUser.all[0]) { world in
      let log = try log(world)
      let unknown = try world.ambit("audit", "simulate", log, "--policy", "defualt")
      #expect(unknown.exit == .status(2) && unknown.errors.contains("default"), "\(unknown)")
      // Its launch does not say what its policy was.
      let told = try world.ambit("audit", "simulate", log, "--policy", "strict")
      #expect(told.exit == .status(0) && told.output.contains("Not judged:"), "\(told)")
      #expect(told.output.contains("does not hold the policy (1×)"))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a report has in words the policy that a launch went by, and not what that says by now`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let file = "\(world.home)/mine.toml"
      func launch(limit: Int) throws {
        try world.write("inherits = \"default\"\n[scopes]\nlimit = \(limit)\n", to: file)
        let outcome = try world.ambit("run", "--policy", file, "/bin/true")
        #expect(outcome.exit == .status(0), "\(outcome)")
      }
      func policy() throws -> (facts: JSON, page: String) {
        let answer = try world.ambit("audit", "report", "--format", "json")
        let policies = try #require(JSON(answer.output)?["policies"]?.array, "\(answer)")
        #expect(policies.count == 1)
        return (try #require(policies.first), try world.ambit("audit", "report", "--output", "-").output)
      }
      func slots(_ facts: JSON) -> [String] {
        (facts["sections"]?.array ?? []).flatMap { $0["abilities"]?.array ?? [] }
          .filter { $0["by"]?.string?.contains("scopes.limit") == true }
          .compactMap { ability in
            ability["extent"]?.string.flatMap { extent in ability["by"]?.string.map { "\(extent), by \($0)" } }
          }
      }
      try launch(limit: 7)
      try world.write("inherits = \"default\"\n[scopes]\nlimit = 9\n", to: file)
      let first = try policy()
      let entry = try #require(try world.audit(.launch).first)
      #expect(first.facts["launch"]?.string == entry.instance && first.facts["entry"]?.int == Int(entry.sequence))
      #expect(first.facts["text"]?.string == entry.detail["settings"] && first.facts["varied"]?.array?.isEmpty == true)
      #expect(slots(first.facts).count == 1 && slots(first.facts)[0].contains("7"), "\(first.facts.text)")
      #expect(slots(first.facts)[0].contains("entry \(entry.sequence):"), "\(slots(first.facts))")
      #expect(first.page.contains(" went by it, entry ") && !first.page.contains("Other launches went by"))
      // Another launch under it: that one is meant, and that there are others is said.
      try launch(limit: 9)
      let second = try policy()
      #expect(slots(second.facts).count == 1 && slots(second.facts)[0].contains("9"), "\(second.facts.text)")
      #expect(second.facts["varied"] == second.facts["apps"] && second.page.contains("Other launches went by"))
    }
  }
}
