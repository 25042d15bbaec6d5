import Audit
import Foundation
import TestSupport
import Testing

/// TOK-3: what has been taken away from an app waits a moment to be unmounted, and nothing leads there.
@Suite(.waiting) struct ExitTests {
  static let rounds = 60

  @Test(arguments: TestUser.all, [false, true])
  func `TOK-3, TOK-20: no name, no held folder and no way through where it has gone leads back to a document`(
    user: TestUser, standing: Bool
  ) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
      let answer = try app.tell(
        "leadBack", ["of": "a", "rounds": .number(Double(Self.rounds)), "standing": .bool(standing)])
      // While it was active all of them could.
      #expect(answer["controls"]?.int == Self.rounds, "\(answer)")
      #expect(answer["reached"]?.int == 0, "\(answer)")
      #expect(answer["raced"]?.int == 0, "\(answer)")
      // Only what was opened while it was active can have outlived it.
      #expect(try world.audit(.outlived).count <= answer["late"]?.int ?? 0, "\(answer)")
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.all, [false, true])
  func
    `TOK-3: what waited is unmounted soon, by itself; what the host has removed is taken away too, and the app goes on`(
      user: TestUser, readOnly: Bool
    ) throws
  {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text"), try world.document("b.txt", "b")])
      try app.pick(["readOnly": .bool(readOnly)])
      try app.pick(as: "b")
      func mounts() throws -> Int {
        try app.tell("mounts")["text"]?.string.map { $0.split(separator: "\n").count } ?? -1
      }
      let before = try mounts()
      for _ in 0..<20 {
        #expect(try app.start())
        #expect(try mounts() > before)
        try app.stop()
      }
      try Deadline.wait(for: "the mounts to go") { try mounts() == before }
      #expect(try app.start())
      #expect(try world.run(["/bin/rm", "Papers/letter.txt"]).exit == .status(0))
      try app.stop()
      #expect(try app.read().errno != nil)
      #expect(try app.tell("start", ["of": "b"]).isDone)
      #expect(try app.finish() == .status(0))
    }
  }
}
