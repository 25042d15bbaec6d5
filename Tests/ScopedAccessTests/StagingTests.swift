import Foundation
import Kernel
import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct `What apps leave beside their documents` {
  private func fill(_ folder: String, _ count: Int) throws {
    for number in 0..<count {
      let file = unsafe creat("\(folder)/\(number)", 0o644)
      guard file >= 0, close(file) == 0 else { throw HarnessError("cannot make \(folder)/\(number)") }
    }
  }

  /// Little is gone at once; of much the name is, and the rest as soon as a thread has come to it.
  @Test(arguments: [3, 3_000]) func `is removed when a scope ends, and all of it when the app does`(count: Int) throws {
    let folder = try Folder()
    let parent = try Descriptor.open(folder.path, flags: [.read, .directory])
    let staging = Staging(in: parent, instance: "app", hostID: nil)
    let before = try staging.make("grant", name: "letter.txt")
    try fill("\(folder.path)/app/grant", count)
    #expect(staging.holdsAnything("grant", names: ["letter.txt"]))
    staging.discard("grant")
    #expect(staging.folder(of: "grant") == nil)
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/app/grant"))
    // What is made anew has nothing of it, whatever is still being removed.
    let after = try staging.make("grant", name: "letter.txt")
    #expect(try DirectoryReader.entries(of: after).map(\.name) == ["letter.txt"])
    try Deadline.wait(for: "the old folder to be empty") { try DirectoryReader.entries(of: before).isEmpty }

    try fill("\(folder.path)/app/grant", count)
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/app/grant/a/b/c", withIntermediateDirectories: true)
    staging.removeAll()
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/app"))
    try Deadline.wait(for: "everything to be gone") {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty
    }
  }

  /// A folder in another is touched twice, and there is an end to the steps that are made at once.
  @Test func `is gone at once where it is little, also in folders`() throws {
    let folder = try Folder()
    let staging = Staging(
      in: try Descriptor.open(folder.path, flags: [.read, .directory]), instance: "app", hostID: nil)
    let before = try staging.make("grant", name: "letter.txt")
    for number in 0..<27 { _ = try folder.folder("app/grant/\(number)/a/b") }
    #expect(DirectoryReaper.isLittle(before))
    staging.discard("grant")
    // No other thread has taken part, so no moved folder is left.
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/app").isEmpty)
    #expect(try DirectoryReader.entries(of: before).isEmpty)
  }

  @Test(arguments: [3, 3_000]) func `is removed after a broker that died`(count: Int) throws {
    let folder = try Folder()
    for path in ["one/grant", ".old-two.5/grant"] { try fill(try folder.folder(path), count) }
    try folder.write("stray")
    let left = Staging.left(in: try Descriptor.open(folder.path, flags: [.read, .directory]))
    #expect(left.count == 2)
    for each in left { each.remove() }
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/one"))
    try Deadline.wait(for: "everything to be gone") {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty
    }
  }
}
