import Audit
import Foundation
import TestSupport
import Testing

/// Group C of the catalogue: starting and stopping scopes.
@Suite(.serialized, .waiting)
struct ScopeTests {
  /// A probe that has picked `letter.txt` as `a` and not started it.
  private func withPicked(_ user: TestUser, _ body: (Workspace, AppRun, _ document: String) throws -> Void) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      try body(world, app, document)
      // Whatever a test did to it, the app ends as it wants to.
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-1: before start, the path cannot be opened`(user: TestUser) throws {
    try withPicked(user) { (_, app, _) throws in
      #expect(try app.read().errno == refused)
      #expect(try app.tell("append", ["of": "a", "text": "x"]).errno == refused)
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-2: after start, reading and writing succeed`(user: TestUser) throws {
    try withPicked(user) { (world, app, document) throws in
      #expect(try app.start())
      #expect(try app.read().content == "text")
      #expect(try app.tell("write", ["of": "a", "text": "written"]).isDone)
      #expect(try world.read(document) == "written")
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-3: after the last stop, a new open fails at once`(user: TestUser) throws {
    try withPicked(user) { (world, app, document) throws in
      for round in 1...20 {
        #expect(try app.start())
        #expect(try app.read().content == "text", "round \(round)")
        try app.stop()
        #expect(try app.read().errno == refused, "round \(round)")
      }
      #expect(try world.read(document) == "text")
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-3: however fast scopes come and go, nothing of them stays mounted`(user: TestUser) throws {
    try withPicked(user) { (_, app, _) throws in
      func mounts() throws -> [Substring] {
        let table = try #require(try app.tell("mounts").content)
        return table.split(separator: "\n").map { $0.split(separator: " ")[4] }.filter { $0.hasPrefix("/documents/") }
      }
      for _ in 0..<10 {
        #expect(try app.start())
        #expect(try mounts().contains { $0.hasSuffix("/letter.txt") })
        // More than wait for each other at either way out.
        for _ in 0..<40 {
          try app.stop()
          #expect(try app.start())
        }
        try app.stop()
        try Deadline.wait(for: "nothing to be mounted") { try mounts().isEmpty }
        #expect(try app.read().errno == refused)
      }
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `TOK-4: n starts want n stops`(user: TestUser) throws {
    try withPicked(user) { (_, app, _) throws in
      for count in 1...5 { #expect(try app.tell("countedStart", ["of": "a"])["count"]?.int == count) }
      #expect(try app.tell("status")["used"] == 1)
      for left in stride(from: 4, through: 1, by: -1) {
        #expect(try app.tell("countedStop", ["of": "a"])["count"]?.int == left)
        #expect(try app.read().content == "text", "\(left) starts left")
      }
      #expect(try app.tell("countedStop", ["of": "a"])["count"] == 0)
      #expect(try app.read().errno == refused)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-5: a stop without a start does nothing`(user: TestUser) throws {
    try withPicked(user) { (world, app, _) throws in
      for _ in 1...3 { #expect(try app.tell("countedStop", ["of": "a"])["count"] == 0) }
      // No credit was gained: one start, one stop, and it is gone.
      #expect(try app.tell("countedStart", ["of": "a"])["count"] == 1)
      #expect(try app.read().content == "text")
      #expect(try app.tell("countedStop", ["of": "a"])["count"] == 0)
      #expect(try app.read().errno == refused)
      #expect(try world.brokerProcess() != nil)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `TOK-7: a URL made from the path has no scope`(user: TestUser) throws {
    try withPicked(user) { (_, app, _) throws in
      _ = try app.tell("fromPath", ["of": "a", "as": "b"])
      #expect(try !app.start("b"))
      #expect(try app.read("b").errno == refused)
      // The control: it is the same path.
      #expect(try app.start("a"))
      #expect(try app.read("b").content == "text")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-8: a copy of the URL has the scope`(user: TestUser) throws {
    try withPicked(user) { (_, app, _) throws in
      _ = try app.tell("copy", ["of": "a", "as": "b"])
      #expect(try app.start("b"))
      #expect(try app.read("b").content == "text")
      // One resource, whichever copy it was started by.
      #expect(try app.tell("countedStop", ["of": "a"])["count"] == 0)
      #expect(try app.read("b").errno == refused)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `TOK-9: a scope does not outlive the launch in a string`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      let saved = try #require(try app.pick().url)
      #expect(try app.start())
      #expect(try app.finish() == .status(0))

      let next = try world.probe()
      _ = try next.tell("fromString", ["string": .string(saved), "as": "a"])
      #expect(try !next.start())
      #expect(try !next.read().isDone)
      #expect(try world.audit(.refuse).map(\.rule).contains("TOK-15"))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-10: in the app's own container, start and stop change nothing`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try world.probe()
      let own: [String: JSON] = ["path": "/home/user/Documents/own.txt", "text": "mine"]
      #expect(try app.tell("create", own).isDone)
      for act in ["start", "stop", "stop", "start"] {
        _ = try app.tell(act, own)
        #expect(try app.tell("read", own).content == "mine")
        #expect(try app.tell("append", own.merging(["text": ""]) { $1 }).isDone)
      }
      #expect(try app.tell("status")["used"] == 0)
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-11: a dead app's accesses end, and its slots come back`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let documents = try (1...8).map { try world.document("\($0).txt", "\($0)") }
      let app = try world.probe(picks: documents, options: ["--policy", "teach"])
      for number in 1...8 {
        try app.pick(as: "d\(number)")
        #expect(try app.start("d\(number)"))
      }
      #expect(try world.instances().first?["used"] == 8)
      let broker = try #require(try world.brokerProcess())
      let family = ProcessTable.tree(below: app.process.pid, except: broker)
      #expect(family.count >= 3)
      let pid = try #require(try world.instances().first?["pid"]?.int)
      #expect(kill(Int32(pid), SIGKILL) == 0)
      _ = try app.process.waitForExit()
      try Deadline.wait(for: "the instance to end") { try world.instances().isEmpty }
      try Deadline.wait(for: "the end of \(ProcessTable.describe(ProcessTable.alive(family)))") {
        ProcessTable.alive(family).isEmpty
      }
      #expect(try world.audit(.scopeEnded).count == 8)
      #expect(ProcessTable.mounts(broker).allSatisfy { !$0.contains(world.home) })
      // With its sandbox went every mount that was made in it.
      let name = (world.folder as NSString).lastPathComponent
      try Deadline.wait(for: "its mount namespace to go") { ProcessTable.sandboxes(showing: name).isEmpty }

      let next = try world.probe(picks: documents, options: ["--policy", "teach"])
      #expect(try next.tell("status")["used"] == 0)
      for number in 1...8 {
        try next.pick(as: "d\(number)")
        #expect(try next.start("d\(number)"))
      }
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `TOK-17: a document that was picked twice is started until both of its URLs are stopped`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document, document])
      for name in ["a", "b"] { try app.pick(as: name) }
      for name in ["a", "b"] { #expect(try app.start(name)) }
      #expect(try app.tell("status")["used"] == 1)
      try app.stop("a")
      for name in ["a", "b"] { #expect(try app.read(name).content == "text", "\(name)") }
      try app.stop("b")
      for name in ["a", "b"] { #expect(try app.read(name).errno == refused, "\(name)") }
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-12: a started folder opens everything in it, also what comes later, and a stop takes all of it`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      try world.document("Papers/Folder/Deep/Deeper/old.txt", "old")
      let folder = "\(world.home)/Papers/Folder"
      let app = try world.probe(picks: [folder])
      try app.pick(["kind": "folder"])
      func child(_ path: String) throws {
        _ = try app.tell("child", ["of": "a", "name": .string(path), "as": "child"])
      }

      try child("Deep/Deeper/old.txt")
      #expect(try !app.read("child").isDone)
      #expect(try app.start())
      #expect(try app.read("child").content == "old")
      try world.document("Papers/Folder/new.txt", "new")
      try child("new.txt")
      #expect(try app.read("child").content == "new")
      try child("Deep/made.txt")
      #expect(try app.tell("create", ["of": "child", "text": "by the app"]).isDone)
      #expect(try world.read("\(folder)/Deep/made.txt") == "by the app")
      // What the app makes in the user's folder is the user's.
      let owner =
        try FileManager.default.attributesOfItem(atPath: "\(folder)/Deep/made.txt")[.ownerAccountID] as? UInt32
      #expect(owner == user.id)
      #expect(try app.tell("status")["used"] == 1)

      try app.stop()
      for path in ["Deep/Deeper/old.txt", "new.txt", "Deep/made.txt", "Deep"] {
        try child(path)
        #expect(try !app.tell("read", ["of": "child"]).isDone, "\(path)")
      }
      #expect(try app.tell("list", ["of": "a"]).errno == refused)
    }
  }
}
