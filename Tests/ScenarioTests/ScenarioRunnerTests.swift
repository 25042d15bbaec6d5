import Foundation
import Scenario
import Testing

@Suite struct ScenarioRunnerTests {
  let fake: FakeAmbit

  init() throws { fake = try FakeAmbit() }

  private let launch = #"{ launch = "${apps}/echo", as = "app", expect = "ok ready" },"#

  @Test func `an instance is launched, told and closed`() throws {
    let result = try fake.run(
      launch + """
        { tell = "app", line = "hello", expect = "hello" },
        { tell = "app", line = ["a", "b"], expect = { matches = "^[ab]$" } },
        { close = "app" },
        """)
    #expect(result.isPassed, "\(result)")
    #expect(result.evidence[1] == ["hello"])
    #expect(result.evidence[2] == ["a, b"])
  }

  @Test func `policy, answers, container and arguments reach ambit run`() throws {
    try fake.app("args", "echo \"ok $*\"")
    let result = try fake.run(
      """
      { launch = "${apps}/args", as = "a", policy = "teach", container = "io.x", args = ["1", "${home}"],
        user = [{ pick = ["${home}/a \\\\ \\"b\\"", "c"] }, { cancel = true }], expect = { contains = "1 /" } },
      { wait = "a" },
      """.replacing("\n  user", with: " user"))
    #expect(result.isPassed, "\(result)")
    let call = try #require(fake.read("calls"))
    #expect(call.hasPrefix("run --policy teach --container io.x --answers "))
    let answers = try #require(fake.read("answers"))
    #expect(answers.contains(#"/home/a \\ \"b\"", "c"]"#))
    #expect(answers.hasSuffix("[[answer]]\ncancel = true\n"))
  }

  @Test func `a value that is saved is used by later actions`() throws {
    let result = try fake.run(
      launch + """
        { tell = "app", line = "token abc.1", expect = { matches = "token (.*)" }, save = "token" },
        { tell = "app", line = "again ${token}", expect = "again abc.1" },
        { run = ["say", "${token}"], expect = "abc.1", save = "said" },
        { tell = "app", line = "${said}!", expect = "abc.1!" },
        """)
    #expect(result.isPassed, "\(result)")
  }

