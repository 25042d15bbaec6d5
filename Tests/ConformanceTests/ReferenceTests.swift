import Audit
import Foundation
import TestSupport
import Testing

/// Groups F and M of the catalogue: references in the container, and restoration.
@Suite(.serialized, .waiting)
struct ReferenceTests {
  private let reference: JSON = "/home/user/Documents/letter.txt.ambitref"

  /// The app has picked `letter.txt` and has been relaunched since.
  private func withReference(_ user: TestUser, _ body: (Workspace, AppRun, _ document: String) throws -> Void) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.finish() == .status(0))
      try body(world, try world.probe(), document)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `REF-1: a pick leaves a reference in the container that stands for the document`(user: TestUser) throws {
    try withReference(user) { (world, app, document) throws in
      #expect(try app.tell("references")["paths"]?.array == [reference])
      let answer = try app.tell("resolveReference", ["path": reference, "as": "a"])
      #expect(answer["name"] == "letter.txt")
      #expect(try world.audit(.referenceResolved).map { $0.document?.path } == [document])
      // It is sealed: what the app can read in it names nothing of the user's.
      let bytes = try Data(
        contentsOf: URL(
          fileURLWithPath: "\(world.container(Workspace.identifier("Probe")))/Documents/letter.txt.ambitref"))
      #expect(bytes.range(of: Data("Papers".utf8)) == nil)
      #expect(bytes.range(of: Data(world.home.utf8)) == nil)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `REF-2: a resolved reference carries its scope and works with start and stop`(user: TestUser) throws {
    try withReference(user) { (_, app, _) throws in
      _ = try app.tell("resolveReference", ["path": reference, "as": "a"])
      #expect(try app.read().errno == refused)
      #expect(try app.start())
      #expect(try app.read().content == "text")
      try app.stop()
      #expect(try app.read().errno == refused)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `REF-3: moving the reference in the container leaves the document alone, and it still resolves`(
    user: TestUser
  ) throws {
    try withReference(user) { (world, app, document) throws in
      #expect(try app.tell("makeFolder", ["path": "/home/user/Library/Kept"]).isDone)
      let moved: JSON = "/home/user/Library/Kept/another name.ambitref"
      #expect(try app.tell("rename", ["path": reference, "to": moved]).isDone)
      #expect(try world.read(document) == "text")
      _ = try app.tell("resolveReference", ["path": moved, "as": "a"])
      #expect(try app.start())
      #expect(try app.read().content == "text")
    }
  }

  @Test(arguments: TestUser.all)
  func `REF-4: when the document moves, the reference still resolves`(user: TestUser) throws {
    try withReference(user) { (world, app, document) throws in
      try world.makeFolder("\(world.home)/Elsewhere")
      try world.rename(document, to: "\(world.home)/Elsewhere/new name.txt")
      let answer = try app.tell("resolveReference", ["path": reference, "as": "a"])
      #expect(answer["name"] == "new name.txt")
      #expect(answer["stale"] == true)
      #expect(try app.start())
      #expect(try app.read().content == "text")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `REF-6: a reference that was copied into another app's container leads that app nowhere`(user: TestUser) throws {
    try withReference(user) { (world, app, document) throws in
      func file(_ name: String) -> String {
        "\(world.container(Workspace.identifier(name)))/Documents/letter.txt.ambitref"
      }
      let other = try world.probe("Other")
      #expect(try other.tell("references")["paths"]?.array == [])
      try FileManager.default.copyItem(atPath: file("Probe"), toPath: file("Other"))
      #expect(unsafe chmod(file("Other"), 0o644) == 0)
      let answer = try other.tell("resolveReference", ["path": reference, "as": "a"])
      #expect(answer.url == nil, "\(answer.text)")
      let refusals = try world.audit(.referenceResolved)
      #expect(
        refusals.map(\.result) == [.refused] && refusals.first?.app == Workspace.identifier("Other"), "\(refusals)")
      // The control: its own app resolves the same bytes.
      #expect(try app.tell("resolveReference", ["path": reference, "as": "a"])["name"] == "letter.txt")
      #expect(try world.audit(.referenceResolved).last?.document?.path == document)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `REF-7: with its last reference a grant ends, unless something else needs it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let names = ["kept", "renamed", "moved", "marked", "deleted"]
      let app = try world.probe(picks: try names.map { try world.document("\($0).txt", $0) })
      func file(_ name: String) -> JSON { .string("/home/user/Documents/\(name).txt.ambitref") }
      for name in names { try app.pick(as: name) }
      #expect(try app.tell("makeFolder", ["path": "/home/user/Library/Deep"]).isDone)
      #expect(try app.tell("rename", ["path": file("renamed"), "to": "/home/user/Documents/no extension"]).isDone)
      #expect(try app.tell("rename", ["path": file("moved"), "to": "/home/user/Library/Deep/x.ambitref"]).isDone)
      #expect(try app.start("marked"))
      let bookmark = try app.bookmark("marked")
      for name in ["marked", "deleted"] { #expect(try app.tell("remove", ["path": file(name)]).isDone) }
      // While the app runs it keeps what it has.
      #expect(try app.start("deleted"))
      #expect(try app.read("deleted").content == "deleted")
      #expect(try app.finish() == .status(0))
      try Deadline.wait(for: "the grant to end") { try world.audit(.revoke).count == 1 }
      let ended = try world.audit(.revoke)[0]
      #expect(ended.rule == "REF-7" && ended.document?.name == "deleted.txt" && ended.how == "reference")
      #expect(try world.grants().count == 4)
      let next = try world.probe()
      #expect(try next.tell("resolve", ["bookmark": .string(bookmark), "as": "a"]).url != nil)
      _ = try next.tell("resolveReference", ["path": "/home/user/Documents/no extension", "as": "b"])
      #expect(try next.start("b"))
    }
  }

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

  @Test(arguments: TestUser.one(.ordinary))
  func `RST-2: restoring from a saved URL string fails`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      let saved = try #require(try app.pick().url)
      app.process.kill()
      for moved in [false, true] {
        if moved { try world.rename(document, to: "\(world.home)/renamed.txt") }
        let next = try world.probe()
        _ = try next.tell("fromString", ["string": .string(saved), "as": "a"])
        #expect(try !next.start())
        #expect(try next.read().isDone == false)
        #expect(try next.tell("foundationRead", ["of": "a"])["domain"] == "NSCocoaErrorDomain")
      }
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `RST-3: restoring works after the app was killed and the document renamed`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let document = try world.document("letter.txt", "text")
      let app = try world.probe(picks: [document])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      app.process.kill()
      try world.rename(document, to: "\(world.home)/Papers/renamed.txt")
      let next = try world.probe()
      #expect(try next.tell("resolve", ["bookmark": .string(bookmark), "as": "a"])["name"] == "renamed.txt")
      #expect(try next.start())
      #expect(try next.tell("append", ["of": "a", "text": " goes on"]).isDone)
      #expect(try world.read("\(world.home)/Papers/renamed.txt") == "text goes on")
    }
  }
}
