import TestSupport
import Testing

/// What an app that asks for Apple's sandbox may keep of what its user picked, by its entitlements.
@Suite(.serialized)
struct AppleSandboxTests {
  private static func entitlements(_ keys: [String]) -> String {
    "<plist version=\"1.0\"><dict>\(keys.map { "<key>com.apple.security.\($0)</key><true/>" }.joined())</dict></plist>"
  }

  @Test(arguments: TestUser.all)
  func `it keeps a reference with the entitlement for bookmarks of its own, and none without`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let writes = "files.user-selected.read-write"
      for (name, keys, references) in [
        ("Plain", [writes], 1), ("Keeping", ["app-sandbox", writes, "files.bookmarks.app-scope"], 1),
        ("Forgetting", ["app-sandbox", writes], 0),
      ] {
        try world.bundle(name, identifier: Workspace.identifier(name), entitlements: Self.entitlements(keys))
        let app = try world.probe(name, picks: [document])
        try app.pick()
        #expect(try app.start() && app.read().isDone)
        #expect(try app.tell("references")["paths"]?.array?.count == references, "\(name)")
      }
    }
  }
}
