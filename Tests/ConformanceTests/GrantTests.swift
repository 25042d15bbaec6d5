import Audit
import Foundation
import TestSupport
import Testing

extension Workspace {
  /// The grants in force, as `ambit grants --format json` lists them.
  func grants(_ arguments: String...) throws -> [JSON] {
    let ambit = try Products.path("ambit")
    let answer = try run([ambit, "grants", "--format", "json"] + arguments)
    return try #require(JSON(answer.output)?["grants"]?.array, "\(answer)")
  }
}

/// The user's side: what apps were granted, and taking it back.
@Suite(.serialized, .waiting)
struct GrantTests {
  private let probe = Workspace.identifier("Probe")

  /// A probe that has picked `letter.txt` as `a`.
  private func withPicked(_ user: TestUser, _ body: (Workspace, AppRun, _ document: String) throws -> Void) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document, document])
      try app.pick()
      try body(world, app, document)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `AUD-1, AUD-9: a removed app loses its grants and its container; what others had in it ends as well`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let theirs = try world.document("theirs.txt", "theirs")
      let outside = try world.document("outside.txt", "untouched")
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      let other = try world.probe("Other", picks: [theirs])
      try other.pick()
      #expect(try other.start())
      // The user puts the other app's document into this one's container, which the app has filled with traps.
      let container = world.container(probe)
      try world.rename(theirs, to: "\(container)/Documents/theirs.txt")
      #expect(try app.tell("makeFolder", ["path": "/home/user/Documents/locked"]).isDone)
      #expect(
        try app.tell("link", ["path": "/home/user/Documents/locked/trap", "text": .string("\(world.home)/Papers")])
          .isDone)
      #expect(unsafe chmod("\(container)/Documents/locked", 0) == 0)

      let refusal = try world.ambit("app", "remove", probe)
      #expect(refusal.exit == .status(1) && refusal.errors.contains("is running"), "\(refusal)")
      #expect(try world.grants().count == 2)
      let removed = try world.ambit("app", "remove", "--kill", probe)
      #expect(removed.exit == .status(0), "\(removed)")
      #expect(try app.process.waitForExit() == .status(137))
      #expect(try world.grants().isEmpty)
      #expect(try other.read().errno == refused)
      #expect(try !other.start())
      #expect(!FileManager.default.fileExists(atPath: container))
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: "\(world.ambitHome)/data/containers") == [
          Workspace.identifier("Other")
        ])
      #expect(try world.read(outside) == "untouched" && world.read(document) == "text")
      #expect(try world.audit(.appRemoved).map { $0.detail["others"] } == ["1"])
      let list = try world.ambit("app", "list")
      #expect(list.output.contains(Workspace.identifier("Other")) && !list.output.contains(probe), "\(list)")
      #expect(try world.ambit("app", "remove", probe).exit == .status(1))

      // It may come back, and has nothing.
      let again = try world.probe()
      #expect(try again.tell("resolve", ["bookmark": .string(bookmark), "as": "a"]).url == nil)
      #expect(try world.ambit("app", "list").output.contains(probe))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a descriptor on request can do what the grant says, only while it is started`(user: TestUser) throws {
    try withPicked(user) { (world, app, document) throws in
      #expect(try app.tell("openDescriptor", ["of": "a"])["posix"] == "EPERM")
      #expect(try app.start())
      #expect(try app.tell("openDescriptor", ["of": "a"]).isDone)
      #expect(try app.tell("heldRead").content == "text")
      #expect(try app.tell("heldWrite", ["text": "x"]).errno == "EBADF")
      #expect(try app.tell("openDescriptor", ["of": "a", "write": true, "as": "w"]).isDone)
      #expect(try app.tell("heldWrite", ["held": "w", "text": "TEXT"]).isDone)
      #expect(try world.read(document) == "TEXT")
      try app.stop()
      #expect(try app.tell("openDescriptor", ["of": "a", "as": "late"])["posix"] == "EPERM")
      // Picked for reading, it is for reading.
      try app.pick(as: "b", ["readOnly": true])
      #expect(try app.start("b"))
      #expect(try app.tell("openDescriptor", ["of": "b", "write": true])["posix"] == "EROFS")
      #expect(try app.tell("openDescriptor", ["of": "b", "as": "r"]).isDone)
      #expect(try app.tell("heldRead", ["held": "r"]).content == "TEXT")
    }
  }

  @Test(arguments: TestUser.all)
  func `a folder's descriptor leads nowhere but into the folder`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try world.document("Papers/Folder/in.txt", "in")
      try world.document("out.txt", "out")
      let app = try world.probe(picks: ["\(world.home)/Papers/Folder"])
      try app.pick(["kind": "folder"])
      #expect(try app.start())
      #expect(try app.tell("openDescriptor", ["of": "a"]).isDone)
      #expect(try app.tell("heldOpen", ["name": "in.txt"]).content == "in")
      for way in ["../out.txt", "../../out.txt", "../../../\(world.home)/Papers/out.txt"] {
        #expect(try !app.tell("heldOpen", ["name": .string(way)]).isDone, "\(way)")
      }
      try app.stop()
      for way in ["../out.txt", "../Papers/out.txt"] {
        #expect(try !app.tell("heldOpen", ["name": .string(way)]).isDone, "\(way)")
      }
    }
  }
}
