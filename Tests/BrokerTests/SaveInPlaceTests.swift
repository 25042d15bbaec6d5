import Audit
import BrokerCore
import Folders
import Foundation
import Kernel
import TestSupport
import Testing
import Wire

@testable import Broker

/// Saves of an app while a program that knows nothing of Ambit waits to open the document.
@Suite struct SaveInPlaceTests {
  /// An app that has started a document and made a file beside it.
  private struct Saving {
    let world: BrokerWorld
    let app: TestApp
    let document: DocumentMessage
    let path: String

    init() async throws {
      world = try await BrokerWorld()
      app = try world.launch()
      path = try world.file("letter.txt", "old")
      try TemporaryFolder.awaitWriters(of: path)
      document = try #require(try app.pick([path]).first)
      try app.start(document)
    }

    var staging: String { "\(world.folders.staging)/\(app.instance)/\(document.grant)" }
    var inode: UInt64 { get throws { try Descriptor.open(path, flags: .path).status().inode } }
    var text: String { get throws { try String(contentsOfFile: path, encoding: .utf8) } }

    func write(_ text: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(staging)/letter.txt.new"))
    }

    /// The app renames its file over the document.
    func save(_ text: String) throws -> Int {
      try write(text)
      let call = LauncherInterface.ReplaceCall(
        instance: app.instance, grant: document.grant, name: document.name, temporary: "letter.txt.new")
      let reply = try app.launcher.call("io.ambit.Launcher.Replace", call.json)
      return try LauncherInterface.ReplaceReply(json: reply.parameters).error
    }

    func reader() -> OwnThread<String> {
      OwnThread { [path] in try plainText(path) }
    }

    func versions() throws -> [VersionsInterface.Version] {
      let answer = try world.user.call(VersionsInterface.list, VersionsInterface.ListCall(path: path).json)
      return try VersionsInterface.ListReply(json: answer.parameters).versions
    }

    var left: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: world.folders.recovery) } }
  }

  @Test func `go in place, so that the program reads the new text`() async throws {
    let saving = try await Saving()
    let inode = try saving.inode
    try await saving.world.hold(saving.path)
    let reader = saving.reader()
    try await saving.world.awaitBreak(of: saving.path)
    #expect(try saving.save("the new text") == 0)
    #expect(!reader.isOver)
    try await saving.world.release(saving.path)
    #expect(try reader.value() == "the new text")
    #expect(try saving.inode == inode)
    // As after any other save, the content from before is a version.
    try Deadline.wait(for: "a version of the old text") { try saving.versions().map(\.size) == [3] }
    #expect(try saving.versions().map(\.cause) == [.saved])
    #expect(!FileManager.default.fileExists(atPath: "\(saving.staging)/letter.txt.new"))
    #expect(try saving.left.isEmpty)
    try await saving.world.end()
    let events = try saving.world.events(.replaced)
    #expect(events.count == 1 && events[0].result == .allowed && events[0].how == "app")
    #expect(events[0].detail[AuditEvent.Fact.inPlace] == "true")
  }

  @Test func `go by rename while no program waits, and after the kernel has let it go on`() async throws {
    let saving = try await Saving()
    let inode = try saving.inode
    try await saving.world.hold(saving.path)
    #expect(try saving.save("first") == 0)
    #expect(try saving.inode != inode && saving.text == "first")
    try await saving.world.hold(saving.path)
    let reader = saving.reader()
    try await saving.world.awaitBreak(of: saving.path)
    saving.world.wait(seconds: 46)
    #expect(try reader.value() == "first")
    let second = try saving.inode
    #expect(try saving.save("second") == 0)
    #expect(try saving.inode != second && saving.text == "second")
    try await saving.world.end()
    #expect(try saving.world.events(.replaced).allSatisfy { $0.detail[AuditEvent.Fact.inPlace] == nil })
  }

  @Test func `are refused while a program waits to write into the very file, so that no byte of it is lost`()
    async throws
  {
    let saving = try await Saving()
    try await saving.world.hold(saving.path, as: .read)
    let writer = OwnThread { [path = saving.path] in
      let file = try Descriptor.open(path, flags: [.write, .append])
      try file.writeAll(Array(" and more".utf8))
    }
    try await saving.world.awaitBreak(of: saving.path)
    #expect(try saving.save("lost") == Int(EBUSY))
    #expect(FileManager.default.fileExists(atPath: "\(saving.staging)/letter.txt.new"))
    try await saving.world.release(saving.path)
    try writer.value()
    #expect(try saving.text == "old and more")
    #expect(try saving.save("new") == 0)
    #expect(try saving.text == "new")
    try await saving.world.end()
    #expect(try saving.world.events(.replaced).map(\.result) == [.failed, .allowed])
  }

  @Test func `that fail leave the document and the app's file as they were`() async throws {
    let saving = try await Saving()
    try await saving.world.hold(saving.path)
    let reader = saving.reader()
    try await saving.world.awaitBreak(of: saving.path)
    // Nothing can be kept here.
    try FileManager.default.removeItem(atPath: saving.world.folders.recovery)
    #expect(try saving.save("new") == Int(ENOENT))
    #expect(FileManager.default.fileExists(atPath: "\(saving.staging)/letter.txt.new"))
    try await saving.world.release(saving.path)
    #expect(try reader.value() == "old")
    try await saving.world.end()
    let events = try saving.world.events(.replaced)
    #expect(events.map(\.result) == [.failed])
  }
}
