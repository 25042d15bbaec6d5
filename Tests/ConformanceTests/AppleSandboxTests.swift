import Audit
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

  /// Entitlements of an app that asks for the sandbox, besides that.
  private static func sandboxed(_ keys: String...) -> String { entitlements(["app-sandbox"] + keys) }

  @Test(arguments: TestUser.all)
  func `what its user may select for reading it cannot write; one for which nothing may be selected cannot pick`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      try world.bundle(
        "Reading", identifier: Workspace.identifier("Reading"),
        entitlements: Self.sandboxed("files.user-selected.read-only"))
      let reading = try world.probe("Reading", picks: [document])
      #expect(try reading.pick()["urls"]?.array?.count == 1)
      #expect(try reading.start() && reading.read().content == "text")
      let write = try reading.tell("append", ["of": "a", "text": " and more"])
      #expect(!write.isDone && write["errno"] == "EROFS", "\(write)")
      #expect(try world.read(document) == "text")
      _ = try reading.finish()

      try world.bundle("Closed", identifier: Workspace.identifier("Closed"), entitlements: Self.sandboxed())
      let closed = try world.probe("Closed", picks: [document])
      let answer = try closed.tell("pick", ["as": "a"])
      #expect(answer["didPick"] == 0 && answer["urls"]?.array?.isEmpty != false, "\(answer)")
      _ = try closed.finish()
      let events = try world.audit()
      #expect(!events.contains { $0.app == Workspace.identifier("Closed") && $0.kind == .grant })
    }
  }

  @Test(arguments: TestUser.all)
  func `without the entitlement for bookmarks it makes none, with it it does; and audit simulate goes by that`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let reads = "files.user-selected.read-only"
      // The policy forbids them as well: what another one would have allowed is then up to the entitlements alone.
      let strict = "\(world.home)/strict.toml"
      try world.write("inherits = \"default\"\n[bookmarks]\ncreate = false\n", to: strict)
      let apps = [
        ("Keeping", Self.sandboxed(reads, "files.bookmarks.app-scope")), ("Forgetting", Self.sandboxed(reads)),
      ]
      for (name, entitlements) in apps {
        try world.bundle(name, identifier: Workspace.identifier(name), entitlements: entitlements)
        for (policy, isMade) in [("default", name == "Keeping"), (strict, false)] {
          let app = try world.probe(name, picks: [document], options: ["--policy", policy])
          try app.pick()
          #expect(try app.start())
          let bookmark = try app.tell("bookmark", ["of": "a", "readOnly": true])
          #expect((bookmark["bookmark"] != nil) == isMade, "\(name) under \(policy): \(bookmark)")
          _ = try app.finish()
        }
      }
      for (name, _) in apps {
        let app = Workspace.identifier(name)
        let simulated = try world.ambit("audit", "simulate", "--policy", "default", "--app", app, "--format", "json")
        let lines = simulated.output.split(separator: "\n").compactMap { JSON(String($0)) }.dropLast()
        #expect(lines.contains { $0["field"] == "bookmarks.create" } == (name == "Keeping"), "\(simulated)")
        if name == "Forgetting" { #expect(lines.isEmpty, "\(simulated)") }
      }
    }
  }
}
