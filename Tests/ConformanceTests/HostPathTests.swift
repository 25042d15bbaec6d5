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
