import Audit
import Foundation
import TestSupport
import Testing

/// Volumes of btrfs: in each subvolume the inode numbers begin anew, and a snapshot has those of what it was made of.
@Suite(
  .serialized, .waiting,
  .enabled(if: try Feature.loopDevices.isHere(DiskImage.isPossible), "needs loop-devices"),
  .enabled(if: try Feature.btrfs.isHere(VolumeKind.here.contains(.btrfs)), "needs btrfs"))
struct SubvolumeTests {
  private struct Stage {
    let world: Workspace
    let image: DiskImage
    let point: String

    func make(_ name: String) throws {
      try DiskImage.run("btrfs", "subvolume", "create", "\(point)/\(name)")
      try world.user.own("\(point)/\(name)")
    }

    func snapshot(_ name: String, as other: String) throws {
      try DiskImage.run("btrfs", "subvolume", "snapshot", "\(point)/\(name)", "\(point)/\(other)")
    }

    func delete(_ name: String) throws {
      try DiskImage.run("btrfs", "subvolume", "delete", "\(point)/\(name)")
    }
  }

  private func withStage(_ user: TestUser, ambitIn place: String? = nil, _ body: (Stage) throws -> Void) throws {
    let folder = try VolumeFolder()
    let image = try DiskImage(.btrfs, in: "\(folder.path)/ambit-volumes")
    let point = try image.mount("first", for: user)
    defer { image.unmount() }
    if let place {
      try DiskImage.run("btrfs", "subvolume", "create", "\(point)/\(place)")
      try user.own("\(point)/\(place)")
    }
    try Workspace.with(user, ambitIn: place.map { "\(point)/\($0)" }) { world in
      try body(Stage(world: world, image: image, point: point))
    }
  }

  /// Picks a document, keeps a bookmark, and ends everything that could still have it open.
  private func kept(_ stage: Stage, _ path: String) throws -> String {
    let app = try stage.world.probe(picks: [path])
    try app.pick()
    #expect(try app.start())
    let bookmark = try app.bookmark()
    #expect(try app.finish() == .status(0))
    try stop(stage)
    return bookmark
  }

  private func stop(_ stage: Stage) throws {
    #expect(try stage.world.ambit("broker", "stop").exit == .status(0))
    let name = (stage.world.folder as NSString).lastPathComponent
    try Deadline.wait(for: "sandboxes to end") { ProcessTable.sandboxes(showing: name).isEmpty }
  }

  /// Resolves a bookmark in a new app, and reads what it leads to.
  private func found(_ stage: Stage, _ bookmark: String) throws -> (by: String?, text: String?) {
    let app = try stage.world.probe()
    let answer = try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"])
    defer { _ = try? app.finish() }
    guard answer["urls"] != nil else {
      #expect(answer["code"] == 4, "\(answer.text)")
      return (nil, nil)
    }
    #expect(try app.start("b"))
    return (answer["matchedBy"]?.string, try app.read("b").content)
  }

  private func path(_ stage: Stage) throws -> String? { try stage.world.audit(.bookmarkResolved).last?.document?.path }

