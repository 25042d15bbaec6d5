import Foundation
import TestSupport
import Testing

/// `ambit verify`: the escape catalogue against the real sandbox, and against none.
@Suite(.waitingLong)
struct VerifyTests {
  private struct Line: Decodable {
    let id: String
    let verdict: String
    let evidence: String
  }

  private func verify(_ world: Workspace, _ options: String...) throws -> (exit: ChildProcess.Exit, lines: [Line]) {
    let ambit = try Products.path("ambit")
    let outcome = try world.run(
      [ambit, "verify", "--race", "1", "--format", "json"] + options, patience: .seconds(150))
    let lines = try outcome.output.split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
    try #require(lines.count > 60, "\(outcome)")
    return (outcome.exit, lines)
  }

  private static func sharedMemory() throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: "/dev/shm").filter { $0.hasPrefix("ambit-") })
  }

  /// What is not contained yet, and why. An entry that is mended has to leave this list.
  private static let known: [String: String] = [:]

  @Test(arguments: TestUser.all)
  func `A1 to I12: nothing but what is known escapes from the default policy's sandbox`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let before = try Self.sharedMemory()
      let (exit, lines) = try verify(world)
      let escaped = lines.filter { $0.verdict == "escaped" }
      #expect(escaped.filter { Self.known[$0.id] == nil }.map { "\($0.id) \($0.evidence)" } == [])
      #expect(exit == .status(escaped.isEmpty ? 0 : 1))
      // These depend on nothing that machines differ in.
      for id in ["F3", "E9", "E10", "I3", "I5", "I6", "I9", "I12"] {
        #expect(lines.contains { $0.id == id && $0.verdict == "contained" }, "\(id)")
      }
      // Nearly all of them say something: what could not be tried is the exception, and has a reason.
      let open = lines.filter { $0.verdict == "not applicable" }
      #expect(open.count <= 8, "\(open.map { "\($0.id) \($0.evidence)" })")
      #expect(open.allSatisfy { !$0.evidence.isEmpty && $0.evidence != "the probe did not run" })
      // Another run of it may have some for a while.
      try Deadline.wait(.seconds(120), for: "shared memory to be removed") {
        try Self.sharedMemory().isSubset(of: before)
      }
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `A1 to I12: without a sandbox nearly every entry escapes`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let (exit, lines) = try verify(world, "--launcher", "env")
      #expect(exit == .status(1))
      let escaped = Set(lines.filter { $0.verdict == "escaped" }.map(\.id))
      #expect(escaped.count >= 35, "\(escaped.sorted())")
      // Those that no setting of the machine's contains by itself.
      for id in [
        "A4", "A5", "A7", "A8", "A9", "B1", "B2", "B3", "B5", "B6", "B12", "B14", "B16", "B19", "C1", "C5", "C6", "C9",
        "C10", "E1", "F1", "F2", "F3", "F6", "I3",
      ] { #expect(escaped.contains(id), "\(id)") }
      // And what asks about Ambit is not asked of another launcher.
      let own = lines.filter { $0.id.hasPrefix("G") || ["B20", "F9"].contains($0.id) }
      #expect(own.count == 11 && own.allSatisfy { $0.verdict == "not applicable" })
    }
  }

  @Test func `a launcher that is not there, or makes no sandbox, is said to be so`() throws {
    try Workspace.with(.all[0]) { world in
      let ambit = try Products.path("ambit")
      let absent = try world.run([ambit, "verify", "--launcher", "no-such-launcher --"])
      #expect(absent.exit == .status(125))
      #expect(absent.errors.contains("no-such-launcher"))
      let silent = try world.run([ambit, "verify", "--launcher", "true"])
      #expect(silent.exit == .status(125))
      #expect(silent.errors.contains("did not come to its end"))
      #expect(try world.run([ambit, "verify", "--policy", "no-such-policy"]).exit == .status(125))
    }
  }
}
