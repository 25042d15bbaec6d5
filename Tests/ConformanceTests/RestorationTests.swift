import Audit
import Foundation
import TestSupport
import Testing

/// Group M of the catalogue, with what an app would use for it. RST-2 is with the references.
@Suite(.serialized, .waiting)
struct RestorationTests {
  /// A probe that has picked `a.txt`, `b.txt` and `c.txt`, and has the first two open.
  private func withOpen(_ user: TestUser, _ body: (Workspace, AppRun, _ documents: [String]) throws -> Void) throws {
    try Workspace.with(user) { world in
      let documents = try ["a.txt", "b.txt", "c.txt"].map { try world.document($0, $0) }
      let app = try world.probe(picks: documents)
      for name in ["a", "b", "c"] { try app.pick(as: name) }
      for name in ["a", "b"] { #expect(try app.start(name)) }
      try body(world, app, documents)
    }
  }

  private func state(_ world: Workspace) -> String {
    "\(world.container(Workspace.identifier("Probe")))/Library/Saved Application State/documents.plist"
  }

  private let open: JSON = .array(["b", "a"])

  @Test(arguments: TestUser.one(.ordinary))
  func `RST-1: killed in the background, the app has its documents open again after the next launch`(
    user: TestUser
  ) throws {
    try withOpen(user) { (world, app, documents) throws in
      #expect(try app.tell("background", ["open": open]).isDone)
      // Making the bookmarks has changed nothing about what is started.
      #expect(try app.tell("status")["used"] == 2)
      app.process.kill()
      let next = try world.probe()
      let restored = try next.tell("restore")
      #expect(restored["names"]?.strings == ["b.txt", "a.txt"], "\(restored.text)")
      #expect(restored["failures"]?.array == [])
      #expect(try next.read("r0").errno == refused)
      for (index, name) in ["b.txt", "a.txt"].enumerated() {
        #expect(try next.start("r\(index)"))
        #expect(try next.tell("append", ["of": .string("r\(index)"), "text": "+"]).isDone)
        #expect(try next.read("r\(index)").content == "\(name)+")
      }
      #expect(try world.read(documents[0]) == "a.txt+" && world.read(documents[2]) == "c.txt")
      // It is the app's own state: another app has none.
      #expect(try world.probe("Other").tell("restore")["names"]?.array == [])
    }
  }

  @Test(arguments: TestUser.all)
  func `RST-3: a document that was renamed meanwhile is restored, and its bookmark made anew`(user: TestUser) throws {
    try withOpen(user) { (world, app, documents) throws in
      #expect(try app.tell("background", ["open": open]).isDone)
      app.process.kill()
      try world.rename(documents[0], to: "\(world.home)/Papers/renamed.txt")
      for stale in ["true", "false"] {
        let next = try world.probe()
        #expect(try next.tell("restore")["names"]?.strings == ["b.txt", "renamed.txt"])
        let found = try world.audit(.bookmarkResolved).last
        #expect(found?.document?.name == "renamed.txt" && found?.detail[AuditEvent.Fact.stale] == stale)
        #expect(try next.start("r1"))
        #expect(try next.read("r1").content == "a.txt")
        next.process.kill()
      }
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `RST-4: where the state shall not be saved nothing is stored, and nothing stays stored`(user: TestUser) throws {
    try withOpen(user) { (world, app, _) throws in
      #expect(try app.tell("background", ["open": open, "shouldSave": false]).isDone)
      #expect(!FileManager.default.fileExists(atPath: state(world)))
      #expect(try world.audit(.bookmarkCreated).isEmpty)
      // The control: otherwise it is, and that is taken back.
      #expect(try app.tell("background", ["open": open]).isDone)
      #expect(FileManager.default.fileExists(atPath: state(world)))
      #expect(try world.audit(.bookmarkCreated).count == 2)
      #expect(try app.tell("background", ["open": open, "shouldSave": false]).isDone)
      #expect(!FileManager.default.fileExists(atPath: state(world)))
      app.process.kill()
      #expect(try world.probe().tell("restore")["names"]?.array == [])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `RST-1: what is gone or withdrawn is named with its reason, and the rest is restored`(user: TestUser) throws {
    try withOpen(user) { (world, app, documents) throws in
      #expect(try app.tell("background", ["open": .array(["a", "b", "c"])]).isDone)
      app.process.kill()
      try FileManager.default.removeItem(atPath: documents[0])
      #expect(try world.ambit("revoke", "--document", documents[1]).exit == .status(0))
      let next = try world.probe()
      let restored = try next.tell("restore")
      #expect(restored["names"]?.strings == ["c.txt"], "\(restored.text)")
      #expect(restored["failures"]?.strings == ["a.txt: ENOENT", "b.txt: EPERM"])
      #expect(try next.tell("restore", ["shouldRestore": false])["names"]?.array == [])
      // A state that is none harms nobody.
      try world.write("bplist00 and no more", to: state(world))
      #expect(try next.tell("restore")["names"]?.array == [])
    }
  }
}
