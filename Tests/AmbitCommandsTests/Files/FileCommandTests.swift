import ArgumentParser
import Foundation
import Kernel
import TestSupport
import Testing
import UserFiles

@testable import AmbitCommands

/// The command lines of the user's acts on files.
@Suite struct `Command lines of acts on files` {
  @Test func `words with + and - are tags, and others are files`() throws {
    let command = try TagCommand.parse(["a.txt", "+red", "-home", "--add", "tax", "-x", "b c", "--remove", "old"])
    let request = try TagCommand.Request(command.words, add: command.add, remove: command.remove)
    #expect(request.files == ["a.txt", "b c"])
    #expect(request.added.map(\.name) == ["tax", "red"] && request.removed.map(\.name) == ["old", "home", "x"])
    #expect(try TagCommand.parse(["--find", "red", "--in", "/tmp"]).find == "red")
  }

  @Test(arguments: [
    [], ["+red"], ["a", "+"], ["a", "+a,b"], ["a", "--find", "red"], ["a", "--in", "/tmp"], ["a", "--unknown"],
  ])
  func `wrong ones are refused`(words: [String]) {
    #expect(throws: (any Error).self, "\(words)") { try TagCommand.parse(words) }
  }

  @Test func `“put” and “list” may be left out`() throws {
    let put = try #require(try AmbitCommand.parseAsRoot(["trash", "a", "b"]) as? TrashCommand.Put)
    #expect(put.files == ["a", "b"])
    #expect(try AmbitCommand.parseAsRoot(["trash", "list"]) is TrashCommand.List)
    #expect(try AmbitCommand.parseAsRoot(["favourite"]) is FavouriteCommand.List)
  }

  @Test(arguments: [
    ["--answer", "2", "trash", "5"], ["--answer", "5", "trash", "5"], ["--answer", "5", "trash", "0"],
  ])
  func `the picker's act takes descriptors of its own alone`(words: [String]) {
    #expect(throws: (any Error).self) { try FileActCommand.parse(words) }
  }
}
