import Audit
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// A grant's rights are no more than its user has. Root may read and write what modes deny to others.
@Suite(.serialized, .waiting)
struct UserRightsTests {
  private let probe = Workspace.identifier("Probe")

  private func document(_ world: Workspace, _ name: String, mode: mode_t) throws -> String {
    let path = try world.document(name, "text")
    try #require(unsafe chmod(path, mode) == 0)
    return path
  }

  private func give(_ world: Workspace, _ arguments: String...) throws -> Outcome {
    try world.run([try Products.path("ambit"), "grant"] + arguments)
  }

  @Test(arguments: TestUser.all)
  func `TOK-14: what the user can only read is granted for reading, and app, user and log are told`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let document = try document(world, "letter.txt", mode: 0o444)
      let plain = try world.document("plain.txt", "text")
      let isLess = user != .root
      let app = try world.probe(picks: [document, plain])
      try app.pick()
      try app.pick(as: "b")
      #expect(
        try world.grants().compactMap { $0["access"]?.string } == [isLess ? "readOnly" : "readWrite", "readWrite"])
      let events = try world.audit(.pick)
      #expect(events.map { $0.reason?.contains("the user cannot write it") == true } == [isLess, false], "\(events)")
      #expect(try world.audit(.grant).map { $0.detail["access"] } == [isLess ? "readOnly" : "readWrite", "readWrite"])
      // What was shown to the app as for reading stays so, though its user may change the mode.
      try #require(unsafe chmod(document, 0o644) == 0)
      #expect(try app.start())
      #expect(try app.tell("write", ["of": "a", "text": "new"]).isDone != isLess)
      // By the user's command the same: and the control, after the mode was changed.
      let given = try give(world, probe, try self.document(world, "other.txt", mode: 0o444))
      #expect(given.exit == .status(0))
      #expect(given.output.contains(isLess ? "may read " : "may read and write "), "\(given)")
      #expect(given.output.contains("you cannot write it yourself") == isLess)
      #expect(try give(world, probe, document).output.contains("may read and write"))
    }
  }

  @Test(arguments: TestUser.all)
  func `TOK-14: what the user cannot read is refused with a sentence`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let isRefused = user != .root
      let hidden = try document(world, "hidden.txt", mode: 0o200)
      let folder = "\(world.home)/Closed"
      try world.makeFolder(folder)
      // It can be listed, and nothing in it reached.
      try #require(unsafe chmod(folder, 0o400) == 0)
      defer { _ = unsafe chmod(folder, 0o700) }
      let app = try world.probe(picks: [hidden, folder])
      for (kind, path) in [("file", hidden), ("folder", folder)] {
        let answer = try app.tell("pick", kind == "folder" ? ["as": "b", "kind": "folder"] : ["as": "a"])
        #expect(answer["didPick"] == (isRefused ? 0 : 1), "\(answer.text)")
        let given = try give(world, probe, path)
        #expect(
          (given.exit == .status(1)) == isRefused && given.errors.contains("cannot be read") == isRefused, "\(given)")
      }
      #expect(try world.grants().isEmpty == isRefused)
      #expect(try app.finish() == .status(0))
      if isRefused {
        #expect(app.process.allErrors.contains("it cannot be read by its user"), "\(app.process.allErrors)")
      }
    }
  }
}
