import Audit
import Foundation
import TestSupport
import Testing

/// What an app that asks for Apple's sandbox may keep of what its user picked, by its entitlements.
@Suite(.serialized, .waiting)
struct AppleSandboxTests {
  private static func entitlements(_ keys: [String]) -> String {
    "<plist version=\"1.0\"><dict>\(keys.map { "<key>com.apple.security.\($0)</key><true/>" }.joined())</dict></plist>"
  }

  /// Entitlements of an app that asks for the sandbox, besides that.
  private static func sandboxed(_ keys: String...) -> String { entitlements(["app-sandbox"] + keys) }

  @Test(arguments: TestUser.one(.ordinary))
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
      let ofClosed = events.filter { $0.app == Workspace.identifier("Closed") }
      #expect(!ofClosed.contains { $0.kind == .grant && $0.result == .allowed })
      let reason = "with neither com.apple.security.files.user-selected.read-only nor "
      #expect(ofClosed.contains { $0.result == .refused && $0.reason?.contains(reason) == true }, "\(ofClosed)")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func
    `without the entitlement for bookmarks it keeps none and no reference, with it it does; audit simulate goes by that`(
      user: TestUser
    ) throws
  {
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
          if policy == "default" {
            let references = try app.tell("references")
            #expect(references["paths"]?.array?.count == (name == "Keeping" ? 1 : 0), "\(name): \(references)")
          }
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

  @Test(arguments: TestUser.one(.ordinary))
  func `each entitlement for bookmarks is for its own kind, and a refusal names the one that is missing`(user: TestUser)
    throws
  {
    try Workspace.with(user) { world in
      let letter = try world.document("letter.txt", "text")
      let (other, folder) = (try world.document("other.txt", "other"), "\(world.home)/Papers")
      let (own, documents) = ("files.bookmarks.app-scope", "files.bookmarks.document-scope")
      /// What such an app makes of each kind: of its own, of a document's, without a scope, and without one in a picked folder.
      func make(_ name: String, _ keys: String...) throws -> [JSON] {
        let entitlements = Self.entitlements(["app-sandbox", "files.user-selected.read-only"] + keys)
        try world.bundle(name, identifier: Workspace.identifier(name), entitlements: entitlements)
        let app = try world.probe(name, picks: [letter, other, folder])
        try app.pick()
        try app.pick(as: "d")
        try app.pick(as: "f", ["kind": "folder"])
        _ = try app.tell("child", ["of": "f", "name": "letter.txt", "as": "in"])
        for each in ["a", "d", "f"] { #expect(try app.start(each)) }
        let scope: [JSON] = ["withSecurityScope", "securityScopeAllowOnlyReadAccess"]
        let answers = [
          try app.tell("bookmark", ["of": "a", "options": .array(scope)]),
          try app.tell("bookmark", ["of": "a", "options": .array(scope), "relativeTo": "d"]),
          try app.tell("bookmark", ["of": "a", "options": .array([])]),
          try app.tell("bookmark", ["of": "in", "options": .array([])]),
        ]
        _ = try app.finish()
        return answers
      }
      func made(_ answers: [JSON]) -> [Bool] { answers.map { $0["bookmark"]?.string != nil } }
      let both = try make("Both", own, documents)
      #expect(made(both) == [true, true, true, true], "\(both)")
      let app = try make("OwnOnly", own)
      #expect(made(app) == [true, false, true, true], "\(app)")
      let document = try make("DocumentOnly", documents)
      // What lies in a folder is kept by a bookmark of the app's own, whatever it is called.
      #expect(made(document) == [false, true, true, false], "\(document)")
      #expect(made(try make("Neither")) == [false, false, false, false])
      for (answer, key) in [(app[1], documents), (document[0], own), (document[3], own)] {
        #expect(answer["sentence"]?.string?.contains("com.apple.security.\(key)") == true, "\(answer)")
      }
      let refused = try world.audit(.bookmarkCreated).filter {
        $0.result == .refused && $0.app == Workspace.identifier("DocumentOnly")
      }
      #expect(refused.map(\.rule) == ["BMK-1", "BMK-1"])
      #expect(refused.allSatisfy { $0.reason?.contains("com.apple.security.files.bookmarks.app-scope") == true })

      // One that an app made when it had the entitlement is of no use to it without.
      try FileManager.default.removeItem(atPath: "\(world.folder)/Applications/Both.app")
      try world.bundle(
        "Both", identifier: Workspace.identifier("Both"),
        entitlements: Self.entitlements(["app-sandbox", "files.user-selected.read-only", documents]))
      let next = try world.probe("Both", picks: [other])
      try next.pick(as: "d")
      #expect(try next.start("d"))
      let bookmarks = try both.map { try #require($0["bookmark"]) }
      let closed = try next.tell("resolve", ["bookmark": bookmarks[0], "as": "b"])
      #expect(closed.url == nil && closed["sentence"]?.string?.contains(own) == true, "\(closed)")
      #expect(try next.tell("resolve", ["bookmark": bookmarks[1], "as": "c", "relativeTo": "d"]).url != nil)
      let explained = try world.ambit("audit", "explain", "\(world.folder)/Applications/Both.app")
      #expect(explained.output.contains("only such as go with a document"), "\(explained)")
    }
  }
}
