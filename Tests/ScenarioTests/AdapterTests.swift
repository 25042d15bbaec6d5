import Foundation
import Scenario
import Testing

/// Scenarios under another system: a small adapter stands for it, so that the runner's own logic is tested.
@Suite struct AdapterTests {
  /// Answers each request of a kind with a prepared line, and keeps the requests.
  private final class FakeAdapter {
    let folder: URL
    var program: String { folder.appendingPathComponent("adapter").path }

    init(
      hello: String, act: String = #"{"done": true, "text": "hello"}"#,
      grant: String = #"{"done": true, "path": "/d/a"}"#
    )
      throws
    {
      folder = FileManager.default.temporaryDirectory.appendingPathComponent("adapter-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let script = """
        #!/bin/sh
        while read -r line; do
          echo "$line" >> "\(folder.path)/requests"
          case $line in
            *'"do":"hello"'*) echo '\(hello)' ;;
            *'"do":"grant"'*) echo '\(grant)' ;;
            *'"do":"act"'*) echo '\(act)' ;;
            *'"do":"launch"'*) echo '{"done": true, "container": "/c", "hostContainer": "/host/c"}' ;;
            *) echo '{"done": true}' ;;
          esac
        done
        """
      // Another process makes the program: while this one had it open for writing, a child of another test would keep it so, and the
      // kernel runs no program that is being written (ETXTBSY).
      let text = folder.appendingPathComponent("text").path
      try Data(script.utf8).write(to: URL(fileURLWithPath: text))
      let maker = try Process.run(URL(fileURLWithPath: "/usr/bin/install"), arguments: ["-m", "755", text, program])
      maker.waitUntilExit()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var requests: [String] {
      let text = (try? String(contentsOf: folder.appendingPathComponent("requests"), encoding: .utf8)) ?? ""
      return text.split(separator: "\n").compactMap { line in
        line.firstMatch(of: /"do":"([a-zA-Z]+)"/).map { String($0.output.1) }
      }
    }

    func adapter() throws -> Adapter {
      try Adapter(name: "other", program: program, environment: ["PATH": "/usr/bin:/bin"], folder: "/")
    }
  }

  private final class Silent: ScenarioReporter {}

  private func play(_ steps: String, under fake: FakeAdapter) throws -> ScenarioResult {
    let adapter = try fake.adapter()
    defer { adapter.end() }
    let text = "title = \"t\"\n[[step]]\nsay = \"s\"\ndo = [\n\(steps)\n]\n"
    let options = ScenarioRunner.Options(ambit: "/bin/false", apps: "/", agent: "/bin/false")
    return try ScenarioRunner(options: options, adapter: adapter, reporter: Silent())
      .run(try ScenarioReader.read(text: text, file: "t.toml"))
  }

  private static let given = """
    { write = "${home}/a", content = "hello" },
    { launch = "agent", as = "editor" },
    { give = "${home}/a", to = "editor", as = "letter" },
    { app = "editor", read = "${letter}", expect = "hello" },
    """

  @Test func `a system that gives access at launch is launched at the first act`() throws {
    let fake = try FakeAdapter(hello: #"{"done": true, "version": "1", "capabilities": []}"#)
    let result = try play(Self.given, under: fake)
    #expect(result.isPassed, "\(result.steps)")
    #expect(fake.requests == ["hello", "setUp", "grant", "grant", "launch", "act", "tearDown"])
  }

  @Test func `a grant to a running app is not applicable where the system has none`() throws {
    let fake = try FakeAdapter(hello: #"{"done": true, "capabilities": []}"#)
    let result = try play(Self.given + #"{ give = "${home}/a", to = "editor", as = "again" }"#, under: fake)
    #expect(result.notApplicable == "other has no grants to an app that runs")
    let later = try FakeAdapter(hello: #"{"done": true, "capabilities": ["later"]}"#)
    #expect(try play(Self.given + #"{ give = "${home}/a", to = "editor", as = "again" }"#, under: later).isPassed)
    #expect(later.requests == ["hello", "setUp", "launch", "grant", "act", "grant", "tearDown"])
  }

  @Test func `what a system has no notion of is not applicable, and nothing is started for it`() throws {
    let fake = try FakeAdapter(hello: #"{"done": true, "capabilities": ["later"]}"#)
    let result = try play(Self.given + #"{ app = "editor", bookmark = "letter", save = "b" }"#, under: fake)
    #expect(result.notApplicable == "other has no bookmarks" && !result.isPassed)
    #expect(fake.requests == ["hello"])
    let unsupported = try FakeAdapter(
      hello: #"{"done": true, "capabilities": []}"#, act: #"{"unsupported": "no act is called read"}"#)
    #expect(try play(Self.given, under: unsupported).notApplicable == "other: no act is called read")
  }

  @Test func `a refusal is a failure, and a system that does not do its part is a fault`() throws {
    let refused = try FakeAdapter(
      hello: #"{"done": true, "capabilities": []}"#, act: #"{"done": false, "errno": "EACCES"}"#)
    let failed = try play(Self.given, under: refused)
    #expect(!failed.isPassed && !failed.isFault && failed.notApplicable == nil)
    let broken = try FakeAdapter(
      hello: #"{"done": true, "capabilities": []}"#, grant: #"{"error": "the system has no room"}"#)
    let fault = try play(Self.given, under: broken)
    #expect(fault.isFault)
    #expect(fault.steps[0].checks.last?.failure?.seen == "the system has no room")
  }

  @Test func `an absent system says why, and an adapter that talks nonsense is named`() throws {
    let absent = try FakeAdapter(hello: #"{"absent": "it is not installed"}"#)
    #expect(throws: NotApplicable(reason: "it is not installed")) { try absent.adapter() }
    for hello in [#"{"done": true}"#, "nonsense", #"{"done": true, "capabilities": ["flying"]}"#] {
      let fake = try FakeAdapter(hello: hello)
      #expect(throws: CheckFailure.self, "\(hello)") { try fake.adapter() }
    }
  }
}
