import CloudSync
import Folders
import Foundation
import Kernel
import TestSupport
import Testing

@testable import Cloud

/// A device goes on with the cloud that it has met, and with no other one.
struct KnownCloudTests {
  @Test func `A device goes on with its cloud, also after it has started again`() throws {
    let folder = try TemporaryFolder()
    let own = try Descriptor.open(folder.path, flags: [.read, .directory])
    let known = try KnownCloud(in: own, revision: 0)
    #expect(known.refusal(of: "one", at: 0) == nil)
    #expect(known.refusal(of: "one", at: 7) == nil)
    known.note(7)
    let again = try KnownCloud(in: own, revision: 7)
    #expect(again.refusal(of: "one", at: 7) == nil && again.refusal(of: "one", at: 8) == nil)
  }

  @Test func `Another cloud is refused, and so is an older copy of its own`() throws {
    let folder = try TemporaryFolder()
    let own = try Descriptor.open(folder.path, flags: [.read, .directory])
    let known = try KnownCloud(in: own, revision: 0)
    #expect(known.refusal(of: "one", at: 3) == nil)
    #expect(known.refusal(of: "two", at: 9)?.contains("another one") == true)
    known.note(5)
    #expect(known.refusal(of: "one", at: 4)?.contains("revision 4, and the device has seen 5") == true)
    #expect(
      try KnownCloud(in: Descriptor.open(folder.folder("fresh"), flags: [.read, .directory]), revision: 0)
        .refusal(of: String(repeating: "x", count: 101), at: 0) != nil)
    let again = try KnownCloud(in: own, revision: 5)
    #expect(again.refusal(of: "two", at: 9) != nil && again.refusal(of: "one", at: 4) != nil)
  }

  @Test func `A store has one name for ever, and one cloud at a time`() throws {
    let folder = try TemporaryFolder()
    var first: CloudStore? = try CloudStore(folder: "\(folder.path)/store")
    let name = first?.identity
    #expect(throws: StateError.self) { try CloudStore(folder: "\(folder.path)/store") }
    first = nil
    #expect(try CloudStore(folder: "\(folder.path)/store").identity == name)
    #expect(try CloudStore(folder: "\(folder.path)/other").identity != name)
    // Of an upload that the server was killed in; a content that nothing names goes after a day.
    let contents = "\(folder.path)/store/contents"
    let (new, old) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
    for name in [".123", new, old] { try Data("x".utf8).write(to: URL(filePath: "\(contents)/\(name)")) }
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -100_000)], ofItemAtPath: "\(contents)/\(old)")
    _ = try CloudStore(folder: "\(folder.path)/store")
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: contents)) == ["lock", new])
  }

  @Test func `A cloud does not serve at the path of a file, and the file stays`() throws {
    let folder = try TemporaryFolder()
    let letter = try folder.write("letter.txt", "text")
    let place = try Descriptor.open(folder.path, flags: [.read, .directory])
    #expect(throws: StateError.self) { try CloudServer.makeRoom("letter.txt", in: place) }
    #expect(try String(contentsOfFile: letter, encoding: .utf8) == "text")
    // Left by a cloud that was killed.
    _ = try UnixSocket.listen(in: place, name: "socket")
    try CloudServer.makeRoom("socket", in: place)
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/socket"))
  }
}
