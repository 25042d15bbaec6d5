import Scenario
import Testing

@Suite struct ScenarioReaderTests {
  private func read(_ text: String) throws(ScenarioError) -> Scenario {
    try ScenarioReader.read(text: text, file: "t.toml")
  }

  @Test func `a scenario is read with its title, defaults and steps in order`() throws {
    let scenario = try read(
      """
      title = "A story"
      about = "What for."
      policy = "teach"

      [[step]]
      say = "Only words."

      [[step]]
      say = "Something is done."
      rules = ["TOK-1", "TOK-2"]
      do = [
        { write = "${home}/a", content = "x" },
        { read = "${home}/a", expect = "x", timeout = 2.5 },
      ]
      """)
    #expect(scenario.title == "A story")
    #expect(scenario.policy == Template(text: "teach"))
    #expect(scenario.timeout == Scenario.defaultTimeout)
    #expect(scenario.steps.map(\.say) == ["Only words.", "Something is done."])
    #expect(scenario.steps[1].rules == ["TOK-1", "TOK-2"])
    #expect(scenario.steps[1].actions.map(\.timeout) == [nil, 2.5])
    #expect(scenario.steps[1].actions[1].place == Place(line: 13, column: 3))
  }

  @Test func `actions may be written as tables of their own`() throws {
    let scenario = try read(
      """
      title = "t"
      [[step]]
      say = "one"
      [[step.do]]
      run = ["ps"]
      [[step]]
      say = "two"
      [[step.do]]
      run = ["ps"]
      [[step.do]]
      run = ["audit", "log"]
      status = 3
      """)
    #expect(scenario.steps.map(\.actions.count) == [1, 2])
    #expect(scenario.steps[1].actions[1].place.line == 10)
  }

