import Audit
import Foundation
import TestSupport
import Testing

/// What a document goes through, on each file system that this machine has; also where Ambit's own things lie on another one.
@Suite(.serialized, .waiting, .enabled(if: try Feature.loopDevices.isHere(DiskImage.isPossible), "needs loop-devices"))
struct FileSystemTests {
  /// A world whose documents lie on a volume of their own, at `first`.
  private func withVolume(
    _ user: TestUser, _ kind: VolumeKind, ambitThere: Bool = false,
    _ body: (Workspace, DiskImage, _ point: String) throws -> Void
  ) throws {
    let folder = try VolumeFolder()
    let image = try DiskImage(kind, in: "\(folder.path)/ambit-volumes")
    let point = try image.mount("first", for: user)
    // A broker in a namespace of its own goes before the volume does.
    defer { image.unmount() }
    try Workspace.with(user, ambitIn: ambitThere ? point : nil) { world in try body(world, image, point) }
  }

  private func resolve(_ app: AppRun, _ bookmark: String, as name: String = "b") throws -> JSON {
    try app.tell("resolve", ["bookmark": .string(bookmark), "as": .string(name)])
  }

  /// Resolves a bookmark, and reads what it leads to.
  private func found(_ app: AppRun, _ bookmark: String) throws -> (by: String?, text: String?) {
    let answer = try resolve(app, bookmark)
    guard answer["urls"] != nil else { return (nil, answer["sentence"]?.string) }
    #expect(try app.start("b"))
    defer { try? app.stop("b") }
    return (answer["matchedBy"]?.string, try app.read("b").content)
  }

  private func shell(_ world: Workspace, _ script: String) throws {
    let outcome = try world.run(["/bin/sh", "-e", "-c", script])
    #expect(outcome.exit == .status(0), "\(outcome)")
  }

