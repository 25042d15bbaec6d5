import Foundation
import Kernel
import SystemPackage
import TestSupport
import Testing

@testable import UserFiles

/// A trash in a folder of the test's own, on the same volume.
@Suite struct `The trash` {
  private let folder: TemporaryFolder
  private let trash: UserTrash

  init() throws {
    folder = try TemporaryFolder()
    trash = UserTrash(dataHome: "\(folder.path)/share")
  }

  private func held(_ name: String) throws -> HeldFile {
    try HeldFile(try Descriptor.open("\(folder.path)/\(name)", flags: .place))
  }

  private var mine: [TrashFolder.Item] { trash.items().filter { $0.path.hasPrefix(folder.path) } }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  @Test func `a file lies in files, with a record, and comes back`() throws {
    try folder.write("Essay ü.txt", "text")
    let item = try trash.put(try held("Essay ü.txt"), date: "2026-11-26T20:00:00")
    #expect(item.path == "\(folder.path)/share/Trash/files/Essay ü.txt" && exists(item.path))
    #expect(!exists("\(folder.path)/Essay ü.txt"))
    let record = try String(
      contentsOfFile: "\(folder.path)/share/Trash/info/Essay ü.txt.trashinfo", encoding: .utf8)
    #expect(record == "[Trash Info]\nPath=\(folder.path)/Essay%20%C3%BC.txt\nDeletionDate=2026-11-26T20:00:00\n")
    #expect(trash.holds(item.path) && !trash.holds("\(folder.path)/Essay ü.txt"))
    let listed = try #require(mine.first)
    #expect(listed.original == "\(folder.path)/Essay ü.txt" && listed.date == "2026-11-26T20:00:00")
    let name = try listed.trash.restore(
      listed, try listed.held, to: try listed.trash.folder(of: listed), as: "Essay ü.txt")
    #expect(name == "Essay ü.txt" && exists("\(folder.path)/Essay ü.txt") && mine.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/share/Trash/info").isEmpty)
  }

  @Test func `names that are taken get numbers, on both ways`() throws {
    for text in ["one", "two"] {
      try folder.write("a.txt", text)
      _ = try trash.put(try held("a.txt"), date: "2026-11-26T20:00:0\(text.count - 3)")
    }
    #expect(Set(mine.map(\.name)) == ["a.txt", "a 2.txt"])
    try folder.write("a.txt", "three")
    let item = try #require(mine.first { $0.name == "a 2.txt" })
    #expect(
      try item.trash.restore(item, try item.held, to: try item.trash.folder(of: item), as: "a.txt") == "a 2.txt")
    #expect(try String(contentsOfFile: "\(folder.path)/a 2.txt", encoding: .utf8) == "two")
    #expect(try String(contentsOfFile: "\(folder.path)/a.txt", encoding: .utf8) == "three")
  }

  @Test func `a file without a record keeps its name, and is listed`() throws {
    _ = try trash.put(
      try {
        try folder.write("b", ""); return try held("b")
      }(), date: "")
    try folder.write("share/Trash/files/c", "lost")
    #expect(Set(mine.map(\.name)) == ["b", "c"] && mine.first { $0.name == "c" }?.original == nil)
    try folder.write("c", "new")
    #expect(try trash.put(try held("c"), date: "").name == "c 2")
    #expect(try String(contentsOfFile: "\(folder.path)/share/Trash/files/c", encoding: .utf8) == "lost")
  }

  @Test func `a folder goes for good with all in it, and its record`() throws {
    try folder.folder("old/deep")
    try folder.write("old/deep/x", "x")
    let item = try trash.put(try held("old"), date: "")
    #expect(item.isFolder)
    try item.trash.erase(item)
    #expect(mine.isEmpty && !exists(item.path))
    try folder.write("share/Trash/info/gone.trashinfo", "[Trash Info]\nPath=/gone\n")
    for each in trash.all() where each.path.hasPrefix(folder.path) { each.eraseLostRecords() }
    #expect(!exists("\(folder.path)/share/Trash/info/gone.trashinfo"))
  }

  @Test func `PCK-23: another file under the name is not put away`() throws {
    try folder.write("row.txt", "shown")
    let file = try held("row.txt")
    try FileManager.default.moveItem(atPath: "\(folder.path)/row.txt", toPath: "\(folder.path)/kept.txt")
    try folder.write("row.txt", "another")
    let error = #expect(throws: KernelError.self) { try trash.put(file, date: "") }
    #expect(error?.errno == .staleNFSFileHandle)
    #expect(exists("\(folder.path)/row.txt") && exists("\(folder.path)/kept.txt") && mine.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/share/Trash/info").isEmpty)
  }

  @Test func `records do not lead out of where they may`() throws {
    _ = try trash.put(
      try {
        try folder.write("b", ""); return try held("b")
      }(), date: "")
    for path in ["relative/b", "/../etc/b", "/a/../../b", "/"] {
      try folder.write("share/Trash/info/b.trashinfo", TrashInfo(path: path, date: "").text)
      #expect(mine.first?.original == nil, "\(path)")
    }
  }

  @Test func `nothing comes back through a link that stands for the folder by now`() throws {
    for name in ["sub", "other"] { _ = try folder.folder(name) }
    try folder.write("sub/b.txt", "text")
    _ = try trash.put(try held("sub/b.txt"), date: "")
    try FileManager.default.removeItem(atPath: "\(folder.path)/sub")
    try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/sub", withDestinationPath: "other")
    let item = try #require(mine.first)
    let error = #expect(throws: KernelError.self) { _ = try item.trash.folder(of: item) }
    #expect(error?.errno == .tooManySymbolicLinkLevels)
  }

  @Test func `a trash that others may write to is none`() throws {
    try folder.write("b", "")
    _ = try trash.put(try held("b"), date: "")
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: "\(folder.path)/share/Trash")
    #expect(mine.isEmpty)
  }

  @Test func `a link is no file to act on`() throws {
    try folder.write("b", "")
    try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/l", withDestinationPath: "b")
    let error = #expect(throws: KernelError.self) { try held("l") }
    #expect(error?.errno == .notPermitted)
  }

  @Test func `tags are kept with the file`() throws {
    try folder.write("b", "")
    let file = try held("b").item
    var tags = FileTags()
    tags.add(try #require(FileTag("red")))
    do throws(KernelError) { try file.setFileTags(tags) } catch {
      // A volume without attributes says so.
      #expect(error.errno == .notSupported)
      return
    }
    #expect(file.fileTags == tags)
    let open = try Descriptor.open(folder.path, flags: [.read, .directory])
    #expect(open.fileTags(of: "b") == tags && open.fileTags(of: "none").tags.isEmpty)
    #expect(try TaggedFiles.find(in: open) { $0.answers("re") }.paths == ["b"])
    try file.setFileTags(FileTags())
    try file.setFileTags(FileTags())
    #expect(file.fileTags.tags.isEmpty)
  }
}
