import Audit
import Foundation
import TestSupport
import Testing

/// What a policy says of documents, in a running app: types, folders, access, bookmarks, and how long a grant holds.
@Suite(.serialized, .waiting)
struct PolicyRuleTests {
  private func policy(_ world: Workspace, _ name: String, _ text: String) throws -> [String] {
    let path = "\(world.home)/\(name).toml"
    try world.write("inherits = \"default\"\n\(text)\n", to: path)
    return ["--policy", path]
  }

  @Test(arguments: TestUser.one(.root))
  func `PCK-7, PCK-10: what a policy does not allow cannot be picked, and is not started though it was granted`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let (text, image) = (try world.document("a.txt", "text"), try world.document("b.png", "image"))
      let free = try world.probe(picks: [image, "\(world.home)/Papers"], options: ["--policy", "default"])
      try free.pick(as: "b")
      try free.pick(as: "papers", ["kind": "folder"])
      #expect(try free.start("b") && free.start("papers"))
      let references = try #require(try free.tell("references")["paths"]?.strings)
      _ = try free.finish()

      let strict = try policy(world, "text", "picker.types = [\"public.text\"]\npicker.folders = false")
      let app = try world.probe(picks: [text, image], options: strict)
      try app.pick(as: "a")
      #expect(try app.start("a"))
      // The picker does not take it.
      #expect(try app.tell("pick", ["as": "c"])["didPick"] == 0)
      let refused = try app.tell("pick", ["as": "f", "kind": "folder"])
      #expect(refused["didPick"] == 0 && refused["posix"] == "EPERM", "\(refused.text)")
      #expect(try world.audit(.pick).last?.rule == "PCK-10")
      for path in references {
        let found = try app.tell("resolveReference", ["path": .string(path), "as": "old"])
        guard found.url != nil else { continue }
        let started = try app.tell("start", ["of": "old"])
        #expect(started["posix"] == "EPERM", "\(started.text)")
      }
      let rules = try world.audit(.start).filter { $0.result == .refused }.map(\.rule)
      #expect(Set(rules) == ["PCK-7", "PCK-10"])
      // Nothing of it has ended.
      #expect(try world.grants().count == 3)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-3: under a policy for reading, an app that asks for more is given less, and what it had is shown so`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let (old, new) = (try world.document("old.txt", "old"), try world.document("new.txt", "new"))
      let before = try world.probe(picks: [old])
      try before.pick(as: "a")
      #expect(try before.start("a"))
      let bookmark = try before.bookmark("a")
      #expect(try before.tell("write", ["of": "a", "text": "changed"]).isDone)
      _ = try before.finish()

      let app = try world.probe(picks: [new], options: try policy(world, "viewer", "grants.access = \"read-only\""))
      try app.pick(as: "b")
      #expect(try app.tell("resolve", ["bookmark": .string(bookmark), "as": "a"]).url != nil)
      for name in ["a", "b"] {
        #expect(try app.start(name))
        #expect(try app.read(name).content != nil)
        #expect(try app.tell("write", ["of": .string(name), "text": "x"])["errno"]?.string == "EROFS")
      }
      #expect(try world.read(old) == "changed" && world.read(new) == "new")
      #expect(try world.grants().compactMap { $0["access"]?.string }.sorted() == ["readOnly", "readWrite"])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `BMK-1, BMK-3, BMK-5, BMK-8: a policy says which bookmarks an app may make, and for how long they are good`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("a.txt", "text")
      let some = "bookmarks.implicit = false\nbookmarks.document_scoped = false\nbookmarks.lifetime = \"1s\""
      let app = try world.probe(picks: [document], options: try policy(world, "some", some))
      try app.pick(as: "a")
      #expect(try app.start("a"))
      for further in [["options": .array([])], ["relativeTo": "a"]] as [[String: JSON]] {
        let refused = try app.tell("bookmark", further.merging(["of": "a"]) { old, _ in old })
        #expect(refused["bookmark"] == nil && refused["posix"] == "EPERM", "\(refused.text)")
      }
      let bookmark = try app.bookmark("a")
      try Deadline.wait(.seconds(30), for: "the bookmark to be too old") {
        try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"]).url == nil
      }
      #expect(try world.audit(.bookmarkResolved).last?.rule == "BMK-3")
      _ = try app.finish()