  /// What is wrong, in a `do` line that begins at line 5, column 1; and what the message says.
  static let slips: [(String, String)] = [
    (#"{ tel = "editor" }"#, "5:3: an action needs one of the words that say what it does; did you mean `tell`?"),
    (#"{ write = "a", contents = "b" }"#, "`write` needs `content`; did you mean `content`?"),
    (#"{ write = "a", content = "b", mod = 3 }"#, "5:31: `write` has no key `mod`; known are `content`, `timeout`"),
    (#"{ write = "a", read = "b" }"#, "does one thing; this one has `write` and `read`"),
    (#"{ write = 3, content = "b" }"#, "5:3: `write` is a string or an array of strings, not a whole number"),
    (#"{ read = "a", expect = { contian = "b" } }"#, "`expect` has no key `contian`; did you mean `contains`?"),
    (#"{ read = "a", expect = { matches = "(" } }"#, "5:26: `matches` is not a regular expression"),
    (#"{ read = "a", expect = 3 }"#, "`expect` is a string or a table of conditions, not a whole number"),
    (#"{ read = "${hoem}/a", expect = "b" }"#, "gives the variable `hoem` a value; did you mean `home`?"),
    (#"{ read = "${home/a", expect = "b" }"#, "has no closing brace"),
    (#"{ tell = "editor", line = "x" }"#, "no step before this one launches `editor`; nothing is launched before"),
    (#"{ suspend = "editor" }"#, "no step before this one launches `editor`"),
    (#"{ launch = "a", as = "ed itor" }"#, "`as`: a name of letters"),
    (#"{ launch = "a", as = "e", user = [{ pick = "a", cancel = true }] }"#, "either picks"),
    (#"{ launch = "a", as = "e", user = [{ pik = "a" }] }"#, "has no key `pik`; did you mean `pick`?"),
    (#"{ run = ["ps"], status = 256 }"#, "`status` is an exit status, 0 to 255"),
    (#"{ run = ["ps"], status = 1, signal = "KILL" }"#, "not both"),
    (#"{ run = ["ps"], signal = "KILT" }"#, "there is no signal `KILT`"),
    (#"{ run = ["ps"], timeout = 0 }"#, "above 0"),
    (#"{ run = ["ps"], save = "home" }"#, "cannot be a variable's name"),
    (#"{ audit = {} }"#, "any event would match"),
    (#"{ audit = [] }"#, "names no event"),
    (#"{ mode = "a", bits = "9" }"#, "mode bits in octal"),
    (#"{ give = "a", to = "e", as = "d" }"#, "no step before this one launches `e`"),
    (#"{ launch = "agent", as = "e", args = ["x"] }"#, "the agent is told what to do by actions with `app`"),
    (#"{ launch = "a", as = "e", terminal = "8x2000" }"#, "`terminal` is true, or columns and rows"),
    (#"{ launch = "a", as = "e" }, { app = "e", read = "x" }"#, "`e` is not the agent"),
    (#"{ launch = "agent", as = "e" }, { app = "e", raed = "x" }"#, "did you mean `read`?"),
    (
      #"{ launch = "agent", as = "e" }, { app = "e", start = "d" }"#,
      "names a document `d`; no document is given before"
    ),
    (
      #"{ launch = "agent", as = "e" }, { app = "e", read = "x", fails = "eacces" }"#, "an error has a name like EACCES"
    ),
    (
      #"{ launch = "agent", as = "e" }, { app = "e", read = "x", fails = "EIO", may_fail = "EIO" }"#,
      "either `fails` or"
    ),
    (#"{ launch = "agent", as = "e" }, { app = "e", pid = 3 }"#, "`pid` is true or false"),
    (#"{ launch = "agent", as = "e" }, { app = "e", pid = false }"#, "write `pid = true`"),
  ]

  @Test(arguments: slips) func `a slip is named with its place and what was meant`(slip: (String, String)) throws {
    let error = try #require(throws: ScenarioError.self) {
      try read("title = \"t\"\n[[step]]\nsay = \"s\"\ndo = [\n\(slip.0)]\n")
    }
    #expect("\(error)".contains(slip.1), "\(error)")
  }

  @Test func `a variable has a value from the step that saves it on`() throws {
    let launch = #"{ launch = "a", as = "e" }, "#
    let save = #"{ tell = "e", line = "x", save = "token" }, "#
    let use = #"{ tell = "e", line = "${token}" }, "#
    func text(_ actions: String) -> String { "title = \"t\"\n[[step]]\nsay = \"s\"\ndo = [\(actions)]\n" }
    _ = try read(text(launch + save + use))
    let error = try #require(throws: ScenarioError.self) { try read(text(launch + use + save)) }
    #expect(error.message.contains("`token`"))
  }

  @Test func `a scenario of the suite quotes its statement, and says what it needs`() throws {
    let head = """
      title = "t"
      entry = "TOK-3"
      statement = "s"
      source = "x"
      strength = "A"
      users = ["root"]
      needs = ["container"]
      policies = ["default", "teach"]

      """
    let steps = """
      [[step]]
      say = "s"
      do = [
        { launch = "agent", as = "editor" },
        { give = "${home}/a", to = "editor", as = "letter", access = "read", started = false },
        { app = "editor", start = "letter" },
        { app = "editor", read = "${letter}", fails = true },
        { revoke = "letter", from = "editor" },
        { suspend = "editor" },
        { resume = "editor" },
        { audit = { kind = "revoke" }, count = 1 },
      ]

      """
    let scenario = try read(head + steps)
    #expect(scenario.entry?.id == "TOK-3" && scenario.entry?.strength == "A")
    #expect(scenario.users == [.root])
    #expect(scenario.neededCapabilities == [.container, .readOnly, .scopes, .revoke, .suspension, .log])
    #expect(scenario.variants.map(\.policy) == [Template(text: "default"), Template(text: "teach")])
    for (slip, message) in [
      ("strength = \"A\"", "strength = \"E\""), ("needs = [\"container\"]", "needs = [\"contaner\"]"),
      ("statement = \"s\"\n", ""),
    ] {
      #expect(throws: ScenarioError.self, "\(message)") { try read(head.replacing(slip, with: message) + steps) }
    }
  }

  @Test func `a loop's actions are read once, with its variable`() throws {
    let scenario = try read(
      """
      title = "t"
      [[step]]
      say = "s"
      for_each = { name = ["a", "b"] }
      do = [{ write = "${home}/${name}", content = "x" }]
      """)
    #expect(scenario.steps[0].loop?.values.count == 2)
  }

  @Test func `what is not TOML is an error with a place`() throws {
    let error = try #require(throws: ScenarioError.self) { try read("title = \"t\"\nstep = [") }
    #expect(error.place != nil)
  }

  @Test func `a scenario that does nothing is none`() throws {
    let error = try #require(throws: ScenarioError.self) { try read("title = \"t\"\n[[step]]\nsay = \"s\"\n") }
    #expect(error.message.contains("no step does anything"))
  }

  @Test func `a missing file is named`() throws {
    let error = try #require(throws: ScenarioError.self) { try ScenarioReader.read(path: "/nowhere/x.toml") }
    #expect("\(error)" == "/nowhere/x.toml: cannot be read: there is no such file")
  }
}
