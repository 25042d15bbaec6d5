import ArgumentParser
import Foundation
import Kernel
import Launcher
import TestSupport
import Testing
import Wire

@testable import AmbitCommands

/// The command lines of `ambit coordinate` and its like.
@Suite struct CoordinateArgumentsTests {
  private func parse(_ words: String...) throws -> CoordinateCommand {
    try CoordinateCommand.parse(words)
  }

  @Test func `a use, files, and a command behind two dashes`() throws {
    let command = try parse(
      "write", "a", "--also", "b", "--also", "c", "--timeout", "0", "--purpose", "p", "--", "cmd", "-x")
    #expect(command.use == .write && command.files == ["a", "b", "c"] && command.command == ["cmd", "-x"])
    #expect(command.timeout == 0 && command.purpose == "p")
    #expect(try parse("read", "-", "--", "cmd").files == ["-"])
    #expect(CoordinateCommand.Use.allCases.map(\.intent.options) == [[], [], ["forMoving"], ["forDeleting"]])
    #expect(CoordinateCommand.Use.allCases.map(\.intent.use) == [.read, .write, .write, .write])
  }

  @Test(arguments: [
    ["read", "a"], ["read", "a", "cmd"], ["read", "a", "--"], ["read", "--", "cmd"], ["look", "a", "--", "cmd"],
    ["read", "a", "b", "--", "cmd"], ["read", "a", "--timeout", "-1", "--", "cmd"],
    ["read", "a", "--timeout", "86401", "--", "cmd"], ["read", "a", "--timeout", "nan", "--", "cmd"],
    ["read", "a", "--timeout", "soon", "--", "cmd"], ["read", "a", "--also", "b", "--", "sh", "-c", "cat {}"],
    ["read", "a", "--also", "--", "cmd"],
  ])
  func `wrong command lines are refused`(words: [String]) {
    let error = #expect(throws: (any Error).self, "\(words)") { try CoordinateCommand.parse(words) }
    if let error { #expect(CoordinateCommand.exitCode(for: error) == .validationFailure, "\(words)") }
  }

  @Test func `the paths stand where the braces are, or at the end`() {
    func arguments(_ command: [String], _ paths: String...) -> [String] {
      CoordinateCommand.arguments(command, paths: paths)
    }
    #expect(arguments(["wc", "-l"], "/a") == ["wc", "-l", "/a"])
    #expect(arguments(["wc"], "/a", "/b") == ["wc", "/a", "/b"])
    #expect(arguments(["diff", "{}", "old"], "/a") == ["diff", "/a", "old"])
    #expect(arguments(["sh", "-c", "sort -o {} {}"], "/a b") == ["sh", "-c", "sort -o /a b /a b"])
    #expect(arguments(["tar", "{}", "x"], "/a", "/b") == ["tar", "/a", "/b", "x"])
    #expect(arguments(["echo", "{}{}"], "/a") == ["echo", "/a/a"])
    // A path with braces is not looked through again.
    #expect(arguments(["cat", "{}"], "/{}") == ["cat", "/{}"])
  }

  @Test func `edit and cancel take one file, and numbers`() throws {
    #expect(try EditCommand.parse(["notes.txt", "--timeout", "2.5"]).timeout == 2.5)
    for words in [[], ["a", "b"], ["a", "--timeout", "-1"]] {
      #expect(throws: (any Error).self, "\(words)") { try EditCommand.parse(words) }
    }
    #expect(try CoordinationCommand.Cancel.parse(["1", "22"]).accesses == [1, 22])
    for words in [[], ["x"], ["1.5"], ["99999999999999999999"]] {
      #expect(throws: (any Error).self, "\(words)") { try CoordinationCommand.Cancel.parse(words) }
    }
    #expect(throws: (any Error).self) { try CoordinationCommand.Replay.parse(["--since", "yesterday"]) }
    #expect(try CoordinationCommand.Replay.parse(["--since", "10m", "--svg", "x.svg"]).svg == "x.svg")
  }

  @Test func `paths are resolved, and of a file that is still to be made its folder's`() throws {
    let folder = try TemporaryFolder()
    let real = try #require(try? HostPath.resolved(folder.path))
    _ = try folder.write("real.txt", "x")
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/link", withDestinationPath: "real.txt")
    #expect(try HostPath.resolved("\(folder.path)/link") == "\(real)/real.txt")
    #expect(try HostPath.resolved("\(folder.path)/link", followsLink: false) == "\(real)/link")
    #expect(try HostPath.resolved("\(folder.path)/./new.txt/") == "\(real)/new.txt")
    for path in ["", "\(folder.path)/none/new.txt", "\(folder.path)/none/..", "\(folder.path)/none/."] {
      #expect(throws: Failure.self, "\(path)") { try HostPath.resolved(path) }
    }
    #expect(HostPath.kind("\(folder.path)/link") == .regular)
    #expect(HostPath.kind("\(folder.path)/link", followsLink: false) == .symlink)
    #expect(HostPath.kind("\(folder.path)/none") == nil)
  }

  @Test func `a plan names each use once, with what becomes of it`() throws {
    let folder = try TemporaryFolder()
    let real = try HostPath.resolved(folder.path)
    for name in ["a", "b"] { _ = try folder.write(name, "x") }
    _ = try folder.folder("dir")
    func plan(_ program: FileArguments.Program, _ names: String...) throws -> FilePlan {
      try FilePlan(FileArguments(program, names.map { "\(folder.path)/\($0)" }) { HostPath.kind($0) == .directory })
    }
    func words(_ plan: FilePlan) -> [String] {
      plan.intents.map { "\($0.use) \($0.path.dropFirst(real.count + 1)) \($0.options.joined())" }
    }
    #expect(words(try plan(.cp, "a", "b")) == ["read a ", "write b "])
    #expect(words(try plan(.cp, "a", "new")) == ["read a ", "write new forReplacing"])
    #expect(
      words(try plan(.cp, "a", "b", "dir")) == [
        "read a ", "write dir/a forReplacing", "read b ", "write dir/b forReplacing",
      ])
    #expect(try plan(.cp, "dir", "new").folders.map(\.path) == ["\(real)/dir"])
    #expect(words(try plan(.mv, "a", "b")) == ["write a forMoving", "write b forReplacing"])
    #expect(try plan(.mv, "a", "dir").moves == [.init(from: "\(real)/a", to: "\(real)/dir/a")])
    #expect(words(try plan(.rm, "a", "a", "b")) == ["write a forDeleting", "write b forDeleting"])
    let move = try plan(.mv, "a", "new").moves[0]
    #expect(!move.hasHappened)
    try FileManager.default.moveItem(atPath: move.from, toPath: move.to)
    #expect(move.hasHappened)
  }
}