      // It is good again under another policy, also under one that lets no bookmarks be made.
      let none = try world.probe(options: try policy(world, "none", "bookmarks.create = false"))
      #expect(try none.tell("resolve", ["bookmark": .string(bookmark), "as": "b"]).url != nil)
      #expect(try none.start("b"))
      let refused = try none.tell("bookmark", ["of": "b"])
      #expect(refused["bookmark"] == nil && refused["posix"] == "EPERM", "\(refused.text)")
      #expect(
        try world.audit(.bookmarkCreated).filter { $0.result == .refused }.map(\.rule) == ["BMK-8", "BMK-5", "BMK-1"])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `AUD-1: a grant ends by itself when its time is up, in a running app at once and with what was made from it`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("a.txt", "text")
      let app = try world.probe(picks: [document], options: try policy(world, "long", "grants.pass = \"any\""))
      let other = try world.probe("Other")
      try app.pick(as: "a")
      #expect(try app.start("a"))
      let passed = try app.tell("pass", ["of": "a", "to": .string(Workspace.identifier("Other"))])
      let transfer = try #require(passed["transfer"], "\(passed.text)")
      #expect(try other.tell("redeem", ["transfer": transfer, "as": "b"]).url != nil)
      #expect(try other.start("b"))
      #expect(try world.audit(.grant).count == 2)

      // The user decides anew, and for a moment only: then everything is ready for the end, however slow the machine is.
      let short = try policy(world, "short", "grants.lifetime = \"1s\"")
      try world.probe(picks: [document], options: short).pick(as: "a")
      try Deadline.wait(.seconds(30), for: "the grants to end") { try world.grants().isEmpty }
      let ended = try world.audit(.revoke)
      #expect(ended.count == 2 && ended.allSatisfy { $0.how == "lifetime" && $0.result == .allowed })
      for (app, name) in [(app, "a"), (other, "b")] {
        #expect(try app.read(name).content == nil)
        #expect(try app.tell("start", ["of": .string(name)])["posix"] == "EPERM")
      }
      #expect(try world.audit(.scopeEnded).count == 2)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-1: a grant ends with its launch, another stays, and what ended without a broker has ended`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let (first, second) = (try world.document("a.txt", "1"), try world.document("b.txt", "2"))
      let keeps = try world.probe(picks: [second])
      try keeps.pick(as: "b")
      let launch = try policy(world, "launch", "grants.lifetime = \"launch\"")
      let app = try world.probe(picks: [first], options: launch)
      try app.pick(as: "a")
      #expect(try world.audit(.grant).last?.detail["until"] == "the launch ends")
      #expect(try world.grants().map { $0["endsWithLaunch"] == true }.sorted { !$0 && $1 } == [false, true])
      #expect(try world.grants().count == 2)
      _ = try app.finish()
      try Deadline.wait(.seconds(30), for: "the grant to end") { try world.grants().count == 1 }
      #expect(try world.audit(.revoke).map(\.how) == ["lifetime"])
      _ = try keeps.finish()

      // With longer and longer lifetimes, until a broker is gone before the grant is.
      for lifetime in ["1s", "5s", "20s"] {
        let before = try world.audit(.revoke).count
        let rules = try policy(world, "short", "grants.lifetime = \"\(lifetime)\"")
        let short = try world.probe(picks: [first], options: rules)
        try short.pick(as: "a")
        let until = try #require(try world.audit(.grant).last?.detail["until"])
        _ = try short.finish()
        #expect(try world.ambit("broker", "stop").exit == .status(0))
        try Deadline.wait(.seconds(30), for: "the broker to end") { try world.brokerProcess() == nil }
        let isOpen = try world.audit(.revoke).count == before
        let end = try Date(until, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        try Deadline.wait(.seconds(30), for: "the grant's time to be up") { Date() > end }
        // The log alone says so as well, of then and of before.
        for (moment, count) in [("now", 1), (Timestamp(end.addingTimeInterval(-0.3)).text, 2)] {
          let answer = try world.ambit("audit", "at", moment, "--format", "json")
          #expect(JSON(answer.output)?["grants"]?.array?.count == count, "\(moment): \(answer)")
        }
        // Whoever starts the next broker finds it ended.
        #expect(try world.grants().count == 1)
        #expect(try world.audit(.revoke).count == before + 1)
        #expect(try world.audit(.revoke).last?.how == "lifetime")
        if isOpen { break }
      }
      #expect(try world.audit().map(\.kind).suffix(2) == [.brokerStarted, .revoke])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `AUD-1: a grant from before is taken away when a policy allows it no longer, and does not end`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("a.txt", "text")])
      try app.pick(as: "a")
      #expect(try app.start("a"))
      let bookmark = try app.bookmark("a")
      _ = try app.finish()
      let short = try world.probe(options: try policy(world, "short", "grants.lifetime = \"1s\""))
      try Deadline.wait(.seconds(30), for: "the grant to be too old") {
        _ = try short.tell("resolve", ["bookmark": .string(bookmark), "as": "a"])
        guard try short.start("a") else { return true }
        return try short.read("a").content == nil
      }
      #expect(try !short.start("a"))
      // Nor is it of any later launch.
      let launch = try world.probe(options: try policy(world, "launch", "grants.lifetime = \"launch\""))
      #expect(try launch.tell("resolve", ["bookmark": .string(bookmark), "as": "a"]).url != nil)
      #expect(try launch.tell("start", ["of": "a"])["posix"] == "EPERM")
      #expect(try world.grants().count == 1)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func
    `a machine-wide policy narrows every user's, whatever the command line says, and one that is wrong stops launches`(
      user: TestUser
    ) throws
  {
    try Workspace.with(user) { world in
      let machine = "\(world.ambitHome)/machine-policy.toml"
      try world.write("[scopes]\nlimit = 2\n[limits]\nprocesses = 100\n", to: machine)
      let app = try world.probe(options: ["--policy", "stress", "--limit", "processes=4000"])
      #expect(try app.tell("status")["limit"] == 2)
      _ = try app.finish()
      let bundle = try world.bundle("Probe", identifier: Workspace.identifier("Probe"))
      let plan = try world.ambit("plan", bundle)
      #expect(plan.output.contains("scopes.limit") && plan.output.contains(machine), "\(plan)")

      try world.write("[scopes]\nlimit = 0\n", to: machine)
      let refused = try world.probe()
      #expect(try refused.process.waitForExit() == .status(125))
      #expect(
        refused.process.allErrors.contains("machine-policy.toml:2:9: scopes.limit must be"),
        "\(refused.process.allErrors)")
    }
  }
}
