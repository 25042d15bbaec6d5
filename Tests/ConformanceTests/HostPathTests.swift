import Audit
import Foundation
import TestSupport
import Testing

/// FSF-11: what an app may show to its user instead of the path under which it reaches a document.
@Suite(.serialized, .waiting)
struct HostPathTests {
  private func withPicked(
    _ user: TestUser, told: Bool, _ body: (Workspace, AppRun, _ document: String) throws -> Void
  ) throws {
    try Workspace.with(user) { world in
      let policy = "\(world.home)/p.toml"
      try world.write("inherits = \"default\"\n\(told ? "grants.host_paths = true" : "")\n", to: policy)
      let document = try world.document("Für Anna.txt", "text")
      try world.document("Papers/Folder/in.txt", "in")
      let app = try world.probe(picks: [document, "\(world.home)/Papers/Folder"], options: ["--policy", policy])
      try app.pick()
      try app.pick(as: "folder", ["kind": "folder"])
      try body(world, app, document)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `FSF-11: the name is there for everybody, the place on the host only where the policy says so`(
    user: TestUser
  ) throws {
    try withPicked(user, told: false) { (world, app, document) throws in
      #expect(try app.tell("displayName", ["of": "a"])["name"] == "Für Anna.txt")
      let refused = try app.tell("hostPath", ["of": "a"])
      #expect(refused["known"] == nil && refused["posix"] == "EPERM", "\(refused.text)")
      #expect(refused.text.contains("Papers") == false)
      let event = try #require(try world.audit(.hostPath).last)
      #expect(event.result == .refused && event.rule == "FSF-11" && event.document?.path == document)
    }
  }

  @Test(arguments: TestUser.all)
  func `FSF-11: it follows the document, and says that it is unknown when there is none any more`(
    user: TestUser
  ) throws {
    try withPicked(user, told: true) { (world, app, document) throws in
      #expect(try app.tell("hostPath", ["of": "a"])["path"]?.string == document)
      #expect(try app.start())
      let moved = "\(world.home)/elsewhere.txt"
      try world.rename(document, to: moved)
      #expect(try app.tell("hostPath", ["of": "a"])["path"]?.string == moved)
      try app.stop()
      #expect(try app.tell("hostPath", ["of": "a"])["path"]?.string == moved)
      _ = try app.tell("child", ["of": "folder", "name": "in.txt", "as": "in"])
      #expect(try app.tell("hostPath", ["of": "in"])["path"]?.string == "\(world.home)/Papers/Folder/in.txt")
      #expect(try app.tell("displayName", ["of": "in"])["name"] == "in.txt")
      #expect(try world.audit(.hostPath).allSatisfy { $0.result == .allowed && $0.detail["known"] == "true" })

      // What is open can be read on; it has no place.
      #expect(try app.start())
      try FileManager.default.removeItem(atPath: moved)
      #expect(try app.tell("hostPath", ["of": "a"])["known"] == false)
      #expect(try app.read().content == "text")
      #expect(try world.audit(.hostPath).contains { $0.detail["known"] == "false" })
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `FSF-11: another app's token tells nothing, and neither does one of a grant that was withdrawn`(
    user: TestUser
  ) throws {
    try withPicked(user, told: true) { (world, app, document) throws in
      let other = try world.probe("Other", options: ["--policy", "\(world.home)/p.toml"])
      let url = try #require(try app.tell("copy", ["of": "a", "as": "c"]).url)
      _ = try other.tell("fromString", ["string": .string(url), "as": "a"])
      #expect(try other.tell("hostPath", ["of": "a"])["posix"] == "EPERM")
      #expect(try world.ambit("revoke", "--document", document).exit == .status(0))
      #expect(try app.tell("hostPath", ["of": "a"])["posix"] == "EPERM")
    }
  }
}
