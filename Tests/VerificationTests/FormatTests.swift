import Terminal
import Testing

@testable import Verification

/// What comes in as text, and what goes out.
@Suite struct `Lines of the battery` {
  @Test func `are read as attempts, and what is none is left out`() {
    let output = """
      said by the launcher
      ::\tD1\tclone3\trefused\tENOSYS\tclone3(CLONE_NEWUSER)
      ::\tA7\tenviron\treached\t-\ta tab\tin the text\r
      ::\tA7\tenviron\tperhaps\t-\ttext
      ::\tA7\tenviron\treached
      ::\tdone\r

      """
    let (attempts, isWhole) = Attempt.read(output)
    #expect(
      attempts == [
        Attempt("D1", "clone3", .refused, error: "ENOSYS", "clone3(CLONE_NEWUSER)"),
        Attempt("A7", "environ", .reached, "a tab\tin the text"),
      ])
    #expect(isWhole)
    #expect(!Attempt.read("::\tD1\tclone3\trefused\tENOSYS\ttext\n").isWhole)
    #expect(!Attempt.read("not ::\tdone\n").isWhole)
  }

  @Test(arguments: [
    ("bwrap --ro-bind / / --", ["bwrap", "--ro-bind", "/", "/", "--"]),
    ("  env   ", ["env"]),
    ("a 'b c' \"d 'e'\" f\\ g", ["a", "b c", "d 'e'", "f g"]),
    ("a '' b", ["a", "", "b"]),
    ("--x='y z'", ["--x=y z"]),
    ("'a\\b'", ["a\\b"]),
  ]) func `a launcher's words are split as a shell splits them`(line: String, words: [String]) throws {
    #expect(try TestedLauncher.words(line) == words)
  }

  @Test(arguments: ["", "  ", "a 'b", "a \"b", "a\\"]) func `what is no command line is refused`(line: String) {
    #expect(throws: BatteryError.self) { try TestedLauncher.words(line) }
  }
}

@Suite struct `A report` {
  private static func finding(_ id: String, _ verdict: Finding.Verdict, _ evidence: String) throws -> Finding {
    Finding(try #require(Entry.named(id)), verdict, evidence, control: verdict == .contained ? "works outside" : nil)
  }

  private func report() throws -> BatteryReport {
    BatteryReport(
      [
        try Self.finding("A4", .contained, "read 7 EBADF"), try Self.finding("B1", .escaped, "open: \"x\" # \u{1b}[2J"),
        try Self.finding("E7", .notApplicable, "see C2"),
      ], subject: "the policy default")
  }

  @Test func `is TAP with one point an entry, and nothing of an app's text acts in it`() throws {
    #expect(
      try report().tap() == """
        TAP version 13
        1..3
        ok 1 - A4 use a descriptor that the caller left open
        # read 7 EBADF
        not ok 2 - B1 open a file of the user's by its path
          ---
          evidence: "open: \\"x\\" # \\\\u{1b}[2J"
          ...
        ok 3 - E7 change a call after it was checked # SKIP see C2

        """)
  }

  @Test func `is JSON with one object a line`() throws {
    let lines = try report().json().split(separator: "\n")
    #expect(lines.count == 3)
    #expect(
      lines[0]
        == #"{"control":"works outside","evidence":"read 7 EBADF","id":"A4","title":"use a descriptor that the caller left open","verdict":"contained"}"#
    )
    #expect(lines[2].contains(#""verdict":"not applicable""#))
  }

  @Test func `is a table that fits the terminal, with a count at its end`() throws {
    let table = try report().table(style: Style(isEnabled: false), width: 90)
    let lines = table.split(separator: "\n")
    #expect(lines[1].hasPrefix("✓  A4"))
    #expect(lines[2].hasPrefix("✗  B1"))
    #expect(lines[3].hasPrefix("–  E7"))
    #expect(lines[4] == #"B1 open: "x" # \u{1b}[2J"#)
    #expect(lines.dropLast().allSatisfy { displayWidth(String($0)) <= 90 })
    #expect(lines.last == "✗ 3 entries under the policy default: 1 contained, 1 escaped, 1 not applicable")
    #expect(!table.contains("\u{1b}"))
    #expect(try report().hasEscapes)
    #expect(try !BatteryReport([Self.finding("A4", .contained, "")], subject: "x").hasEscapes)
  }
}
