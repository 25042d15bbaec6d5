import Audit
import Foundation
import TestSupport
import Testing

/// Documents that the user hands to an app which has not asked for them: `ambit grant`.
@Suite(.serialized, .waiting)
struct HandedGrantTests {
  private let probe = Workspace.identifier("Probe")

  private func withRunning(_ user: TestUser, _ body: (Workspace, AppRun) throws -> Void) throws {
    try Workspace.with(user) { world in
      let app = try world.probe(picks: [])
      _ = try app.tell("status")
      try body(world, app)
    }
  }

  private func give(_ world: Workspace, _ arguments: String...) throws -> Outcome {
    try world.run([try Products.path("ambit"), "grant"] + arguments)
  }

  @Test(arguments: TestUser.one(.root))
  func `REF-1: a document that is handed over is there for an app that runs, as a reference`(user: TestUser) throws {
    try withRunning(user) { (world, app) throws in
      let document = try world.document("letter.txt", "text")
      #expect(try app.tell("references")["paths"]?.array == [])
      let answer = try give(world, probe, document)
      #expect(answer.exit == .status(0) && answer.output.contains("may read and write"), "\(answer)")
      let path = try #require(try app.tell("references")["paths"]?.array?.first)
      _ = try app.tell("resolveReference", ["path": path, "as": "a"])
      #expect(try app.start())
      #expect(try app.tell("write", ["of": "a", "text": "new"]).isDone)
      #expect(try world.read(document) == "new")
      let events = try world.audit(.grant)
      #expect(events.count == 1 && events.first?.how == "user" && events.first?.result == .allowed)
      #expect(try world.grants().first?["origin"] == "user")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-14: what is handed over to be read cannot be changed`(user: TestUser) throws {
    try withRunning(user) { (world, app) throws in
      let document = try world.document("letter.txt", "text")
      #expect(try give(world, "--read-only", probe, document).exit == .status(0))
      _ = try app.tell("resolveReference", ["path": "/home/user/Documents/letter.txt.ambitref", "as": "a"])
      #expect(try app.start())
      #expect(try app.read().content == "text")
      #expect(try !app.tell("write", ["of": "a", "text": "new"]).isDone)
      #expect(try world.read(document) == "text")
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `an app that does not run finds it at its next launch, once however often it is given`(user: TestUser) throws {
    try withRunning(user) { (world, app) throws in
      #expect(try app.finish() == .status(0))
      try Deadline.wait(for: "the end") { try world.instances().isEmpty }
      let (one, two) = (try world.document("one.txt", "1"), try world.document("two.txt", "2"))
      let first = try give(world, "--format", "json", probe, one, two, one)
      let added = try #require(JSON(first.output)?["grants"]?.array, "\(first)")
      #expect(added.count == 3 && added[0] == added[2] && added[0] != added[1])
      let again = try give(world, "--format", "json", probe, one)
      #expect(JSON(again.output)?["grants"]?.array?.first == added[0], "\(again)")
      #expect(try world.grants().count == 2)
      let next = try world.probe(picks: [])
      let paths = try next.tell("references")["paths"]?.array?.compactMap(\.string)
      #expect(paths?.sorted() == ["one", "two"].map { "/home/user/Documents/\($0).txt.ambitref" })
      // Given again, it has it already; deleted, it gets another.
      #expect(try give(world, probe, one).exit == .status(0))
      #expect(try next.tell("references")["paths"]?.array?.count == 2)
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `SBX-15: what may not be granted is not, and then nothing else of that command either`(user: TestUser) throws {
    try withRunning(user) { (world, _) throws in
      let document = try world.document("letter.txt", "text")
      for refused in [world.home, world.ambitHome, "\(world.ambitHome)/state/grants.sqlite", "/"] {
        let answer = try give(world, probe, document, refused)
        #expect(answer.exit == .status(1) && answer.errors.contains("cannot be granted"), "\(answer)")
      }
      #expect(try give(world, "no.such.app", document).exit == .status(1))
      #expect(try give(world, probe, document, "\(world.home)/missing").exit == .status(1))
      #expect(try world.grants().isEmpty)
      let events = try world.audit(.grant)
      #expect(events.count == 4 && events.allSatisfy { $0.result == .refused && $0.rule == "SBX-15" })
    }
  }

  /// Ambit's own folders, and one of another program's: by the user's command, and by the picker.
  @Test(arguments: TestUser.one(.root))
  func `SBX-15: settings and Ambit's own are granted to nobody, and both the user and the log are told why`(
    user: TestUser
  ) throws {
    try withRunning(user) { (world, app) throws in
      _ = try app.tell("create", ["path": "/home/user/Documents/own.txt", "text": "own"])
      try world.document(".config/editor/settings.ini", "key")
      try FileManager.default.createSymbolicLink(
        atPath: "\(world.home)/settings.txt", withDestinationPath: "\(world.home)/.config/editor/settings.ini")
      let (settings, own) = ("it holds keys and settings of other programs", "it belongs to Ambit itself")
      let setting = "it is one of the keys and settings of other programs"
      let cases: [(path: String, reason: String)] = [
        ("\(world.home)/.config", settings), ("\(world.home)/.config/editor", settings),
        ("\(world.home)/.config/editor/settings.ini", setting),
        (world.ambitHome, "it holds Ambit's own files; choose a folder in it"),
        ("\(world.ambitHome)/state", own), ("\(world.ambitHome)/state/sealing.key", own),
        ("\(world.ambitHome)/data/containers", own), (world.container(probe), own),
        ("\(world.container(probe))/Documents/own.txt", own), ("\(world.ambitHome)/run", own),
      ]
      for (path, reason) in cases {
        let answer = try give(world, probe, path)
        #expect(answer.exit == .status(1), "\(path): \(answer)")
        #expect(answer.errors.contains("\(path) cannot be granted: \(reason)"), "\(answer)")
        let event = try #require(try world.audit(.grant).last)
        #expect(event.result == .refused && event.rule == "SBX-15", "\(event)")
        #expect(event.reason?.contains(reason) == true, "\(event)")
      }
      #expect(try world.audit(.grant).count == cases.count)
      for (path, reason) in cases {
        var isFolder: ObjCBool = false
        try #require(unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder))
        let picking = try world.probe("Picking", picks: [path])
        let answer = try picking.tell("pick", isFolder.boolValue ? ["kind": "folder"] : [:])
        #expect(answer["didPick"] == 0, "\(path): \(answer.text)")
        let event = try #require(try world.audit(.pick).last)
        #expect(event.result == .refused && event.rule == "SBX-15", "\(event)")
        #expect(event.reason?.contains(reason) == true, "\(event)")
        #expect(try picking.finish() == .status(0))
        #expect(picking.process.allErrors.contains(reason), "\(picking.process.allErrors)")
      }
      #expect(try world.grants().isEmpty)
      // Through a link it is the same file.
      let linked = try give(world, probe, "\(world.home)/settings.txt")
      #expect(linked.exit == .status(1) && linked.errors.contains(setting), "\(linked)")
      // The control: a file beside it.
      #expect(try give(world, probe, try world.document("letter.txt", "text")).exit == .status(0))
    }
  }

}
