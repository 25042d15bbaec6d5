import ArgumentParser
import Review
import Testing

@testable import AmbitCommands

/// The log that is named, and what is said of one that may lack entries.
@Suite struct LogArgumentTests {
  @Test func `a log is named by an argument or by --log`() throws {
    #expect(try AuditCommand.Verify.parse(["a.sqlite"]).log.path == "a.sqlite")
    #expect(try AuditCommand.Verify.parse(["--log", "a.sqlite"]).log.path == "a.sqlite")
    #expect(try AuditCommand.Segments.parse([]).log.path == nil)
    #expect(try AuditCommand.Checkpoint.parse(["--log", "a.sqlite"]).log.path == "a.sqlite")
    #expect(try AuditCommand.Simulate.parse(["--policy", "strict", "--log", "a.sqlite"]).log.path == "a.sqlite")
    #expect(try AuditCommand.Check.parse(["rules.toml", "--log", "a.sqlite"]).named == "a.sqlite")
  }

  @Test(
    arguments: [
      ["audit", "verify"], ["audit", "segments"], ["audit", "checkpoint"], ["audit", "simulate", "--policy", "strict"],
      ["audit", "check", "rules.toml"],
    ])
  func `two logs at once are wrong usage`(_ words: [String]) {
    let error = #expect(throws: (any Error).self) {
      try AmbitCommand.parseAsRoot(words + ["a.sqlite", "--log", "b.sqlite"])
    }
    guard let error else { return }
    #expect(AmbitCommand.exitCode(for: error) == .validationFailure)
    #expect(AmbitCommand.message(for: error).contains("Name one log"))
  }

  @Test func `no rule holds of a log that may lack entries`() throws {
    let text = "[[rule]]\nname = \"n\"\nkind = \"scopes-at-most\"\nmost = 3\n"
    func report(_ mayLackEntries: Bool) throws -> RuleReport {
      let checker = RuleChecker(try LogRules(Array(text.utf8), file: "rules.toml").rules, limit: 1)
      return RuleReport(checker.finish(), mayLackEntries: mayLackEntries)
    }
    #expect(try report(false).status == 0)
    let incomplete = try report(true)
    #expect(incomplete.status == 2 && !incomplete.holds)
    #expect(incomplete.rules.first?.verdict == "unknown" && incomplete.rules.first?.unknownCount == 1)
  }
}
