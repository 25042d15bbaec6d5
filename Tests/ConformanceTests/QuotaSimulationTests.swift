import Audit
import Foundation
import TestSupport
import Testing

/// What `ambit audit simulate` says of a log is what the broker does under that policy.
@Suite(.serialized, .waiting)
struct QuotaSimulationTests {
  private func policy(_ world: Workspace, _ persisted: String, references: Bool) throws -> String {
    let path = "\(world.home)/\(persisted.filter(\.isLetter))quota.toml"
    try world.write(
      "inherits = \"stress\"\n[grants]\npersisted = \(persisted)\n[scopes]\nreferences = \(references)\n", to: path)
    return path
  }

  /// The same under each policy: documents are chosen, used in another order, kept by bookmarks, and given up.
  private func story(_ world: Workspace, under policy: String) throws {
    let documents = try (0..<40).map { try world.document("Papers/\($0).txt", "\($0)") }
    let answers = "\(world.home)/answers.toml"
    try world.write(documents.map { "[[answer]]\npick = [\"\($0)\"]\n" }.joined(), to: answers)
    let app = try world.probe(options: ["--policy", policy, "--answers", answers])
    func use(_ number: Int, bookmark: (JSON)? = nil) throws {
      guard try app.start("d\(number)") else { return }
      if let bookmark { _ = try app.tell("bookmark", ["of": .string("d\(number)"), "readOnly": bookmark]) }
      try app.stop("d\(number)")
    }
    func pick(_ numbers: ClosedRange<Int>) throws {
      for number in numbers { _ = try app.tell("pick", ["as": .string("d\(number)")]) }
    }
    try pick(0...24)
    try use(0)
    try use(3, bookmark: false)
    try use(4, bookmark: true)
    try use(2)
    try pick(25...27)
    try use(1)
    // What is started while others are chosen ends when it is stopped, and was used then.
    _ = try app.start("d6")
    try pick(28...34)
    _ = try app.tell("stop", ["of": "d6"])
    _ = try app.tell("release", ["of": "d3"])
    try use(8, bookmark: false)
    try use(10)
    try pick(35...39)
    try use(0)
    #expect(try app.finish() == .status(0))
    #expect(try world.ambit("broker", "stop").exit == .status(0))
  }

  @Test(arguments: TestUser.one(.ordinary), [("\"windows\"", false), ("27", true)])
  func `LIM-10, LIM-11: what a quota would have ended and refused is what it ends and refuses`(
    user: TestUser, quota: (persisted: String, references: Bool)
  ) throws {
    let real = try Workspace.with(user) { world in
      try story(world, under: try policy(world, quota.persisted, references: quota.references))
      return try world.audit().filter { ["LIM-10", "LIM-11"].contains($0.rule) }
        .map { "\($0.kind.rawValue) \($0.document?.name ?? "")" }
    }
    try Workspace.with(user) { world in
      try story(world, under: try policy(world, "\"unlimited\"", references: quota.references))
      let other = try policy(world, quota.persisted, references: quota.references)
      let answer = try world.ambit("audit", "simulate", "--policy", other, "--format", "json")
      let lines = answer.output.split(separator: "\n").compactMap { JSON(String($0)) }
      let own = lines.dropLast().filter { $0["because"] == nil }
      let said = own.map { line in
        let name = (line["document"]?.string ?? "").split(separator: "/").last.map(String.init) ?? ""
        // What the broker refuses it writes down before it knows which grant it would have been.
        return line["outcome"] == "refused" ? "grant " : "\(line["kind"]?.string ?? "") \(name)"
      }
      #expect(said == real, "\(answer)")
      #expect(own.allSatisfy { $0["field"] == "grants.persisted" })
      #expect(lines.last?["notJudged"]?["fields"]?.object?.isEmpty == true, "\(answer)")
      if quota.persisted == "27" { #expect(real.count == 12, "\(real)") }
      if !quota.references { #expect(real.count > 8 && real.allSatisfy { $0.hasPrefix("revoke") }, "\(real)") }
    }
  }
}