  @Test func `an error is told from an answer, and one symbol from another`() throws {
    try fake.app("no", "while read -r line; do echo \"error $line\"; done")
    let head = #"{ launch = "${apps}/no", as = "no" },"#
    #expect(
      try fake.run(head + #"{ tell = "no", line = "EACCES denied", fails = "EACCES", expect = "denied" },"#).isPassed)
    #expect(try fake.run(head + #"{ tell = "no", line = "EACCES", fails = ["EPERM", "EACCES"] },"#).isPassed)
    let other = try fake.run(head + #"{ tell = "no", line = "ENOENT gone", fails = "EACCES" },"#)
    #expect(other.failure == CheckFailure(expected: "error EACCES", seen: "error ENOENT gone"))
    let plain = try fake.run(head + #"{ tell = "no", line = "ENOENT gone" },"#)
    #expect(plain.failure?.seen == "error ENOENT gone")
    let unexpected = try fake.run(launch + #"{ tell = "app", line = "x", fails = "EACCES" },"#)
    #expect(unexpected.failure?.seen == "ok x")
  }

  @Test func `host files are written, read, moved, removed and looked for`() throws {
    let result = try fake.run(
      """
      { write = ["${home}/a/x", "${home}/y"], content = "one\\n" },
      { read = "${home}/a/x", expect = "one" },
      { move = "${home}/a/x", to = "${home}/b/c/z" },
      { absent = "${home}/a/x" },
      { present = ["${home}/b/c/z", "${home}/y"] },
      { remove = "${home}/y" },
      { absent = "${home}/y" },
      """)
    #expect(result.isPassed, "\(result)")
  }

  /// Actions that must fail, with a part of what was expected and a part of what was seen.
  static let failing: [(String, String, String)] = [
    (#"{ read = "${home}/none", expect = "" },"#, "a readable file at ~/none", "no such file"),
    (#"{ present = "${home}/none" },"#, "~/none to exist", "~ is empty"),
    (#"{ write = "${home}/a", content = "1" }, { absent = "${home}/a" },"#, "~/a not to exist", "it does"),
    (#"{ write = "${home}/a", content = "1" }, { read = "${home}/a", expect = "2" },"#, "2", "1"),
    (#"{ run = ["fail", "x"] },"#, "exit 0", "exit 125"),
    (#"{ run = ["fail", "x"], status = 125, errors = "that failed" },"#, "that failed", "ambit: this failed"),
    (#"{ run = ["say", "x"], expect = "y" },"#, "y", "x"),
    (#"{ launch = "${apps}/echo", as = "a" }, { wait = "a", timeout = 0.2 },"#, "a to end within 0.2 s", "still runs"),
    (#"{ launch = "${apps}/none", as = "a" }, { tell = "a", line = "x" },"#, "a", "ended"),
    (#"{ launch = "${apps}/echo", as = "a", expect = "ok" },"#, "ok", "ok ready"),
    (#"{ audit = { kind = "launch" }, timeout = 0.1 },"#, "an event with kind = launch", "an empty log"),
  ]

  @Test(arguments: failing) func `what does not hold says what was expected and what was seen`(
    example: (String, String, String)
  ) throws {
    let failure = try #require(try fake.run(example.0).failure)
    #expect(failure.expected.contains(example.1))
    #expect(failure.seen.contains(example.2))
  }

  @Test func `a failing check stops the scenario, and the steps after it are skipped`() throws {
    let step = "[[step]]\nsay = \"s\"\ndo = [{ run = [\"say\", \"x\"], expect = \"%\" }]\n"
    let result = try fake.run(
      text: "title = \"t\"\n" + step.replacing("%", with: "x") + step.replacing("%", with: "y")
        + step.replacing("%", with: "x") + "[[step]]\nsay = \"end\"\n")
    #expect(result.steps.map(\.verdict) == [.passed, .failed, .skipped, .skipped])
    #expect(!result.isPassed)
    #expect(fake.read("calls")?.split(separator: "\n").filter { $0.hasPrefix("say") }.count == 2)
  }

  @Test func `a mute app is reported with what it printed elsewhere`() throws {
    try fake.app("mute", "echo 'warning: about to hang' >&2; printf half; read -r line; exec sleep 60")
    let result = try fake.run(
      #"{ launch = "${apps}/mute", as = "m" }, { tell = "m", line = "x", timeout = 0.5 },"#)
    let failure = try #require(result.failure)
    #expect(failure.expected == "a line from m within 0.5 s")
    #expect(failure.context.contains("stderr: warning: about to hang"))
  }

  @Test func `an app that ends instead of answering is reported with its exit status and its last words`() throws {
    try fake.app("dies", "read -r line; echo 'no licence' >&2; exit 7")
    let failure = try #require(
      try fake.run(#"{ launch = "${apps}/dies", as = "d" }, { tell = "d", line = "x" },"#).failure)
    #expect(failure.seen == "it ended without one: exit 7")
    #expect(failure.context == ["stderr: no licence"])
  }

  @Test func `a kill is a kill, and only once`() throws {
    let result = try fake.run(launch + #"{ kill = "app" }, { wait = "app", signal = "KILL" }, { kill = "app" },"#)
    #expect(result.checks.map { $0.failure == nil } == [true, true, true, false])
    #expect(result.failure?.seen == "ended by SIGKILL")
  }

  @Test func `an instance is suspended and resumed by the name that ambit ps has for it`() throws {
    let result = try fake.run(launch + #"{ suspend = "app" }, { resume = "app" }, { kill = "app" }"#)
    #expect(result.isPassed, "\(result)")
    let calls = try #require(fake.read("calls")).split(separator: "\n")
    #expect(calls.filter { $0.hasSuffix(" i7") } == ["suspend i7", "resume i7"])
  }

  @Test func `a killed instance is launched again under its name`() throws {
    let again = try fake.run(launch + #"{ kill = "app" },"# + launch + #"{ tell = "app", line = "x" },"#)
    #expect(again.isPassed, "\(again)")
    let twice = try fake.run(launch + launch)
    #expect(twice.failure?.expected == "no instance named app")
  }

  @Test func `audit events are looked for in order, with others between them`() throws {
    try fake.write(
      "log",
      """
      {"kind":"launch","app":"a"}
      {"kind":"pick","app":"a","how":"scripted","document":{"path":"/x"}}
      {"kind":"start","app":"a","result":"ok"}
      {"kind":"exit","app":"a"}

      """)
    #expect(try fake.run(#"{ audit = [{ kind = "launch" }, { kind = "start", result = "ok" }] },"#).isPassed)
    #expect(try fake.run(#"{ audit = { kind = "pick", "document.path" = { contains = "x" } } },"#).isPassed)
    let order = try fake.run(#"{ audit = [{ kind = "start" }, { kind = "launch" }], timeout = 0.1 },"#)
    #expect(order.failure?.expected.contains("number 2 of 2") == true)
    #expect(try fake.run(#"{ never = { kind = "start", result = "refused" } },"#).isPassed)
    let never = try fake.run(#"{ never = [{ kind = "none" }, { kind = "exit", app = "a" }] },"#)
    #expect(never.failure?.seen.split(separator: " ") == ["exit", "a"])
    #expect(try !fake.run(#"{ audit = { missing = "field" }, timeout = 0.1 },"#).isPassed)
  }

  @Test func `an event that comes late is waited for`() throws {
    try fake.app("later", "read -r line; echo ok; sleep 0.3; echo '{\"kind\":\"late\"}' > \"$(dirname \"$0\")/../log\"")
    let result = try fake.run(
      #"{ launch = "${apps}/later", as = "l" }, { tell = "l", line = "go" }, { audit = { kind = "late" } },"#)
    #expect(result.isPassed, "\(result)")
  }

  @Test func `much output neither blocks the app nor hides its last line`() throws {
    try fake.app(
      "flood", "yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | head -n 40000 >&2; echo ok done; read -r line; echo ok end")
    let result = try fake.run(
      #"{ launch = "${apps}/flood", as = "f", expect = "ok done" }, { tell = "f", line = "x", expect = "end" },"#
        + #"{ close = "f", errors = { lines = 40000 } },"#)
    #expect(result.isPassed, "\(String(describing: result.failure))")
  }

  @Test func `everything is cleaned up, stubborn programs too`() throws {
    try fake.app("stubborn", "trap '' TERM INT HUP; echo \"ok $$\"; while :; do sleep 0.1; done")
    let result = try fake.run(
      #"{ launch = "${apps}/stubborn", as = "s", expect = { matches = "ok [0-9]+" } },"#
        + #"{ write = "${home}/a", content = "" }, { run = ["say", "${scratch}"], save = "scratch-folder" },"#,
      keep: true)
    #expect(result.isPassed, "\(result)")
    let pid = try #require(result.evidence[0].first?.split(separator: " ").last.flatMap { Int32($0) })
    #expect(!FileManager.default.fileExists(atPath: "/proc/\(pid)"))
    #expect(fake.read("broker") == "stopped\n")
    let kept = try #require(result.notes.first { $0.hasPrefix("kept: ") })
    let folder = String(kept.dropFirst("kept: ".count).prefix { $0 != " " })
    #expect(FileManager.default.fileExists(atPath: folder + "/home/a"))
    try FileManager.default.removeItem(atPath: folder)
  }

  @Test func `the scratch folder goes when nobody keeps it, and a failure does not hold it`() throws {
    try fake.app("where", "echo \"$HOME $AMBIT_HOME ${XDG_STATE_HOME-unset}\" > \"$(dirname \"$0\")/../where\"")
    let result = try fake.run(#"{ launch = "${apps}/where", as = "w" }, { wait = "w", status = 1 },"#)
    #expect(!result.isPassed)
    let words = try #require(fake.read("where")).split(whereSeparator: \.isWhitespace).map(String.init)
    #expect(words.count == 3)
    #expect(words[0].hasSuffix("/home") && words[1].hasSuffix("/ambit") && words[2] == "unset")
    #expect(!FileManager.default.fileExists(atPath: words[1]))
  }

  @Test func `an ambit without a way to stop its broker is a remark, not a failure`() throws {
    let body = try #require(fake.read("ambit")).replacing("\"broker stop\")", with: "\"broker halt\")")
    try fake.script("ambit", body)
    let result = try fake.run(#"{ run = ["say", "x"] },"#)
    #expect(result.isPassed)
    #expect(result.notes.count == 1)
  }
}
