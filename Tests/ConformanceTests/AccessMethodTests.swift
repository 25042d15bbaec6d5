import Audit
import Foundation
import ScopedAccess
import TestSupport
import Testing

/// Documents on file systems whose mounts cannot be id-mapped: as root the app gets descriptors, or what the mode bits give it.
@Suite(.serialized, .waiting, .enabled(if: try Feature.root.isHere(geteuid() == 0), "needs root"))
struct AccessMethodTests {
  private func with(
    _ user: TestUser, _ kind: ForeignMountKind, mode: Int = 0o600, options: [String] = [], folder: Bool = false,
    _ body: (Workspace, _ app: AppRun, _ letter: String) throws -> Void
  ) throws {
    try Workspace.with(user) { world in
      let mount = try ForeignMount(
        kind, in: world, files: ["Papers/letter.txt": "one", "Papers/Deep/in.txt": "in"], mode: mode)
      defer { mount.end() }
      let papers = "\(mount.point)/Papers"
      let app = try world.probe(picks: [folder ? papers : "\(papers)/letter.txt"], options: options)
      try app.pick(folder ? ["kind": "folder"] : [:])
      try body(world, app, "\(papers)/letter.txt")
    }
  }

  private func resolve(_ app: AppRun, _ bookmark: String) throws -> JSON {
    try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"])
  }

