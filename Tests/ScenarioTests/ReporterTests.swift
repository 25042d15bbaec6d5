import Foundation
import FoundationXML
import Scenario
import Terminal
import Testing

@Suite struct ReporterTests {
  let fake: FakeAmbit

  init() throws { fake = try FakeAmbit() }

  /// One step that holds, one that only speaks, one that fails, one that is not reached.
  private let story = """
    title = "A <story> & more"
    [[step]]
    say = "It says x # and \\"y\\"."
    rules = ["TOK-1"]
    do = [{ run = ["say", "x <&>"], expect = "x <&>" }]
    [[step]]
    say = "Only words."
    [[step]]
    say = "It fails."
    do = [{ run = ["say", "seen\\u001b[2J"], expect = "wanted" }]
    [[step]]
    say = "Not reached."
    do = [{ run = ["say", "x"] }]
    """

  private final class Text {
    var text = ""
  }

  private func report(_ make: (@escaping (String) -> Void) -> any ScenarioReporter) throws -> String {
    let text = Text()
    let reporter = make { text.text += $0 }
    reporter.finished([try fake.run(text: story, reporter: reporter)])
    return text.text
  }

  @Test func `TAP has a version, a plan that agrees, and a block for what failed`() throws {
    let lines = try report { TAPReporter(write: $0) }.split(separator: "\n").map(String.init)
    #expect(lines.first == "TAP version 13")
    #expect(lines.last == "1..3")
    let points = lines.filter { $0.hasPrefix("ok ") || $0.hasPrefix("not ok ") }
    #expect(
      points == [
        "ok 1 - It says x \\# and \"y\".", "not ok 2 - It fails.", "ok 3 - Not reached. # SKIP a step before it failed",
      ])
    #expect(lines.contains(#"  expected: "wanted""#))
    let rest = lines.dropFirst().dropLast().filter { line in !points.contains(line) }
    #expect(rest.allSatisfy { $0.hasPrefix("# ") || $0.hasPrefix("  ") })
  }

  @Test func `JUnit is well-formed XML whose counts agree with its cases`() throws {
    let text = try report { JUnitReporter(write: $0) }
    let document = try XMLDocument(data: Data(text.utf8))
    let suite = try #require(try document.nodes(forXPath: "/testsuites/testsuite").first as? XMLElement)
    #expect(suite.attribute(forName: "name")?.stringValue == "A <story> & more")
    for (attribute, path) in [("tests", "testcase"), ("failures", "testcase/failure"), ("skipped", "testcase/skipped")]
    {
      let count = try suite.nodes(forXPath: path).count
      #expect(suite.attribute(forName: attribute)?.stringValue == String(count))
    }
    #expect(try suite.nodes(forXPath: "testcase").count == 3)
    let failure = try #require(try suite.nodes(forXPath: "testcase/failure").first)
    #expect(failure.stringValue?.contains("expected: wanted") == true)
  }

  @Test func `the pretty report tells the story, its evidence, and what was expected and seen`() throws {
    let text = try report { write in
      PrettyReporter(
        layout: .init(style: Style(isEnabled: false), width: 80, showsProgress: false), write: write)
    }
    let wanted = """

      A <story> & more

       1  It says x # and "y". [TOK-1]
          ✓ ambit say x <&>                             x <&>

       2  Only words.

       3  It fails.
          ✗ ambit say seen\\u{1b}[2J
              expected: wanted
              seen:     seen\\u{1b}[2J

      ✗ step 3 does not hold: test.toml:10; 1 step after it not run
      """
    #expect(text.hasPrefix(wanted), "\(text)")
    #expect(!text.contains("\u{1b}"))
  }

  @Test func `colours are there when asked for, and taken back`() throws {
    let text = try report { write in
      PrettyReporter(layout: .init(style: Style(isEnabled: true), width: 80, showsProgress: false), write: write)
    }
    #expect(text.contains("\u{1b}[32m✓\u{1b}[0m"))
    #expect(text.contains("\u{1b}[31m✗\u{1b}[0m"))
  }
}