  @Test(arguments: TestUser.inTurn(VolumeKind.here))
  func `BMK-1, FSF-1, FSF-2: a document is read, written, saved, renamed and moved`(
    user: TestUser, kind: VolumeKind
  ) throws {
    try withVolume(user, kind) { (world, _, point) throws in
      let papers = "\(point)/Papers"
      try world.makeFolder("\(papers)/Deep")
      let letter = "\(papers)/letter.txt"
      try world.write("one", to: letter)
      let app = try world.probe(picks: [letter])
      try app.pick()
      #expect(try app.start())
      let old = try app.bookmark()
      #expect(try app.read().content == "one")
      #expect(try app.tell("append", ["of": "a", "text": " two"]).isDone)
      #expect(try world.read(letter) == "one two")
      // From the container, and beside the document as programs do.
      let own: JSON = "/home/user/own"
      #expect(try app.tell("create", ["path": own, "text": "three"]).isDone)
      #expect(try app.tell("replace", ["of": "a", "with": own]).isDone)
      #expect(try world.read(letter) == "three" && app.read().content == "three")
      let inside = try #require(try app.tell("copy", ["of": "a", "as": "same"])["path"]?.string)
      #expect(try app.tell("create", ["path": .string("\(inside).new"), "text": "four"]).isDone)
      #expect(try app.tell("rename", ["path": .string("\(inside).new"), "to": .string(inside)]).isDone)
      #expect(try world.read(letter) == "four" && app.read().content == "four")
      try shell(world, "printf five >\(papers)/.new; mv \(papers)/.new \(letter)")
      try Deadline.wait(for: "the host's content") { try app.read().content == "five" }
      #expect(try world.names(in: papers) == ["Deep", "letter.txt"])
      #expect(try found(app, old) == ("path", "five"))
      let bookmark = try app.bookmark()
      try app.stop()
      #expect(try app.read().errno == refused)

      // What stands under its name is another file while it is there itself.
      try shell(world, "mv \(letter) \(papers)/renamed.txt; printf impostor >\(letter)")
      #expect(try found(app, bookmark) == ("identity", "five"))
      try shell(world, "mv \(papers)/renamed.txt \(papers)/Deep/moved.txt")
      #expect(try found(app, bookmark) == ("identity", "five"))
      try shell(world, "mkdir \(point)/Other; mv \(papers) \(point)/Other/Letters")
      #expect(try found(app, bookmark) == ("identity", "five"))
      // Of two names one is left.
      let deep = "\(point)/Other/Letters/Deep"
      try shell(world, "ln \(deep)/moved.txt \(point)/second.txt; rm \(deep)/moved.txt")
      #expect(try found(app, bookmark) == ("identity", "five"))
      #expect(try world.audit(.bookmarkResolved).last?.document?.path == "\(point)/second.txt")
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.inTurn(VolumeKind.here))
  func `BMK-3, BMK-21: a file with the deleted document's inode number, or with its content, is another file`(
    user: TestUser, kind: VolumeKind
  ) throws {
    try withVolume(user, kind) { (world, _, point) throws in
      let letter = "\(point)/letter.txt"
      try world.write("the letter", to: letter)
      let app = try world.probe(picks: [letter])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      #expect(try app.finish() == .status(0))
      // Nothing keeps the number.
      #expect(try world.ambit("broker", "stop").exit == .status(0))
      try Deadline.wait(for: "sandboxes to end") {
        ProcessTable.sandboxes(showing: (world.folder as NSString).lastPathComponent).isEmpty
      }
      let number = try world.inode(letter)
      let sharing = kind == .ext4 ? "never" : "always"
      try shell(
        world, "cp -p --reflink=\(sharing) \(letter) \(point)/copy.txt; rm \(letter); sync -f \(point)")
      var impostor: String?
      for round in 0..<200 where impostor == nil {
        let path = "\(point)/impostor-\(round).txt"
        try world.write("the impostor", to: path)
        if try world.inode(path) == number { impostor = path }
      }
      // There every file has a number that none had before.
      #expect((impostor == nil) == (kind == .btrfs))
      let next = try world.probe()
      let answer = try resolve(next, bookmark)
      #expect(answer["code"] == 4 && answer["urls"] == nil, "\(answer.text)")
      #expect(try world.audit(.bookmarkResolved).last?.rule == "BMK-9")
      #expect(try next.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.inTurn(VolumeKind.here))
  func `FSF-1, FSF-4: a package changes places with a folder made beside it, and with one from the container`(
    user: TestUser, kind: VolumeKind
  ) throws {
    for ambitThere in [false, true] {
      try withVolume(user, kind, ambitThere: ambitThere) { (world, _, point) throws in
        let package = "\(point)/Letter.rtfd"
        try world.makeFolder(package)
        try world.write("old", to: "\(package)/TXT.rtf")
        let outcome = try world.start(
          saving: [package],
          """
          open; exec python3 -I - <<'END'
          \(SaveAttackTests.python)
          os.mkdir('new')
          write('new/TXT.rtf', 'new')
          print(rename(2, 'new', 'Letter.rtfd'), open('new/TXT.rtf').read(), open('Letter.rtfd/TXT.rtf').read())
          END
          """
        ).outcome()
        #expect(outcome.output == "done old new\n", "\(outcome)")
        #expect(try world.read("\(package)/TXT.rtf") == "new")
        let app = try world.probe(picks: [package])
        try app.pick()
        #expect(try app.start())
        #expect(try app.tell("makeFolder", ["path": "/home/user/own"]).isDone)
        #expect(try app.tell("create", ["path": "/home/user/own/TXT.rtf", "text": "newer"]).isDone)
        #expect(try app.tell("replace", ["of": "a", "with": "/home/user/own"]).isDone)
        #expect(try world.read("\(package)/TXT.rtf") == "newer")
        let bookmark = try app.bookmark()
        try app.stop()
        try world.rename(package, to: "\(point)/Renamed.rtfd")
        #expect(try resolve(app, bookmark)["matchedBy"] == "identity")
        #expect(try app.finish() == .status(0))
        #expect(try world.names(in: point).filter { $0.hasPrefix(".") } == [])
      }
    }
  }

  /// The volume is shared with every namespace that there is, as everything is under systemd.
  @Test(arguments: TestUser.all, VolumeKind.here)
  func `SBX-9: what is mounted in a granted folder later is not there for the app, nor what Ambit mounts for others`(
    user: TestUser, kind: VolumeKind
  ) throws {
    try withVolume(user, kind, ambitThere: true) { (world, _, point) throws in
      for name in ["Folder", "Folder/inner"] { try world.makeFolder("\(point)/\(name)") }
      try world.write("letter", to: "\(point)/Folder/letter.txt")
      try world.write("text", to: "\(point)/single.txt")
      func mounts() throws -> [String] {
        try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8).split(whereSeparator: \.isNewline)
          .map { String($0.split(separator: " ")[4]) }.filter { $0.hasPrefix(point) }
      }
      let before = try mounts()
      let app = try world.probe(picks: ["\(point)/Folder", "\(point)/single.txt"])
      try app.pick(["kind": "folder"])
      try app.pick(as: "single")
      #expect(try app.start() && app.start("single"))
      let single = try #require(try app.tell("copy", ["of": "single", "as": "same"])["path"]?.string)
      #expect(try app.tell("create", ["path": .string("\(single).new"), "text": "new"]).isDone)
      #expect(try app.tell("rename", ["path": .string("\(single).new"), "to": .string(single)]).isDone)
      #expect(try app.read("single").content == "new" && world.read("\(point)/single.txt") == "new")
      #expect(try mounts() == before)
      try DiskImage.run("mount", "-t", "tmpfs", "none", "\(point)/Folder/inner")
      defer { _ = try? DiskImage.run("umount", "\(point)/Folder/inner") }
      try world.write("secret", to: "\(point)/Folder/inner/secret.txt")
      _ = try app.tell("child", ["of": "a", "name": "inner", "as": "inner"])
      #expect(try app.tell("list", ["of": "inner"])["names"]?.strings == [])
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.all, VolumeKind.here)
  func `TOK-16: what is open of a document, and what is mapped of it, is named after its scope`(
    user: TestUser, kind: VolumeKind
  ) throws {
    try withVolume(user, kind) { (world, _, point) throws in
      try world.makeFolder("\(point)/Folder")
      try world.write("in", to: "\(point)/Folder/in.txt")
      let app = try world.probe(picks: ["\(point)/Folder"])
      try app.pick(["kind": "folder"])
      for (act, expected) in [("hold", "can read"), ("map", "mapped")] {
        #expect(try app.start())
        _ = try app.tell("child", ["of": "a", "name": "in.txt", "as": "child"])
        #expect(try app.tell(act, ["of": "child"]).isDone)
        try app.stop()
        let holders = try world.audit(.outlived).last?.detail[AuditEvent.Fact.holders] ?? ""
        #expect(holders.contains(expected), "\(act): \(holders)")
        if act == "hold" { #expect(try app.tell("drop").isDone) }
      }
      #expect(try app.finish() == .status(0))
    }
  }
}
