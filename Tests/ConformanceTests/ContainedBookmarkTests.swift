import Audit
import Foundation
import TestSupport
import Testing

/// Bookmarks of what lies in a folder that the app has: a picked one, or its own container.
@Suite(.serialized, .waiting)
struct ContainedBookmarkTests {
  private func resolve(_ app: AppRun, _ bookmark: String) throws -> JSON {
    try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"])
  }

  @Test(arguments: TestUser.all)
  func `BMK-17: a bookmark into the app's container resolves after the container and the file were moved`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let app = try world.probe()
      #expect(try app.tell("makeFolder", ["path": "/home/user/Library/Kept"]).isDone)
      #expect(try app.tell("create", ["path": "/home/user/Library/Kept/größe 1.txt", "text": "own"]).isDone)
      let made = try app.tell("bookmark", ["path": "/home/user/Library/Kept/größe 1.txt"])
      let bookmark = try #require(made["bookmark"]?.string, "\(made.text)")
      let found = try resolve(app, bookmark)
      #expect(found["path"] == "/home/user/Library/Kept/größe 1.txt" && found["stale"] == false)
      #expect(try app.tell("rename", ["path": "/home/user/Library/Kept", "to": "/home/user/Documents/Old"]).isDone)
      #expect(try app.finish() == .status(0))
      let broker = try #require(try world.brokerProcess())
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      try Deadline.wait(for: "the broker to end") { !ProcessTable.isAlive(broker) }

      // Where the container is on the host has changed, as with an update that puts it elsewhere.
      let elsewhere = "\(world.folder)/elsewhere"
      try world.rename(world.ambitHome, to: elsewhere)
      let environment = ["AMBIT_HOME": elsewhere]
      defer {
        _ = try? world.ambit("broker", "stop", environment: environment)
        try? world.rename(elsewhere, to: world.ambitHome)
      }
      let next = try world.probe(environment: environment)
      let moved = try resolve(next, bookmark)
      #expect(moved["path"] == "/home/user/Documents/Old/größe 1.txt" && moved["matchedBy"] == "identity")
      #expect(moved["stale"] == true)
      #expect(try next.read("b").content == "own")
      // It has no scope, and needs none; and it is nobody else's.
      #expect(try !next.start("b"))
      let other = try world.probe("Other", environment: environment)
      #expect(try resolve(other, bookmark)["code"] == 259)
      for app in [next, other] { #expect(try app.finish() == .status(0)) }
    }
  }

  @Test(arguments: TestUser.all)
  func `a container's bookmark reaches nothing but the container`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let app = try world.probe()
      #expect(try app.tell("link", ["path": "/home/user/out", "text": "/etc"]).isDone)
      for path in [
        "../\(Workspace.identifier("Probe"))/Library", "out/passwd", "/etc/passwd", "..", "", ".", "Library/../..",
      ] {
        let call = #"{"method":"io.ambit.Bookmarks.CreateContained","parameters":{"path":"\#(path)"}}"#
        let reply = try app.tell("raw", ["text": .string(call)])["reply"]?.string
        #expect(reply?.contains("NotFound") == true, "\(path): \(reply ?? "-")")
      }
      #expect(try world.audit(.bookmarkCreated).isEmpty)
    }
  }

  @Test(arguments: TestUser.all)
  func `PCK-10: a bookmark of something in a picked folder finds it wherever it is in the folder`(user: TestUser) throws
  {
    try Workspace.with(user) { world in
      try world.document("Project/Texts/a b.txt", "text")
      let app = try world.probe(picks: ["\(world.home)/Project"])
      try app.pick(["kind": "folder"])
      #expect(try app.start())
      _ = try app.tell("child", ["of": "a", "name": "Texts/a b.txt", "as": "c"])
      let bookmark = try app.bookmark("c")
      // One without security scope would hand the whole folder over.
      let open = try #require(try app.tell("bookmark", ["of": "c", "options": .array([])])["bookmark"]?.string)
      #expect(try resolve(try world.probe("Other"), open)["code"] == 259)
      #expect(try app.finish() == .status(0))

      try world.makeFolder("\(world.home)/Project/Other")
      try world.rename("\(world.home)/Project/Texts/a b.txt", to: "\(world.home)/Project/Other/c.txt")
      try world.rename("\(world.home)/Project", to: "\(world.home)/Renamed")
      let next = try world.probe()
      let found = try resolve(next, bookmark)
      #expect(found["name"] == "c.txt" && found["stale"] == true, "\(found.text)")
      #expect(try next.start("b"))
      #expect(try next.read("b").content == "text")
      #expect(try next.tell("status")["used"] == 1)
      try next.stop("b")
      // Out of the folder it is out of reach, and the folder's grant does not stretch to it.
      try world.rename("\(world.home)/Renamed/Other/c.txt", to: "\(world.home)/c.txt")
      #expect(try resolve(next, bookmark)["code"] == 4)
      #expect(try world.audit(.bookmarkResolved).last?.rule == "BMK-9")
    }
  }
}
