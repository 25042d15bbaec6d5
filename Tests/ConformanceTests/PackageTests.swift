import Audit
import Foundation
import TestSupport
import Testing

/// Packages: folders that are one document.
@Suite(.serialized, .waiting)
struct PackageTests {
  private let notebook = """
    <key>UTExportedTypeDeclarations</key><array><dict>
      <key>UTTypeIdentifier</key><string>io.ambit.tests.notebook</string>
      <key>UTTypeConformsTo</key><array><string>com.apple.package</string></array>
      <key>UTTypeTagSpecification</key><dict><key>public.filename-extension</key><string>notebook</string></dict>
    </dict></array>
    """

  @Test(arguments: TestUser.one(.root))
  func `a package is picked as one document: its grant covers what is in it, and everybody says what it is`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      try world.document("Papers/Letter.rtfd/TXT.rtf", "text")
      try world.document("Papers/Letter.rtfd/images/a.png", "picture")
      let package = "\(world.home)/Papers/Letter.rtfd"
      let app = try world.probe(picks: [package])
      let picked = try app.pick(["type": "rtfd"])
      #expect(picked["name"] == "Letter.rtfd")
      #expect(try world.grants().map { $0["kind"]?.string } == ["package"])
      #expect(try app.tell("list", ["of": "a"]).errno == refused)
      #expect(try app.start())
      #expect(try app.tell("list", ["of": "a"])["names"]?.strings == ["TXT.rtf", "images"])
      _ = try app.tell("child", ["of": "a", "name": "images/a.png", "as": "image"])
      #expect(try app.read("image").content == "picture")

      let scope = try #require(picked.url?.split(separator: "=").last.map(String.init))
      let asked: JSON = .object([
        "method": "io.ambit.Access.Path", "parameters": .object(["scope": .string(scope)]),
      ])
      #expect(
        try app.tell("raw", ["text": .string(asked.text)])["reply"]?.string?.contains("\"kind\":\"package\"") == true)
      let bookmark = try app.bookmark()
      let keys: JSON = .array(["NSURLIsPackageKey", "NSURLIsDirectoryKey", "NSURLIsRegularFileKey"])
      let values = try app.tell("values", ["bookmark": .string(bookmark), "keys": keys])
      #expect(
        values["NSURLIsPackageKey"] == true && values["NSURLIsDirectoryKey"] == true
          && values["NSURLIsRegularFileKey"] == false, "\(values.text)")
      // In the next launch as well, and after it was renamed.
      app.process.kill()
      try world.rename(package, to: "\(world.home)/Papers/Moved.rtfd")
      let next = try world.probe()
      #expect(try next.tell("resolve", ["bookmark": .string(bookmark), "as": "a"])["name"] == "Moved.rtfd")
      #expect(try next.start())
      #expect(try next.tell("list", ["of": "a"])["names"]?.strings == ["TXT.rtf", "images"])
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a type that the app's manifest declares is a package to it, and a folder to others`(user: TestUser) throws {
    try Workspace.with(user) { world in
      try world.document("Papers/Ideas.notebook/page", "one")
      let folder = "\(world.home)/Papers/Ideas.notebook"
      try world.bundle("Notes", identifier: Workspace.identifier("Notes"), manifest: notebook)
      let notes = try world.probe("Notes", picks: [folder, folder])
      try notes.pick(["type": "notebook"])
      #expect(try notes.start())
      _ = try notes.tell("child", ["of": "a", "name": "page", "as": "page"])
      #expect(try notes.read("page").content == "one")
      // It asks for a folder: a document is none.
      #expect(try notes.tell("pick", ["kind": "folder"])["didPick"] == 0)
      let other = try world.probe("Other", picks: [folder, folder])
      #expect(try other.tell("pick", ["type": "notebook"])["didPick"] == 0)
      try other.pick(["kind": "folder"])
      #expect(try world.grants().map { $0["kind"]?.string } == ["package", "folder"])
      // A broker that takes the app over knows it still.
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      try Deadline.wait(for: "the next broker") { try world.instances().count == 2 }
      #expect(try notes.start())
      #expect(try notes.read("page").content == "one")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `a package is saved by changing what is in it; a picked folder does not give way to another, and that is said`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let page = try world.document("Papers/Letter.rtfd/TXT.rtf", "old")
      let (package, folder) = ("\(world.home)/Papers/Letter.rtfd", "\(world.home)/Papers")
      let app = try world.probe(picks: [package, folder])
      let path = try #require(try app.pick()["path"]?.string)
      #expect(try app.start())
      // As programs save: anew beside it, and over it.
      _ = try app.tell("child", ["of": "a", "name": "new", "as": "new"])
      #expect(try app.tell("create", ["of": "new", "text": "new"]).isDone)
      #expect(try app.tell("rename", ["path": .string("\(path)/new"), "to": .string("\(path)/TXT.rtf")]).isDone)
      #expect(try world.read(page) == "new")
      #expect(try app.tell("foundationWrite", ["path": .string("\(path)/TXT.rtf"), "text": "newer"]).isDone)
      #expect(try world.read(page) == "newer")
      try app.stop()

      #expect(try app.tell("pick", ["as": "f", "kind": "folder"])["didPick"] == 1)
      #expect(try app.tell("makeFolder", ["path": "/home/user/Library/Papers"]).isDone)
      let other: JSON = "/home/user/Library/Papers"
      #expect(try app.tell("replace", ["of": "f", "with": other])["posix"] == "EACCES")
      #expect(try app.start("f"))
      let refusal = try app.tell("replace", ["of": "f", "with": other])
      #expect(
        refusal["posix"] == "EISDIR" && refusal["sentence"]?.string?.contains("changing what is in it") == true,
        "\(refusal.text)")
      #expect(try world.read(page) == "newer")
      #expect(try world.names() == ["Letter.rtfd"])
    }
  }
}
