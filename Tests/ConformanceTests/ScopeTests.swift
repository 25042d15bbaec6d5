import Audit
import Foundation
import TestSupport
import Testing

/// Group C of the catalogue: starting and stopping scopes.
@Suite(.serialized, .waiting)
struct ScopeTests {
  @Test(arguments: TestUser.all)
  func `TOK-3: however fast scopes come and go, a stop takes effect at once, and nothing of them stays mounted`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")])
      try app.pick()
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
        #expect(try app.read().content == "text")
        try app.stop()
        #expect(try app.read().errno == refused)
        try Deadline.wait(for: "nothing to be mounted") { try mounts().isEmpty }
      }
      #expect(try app.finish() == .status(0))
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

  @Test(arguments: TestUser.one(.ordinary))
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
