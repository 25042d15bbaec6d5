import Foundation
import TestSupport
import Testing

/// What is said to whoever has made a small mistake.
@Suite(.serialized, .waiting)
struct SmallWordsTests {
  @Test(arguments: TestUser.one(.ordinary))
  func `an app that was never launched is said to be unknown, which is no failure, and a folder is no bookmark`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let answer = try world.ambit("grants", "--app", "org.example.typo", "--format", "json")
      #expect(answer.exit == .status(0) && JSON(answer.output)?["grants"]?.array?.isEmpty == true, "\(answer)")
      #expect(answer.errors.contains("is called org.example.typo"), "\(answer)")
      let all = try world.ambit("grants")
      #expect(all.exit == .status(0) && all.errors.isEmpty, "\(all)")
      let folder = try world.ambit("bookmark", "inspect", ".")
      #expect(folder.exit != .status(0) && folder.errors.contains("is a folder"), "\(folder)")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `a word that is no command, app, folder, cloud or lesson is named, and what to do instead`(
    user: TestUser
  ) throws {
    try Workspace.with(user) { world in
      let file = try world.document("store.txt", "text")
      let cases: [([String], Int32, String)] = [
        (["rnu", "x"], 64, "Did you mean “ambit run”?"),
        (["help", "nosuch"], 64, "“ambit” has no command “nosuch”"),
        (["help", "audit", "lgo"], 64, "Did you mean “ambit audit log”?"),
        (["rule", "NOSUCH-1"], 64, "The catalogue has no rule NOSUCH-1"),
        (["provider", "enable", "nosuch.app"], 125, "is no app's bundle"),
        (["browse", "\(world.home)/nosuch"], 64, "nosuch is not there"),
        (["lesson", "check", world.home], 2, "is a folder"), (["lesson", "check", file], 2, "is no lesson's file"),
        (["cloud", "stop", "\(world.home)/none.sock"], 125, "no cloud serves at"),
        (["cloud", "serve", "\(world.home)/x.sock", "--store", file], 125, "\(file) is no folder"),
        (["cloud", "serve", "\(world.home)/x.sock", "--detach", "--store", file], 125, "\(file) is no folder"),
        (["cloud", "sync", file, "--cloud", "x.sock", "--device", "one"], 125, "\(file) is no folder"),
      ]
      for (words, status, sentence) in cases {
        let answer = try world.run([try Products.path("ambit")] + words)
        #expect(answer.exit == .status(status) && answer.output.isEmpty, "\(words): \(answer)")
        #expect(answer.errors.contains(sentence) && !answer.errors.contains("Usage:"), "\(words): \(answer)")
      }
      #expect(try world.ambit("help", "audit", "log").exit == .status(0))
    }
  }

  @Test func `a device makes its folder`() throws {
    try Workspace.with(.root) { world in
      let (socket, folder) = ("\(world.home)/cloud.sock", "\(world.home)/New/Device")
      let served = try world.ambit("cloud", "serve", socket, "--store", "\(world.home)/cloud", "--detach")
      try #require(served.exit == .status(0), "\(served)")
      let synced = try world.ambit(
        "cloud", "sync", folder, "--cloud", socket, "--device", "one", "--once", "--timeout", "30")
      #expect(synced.exit == .status(0) && FileManager.default.fileExists(atPath: folder), "\(synced)")
      #expect(try world.ambit("cloud", "stop", socket).exit == .status(0))
      #expect(try world.ambit("cloud", "stop", socket).exit == .status(125))
    }
  }
}
