import Conformance
import Foundation
import Rulebook
import Scenario
import TestSupport
import Testing
import Wire

@Suite struct SuiteTests {
  private static let folder = URL(fileURLWithPath: "\(#filePath)/../../../../Conformance").standardizedFileURL.path

  @Test func `every statement in force has a scenario or a reason, and every scenario quotes its statement`() throws {
    let suite = try Suite.read(folder: Self.folder)
    #expect(suite.uncovered().map(\.id) == [])
    #expect(Set(suite.items.map(\.name)).count == suite.items.count)
    for id in suite.exceptions.keys {
      guard case .rule(let rule, _)? = Rulebook.named(id) else {
        Issue.record("exceptions.toml names \(id), which is no statement")
        continue
      }
      #expect(rule.state == .inForce)
    }
  }

  @Test func `a scenario that does not say what the catalogue says is refused with the catalogue's words`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "suite-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: "\(folder)/TOK", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let right = try String(contentsOfFile: "\(Self.folder)/TOK/TOK-3-last-stop.toml", encoding: .utf8)
    func read(_ name: String, _ text: String) throws -> Suite.Item {
      let path = "\(folder)/TOK/\(name).toml"
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      return try Suite.item(path, area: "TOK")
    }
    #expect(try read("TOK-3-fine", right).entry.id == "TOK-3")
    for (name, text, message) in [
      ("TOK-3-words", right.replacing("After the last", with: "After a"), "`statement` differs from the catalogue"),
      ("TOK-3-strength", right.replacing("strength = \"A\"", with: "strength = \"B\""), "`strength` differs"),
      ("TOK-3-none", right.replacing("entry = \"TOK-3\"", with: "entry = \"TOK-3x\""), "has no statement TOK-3x"),
      ("TOK-4-other", right, "is named TOK/TOK-3-SOME-WORDS.toml"),
    ] {
      let error = try #require(throws: ScenarioError.self) { try read(name, text) }
      #expect(error.message.contains(message), "\(error)")
    }
  }

  private func outcome(_ name: String, _ id: String, _ user: String, _ verdict: String) -> ScenarioOutcome? {
    ScenarioOutcome(
      ["scenario": .string(name), "statement": .string(id), "user": .string(user), "verdict": .string(verdict)]
        as JSONValue)
  }

  @Test func `a cell has the worst verdict of its scenarios, and changes are told`() throws {
    let suite = try Suite.read(folder: Self.folder)
    func matrix(_ verdicts: [String]) -> Matrix {
      let outcomes = verdicts.enumerated().compactMap { outcome("TOK-3-\($0.offset)", "TOK-3", "root", $0.element) }
      let run = SystemRun(
        system: "x", version: "1", isModelled: false, absent: nil, outcomes: outcomes, seconds: 0)
      return Matrix(suite.items, [run])
    }
    func verdict(_ matrix: Matrix) -> String? {
      matrix.rows.first { $0.rule.id == "TOK-3" }?.cells["x"]?.verdict.rawValue
    }
    #expect(verdict(matrix(["passed", "not applicable"])) == "passed")
    #expect(verdict(matrix(["passed", "failed", "error"])) == "failed")
    #expect(verdict(matrix(["passed", "error"])) == "error")
    #expect(
      matrix(["failed"]).changes(since: matrix(["passed"])) == [
        Matrix.Change(id: "TOK-3", system: "x", before: "passed", after: "failed")
      ])
    #expect(matrix(["passed"]).changes(since: matrix(["passed"])) == [])
    #expect(Matrix.command("TOK-3", under: "x") == "ambit conform --filter TOK-3- --under x")
  }

  @Test func `the pages hold hostile words and load nothing`() throws {
    let suite = try Suite.read(folder: Self.folder)
    let hostile = "</pre><script>alert(1)</script><img src=//x onerror=y>"
    var bad = try #require(outcome("TOK-3-last-stop", "TOK-3", "root", "failed"))
    bad.reason = hostile
    bad.steps = [.init(say: hostile, checks: [.init(what: hostile, evidence: hostile, isHeld: false)])]
    let run = SystemRun(
      system: "x", version: hostile, isModelled: false, absent: nil, outcomes: [bad], seconds: 0)
    let pages = Site(suite: suite, items: suite.items, matrix: Matrix(suite.items, [run])).pages
    #expect(pages.count > 100)
    for page in pages {
      #expect(!page.text.contains("<script"))
      #expect(!page.text.contains("<img"))
      #expect(page.text.contains("default-src &#39;none&#39;"))
    }
  }
}
