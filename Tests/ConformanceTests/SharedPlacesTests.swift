import Audit
import Foundation
import TestSupport
import Testing

/// SBX-6: whose Documents other apps' pickers show.
@Suite(.serialized, .waiting)
struct SharedPlacesTests {
  private let browser = "<key>UISupportsDocumentBrowser</key><true/>"

  /// Launches an app with this manifest, which leaves `page.txt` in its Documents, and answers the path of that on the host.
  private func owner(_ world: Workspace, _ manifest: String) throws -> String {
    try world.bundle("Owner", identifier: Workspace.identifier("Owner"), manifest: manifest)
    let app = try world.probe("Owner")
    _ = try app.tell("create", ["path": "/home/user/Documents/page.txt", "text": "page"])
    #expect(try app.finish() == .status(0))
    return "\(world.container(Workspace.identifier("Owner")))/Documents/page.txt"
  }

  @Test(arguments: TestUser.one(.root))
  func `SBX-6: only what lies in there, for reading and writing, and as the owner's file`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let page = try owner(world, browser)
      let container = world.container(Workspace.identifier("Owner"))
      let owned = try world.probe("Owner")
      #expect(try owned.tell("create", ["path": "/home/user/Library/secret.txt", "text": "secret"]).isDone)
      #expect(
        try owned.tell(
          "link", ["path": "/home/user/Documents/link", "text": .string("\(world.ambitHome)/state/sealing.key")]
        )
        .isDone)
      #expect(try owned.tell("link", ["path": "/home/user/Documents/up", "text": "../Library/secret.txt"]).isDone)
      let refused = [
        "\(container)/Library/secret.txt", "\(container)/Documents/link", "\(container)/Documents/up",
        "\(world.ambitHome)/state/sealing.key", "\(world.ambitHome)/state/grants.sqlite",
      ]
      let other = try world.probe("Other", picks: refused + [container, "\(container)/Documents", page])
      for path in refused { #expect(try other.tell("pick")["didPick"] == 0, "\(path)") }
      for _ in 0..<2 { #expect(try other.tell("pick", ["kind": "folder"])["didPick"] == 0) }
      try other.pick()
      #expect(try other.start())
      #expect(try other.tell("append", ["of": "a", "text": "+"]).isDone)
      #expect(try owned.tell("read", ["path": "/home/user/Documents/page.txt"]).content == "page+")
      #expect(try owned.tell("append", ["path": "/home/user/Documents/page.txt", "text": "!"]).isDone)
      #expect(try other.read().content == "page+!")
      // Saved anew by its owner it is the document still.
      #expect(
        try owned.tell("foundationWrite", ["path": "/home/user/Documents/page.txt", "text": "page anew"]).isDone)
      try Deadline.wait(for: "the other app to see it") { try other.read().content == "page anew" }
      // What was granted ends with the app that it belongs to.
      #expect(try owned.finish() == .status(0))
      #expect(try world.ambit("app", "remove", Workspace.identifier("Owner")).exit == .status(0))
      #expect(try !other.read().isDone)
      #expect(try world.grants().isEmpty)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `SBX-6: nobody shows a container that is not theirs`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let page = try owner(world, "")
      try world.bundle("Loud", identifier: Workspace.identifier("Loud"), manifest: browser)
      let loud = try world.probe("Loud", options: ["--container", Workspace.identifier("Owner")])
      #expect(try loud.tell("read", ["path": "/home/user/Documents/page.txt"]).content == "page")
      #expect(try loud.finish() == .status(0))
      let other = try world.probe("Other", picks: [page])
      #expect(try other.tell("pick", ["as": "a"])["didPick"] == 0)
      #expect(try world.audit(.pick).last?.rule == "SBX-15")
      #expect(try other.finish() == .status(0))
    }
  }
}
