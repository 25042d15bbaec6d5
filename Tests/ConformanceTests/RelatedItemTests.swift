import Audit
import Foundation
import TestSupport
import Testing

/// Files beside a document, of the same name but for an extension that the app declares.
@Suite(.waiting) struct RelatedItemTests {
  private static let manifest = """
    <key>CFBundleDocumentTypes</key><array>
      <dict><key>CFBundleTypeExtensions</key><array><string>mov</string></array></dict>
      <dict><key>NSIsRelatedItemType</key><true/>
        <key>CFBundleTypeExtensions</key><array><string>srt</string></array></dict>
    </array>
    """

  /// A player that has started a film, with subtitles and other files beside it.
  private struct Player {
    let world: Workspace
    let app: AppRun
    let film: String

    init(_ world: Workspace, readOnly: Bool) throws {
      self.world = world
      try world.document("Film.mov", "moving")
      try world.document("Film.srt", "1: hello")
      try world.document("Film.txt", "notes")
      try world.document("Other.srt", "2: other")
      try world.bundle("Player", identifier: Workspace.identifier("Player"), manifest: RelatedItemTests.manifest)
      app = try world.probe("Player", picks: ["\(world.home)/Papers/Film.mov"])
      let answer = try app.pick(as: "film", ["readOnly": .bool(readOnly)])
      film = try #require(URL(string: answer.url ?? "")?.path)
      try #require(try app.start("film"))
    }

    func beside(_ name: String) -> String { "\((film as NSString).deletingLastPathComponent)/\(name)" }
    func host(_ name: String) -> String { "\(world.home)/Papers/\(name)" }
    func read(_ name: String) throws -> JSON { try app.tell("read", ["path": .string(beside(name))]) }

    func present(_ path: String, as name: String = "titles", primary: String? = nil) throws -> Bool {
      try app.tell(
        "present", ["path": .string(path), "primary": .string(primary ?? film), "as": .string(name)]
      ).isDone
    }
  }

  @Test(arguments: TestUser.inTurn([false, true]))
  func `COO-25: a presenter has the sibling of a declared type, with the document's rights, while it is registered`(
    user: TestUser, readOnly: Bool
  ) throws {
    try Workspace.with(user) { world in
      let player = try Player(world, readOnly: readOnly)
      let (app, titles) = (player.app, player.beside("Film.srt"))
      #expect(try !player.read("Film.srt").isDone)
      #expect(try player.present(titles))
      #expect(try player.present(titles, as: "again"))
      #expect(try player.read("Film.srt").content == "1: hello")
      let written = try app.tell("write", ["path": .string(titles), "text": "1: goodbye"])
      #expect(readOnly ? written.errno == "EROFS" : written.isDone, "\(written.text)")
      #expect(try world.read(player.host("Film.srt")) == (readOnly ? "1: hello" : "1: goodbye"))
      // Only those two are there.
      #expect(
        try app.tell("list", ["path": .string(player.beside(""))])["names"]?.strings?.sorted() == [
          "Film.mov", "Film.srt",
        ])
      // It takes part in coordination as the document does.
      let other = try world.ambit("coordinate", "read", player.host("Film.srt"), "--", "cat")
      #expect(other.output == (readOnly ? "1: hello" : "1: goodbye"), "\(other)")
      #expect(try app.tell("messages", ["presenter": "titles"]).content?.contains("relinquish to reader") == true)
      let own = try app.tell(
        "coordinate", ["name": "look", "read": .array([.string(titles)]), "presenter": "titles"])
      #expect(own.content == other.output, "\(own.text)")
      let change = try app.tell(
        "coordinate", ["name": "change", "write": .array([.string(titles)]), "text": "1: again", "presenter": "titles"])
      #expect((change.errno == "EROFS") == readOnly, "\(change.text)")

      #expect(try app.tell("leave", ["presenter": "titles"]).isDone)
      // The other presenter still has it.
      #expect(try world.ambit("coordination").output.contains("Film.srt"))
      #expect(try player.read("Film.srt").isDone)
      #expect(try app.tell("leave", ["presenter": "again"]).isDone)
      try Deadline.wait(for: "the subtitles to go") { try !player.read("Film.srt").isDone }
      try Deadline.wait(for: "its place to go") {
        try app.tell("list", ["path": .string(player.beside(""))])["names"]?.strings == ["Film.mov"]
      }
      #expect(try player.app.read("film").content == "moving")
      #expect(try world.audit(.related).map(\.how) == ["shown", "taken away"])
      #expect(try app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `COO-25: nothing else beside the document can be had so, and each attempt is in the log`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let player = try Player(world, readOnly: false)
      var attempts = 0
      func refused(_ path: String, primary: String? = nil) throws {
        attempts += 1
        #expect(try !player.present(path, as: "x\(attempts)", primary: primary), "\(path)")
      }
      // Another type, another name, the document itself, a name in a folder, names that lead elsewhere.
      for name in ["Film.txt", "Other.srt", "Film.mov", "Film", ".srt", "Film.srt/x", "x/Film.srt", "Film.srt.srt"] {
        try refused(player.beside(name))
      }
      try refused("/documents/Film.srt")
      try refused("/home/user/Film.srt")
      try refused(player.beside("Film.srt"), primary: "/home/user/Film.mov")
      try refused(player.beside("Film.srt"), primary: player.beside("Other.mov"))
      // What stands there is no regular file of that folder.
      for command in ["ln -s Other.srt Film.srt", "mkdir Film.srt", "mkfifo Film.srt", "true"] {
        _ = try world.run(["/bin/sh", "-c", "cd Papers && rm -rf Film.srt && \(command)"])
        try refused(player.beside("Film.srt"))
      }
      #expect(try world.audit(.related).map(\.result) == Array(repeating: .refused, count: attempts))
      // The app's own file is not covered.
      try world.document("Film.srt", "1: hello")
      #expect(try player.app.tell("create", ["path": .string(player.beside("Film.srt")), "text": "mine"]).isDone)
      try refused(player.beside("Film.srt"))
      #expect(try player.read("Film.srt").content == "mine")
      #expect(try world.read(player.host("Film.srt")) == "1: hello")
      #expect(try player.app.finish() == .status(0))
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `COO-25: the sibling goes with its document, and with the broker that showed it`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let player = try Player(world, readOnly: true)
      #expect(try player.present(player.beside("Film.srt")))
      #expect(try player.read("Film.srt").isDone)
      try player.app.stop("film")
      #expect(try !player.read("Film.srt").isDone)
      #expect(try player.app.start("film"))
      #expect(try !player.read("Film.srt").isDone)
      #expect(try player.present(player.beside("Film.srt"), as: "again"))
      #expect(try player.read("Film.srt").isDone)

      kill(try #require(try world.brokerProcess()), SIGKILL)
      try Deadline.wait(for: "another broker") { try player.app.start("film") }
      #expect(try player.app.read("film").content == "moving")
      #expect(try world.ambit("revoke", "--all").exit == .status(0))
      #expect(try !player.app.read("film").isDone && !player.read("Film.srt").isDone)
      #expect(try player.app.finish() == .status(0))
    }
  }
}
