import Launcher
import Testing

@testable import AmbitCommands

/// A word in the place of a command that there is not.
@Suite struct `Unknown commands` {
  @Test(
    arguments: [
      (["rnu", "x"], "ambit", "rnu", "run"), (["audit", "lgo"], "ambit audit", "lgo", "log"),
      (["polcy", "show"], "ambit", "polcy", "policy"), (["policy", "shw", "default"], "ambit policy", "shw", "show"),
      (["lesson", "nothing"], "ambit lesson", "nothing", nil), (["Editor.app", "--help"], "ambit", "Editor.app", nil),
    ] as [([String], String, String, String?)])
  func `are named with their place and the nearest one`(words: [String], path: String, word: String, nearest: String?)
    throws
  {
    let unknown = try #require(UnknownCommand(words[...], of: AmbitCommand.self))
    #expect(unknown.path == path && unknown.word == word && unknown.nearest == nearest, "\(unknown)")
    let failure = unknown.failure
    #expect(failure.status == 64 && failure.description.hasPrefix("“\(path)” has no command “\(word)”. "))
    if let nearest { #expect(failure.description.contains("Did you mean “\(path) \(nearest)”?")) }
  }

  @Test(arguments: [
    [], ["--nothing"], ["run"], ["run", "rnu"], ["ps", "--format", "xml"], ["audit"], ["audit", "--since"],
    ["audit", "log", "--since"], ["trash", "restor"], ["versions", "a.txt"],
  ])
  func `are not what a known command is given`(words: [String]) {
    #expect(UnknownCommand(words[...], of: AmbitCommand.self) == nil)
  }

  @Test func `hidden ones are never suggested`() throws {
    let unknown = try #require(UnknownCommand(["conform-workr"], of: AmbitCommand.self))
    #expect(unknown.nearest == nil)
  }
}
