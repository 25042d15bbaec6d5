import TestSupport
import Testing

/// Questions about what an app could do go by what would hold here: the policy, and what the machine's owner leaves of it.
@Suite(.serialized, .waiting)
struct MachinePolicyQuestionTests {
  private static let limited = "[scopes]\nlimit = 2\n[grants]\naccess = \"read-only\"\n"

  @Test func `audit explain, audit diff and audit lint hold apps to the machine-wide policies, and name their file`()
    throws
  {
    try Workspace.with(.root) { world in
      let entitlements = """
        <plist version="1.0"><dict><key>com.apple.security.app-sandbox</key><true/>
        <key>com.apple.security.files.user-selected.read-write</key><true/></dict></plist>
        """
      let app = try world.bundle("Notes", identifier: "org.example.notes", entitlements: entitlements)
      func scopes() throws -> JSON {
        let explained = try world.ambit("audit", "explain", "--format", "json", app)
        let all = try #require(JSON(explained.output)?["abilities"]?.array, "\(explained)")
        return try #require(all.first { $0["ability"] == "startDocuments" }, "\(explained)")
      }
      func lint() throws -> [JSON] {
        let outcome = try world.run([try Products.path("ambit"), "audit", "lint", "--format", "json", app])
        return try #require(JSON(outcome.output)?["findings"]?.array, "\(outcome)")
      }
      #expect(try scopes()["amount"]?.int ?? 0 > 2)
      #expect(try !lint().contains { $0["name"] == "forbidden-writing" })

      let machine = "\(world.ambitHome)/machine-policy.toml"
      try world.write(Self.limited, to: machine)
      let narrowed = try scopes()
      #expect(narrowed["amount"] == 2)
      #expect(
        narrowed["decisions"]?.array?.contains {
          $0["by"] == "machine" && $0["file"]?.string == machine && $0["line"]?.int ?? 0 > 0
        } == true)
      #expect(try world.ambit("policy", "show", "default").output.contains("\(machine):2 narrows"))
      let finding = try #require(try lint().first { $0["name"] == "forbidden-writing" })
      #expect(finding["what"]?.string?.contains("grants.access = \"read-only\" in \(machine)") == true, "\(finding)")
      // What two policies differ in is nothing where the machine's owner takes both down to the same.
      try world.write("inherits = \"default\"\n[scopes]\nlimit = 9\n", to: "\(world.home)/nine.toml")
      let difference = try world.run([
        try Products.path("ambit"), "audit", "diff", "default", "\(world.home)/nine.toml",
      ])
      #expect(difference.exit == .status(0), "\(difference)")

      try world.write("[scopes]\nlimit = 0\n", to: machine)
      for question in ["explain", "lint"] {
        let wrong = try world.run([try Products.path("ambit"), "audit", question, app])
        #expect(
          wrong.exit == .status(125) && wrong.errors.contains("machine-policy.toml:2:9: scopes.limit"), "\(wrong)")
      }
    }
  }

  @Test func `audit simulate lays the machine-wide policies against the one it asks about, unless it is told not to`()
    throws
  {
    try Workspace.with(.root) { world in
      try world.write(Self.limited, to: "\(world.ambitHome)/machine-policy.toml")
      let document = try world.document("letter.txt", "dear")
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      _ = try app.finish()
      func simulate(_ options: String...) throws -> JSON {
        let question = [try Products.path("ambit"), "audit", "simulate", "--policy", "default", "--format", "json"]
        let outcome = try world.run(question + options)
        return try #require(outcome.output.split(separator: "\n").last.flatMap { JSON(String($0)) }, "\(outcome)")
      }
      let here = try simulate()
      #expect(here["differences"] == 0)
      #expect(
        here["notJudged"]?["decisions"]?.object?.isEmpty == true
          && here["notJudged"]?["fields"]?.object?.isEmpty == true)
      let elsewhere = try simulate("--without-machine")
      #expect(
        elsewhere["notJudged"]?["decisions"]?.object?.keys.contains { $0.contains("machine-wide") } == true,
        "\(elsewhere)")
    }
  }

  @Test func `a seccomp profile that cannot be loaded is said before an app is launched`() throws {
    try Workspace.with(.root) { world in
      let mine = "\(world.home)/mine.toml"
      try world.write("inherits = \"default\"\n[seccomp]\nprofile = \"/nowhere.json\"\n", to: mine)
      let check = try world.ambit("policy", "check", mine)
      #expect(
        check.exit == .status(0) && check.output.contains("\(mine):3: no app can be launched under it here"), "\(check)"
      )
      let lint = try world.ambit("audit", "lint", mine)
      #expect(lint.exit == .status(1) && lint.output.contains("\(mine):3: seccomp.profile: error"), "\(lint)")
      #expect(lint.output.contains("/nowhere.json"), "\(lint)")
    }
  }

  @Test func `what no launch can meet is said before an app is launched, and a refusal says who requires it`() throws {
    try Workspace.with(.root) { world in
      let mine = "\(world.home)/mine.toml"
      let text =
        "inherits = \"default\"\nsystem.read_only = [\"/nowhere\"]\nrequire.layers = [\"cpu-time\", \"wall-time\"]\n"
      try world.write(text, to: mine)
      let check = try world.ambit("policy", "check", mine)
      for words in [":2: no app can be launched", ":3: cpu-time is required", ":3: wall-time is required"] {
        #expect(check.exit == .status(0) && check.output.contains("\(mine)\(words)"), "\(check)")
      }
      let lint = try world.ambit("audit", "lint", mine)
      #expect(lint.exit == .status(1) && lint.output.contains("\(mine):2: system.read_only: error"), "\(lint)")
      #expect(lint.output.contains("\(mine):3: require.layers: "), "\(lint)")
      // All that is wrong is said at once.
      try world.write("[scopes]\nlimt = 1\n[files]\nexecute = 1\n", to: mine)
      let wrong = try world.ambit("policy", "check", mine)
      #expect(
        wrong.exit == .status(1) && wrong.output.contains(":2:1: ") && wrong.output.contains(":4:11: "), "\(wrong)")
      // The app's own policy requires nothing.
      try world.write("require.layers = [\"wall-time\"]\n", to: "\(world.ambitHome)/machine-policy.toml")
      for verb in ["run", "plan"] {
        let refused = try world.ambit(verb, "/bin/true")
        #expect(
          refused.errors.contains("as the machine-wide policy \(world.ambitHome)/machine-policy.toml narrows it"),
          "\(refused)")
        #expect(refused.exit == .status(125))
      }
    }
  }

  @Test func `audit lint looks at what is left of a policy, and says which part comes from where`() throws {
    try Workspace.with(.root) { world in
      let machine = "\(world.ambitHome)/machine-policy.toml"
      let mine = "\(world.home)/mine.toml"
      try world.write("inherits = \"default\"\n[network]\naccess = \"host\"\n[grants]\npass = \"any\"\n", to: mine)
      func lint(_ options: String...) throws -> [JSON] {
        let question = [try Products.path("ambit"), "audit", "lint", "--format", "json", mine]
        let outcome = try world.run(question + options)
        return try #require(JSON(outcome.output)?["findings"]?.array, "\(outcome)")
      }
      func places(_ findings: [JSON]) -> [String] {
        findings.filter { $0["name"] != "no-limit" }
          .map { "\($0["name"]?.string ?? "") \($0["place"]?.string ?? "")" }
      }
      let alone = ["open-network \(mine):3: network.access", "open-passing \(mine):5: grants.pass"]
      #expect(try places(lint()) == alone)

      // It takes the host's network away, and sets a limit where the policy that it inherits has none.
      try world.write("[network]\naccess = \"loopback\"\n\n[limits]\nwall_time = \"1h\"\n", to: machine)
      let under = try lint()
      #expect(
        places(under).map { $0.replacing(/default:[0-9]+/, with: "default:N") }
          == [
            "narrowed-by-machine \(mine):3: network.access", "open-passing \(mine):5: grants.pass",
            "narrowed-by-machine built-in:default:N: limits.wall_time",
          ])
      let network = try #require(under.first { $0["key"] == "network.access" })
      #expect(network["severity"] == "note" && network["line"] == 3)
      #expect(
        network["what"]?.string
          == "It would be \"host\", and the machine-wide policy \(machine):2 leaves \"loopback\" of that.")
      #expect(try places(lint("--without-machine")) == alone)

      // What the owner opens themselves is theirs: the finding names their line.
      try world.write("[picker]\nmodes = []\n", to: machine)
      try world.write("inherits = \"default\"\n[picker]\nmodes = [\"open\"]\ntypes = [\"txt\"]\n", to: mine)
      let vain = try lint()
      #expect(
        places(vain) == [
          "narrowed-by-machine \(mine):3: picker.modes", "setting-in-vain \(mine):4: picker.types",
        ])
      #expect(try places(lint("--without-machine")).isEmpty)
    }
  }
}
