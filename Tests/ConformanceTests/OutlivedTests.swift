import Audit
import Foundation
import TestSupport
import Testing

/// TOK-16: what an app still has open of a document whose scope has ended.
@Suite(.serialized)
struct OutlivedTests {
  private func withStarted(
    _ user: TestUser, _ options: [String] = [], _ body: (Workspace, AppRun) throws -> Void
  ) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [try world.document("letter.txt", "text")], options: options)
      try app.pick()
      #expect(try app.start())
      try body(world, app)
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-16: nothing open, nothing said`(user: TestUser) throws {
    try withStarted(user) { (world, app) throws in
      #expect(try app.read().content == "text")
      #expect(try app.tell("hold", ["of": "a"]).isDone)
      #expect(try app.tell("drop").isDone)
      try app.stop()
      #expect(try world.audit(.outlived).isEmpty)
    }
  }

  @Test(arguments: TestUser.all, [false, true])
  func `TOK-16: a descriptor outlives the scope; the log says so, and what it can do`(
    user: TestUser, writing: Bool
  ) throws {
    try withStarted(user) { (world, app) throws in
      #expect(try app.tell("hold", ["of": "a", "write": .bool(writing)]).isDone)
      try app.stop()
      #expect(try app.read().errno == refused)
      #expect(try app.tell("heldRead").content == "text")
      #expect(try app.tell("heldWrite", ["text": "!"]).isDone == writing)
      let events = try world.audit(.outlived)
      try #require(events.count == 1)
      #expect(events[0].rule == "TOK-16" && events[0].result == .allowed)
      let holders = try #require(events[0].detail[AuditEvent.Fact.holders])
      #expect(holders.contains(writing ? "read and write" : "can read") && holders.contains("write") == writing)
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-16: memory that a document is mapped into outlives it, without a descriptor`(user: TestUser) throws {
    try withStarted(user) { (world, app) throws in
      #expect(try app.tell("map", ["of": "a"]).isDone)
      try app.stop()
      let events = try world.audit(.outlived)
      #expect(events.count == 1)
      let holders = events.first?.detail[AuditEvent.Fact.holders]
      #expect(holders?.contains("read and write, mapped") == true, "\(holders ?? "")")
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-16: so does standing in a folder, and a file open in it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try world.document("Papers/Folder/in.txt", "in")
      let app = try world.probe(picks: ["\(world.home)/Papers/Folder"])
      try app.pick(["kind": "folder"])
      for act in ["enter", "hold", "map"] {
        #expect(try app.start())
        if act == "enter" {
          #expect(try app.tell("enter", ["of": "a"]).isDone)
        } else {
          _ = try app.tell("child", ["of": "a", "name": "in.txt", "as": "child"])
          #expect(try app.tell(act, ["of": "child"]).isDone)
        }
        try app.stop()
        let holders = try world.audit(.outlived).last?.detail[AuditEvent.Fact.holders] ?? ""
        let expected = ["enter": "open what is in the folder", "hold": "can read", "map": "mapped"][act] ?? ""
        #expect(holders.contains(expected), "\(act): \(holders)")
        #expect(try app.tell("enter", ["path": "/"]).isDone)
        if act == "hold" { #expect(try app.tell("drop").isDone) }
      }
      #expect(try world.audit(.outlived).count == 3)
    }
  }

  /// Makes a file beside the document, keeps it open, and renames it over the document.
  private func saveKeepingOpen(_ app: AppRun) throws {
    let path = try #require(try app.tell("copy", ["of": "a", "as": "same"])["path"]?.string)
    #expect(try app.tell("create", ["path": .string("\(path).new"), "text": "new"]).isDone)
    #expect(try app.tell("hold", ["path": .string("\(path).new"), "write": true]).isDone)
    #expect(try app.tell("rename", ["path": .string("\(path).new"), "to": .string(path)]).isDone)
  }

  @Test(arguments: TestUser.all)
  func `TOK-16: a file that is kept open while it is saved over the document is the document, and outlives it`(
    user: TestUser
  ) throws {
    try withStarted(user) { (world, app) throws in
      try saveKeepingOpen(app)
      try app.stop()
      #expect(try app.tell("heldWrite", ["text": "NEW"]).isDone)
      #expect(try world.read("\(world.home)/Papers/letter.txt") == "NEW")
      let events = try world.audit(.outlived)
      try #require(events.count == 1)
      #expect(events[0].detail[AuditEvent.Fact.holders]?.contains("read and write") == true)
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-16: what an app has open of its own beside a document is nobody's business`(user: TestUser) throws {
    try withStarted(user) { (world, app) throws in
      let path = try #require(try app.tell("copy", ["of": "a", "as": "same"])["path"]?.string)
      #expect(try app.tell("create", ["path": .string("\(path).own"), "text": "own"]).isDone)
      #expect(try app.tell("hold", ["path": .string("\(path).own")]).isDone)
      #expect(try app.tell("enter", ["path": .string((path as NSString).deletingLastPathComponent)]).isDone)
      try app.stop()
      #expect(try world.audit(.outlived).isEmpty)
      #expect(try app.tell("heldRead").content == "own")
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-16: under outlived = "end" what an app has open never becomes the document`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let policy = "\(world.home)/ends.toml"
      try world.write("inherits = \"default\"\n[scopes]\noutlived = \"end\"\n", to: policy)
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document], options: ["--policy", policy])
      try app.pick()
      #expect(try app.start())
      try saveKeepingOpen(app)
      #expect(try world.read(document) == "new")
      #expect(try app.tell("heldWrite", ["text": "NEW"]).isDone)
      #expect(try world.read(document) == "new")
      try app.stop()
      #expect(try world.audit(.outlived).isEmpty)
      #expect(try app.finish() == .status(0))
      #expect(try FileManager.default.contentsOfDirectory(atPath: "\(world.home)/Papers") == ["letter.txt"])
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-16: the user who revokes is told who still has it open`(user: TestUser) throws {
    try withStarted(user) { (world, app) throws in
      #expect(try app.tell("hold", ["of": "a"]).isDone)
      let answer = try world.ambit("revoke", "--all")
      #expect(answer.exit == .status(0) && answer.output.contains("still has it open: it can read"), "\(answer)")
      #expect(try app.tell("heldRead").content == "text")
      #expect(try world.audit(.outlived).count == 1)
    }
  }

  @Test(arguments: TestUser.all, ["stop", "revoke"])
  func `TOK-16: under outlived = "end" the app is ended, and everybody is told why`(
    user: TestUser, way: String
  ) throws {
    try Workspace.with(user) { world in
      let policy = "\(world.home)/ends.toml"
      try world.write("inherits = \"default\"\n[scopes]\noutlived = \"end\"\n", to: policy)
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document, document], options: ["--policy", policy])
      try app.pick()
      // Nobody is ended who has nothing open.
      #expect(try app.start())
      #expect(try app.read().content == "text")
      try app.stop()
      #expect(try app.start())
      #expect(try app.tell("hold", ["of": "a"]).isDone)
      if way == "stop" {
        try app.process.send("{\"do\": \"stop\", \"of\": \"a\"}\n")
      } else {
        let answer = try world.ambit("revoke", "--document", document)
        #expect(answer.output.contains("was ended"), "\(answer)")
      }
      #expect(try app.process.waitForExit() == .status(137))
      #expect(app.process.allErrors.contains("after its scope had ended"), "\(app.process.allErrors)")
      let events = try world.audit(.outlived)
      #expect(events.count == 1 && events[0].result == .refused)
      try Deadline.wait(for: "the exit") { try world.audit(.exit).count == 1 }
      #expect(try world.audit(.exit)[0].reason?.contains("was ended") == true)
    }
  }
}
