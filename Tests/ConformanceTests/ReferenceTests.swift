import Audit
import Foundation
import TestSupport
import Testing

/// Group F of the catalogue: references in the container.
@Suite(.serialized, .waiting)
struct ReferenceTests {
  private let reference: JSON = "/home/user/Documents/letter.txt.ambitref"

  @Test(arguments: TestUser.one(.ordinary))
  func `REF-1: a document that is picked again has its reference, whatever the app has called it or copied it to`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let names = ["kept.txt", "renamed.txt", "copied.txt", "deleted.txt"]
      let documents = try names.map { try world.document($0, "text") }
      let first = try world.probe(picks: documents)
      for _ in names { try first.pick() }
      func path(_ name: String) -> JSON { .string("/home/user/Documents/\(name).ambitref") }
      #expect(try first.tell("rename", ["path": path("renamed.txt"), "to": path("of my own")]).isDone)
      // As a backup does that is put back.
      let folder = "\(world.container(Workspace.identifier("Probe")))/Documents"
      let content = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/copied.txt.ambitref"))
      // First, so that it has another number.
      try content.write(to: URL(fileURLWithPath: "\(folder)/a copy.ambitref"))
      try FileManager.default.removeItem(atPath: "\(folder)/copied.txt.ambitref")
      try FileManager.default.removeItem(atPath: "\(folder)/deleted.txt.ambitref")
      #expect(try first.finish() == .status(0))

      let again = try world.probe(picks: documents)
      for _ in names { try again.pick() }
      let found = try again.tell("references")["paths"]?.array ?? []
      #expect(found.count == 4)
      for name in ["kept.txt", "of my own", "a copy", "deleted.txt"] { #expect(found.contains(path(name))) }
      #expect(try world.audit(.reference).suffix(4).map { $0.detail["kept"] } == ["true", "true", "true", nil])
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `REF-1: what an app planted in its own Documents cannot lead a reference elsewhere`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document, document])
      let target = try world.document("target.txt", "untouched")
      // A link under the name that the reference will want, and then a link instead of the folder itself.
      #expect(try app.tell("link", ["path": reference, "text": .string(target)]).isDone)
      try app.pick()
      #expect(try app.tell("rename", ["path": "/home/user/Documents", "to": "/home/user/Old"]).isDone)
      #expect(try app.tell("link", ["path": "/home/user/Documents", "text": .string("\(world.home)/Papers")]).isDone)
      try app.pick(as: "b")
      #expect(try world.read(target) == "untouched")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: "\(world.home)/Papers").sorted() == [
          "letter.txt", "target.txt",
        ])
      // The grant stands; only the app's own reference is missing, and the audit says so.
      #expect(try app.start("b"))
      #expect(try world.audit(.reference).last?.result == .failed)
    }
  }
}
