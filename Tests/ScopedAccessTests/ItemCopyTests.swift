import Foundation
import Kernel
import SystemPackage
import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct ItemCopyTests {
  private let temporary: TemporaryFolder
  init() throws { temporary = try TemporaryFolder() }

  private func open(_ path: String) throws -> Descriptor { try Descriptor.open(path, flags: .place) }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  @Test func `a name that is taken gets a number before its extension`() throws {
    let source = try temporary.write("source", "text")
    let folder = try temporary.folder("folder")
    func copy(_ name: String) throws -> String {
      try ItemCopy(of: open(source), named: name, in: Descriptor.open(folder, flags: [.read, .directory]), owner: nil) {
        true
      }.name
    }
    #expect(try (0..<3).map { _ in try copy("Essay.txt") } == ["Essay.txt", "Essay 2.txt", "Essay 3.txt"])
    #expect(try (0..<2).map { _ in try copy(".hidden") } == [".hidden", ".hidden 2"])
    #expect(try (0..<2).map { _ in try copy("Notes") } == ["Notes", "Notes 2"])
    let long = String(repeating: "ä", count: 125) + ".txt"
    #expect(try copy(long) == long)
    let second = try copy(long)
    #expect(second.hasSuffix("ä 2.txt") && second.utf8.count <= 255)
    #expect(try names(folder).allSatisfy { !$0.hasPrefix(".ambit-") })
    #expect(try String(contentsOfFile: "\(folder)/Essay 2.txt", encoding: .utf8) == "text")
  }

  @Test func `takes a folder with all in it, and no link's target`() throws {
    let source = try temporary.folder("source")
    for (path, text) in [("a", "A"), ("in/b", "B")] {
      let file = "\(source)/\(path)"
      try FileManager.default.createDirectory(
        atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }
    try FileManager.default.createSymbolicLink(atPath: "\(source)/link", withDestinationPath: "/etc/passwd")
    let folder = try temporary.folder("folder")
    let copy = try ItemCopy(
      of: open(source), named: "Copy", in: Descriptor.open(folder, flags: [.read, .directory]), owner: nil
    ) { true }
    #expect(copy.name == "Copy")
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: "\(folder)/Copy").sorted() == ["a", "in", "in/b", "link"])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/Copy/link") == "/etc/passwd")
  }

  @Test func `leaves nothing when it is not wanted any more, or cannot be`() throws {
    let source = try temporary.write("source", String(repeating: "text", count: 100_000))
    let folder = try temporary.folder("folder")
    let place = try Descriptor.open(folder, flags: [.read, .directory])
    var asked = 0
    // Where blocks are shared nobody is asked.
    let item = try open(source)
    let copy = Result { () throws(KernelError) in
      try ItemCopy(of: item, named: "a", in: place, owner: nil) {
        asked += 1
        return false
      }
    }
    if asked > 0 { #expect(throws: KernelError.self) { try copy.get() } } else { try place.removeFile("a") }
    #expect(try names(folder) == [])
    let pipe = "\(temporary.path)/pipe"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    #expect(throws: KernelError.self) { try ItemCopy(of: open(pipe), named: "a", in: place, owner: nil) { true } }
    #expect(try names(folder) == [])
  }
}
