import Audit
import Foundation
import TestSupport
import Testing

/// An app that has itself refused without end.
@Suite(.serialized, .waiting)
struct FloodTests {
  private static let calls = 800
  private static let rounds = 4

  @Test(arguments: TestUser.one(.root))
  func `AUD-5: starts and stops of what is started are counted in a loop, and the log says who has the document`(
    user: TestUser
  )
    throws
  {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
      let pairs = 200
      #expect(try app.start())
      for _ in 1...pairs {
        #expect(try app.start())
        #expect(try app.tell("stop", ["of": "a"]).isDone)
      }
      func scopes() throws -> [JSON] {
        let picture = try #require(JSON(try world.ambit("audit", "at", "now", "--format", "json").output))
        return picture["grants"]?.array?.flatMap { $0["scopes"]?.array ?? [] } ?? []
      }
      #expect(try scopes().count == 1)
      #expect(try app.tell("stop", ["of": "a"]).isDone)
      #expect(try scopes().isEmpty)
      _ = try app.finish()
      try Deadline.wait(for: "the exit") { try world.audit(.exit).count == 1 }
      for kind in [AuditEvent.Kind.start, .stop] {
        let entries = try world.audit(kind)
        #expect(entries.map(\.occurrences).reduce(0, +) == pairs + 1)
        // One more a second at most, for as long as it took.
        #expect(
          (RefusalLimiter.burst + 1...RefusalLimiter.burst + 100).contains(entries.count), "\(kind): \(entries.count)")
        #expect(entries.filter { !$0.isNested && !$0.standsForOthers }.count == 1)
      }
      #expect(try world.ambit("audit", "verify").exit == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-3: refusals that an app causes in a loop are counted, and what takes effect is written`(user: TestUser)
    throws
  {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
      // A token that is none.
      let wrong: JSON = .string(#"{"method":"io.ambit.Access.Start","parameters":{"scope":"none"}}"#)
      for call in 1...Self.calls {
        let answer = try app.tell("raw", ["text": wrong])
        #expect(answer["reply"]?.string?.contains("InvalidScope") == true, "\(answer.text)")
        guard call % (Self.calls / Self.rounds) == 0 else { continue }
        #expect(try app.start())
        #expect(try app.tell("stop", ["of": "a"]).isDone)
      }
      #expect(try world.audit(.start).count == Self.rounds)
      #expect(try world.audit(.stop).count == Self.rounds)
      _ = try app.finish()

      try Deadline.wait(for: "the exit") { try world.audit(.exit).count == 1 }
      let exit = try world.audit(.exit)[0]
      let refused = try world.audit(.refuse).filter { $0.rule == "TOK-15" }
      #expect(refused.map(\.occurrences).reduce(0, +) == Self.calls)
      #expect((RefusalLimiter.burst + 1...400).contains(refused.count), "\(refused.count)")
      #expect(refused.allSatisfy { $0.instance == exit.instance && $0.sequence < exit.sequence })
      let last = try #require(refused.last?.detail[AuditEvent.Fact.last])
      #expect(Timestamp(last) != nil)
      #expect(try world.ambit("audit", "log", "--kind", "refuse").output.contains(" times from "))
      #expect(try world.ambit("audit", "verify").exit == .status(0))
    }
  }
}
