import Folders
import Foundation
import Kernel
import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct `The file of the sealing key` {
  /// Whether two keys are the same, as far as anybody can tell from outside.
  private func same(_ a: SealingKey, _ b: SealingKey) -> Bool {
    b.grant(of: a.token(instance: "i", grant: "g"), instance: "i") == "g"
  }

  @Test func `is made once, for its owner only, and read from then on`() throws {
    let folder = try Folder()
    let path = "\(folder.path)/sealing.key"
    let first = try SealingKey.load(from: path)
    let content = try #require(FileManager.default.contents(atPath: path))
    #expect(content.count == 32)
    #expect(try Descriptor.open(path, flags: .path).status().mode & 0o7777 == 0o600)
    #expect(same(first, try SealingKey.load(from: path)))
    #expect(FileManager.default.contents(atPath: path) == content)
    #expect(try folder.contents().count == 1, "nothing unfinished stays behind")
  }

  @Test func `two users' keys differ`() throws {
    let folder = try Folder()
    #expect(!same(try .load(from: "\(folder.path)/a"), try .load(from: "\(folder.path)/b")))
  }

  @Test(arguments: [0, 1, 31, 33, 64, 100, 5_000])
  func `of another length is refused and left as it is`(length: Int) throws {
    let folder = try Folder()
    let path = try folder.write("sealing.key", String(repeating: "k", count: length))
    let error = #expect(throws: StateError.self) { try SealingKey.load(from: path) }
    #expect(error?.description.contains(path) == true)
    #expect(error?.description.contains("bytes, 32 expected") == true)
    #expect(error?.description.contains("backup") == true)
    #expect(try folder.contents() == ["sealing.key": Data(String(repeating: "k", count: length).utf8)])
  }

  @Test func `behind a link is refused, and what the link points to is not touched`() throws {
    let folder = try Folder()
    let target = try folder.write("other", String(repeating: "x", count: 32))
    let path = "\(folder.path)/sealing.key"
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    let error = #expect(throws: StateError.self) { try SealingKey.load(from: path) }
    #expect(error?.description.contains(path) == true)
    #expect(FileManager.default.contents(atPath: target) == Data(String(repeating: "x", count: 32).utf8))
  }

  @Test func `behind a link to nowhere is refused, and nothing is made there`() throws {
    let folder = try Folder()
    let path = "\(folder.path)/sealing.key"
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(folder.path)/nowhere")
    #expect(throws: StateError.self) { try SealingKey.load(from: path) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["sealing.key"])
  }

  @Test func `that is a folder or a pipe is refused at once`() throws {
    let folder = try Folder()
    let pipe = "\(folder.path)/pipe"
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    for path in [try folder.folder("sealing.key"), pipe] {
      let error = #expect(throws: StateError.self) { try SealingKey.load(from: path) }
      #expect(error?.description.contains(path) == true)
    }
  }

  @Test func `in a folder that is not there is an error that names it`() throws {
    let folder = try Folder()
    let path = "\(folder.path)/missing/sealing.key"
    let error = #expect(throws: StateError.self) { try SealingKey.load(from: path) }
    #expect(error?.description.contains(path) == true)
    #expect(error?.description.contains("AMBIT_HOME") == true)
  }

  @Test func `that grants were used with is not made anew when it is gone, and not replaced by another`() throws {
    let folder = try Folder()
    let (path, grants) = ("\(folder.path)/sealing.key", "\(folder.path)/grants.sqlite")
    func key() throws -> SealingKey { try GrantStore(path: grants).sealingKey(at: path) }
    let first = try key()
    // Nothing has been sealed with it: there may as well be another one.
    #expect(same(first, try key()))
    do {
      let store = try GrantStore(path: grants)
      _ = try store.sealingKey(at: path)
      _ = try store.nextStamp()
    }
    try FileManager.default.moveItem(atPath: path, toPath: "\(path).backup")
    let gone = #expect(throws: StateError.self) { try key() }
    #expect(gone?.description.contains("\(path): the key is gone") == true)
    #expect(gone?.description.contains("backup") == true && gone?.description.contains(grants) == true)
    #expect(!FileManager.default.fileExists(atPath: path))
    try folder.write("sealing.key", String(repeating: "k", count: 32))
    let other = #expect(throws: StateError.self) { try key() }
    #expect(other?.description.contains("\(path): it is another key") == true)
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: "\(path).backup", toPath: path)
    #expect(same(first, try key()))
  }

  @Test func `of grants that an older version has used is asked for as well`() throws {
    let folder = try Folder()
    let (path, grants) = ("\(folder.path)/sealing.key", "\(folder.path)/grants.sqlite")
    do { _ = try GrantStore(path: grants).register(bundleIdentifier: "io.ambit.app", name: "App", version: nil) }
    #expect(throws: StateError.self) { try GrantStore(path: grants).sealingKey(at: path) }
    try folder.write("sealing.key", String(repeating: "k", count: 32))
    _ = try GrantStore(path: grants).sealingKey(at: path)
  }

  @Test func `is one key, however many make it at the same time`() throws {
    for _ in 0..<20 {
      let folder = try Folder()
      let path = "\(folder.path)/sealing.key"
      let tokens = try onOwnThreads(8) { _ in try SealingKey.load(from: path).token(instance: "i", grant: "g") }
      #expect(Set(tokens).count == 1)
      #expect(try folder.contents().count == 1)
    }
  }
}