  @Test(arguments: TestUser.all, ForeignMountKind.here)
  func `TOK-2, FSF-1, BMK-1: a document that only its owner may open is read, written, saved and found`(
    user: TestUser, kind: ForeignMountKind
  ) throws {
    try with(user, kind) { (world, app, letter) throws in
      #expect(try app.start())
      let bookmark = try app.bookmark()
      #expect(try app.tell("opening", ["of": "a"])["by"]?.string == (user == .root ? "descriptor" : "path"))
      if user == .root { #expect(try app.read().errno == "EACCES") }
      // The first write: on overlayfs the file is copied to another layer.
      #expect(try app.tell("openDescriptor", ["of": "a", "write": true]).isDone)
      #expect(try app.tell("heldRead").content == "one")
      #expect(try app.tell("heldWrite", ["text": " two"]).isDone)
      #expect(try app.tell("drop").isDone)
      #expect(try world.read(letter) == "one two")
      try app.stop()
      #expect(try world.audit(.outlived).isEmpty)
      // Its grant and its bookmark are of the same file as before, and no other has to be chosen.
      #expect(try app.start())
      #expect(try resolve(app, bookmark)["matchedBy"]?.string == "identity")
      // A save by rename.
      let inside = try #require(try app.tell("copy", ["of": "a", "as": "same"])["path"]?.string)
      #expect(try app.tell("create", ["path": .string("\(inside).new"), "text": "three"]).isDone)
      #expect(try app.tell("rename", ["path": .string("\(inside).new"), "to": .string(inside)]).isDone)
      #expect(try world.read(letter) == "three")
      #expect(try app.tell("openDescriptor", ["of": "a"]).isDone)
      #expect(try app.tell("heldRead").content == "three")
      #expect(try app.tell("drop").isDone)
      try app.stop()
      #expect(try app.tell("openDescriptor", ["of": "a"])["code"] != nil)
      // No process of the app was the host's root, whatever the document wanted.
      #expect(try world.audit(.start).allSatisfy { $0.result == .allowed })
      #expect(try app.finish() == .status(0))
      let owner = try FileManager.default.attributesOfItem(atPath: letter)[.ownerAccountID] as? UInt32
      #expect(owner == user.id)
    }
  }

  @Test(arguments: ForeignMountKind.here)
  func `TOK-2: where the mode bits admit the app's user, it opens the path`(kind: ForeignMountKind) throws {
    try with(.root, kind, mode: 0o666) { (world, app, letter) throws in
      #expect(try app.start())
      #expect(try app.tell("opening", ["of": "a"])["by"]?.string == "path")
      #expect(try app.read().content == "one")
      #expect(try app.tell("append", ["of": "a", "text": " two"]).isDone)
      #expect(try world.read(letter) == "one two")
      try app.stop()
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.all, ForeignMountKind.here)
  func `TOK-2, G3: below a folder single files are opened by name, and nothing leads out of it`(
    user: TestUser, kind: ForeignMountKind
  ) throws {
    try with(user, kind, folder: true) { (world, app, letter) throws in
      let papers = (letter as NSString).deletingLastPathComponent
      try world.write("outside", to: "\(papers)/../outside.txt")
      _ = unsafe symlink("../outside.txt", "\(papers)/link.txt")
      #expect(try app.start())
      func open(_ name: String, _ more: [String: JSON] = [:]) throws -> JSON {
        _ = try app.tell("child", ["of": "a", "name": .string(name), "as": "child"])
        return try app.tell("openDescriptor", more.merging(["of": "child", "as": "held"]) { old, _ in old })
      }
      #expect(try open("Deep/in.txt", ["write": true]).isDone)
      #expect(try app.tell("heldRead").content == "in")
      #expect(try app.tell("heldWrite", ["text": "!"]).isDone)
      #expect(try app.tell("drop").isDone)
      #expect(try world.read("\(papers)/Deep/in.txt") == "in!")
      #expect(try open("new.txt", ["write": true, "create": true]).isDone)
      #expect(try app.tell("heldWrite", ["text": "made"]).isDone)
      #expect(try app.tell("drop").isDone)
      #expect(try world.read("\(papers)/new.txt") == "made")
      let owner = try FileManager.default.attributesOfItem(atPath: "\(papers)/new.txt")[.ownerAccountID] as? UInt32
      #expect(owner == user.id)
      for name in ["link.txt", "../outside.txt", "Deep/../../outside.txt", "none.txt"] {
        #expect(try open(name)["code"] != nil, "\(name)")
      }
      // The folder itself: from its descriptor nothing above can be opened either.
      #expect(try app.tell("openDescriptor", ["of": "a"]).isDone)
      #expect(try app.tell("heldOpen", ["name": "../outside.txt"]).errno == "ENOENT")
      #expect(try app.tell("drop").isDone)
      try app.stop()
      #expect(try app.finish() == .status(0))
    }
  }

  @Test func `TOK-14: a descriptor of a document that is granted for reading cannot write`() throws {
    try Workspace.with(.root) { world in
      let mount = try ForeignMount(.overlay, in: world, files: ["letter.txt": "one"], mode: 0o600)
      defer { mount.end() }
      let app = try world.probe(picks: ["\(mount.point)/letter.txt"])
      try app.pick(["readOnly": true])
      #expect(try app.start())
      #expect(try app.tell("openDescriptor", ["of": "a", "write": true])["code"] != nil)
      #expect(try app.tell("openDescriptor", ["of": "a"]).isDone)
      #expect(try app.tell("heldRead").content == "one")
      #expect(!(try app.tell("heldWrite", ["text": "!"]).isDone))
      #expect(try app.tell("drop").isDone)
      #expect(try world.read("\(mount.point)/letter.txt") == "one")
      #expect(try app.finish() == .status(0))
    }
  }

  @Test func `TOK-16: a descriptor that was handed over is counted after a revoke, and ends the app where it must`()
    throws
  {
    for ends in [false, true] {
      try Workspace.with(.root) { world in
        let mount = try ForeignMount(.overlay, in: world, files: ["letter.txt": "one"], mode: 0o600)
        defer { mount.end() }
        let policy = "\(world.home)/ends.toml"
        try world.write("inherits = \"default\"\n[scopes]\noutlived = \"\(ends ? "end" : "allow")\"\n", to: policy)
        let app = try world.probe(picks: ["\(mount.point)/letter.txt"], options: ["--policy", policy])
        try app.pick()
        #expect(try app.start())
        #expect(try app.tell("openDescriptor", ["of": "a", "write": true]).isDone)
        #expect(try world.ambit("revoke", "--all").exit == .status(0))
        let events = try world.audit(.outlived)
        #expect(events.count == 1)
        #expect(events.last?.detail[AuditEvent.Fact.holders]?.contains("write") == true, "\(events)")
        if ends {
          #expect(try app.process.waitForExit() != .status(0))
        } else {
          #expect(try app.tell("openDescriptor", ["of": "a", "as": "again"])["code"] != nil)
          #expect(try app.finish() == .status(0))
        }
      }
    }
  }

  @Test(arguments: TestUser.all)
  func `plan and doctor say how an app comes to a folder's documents, and what that costs`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let overlay = try ForeignMount(.overlay, in: world, files: ["letter.txt": "one"], mode: 0o600)
      defer { overlay.end() }
      let plan = try world.ambit(
        "plan", "--format", "json", "--documents", overlay.point, "--documents", world.home, "/bin/true")
      let folders = try #require(JSON(plan.output)?["documents"]?.array, "\(plan)")
      let methods = folders.map { $0["method"]?.string }
      #expect(
        methods == (user == .root ? ["descriptors", "idMappedMount"] : ["plainMount", "plainMount"]))
      #expect((folders[0]["cost"] != nil) == (user == .root) && folders[1]["cost"] == nil)
      let text = try world.ambit("plan", "--documents", overlay.point, "/bin/true").output
      #expect(text.contains(user == .root ? "descriptors (overlay)" : "plain mount (overlay)"), "\(text)")
      let doctor = try world.ambit("doctor", "--format", "json", "--documents", overlay.point).output
      let check = try #require(
        doctor.split(separator: "\n").compactMap { JSON(String($0)) }
          .first { $0["name"]?.string == "documents" })
      #expect(check["status"]?.string == (user == .root ? "partial" : "full"))
      #expect((check["cost"] != nil) == (user == .root))
    }
  }
}
