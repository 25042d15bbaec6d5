import Audit
import Foundation
import TestSupport
import Testing

/// TOK-16: what an app still has open of a document whose scope has ended.
@Suite(.serialized, .waiting)
struct OutlivedTests {
  @Test(arguments: TestUser.all)
  func `TOK-16: who stands in a folder, has a file of it open, or has a document mapped without a descriptor is named`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      try world.document("Papers/Folder/in.txt", "in")
      let letter = try world.document("letter.txt", "text")
      let app = try world.probe(picks: ["\(world.home)/Papers/Folder", letter])
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
      #expect(try app.tell("unmap").isDone)
      try app.pick(as: "letter")
      #expect(try app.start("letter"))
      #expect(try app.tell("map", ["of": "letter"]).isDone)
      try app.stop("letter")
      let events = try world.audit(.outlived)
      #expect(events.count == 4)
      let holders = events.last?.detail[AuditEvent.Fact.holders]
      #expect(holders?.contains("read and write, mapped") == true, "\(holders ?? "")")
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
  func
    `TOK-16: neither a file that is kept open while it is saved over the document nor one of its own is the document`(
      user: TestUser
    ) throws
  {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      try saveKeepingOpen(app)
      #expect(try world.read(document) == "new")
      #expect(try app.tell("heldWrite", ["text": "NEW"]).isDone)
      #expect(try world.read(document) == "new")
      try app.stop()
      #expect(try world.audit(.outlived).isEmpty)
      #expect(try world.names() == ["letter.txt"])
      #expect(try app.tell("drop").isDone)

      // What an app has open of its own beside a document is nobody's business.
      #expect(try app.start())
      let path = try #require(try app.tell("copy", ["of": "a", "as": "same"])["path"]?.string)
      #expect(try app.tell("create", ["path": .string("\(path).own"), "text": "own"]).isDone)
      #expect(try app.tell("hold", ["path": .string("\(path).own")]).isDone)
      #expect(try app.tell("enter", ["path": .string((path as NSString).deletingLastPathComponent)]).isDone)
      try app.stop()
      #expect(try world.audit(.outlived).isEmpty)
      #expect(try app.tell("heldRead").content == "own")
    }
  }

  // MARK: In no process's table

  private static let kinds = ["file", "folder", "package"]

  /// The probe with a document of a kind, started, and what of it can be opened to be read as `in`.
  private func withStarted(
    _ user: TestUser, kind: String, _ options: (Workspace) throws -> [String],
    _ body: (Workspace, AppRun) throws -> Void
  ) throws {
    try Workspace.with(user) { world in
      let path = ["file": "letter.txt", "folder": "Folder", "package": "Letter.rtfd"][kind] ?? ""
      try world.document(kind == "file" ? path : "Papers/\(path)/in.txt", "text")
      let app = try world.probe(picks: ["\(world.home)/Papers/\(path)"], options: try options(world))
      try app.pick(kind == "folder" ? ["kind": "folder"] : [:])
      #expect(try world.grants().map { $0["kind"]?.string } == [kind])
      try start(app, kind)
      try body(world, app)
    }
  }

  private func start(_ app: AppRun, _ kind: String) throws {
    #expect(try app.start())
    _ =
      try kind == "file"
      ? app.tell("copy", ["of": "a", "as": "in"]) : app.tell("child", ["of": "a", "name": "in.txt", "as": "in"])
  }

  @Test(arguments: TestUser.inTurn(kinds))
  func `TOK-16: a descriptor on its way in a socket outlives the scope, and the log says so`(
    user: TestUser, kind: String
  ) throws {
    try withStarted(user, kind: kind, { _ in [] }) { (world, app) throws in
      // The control: one that has come and was closed is none.
      #expect(try app.tell("hold", ["of": "in"]).isDone)
      #expect(try app.tell("send").isDone)
      #expect(try app.tell("receive").isDone)
      #expect(try app.tell("drop").isDone)
      try app.stop()
      #expect(try world.audit(.outlived).isEmpty)

      try start(app, kind)
      #expect(try app.tell("hold", ["of": "in"]).isDone)
      #expect(try app.tell("send").isDone)
      try app.stop()
      #expect(try app.read("in").isDone == false)
      #expect(try app.tell("receive").isDone)
      #expect(try app.tell("heldRead").content == "text")
      let events = try world.audit(.outlived)
      try #require(events.count == 1)
      #expect(events[0].rule == "TOK-16" && events[0].result == .allowed)
      #expect(events[0].detail[AuditEvent.Fact.holders] == "a descriptor on its way")
    }
  }

  /// The preset that ends such an app, where this machine has all that it requires; else a policy that says the same.
  private func ending(_ world: Workspace) throws -> [String] {
    if try world.ambit("plan", "--policy", "strict", "/bin/true").exit == .status(0) { return ["--policy", "strict"] }
    try world.write("inherits = \"default\"\n[scopes]\noutlived = \"end\"\n", to: "\(world.home)/ends.toml")
    return ["--policy", "\(world.home)/ends.toml"]
  }

  @Test(arguments: TestUser.inTurn(["folder", "file", "package"]))
  func `TOK-16: under strict an app is ended that has a descriptor on its way in a socket`(
    user: TestUser, kind: String
  ) throws {
    try withStarted(user, kind: kind, ending) { (world, app) throws in
      // Nobody is ended who has nothing open.
      #expect(try app.read("in").content == "text")
      try app.stop()
      try start(app, kind)
      #expect(try app.tell("hold", ["of": "in"]).isDone)
      #expect(try app.tell("send").isDone)
      try app.process.send("{\"do\": \"stop\", \"of\": \"a\"}\n")
      #expect(try app.process.waitForExit() == .status(137))
      #expect(app.process.allErrors.contains("after its scope had ended"), "\(app.process.allErrors)")
      let events = try world.audit(.outlived)
      #expect(events.map(\.result) == [.refused] && events.map(\.rule) == ["TOK-16"])
    }
  }

  /// What is mounted in a folder keeps its mount in use: the kernel does not tell that from an open file. An ordinary user's
  /// app sees what is mounted there; root's does not.
  @Test(.enabled(if: try Feature.root.isHere(geteuid() == 0), "needs root"), arguments: TestUser.all, [false, true])
  func `TOK-16: what is open in a folder is told from what is mounted there, and what is on its way is not missed`(
    user: TestUser, ends: Bool
  ) throws {
    try Workspace.with(user) { world in
      try world.document("Papers/Folder/in.txt", "text")
      let inner = "\(world.home)/Papers/Folder/in ner"
      try world.makeFolder(inner)
      try DiskImage.run("mount", "-t", "tmpfs", "-o", "uid=\(user.id),gid=\(user.id)", "none", inner)
      defer { _ = try? DiskImage.run("umount", "-l", inner) }
      try world.write("inner", to: "\(inner)/deep.txt")
      let app = try world.probe(picks: ["\(world.home)/Papers/Folder"], options: ends ? try ending(world) : [])
      try app.pick(["kind": "folder"])
      try start(app, "folder")
      _ = try app.tell("child", ["of": "a", "name": "in ner/deep.txt", "as": "deep"])
      #expect(try app.read("deep").content == (user == .root ? nil : "inner"))
      try app.stop()
      // Nobody has anything, and nobody is ended for it.
      #expect(try world.audit(.outlived).isEmpty)
      if ends {
        try start(app, "folder")
        #expect(try app.tell("hold", ["of": "in"]).isDone && app.tell("send").isDone)
        try app.process.send("{\"do\": \"stop\", \"of\": \"a\"}\n")
        #expect(try app.process.waitForExit() == .status(137))
        #expect(try world.audit(.outlived).map(\.result) == [.refused])
        return
      }
      var seen: [String] = []
      for (document, act, expected) in [
        ("in", "hold", "can read"), ("deep", "hold", "can read"), ("deep", "map", "mapped"),
        ("in", "send", "a descriptor on its way"), ("deep", "send", "a descriptor on its way"),
      ] where document == "in" || user == .ordinary {
        try start(app, "folder")
        #expect(try app.tell(act == "map" ? act : "hold", ["of": .string(document)]).isDone)
        if act == "send" { #expect(try app.tell("send").isDone) }
        try app.stop()
        seen.append(expected)
        let holders = try world.audit(.outlived).map { $0.detail[AuditEvent.Fact.holders] ?? "" }
        let isSaid = holders.count == seen.count && holders.last?.contains(expected) == true
        #expect(isSaid, "\(act) \(document): \(holders)")
        if act == "send" { #expect(try app.tell("receive").isDone) }
        if act != "map" { #expect(try app.tell("drop").isDone) } else { #expect(try app.tell("unmap").isDone) }
      }
      #expect(try app.finish() == .status(0))
    }
  }
}
