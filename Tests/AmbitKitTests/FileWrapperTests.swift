import Foundation
import TestSupport
import Testing

@testable import AmbitKit

@Suite struct `A file wrapper` {
  private let temporary: TemporaryFolder

  init() throws { temporary = try TemporaryFolder() }

  private func url(_ name: String) -> URL { URL(fileURLWithPath: "\(temporary.path)/\(name)") }
  private func text(_ name: String) -> String? { try? String(contentsOf: url(name), encoding: .utf8) }
  private func inode(_ name: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: url(name).path)[.systemFileNumber] as? NSNumber)
      .intValue
  }

  @Test func `writes and reads a package with files, folders and links`() throws {
    let inner = FileWrapper(directoryWithFileWrappers: ["b.txt": FileWrapper(regularFileWithContents: Data("b".utf8))])
    let wrapper = FileWrapper(directoryWithFileWrappers: ["inner": inner])
    #expect(wrapper.addRegularFile(withContents: Data("a".utf8), preferredFilename: "a.txt") == "a.txt")
    let link = FileWrapper(symbolicLinkWithDestinationURL: URL(string: "a.txt") ?? url("a.txt"))
    link.preferredFilename = "link"
    wrapper.addFileWrapper(link)
    try wrapper.write(to: url("p"), originalContentsURL: nil)
    #expect(text("p/a.txt") == "a" && text("p/inner/b.txt") == "b" && text("p/link") == "a")
    let read = try FileWrapper(url: url("p"))
    #expect(read.isDirectory && Set((read.fileWrappers ?? [:]).keys) == ["a.txt", "inner", "link"])
    #expect(read.fileWrappers?["a.txt"]?.regularFileContents == Data("a".utf8))
    #expect(read.fileWrappers?["link"]?.isSymbolicLink == true)
    #expect(read.matchesContents(of: url("p")))
    try Data("other".utf8).write(to: url("p/a.txt"))
    #expect(!read.matchesContents(of: url("p")))
  }

  @Test func `takes unchanged files from the original, and writes changed ones`() throws {
    try FileManager.default.createDirectory(at: url("p"), withIntermediateDirectories: true)
    for name in ["same", "changed"] { try Data(name.utf8).write(to: url("p/\(name)")) }
    let wrapper = try FileWrapper(url: url("p"))
    wrapper.removeFileWrapper(try #require(wrapper.fileWrappers?["changed"]))
    wrapper.addRegularFile(withContents: Data("new".utf8), preferredFilename: "changed")
    try wrapper.write(to: url("q"), originalContentsURL: url("p"))
    #expect(try inode("q/same") == inode("p/same") && inode("q/changed") != inode("p/changed"))
    #expect(text("q/changed") == "new" && text("p/changed") == "changed")
  }

  @Test func `gives children with one name different keys`() {
    let wrapper = FileWrapper(directoryWithFileWrappers: [:])
    let first = wrapper.addRegularFile(withContents: Data(), preferredFilename: "a")
    let second = wrapper.addRegularFile(withContents: Data(), preferredFilename: "a")
    #expect(first == "a" && second != "a" && wrapper.fileWrappers?.count == 2)
  }

  @Test(arguments: ["..", ".", "a/b", ""]) func `writes nothing under a name that leads elsewhere`(name: String) throws
  {
    let wrapper = FileWrapper(directoryWithFileWrappers: [:])
    if name.isEmpty { return }
    wrapper.addRegularFile(withContents: Data("out".utf8), preferredFilename: name)
    #expect(throws: CocoaError.self) { try wrapper.write(to: url("p"), originalContentsURL: nil) }
    #expect(text("out") == nil && text("a/b") == nil)
  }

  @Test func `says so when a file has changed before it was read`() throws {
    try Data("one".utf8).write(to: url("f"))
    let wrapper = try FileWrapper(url: url("f"))
    try Data("longer".utf8).write(to: url("f"))
    #expect(wrapper.regularFileContents == nil)
    #expect(throws: CocoaError.self) { try wrapper.write(to: url("g"), originalContentsURL: nil) }
  }

  @Test func `goes no deeper than it may`() throws {
    let path = (0...FileWrapper.deepest + 1).map { _ in "d" }.joined(separator: "/")
    try FileManager.default.createDirectory(at: url(path), withIntermediateDirectories: true)
    #expect(throws: CocoaError.self) { _ = try FileWrapper(url: url("d")) }
  }

  @Test func `replaces atomically`() throws {
    try Data("old".utf8).write(to: url("f"))
    try FileWrapper(regularFileWithContents: Data("new".utf8)).write(
      to: url("f"), options: .atomic, originalContentsURL: nil)
    #expect(text("f") == "new")
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == ["f"])
  }
}