  @Test(arguments: TestUser.all)
  func `BMK-3: a snapshot's copy is not the document, whatever numbers it has`(user: TestUser) throws {
    try withStage(user) { stage in
      try stage.make("Papers")
      let letter = "\(stage.point)/Papers/letter.txt"
      try stage.world.write("the letter", to: letter)
      try stage.snapshot("Papers", as: "Snapshot")
      let copy = "\(stage.point)/Snapshot/letter.txt"
      #expect(try stage.world.inode(copy) == stage.world.inode(letter))
      let bookmark = try kept(stage, letter)
      try FileManager.default.removeItem(atPath: letter)
      #expect(try found(stage, bookmark) == (nil, nil))
      try stop(stage)
      // Not even in the very place: another subvolume is another folder.
      try stage.delete("Papers")
      try stage.world.rename("\(stage.point)/Snapshot", to: "\(stage.point)/Papers")
      #expect(try stage.world.read(letter) == "the letter")
      #expect(try found(stage, bookmark) == (nil, nil))
      let refusal = try #require(try stage.world.audit(.bookmarkResolved).last)
      #expect(
        refusal.rule == "BMK-12" && refusal.reason?.contains("the folder that it was in is another one") == true,
        "\(refusal)")
    }
  }

  @Test(arguments: TestUser.all)
  func `BMK-1: a document is found in a subvolume that was renamed, moved and mounted elsewhere`(
    user: TestUser
  ) throws {
    try withStage(user) { stage in
      let (world, point) = (stage.world, stage.point)
      for name in ["Papers", "Other", "Papers/Inner"] { try stage.make(name) }
      // The numbers of the one are those of the others, and of subvolumes.
      for folder in ["Papers", "Other", "Papers/Inner"] {
        for index in 0..<20 { try world.write("\(folder) \(index)", to: "\(point)/\(folder)/\(index).txt") }
      }
      let letter = "\(point)/Papers/Inner/7.txt"
      #expect(try world.inode(letter) == world.inode("\(point)/Other/7.txt"))
      let bookmark = try kept(stage, letter)
      try world.rename("\(point)/Papers", to: "\(point)/Letters")
      #expect(try found(stage, bookmark) == ("identity", "Papers/Inner 7"))
      #expect(try path(stage) == "\(point)/Letters/Inner/7.txt")
      try stop(stage)
      // Into a subvolume that is none of the document's.
      try world.makeFolder("\(point)/Other/Deep")
      try world.rename("\(point)/Letters/Inner", to: "\(point)/Other/Deep/Moved")
      try world.rename("\(point)/Other/Deep/Moved/7.txt", to: "\(point)/Other/Deep/Moved/eight.txt")
      #expect(try found(stage, bookmark) == ("identity", "Papers/Inner 7"))
      #expect(try path(stage) == "\(point)/Other/Deep/Moved/eight.txt")
      try stop(stage)
      stage.image.unmount()
      let second = try stage.image.mount("second", for: user)
      #expect(try found(stage, bookmark) == ("identity", "Papers/Inner 7"))
      #expect(try path(stage) == "\(second)/Other/Deep/Moved/eight.txt")
      try stop(stage)
      // Of all the volume the one subvolume is mounted, and then another one beside it.
      stage.image.unmount()
      let third = try stage.image.mount("third", for: user, options: "subvol=Other")
      #expect(try found(stage, bookmark) == ("identity", "Papers/Inner 7"))
      #expect(try path(stage) == "\(third)/Deep/Moved/eight.txt")
      try stop(stage)
    }
  }

  @Test(arguments: TestUser.all)
  func `LIM-6: a subvolume that was granted as a folder is found under another name`(user: TestUser) throws {
    try withStage(user) { stage in
      let (world, point) = (stage.world, stage.point)
      for name in ["Papers", "Other"] {
        try stage.make(name)
        try world.write(name, to: "\(point)/\(name)/in.txt")
      }
      let app = try world.probe(picks: ["\(point)/Papers"])
      try app.pick(["kind": "folder"])
      #expect(try app.start())
      let bookmark = try app.bookmark()
      #expect(try app.finish() == .status(0))
      try stop(stage)
      try world.makeFolder("\(point)/Deep")
      try world.rename("\(point)/Papers", to: "\(point)/Deep/Letters")
      try world.rename("\(point)/Other", to: "\(point)/Papers")
      let next = try world.probe()
      let answer = try next.tell("resolve", ["bookmark": .string(bookmark), "as": "b"])
      #expect(answer["matchedBy"] == "identity", "\(answer.text)")
      #expect(try next.start("b"))
      _ = try next.tell("child", ["of": "b", "name": "in.txt", "as": "c"])
      #expect(try next.read("c").content == "Papers")
      #expect(try next.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `BMK-11: a trash at the top of a subvolume is one`(user: TestUser) throws {
    try withStage(user) { stage in
      let (world, point) = (stage.world, stage.point)
      try stage.make("Papers")
      try world.write("text", to: "\(point)/Papers/letter.txt")
      let app = try world.probe(picks: ["\(point)/Papers/letter.txt"])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      for (top, location) in [("\(point)/Papers", "trash"), ("\(point)/Papers/Deep", nil)] {
        let trash = "\(top)/.Trash-\(user.id)/files"
        try world.makeFolder(trash)
        try world.rename("\(point)/Papers/letter.txt", to: "\(trash)/letter.txt")
        let answer = try app.tell("resolve", ["bookmark": .string(bookmark), "as": "b"])
        #expect(answer["urls"] != nil && (answer["location"] == "trash") == (location == "trash"), "\(answer.text)")
        try world.rename("\(trash)/letter.txt", to: "\(point)/Papers/letter.txt")
      }
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.all)
  func `FSF-1, FSF-4: documents are saved from one subvolume into another, where nothing can be renamed to`(
    user: TestUser
  ) throws {
    try withStage(user, ambitIn: "Ambit") { stage in
      let world = stage.world
      try stage.make("Papers")
      let letter = "\(stage.point)/Papers/letter.txt"
      try world.write("one", to: letter)
      let app = try world.probe(picks: [letter])
      try app.pick()
      #expect(try app.start())
      #expect(try app.tell("create", ["path": "/home/user/own", "text": "two"]).isDone)
      #expect(try app.tell("replace", ["of": "a", "with": "/home/user/own"]).isDone)
      #expect(try world.read(letter) == "two")
      #expect(try app.read().content == "two")
      let inside = try #require(try app.tell("copy", ["of": "a", "as": "same"])["path"]?.string)
      #expect(try app.tell("create", ["path": .string("\(inside).new"), "text": "three"]).isDone)
      #expect(try app.tell("rename", ["path": .string("\(inside).new"), "to": .string(inside)]).isDone)
      #expect(try world.read(letter) == "three")
      #expect(try app.read().content == "three")
      #expect(try world.names(in: "\(stage.point)/Papers") == ["letter.txt"])
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.all)
  func `SBX-2: an app makes no snapshot of what its container or its document lies in, and no subvolume`(
    user: TestUser
  ) throws {
    try withStage(user, ambitIn: "Ambit") { stage in
      try stage.world.makeFolder("\(stage.point)/Papers")
      try stage.world.write("text", to: "\(stage.point)/Papers/letter.txt")
      // The document's folder is the top of what the app sees; outside the same calls make something.
      let script = """
        import errno, fcntl, os, struct, sys
        def attempt(request, source, name):
            folder = os.open(sys.argv[1], os.O_RDONLY)
            head = struct.pack('<q', source)
            call = bytearray((head + name).ljust(4096, b'\\0') if request < 0x50009410 else
                             (head + bytes(48) + name).ljust(4096, b'\\0'))
            try: fcntl.ioctl(folder, request, call); return 'done'
            except OSError as error: return errno.errorcode[error.errno]
        own = os.open(sys.argv[1], os.O_RDONLY)
        print(*[attempt(request, own, b'made-%x' % request) for request in (0x50009401, 0x50009417, 0x5000940e, 0x50009418)])

        """
      let outcome = try stage.world.start(
        saving: ["\(stage.point)/Papers/letter.txt"],
        "open; exec python3 -I - /home/user <<'END'\n\(script)END"
      ).outcome()
      #expect(outcome.output == "EPERM EPERM EPERM EPERM\n", "\(outcome)")
      try stage.make("Control")
      let control = try stage.world.run(["/usr/bin/python3", "-I", "-c", script, "\(stage.point)/Control"])
      #expect(control.output == "done done done done\n", "\(control)")
    }
  }
}
