import Foundation
import TestSupport
import Testing

/// `AUD-7`: who watches is told when a permission changes.
@Suite(.serialized, .waiting)
struct WatchTests {
  @Test(arguments: TestUser.one(.root))
  func `AUD-7: a watcher is told of each grant that is given, and of each that ends, whoever ends it`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let (first, second) = (try world.document("a.txt", "a"), try world.document("b.txt", "b"))
      let app = try world.probe(picks: [first, second, first])
      try app.pick()
      let watch = try world.start([
        try Products.path("ambit"), "grants", "--follow", "--format", "json",
      ])
      func next() throws -> JSON { try #require(JSON(try watch.readLine(patience: .seconds(30)))) }
      #expect(try next()["grants"]?.array?.count == 1)
      try app.pick(as: "b", ["readOnly": true])
      let granted = try next()
      #expect(granted["change"] == "granted" && granted["document"]?.string == second)
      #expect(granted["app"]?.string == Workspace.identifier("Probe") && granted["access"] == "readOnly")
      // What an app has already is no change, nor is what it does with it.
      try app.pick(as: "c")
      #expect(try app.start("c"))
      _ = try app.tell("release", ["of": "b"])
      let released = try next()
      #expect(released["change"] == "ended" && released["how"] == "app" && released["grant"] == granted["grant"])
      #expect(try world.ambit("revoke", "--all").exit == .status(0))
      let revoked = try next()
      #expect(revoked["change"] == "ended" && revoked["how"] == "user" && revoked["document"]?.string == first)
      watch.kill()
    }
  }
}
