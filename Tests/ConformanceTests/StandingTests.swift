import Audit
import Foundation
import TestSupport
import Testing

/// TOK-16: who stands in a folder when its scope ends can go on reading there, and changes nothing any more.
@Suite(.serialized, .waiting)
struct StandingTests {
  private func withFolder(_ user: TestUser, _ body: (Workspace, AppRun, _ folder: String) throws -> Void) throws {
    try Workspace.with(user) { world in
      let folder = "\(world.home)/Papers/Folder"
      try world.document("Papers/Folder/in.txt", "in")
      let app = try world.probe(picks: [folder])
      try app.pick(["kind": "folder"])
      #expect(try app.start())
      #expect(try app.tell("enter", ["of": "a"]).isDone)
      try body(world, app, folder)
    }
  }

  private func changesNothing(_ world: Workspace, _ app: AppRun, _ folder: String) throws {
    #expect(try app.tell("read", ["path": "in.txt"]).content == "in")
    #expect(try app.tell("create", ["path": "new.txt", "text": "new"]).errno == "EROFS")
    #expect(try app.tell("append", ["path": "in.txt", "text": "+"]).errno == "EROFS")
    #expect(try app.tell("write", ["path": "in.txt", "text": "out"]).errno == "EROFS")
    #expect(try app.tell("remove", ["path": "in.txt"]).errno == "EROFS")
    #expect(try app.tell("rename", ["path": "in.txt", "to": "out.txt"]).errno == "EROFS")
    #expect(try app.tell("makeFolder", ["path": "made"]).errno == "EROFS")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["in.txt"])
    #expect(try world.read("\(folder)/in.txt") == "in")
  }

  @Test(arguments: TestUser.all)
  func `TOK-16: who stands in a folder that is withdrawn changes nothing in it`(user: TestUser) throws {
    try withFolder(user) { (world, app, folder) throws in
      let answer = try world.ambit("revoke", "--all")
      #expect(answer.output.contains("open what is in the folder for reading"), "\(answer)")
      try changesNothing(world, app, folder)
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-16: nor after the last stop; started again it can be written`(user: TestUser) throws {
    try withFolder(user) { (world, app, folder) throws in
      try app.stop()
      let holders = try world.audit(.outlived).last?.detail[AuditEvent.Fact.holders] ?? ""
      #expect(holders.hasSuffix("open what is in the folder for reading"), "\(holders)")
      try changesNothing(world, app, folder)
      #expect(try app.start())
      try changesNothing(world, app, folder)
      #expect(try app.tell("enter", ["of": "a"]).isDone)
      #expect(try app.tell("create", ["path": "new.txt", "text": "new"]).isDone)
      #expect(try world.read("\(folder)/new.txt") == "new")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-16: what is open for writing stays so, and the log says what that leaves`(user: TestUser) throws {
    try withFolder(user) { (world, app, folder) throws in
      #expect(try app.tell("hold", ["path": "in.txt", "write": true]).isDone)
      try app.stop()
      #expect(try app.tell("heldWrite", ["text": "!"]).isDone)
      #expect(try world.read("\(folder)/in.txt").hasPrefix("!"))
      let holders = try world.audit(.outlived).last?.detail[AuditEvent.Fact.holders] ?? ""
      #expect(holders.contains("open what is in the folder and change it"), "\(holders)")
    }
  }
}
