import Folders
import Foundation
import Kernel
import ScopedAccess
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Audit
@testable import Broker

#if canImport(Glibc)
  import Glibc
#endif

/// The picker's modes that copy, over the socket.
@Suite struct `The picker's copies` {
  private func container(_ world: BrokerWorld, _ app: TestApp) throws -> String {
    let path = "\(world.folders.containers)/\(app.identifier)"
    for folder in ["Documents", "tmp"] {
      try FileManager.default.createDirectory(atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
    }
    return path
  }

  private func ask(_ app: TestApp, _ call: PickerInterface.PickCall, _ paths: [String]) throws
    -> PickerInterface.PickReply
  {
    try app.app.send("io.ambit.Picker.Pick", call.json)
    try app.choose(paths)
    guard let answer = try app.app.receive(wait: true) else { throw HarnessError("no answer") }
    return try PickerInterface.PickReply(json: answer.parameters)
  }

  private func refusal(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch WireError.remote(let name, _) { return name.split(separator: ".").last.map(String.init) } catch {
      return "\(error)"
    }
  }

  @Test func `PCK-2, PCK-4: an import is a copy in the container, and grants nothing`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(modes: ["open", "import", "export", "move"]))
    let home = try container(world, app)
    let paths = [try world.file("a.txt", "A"), try world.file("b.txt", "B")]
    let reply = try ask(app, .init(mode: .import, multiple: true), paths)
    #expect(reply.documents.isEmpty && reply.copies?.map(\.name) == ["a.txt", "b.txt"])
    for (copy, text) in zip(reply.copies ?? [], ["A", "B"]) {
      let place = try #require(copy.path)
      #expect(place.hasPrefix("/home/user/tmp/Imports-\(app.instance)/"))
      let path = home + place.dropFirst("/home/user".count)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }
    #expect(try world.events(.grant).isEmpty && world.events(.pick).map { $0.detail["mode"] } == ["import", "import"])
    try await world.end()
  }

  @Test func `PCK-5: what is moved is granted at its new place, and has left the old one`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(modes: ["open", "import", "export", "move"]))
    let home = try container(world, app)
    try Data("draft".utf8).write(to: URL(fileURLWithPath: "\(home)/Documents/Essay.txt"))
    let folder = try world.temporary.folder("Essays")
    _ = try world.file("Essays/Essay.txt", "another")
    let reply = try ask(app, .init(mode: .move, sources: ["/home/user/Documents/Essay.txt"]), [folder])
    #expect(reply.documents.map(\.name) == ["Essay 2.txt"] && reply.copies?.map(\.name) == ["Essay 2.txt"])
    #expect(try String(contentsOfFile: "\(folder)/Essay 2.txt", encoding: .utf8) == "draft")
    let deadline = Deadline(in: .seconds(10))
    while FileManager.default.fileExists(atPath: "\(home)/Documents/Essay.txt"), !deadline.isOver {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(home)/Documents") == [])
    #expect(try world.events(.grant).count == 1)
    try await world.end()
  }

  @Test func `PCK-5: a change deep in a folder that is moved is seen`() throws {
    let temporary = try TemporaryFolder()
    let deep = try temporary.folder("moved/" + Array(repeating: "d", count: 50).joined(separator: "/"))
    try Data("draft".utf8).write(to: URL(fileURLWithPath: "\(deep)/text"))
    let folder = try Descriptor.open("\(temporary.path)/moved", flags: .place)
    let before = try InboxDocument.lastChange(of: folder)
    usleep(20_000)
    try Data("later".utf8).write(to: URL(fileURLWithPath: "\(deep)/text"))
    #expect(try InboxDocument.lastChange(of: folder) > before)
  }

  @Test func `PCK-6: copies that nobody will have go, but not what somebody has changed in them`() throws {
    let temporary = try TemporaryFolder()
    let (from, to) = (try temporary.folder("from"), try temporary.folder("to"))
    for name in ["same", "written"] { try Data(name.utf8).write(to: URL(fileURLWithPath: "\(from)/\(name)")) }
    for name in ["folder", "filled"] {
      try FileManager.default.createDirectory(atPath: "\(from)/\(name)", withIntermediateDirectories: false)
    }
    let names = ["same", "written", "folder", "filled"]
    let items = try names.map { (item: try Descriptor.open("\(from)/\($0)", flags: .place), name: $0) }
    let folder = try Descriptor.open(to, flags: [.read, .directory])
    let copies = try ItemCopy.all(items, into: folder, owner: nil, while: { true }).get()
    #expect(copies.map(\.name) == names)
    usleep(20_000)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(to)/written"))
    try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(to)/filled/mine"))
    ItemCopy.discard(copies, in: folder)
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: to)) == ["written", "filled"])
  }

  @Test func `PCK-6: of several copies none is left where one fails, or nobody waits any more`() throws {
    let temporary = try TemporaryFolder()
    let (from, to) = (try temporary.folder("from"), try temporary.folder("to"))
    try Data("a".utf8).write(to: URL(fileURLWithPath: "\(from)/a"))
    #expect(unsafe mkfifo("\(from)/pipe", 0o600) == 0)
    let items = try ["a", "pipe"].map { (item: try Descriptor.open("\(from)/\($0)", flags: .place), name: $0) }
    let folder = try Descriptor.open(to, flags: [.read, .directory])
    guard case .failure = ItemCopy.all(items, into: folder, owner: nil, while: { true }) else {
      Issue.record("a pipe was copied")
      return
    }
    // The disk takes long, and meanwhile it is given up.
    var isWanted = true
    let late = ItemCopy.all(
      [items[0]], into: folder, owner: nil, while: { isWanted }, beforeDisk: { isWanted = false })
    guard case .failure(let error) = late else {
      Issue.record("it was copied for nobody")
      return
    }
    #expect(error.errno == .canceled)
    #expect(try FileManager.default.contentsOfDirectory(atPath: to).isEmpty)
  }

  @Test func `PCK-7: an extension may have dots of its own`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let path = try world.file("a.tar.gz")
    let reply = try ask(app, .init(types: ["svg.gz", "TAR.gz"]), [path])
    #expect(reply.documents.map(\.name) == ["a.tar.gz"])
    for types in [["tar/gz"], [".gz"], [""]] {
      #expect(
        try app.refusal(PickerInterface.pick, PickerInterface.PickCall(types: types).json) == "InvalidParameter")
    }
    try await world.end()
  }

  @Test func `PCK-6: an export gives names alone; several are copied or none`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(modes: ["open", "import", "export", "move"]))
    let home = try container(world, app)
    let folder = try world.temporary.folder("out")
    for name in ["a", "b"] { try Data(name.utf8).write(to: URL(fileURLWithPath: "\(home)/Documents/\(name)")) }
    let sources = ["a", "b"].map { "/home/user/Documents/\($0)" }
    let reply = try ask(app, .init(mode: .export, sources: sources), [folder])
    #expect(reply.documents.isEmpty && reply.copies?.map(\.name) == ["a", "b"])
    #expect(reply.copies?.allSatisfy { $0.path == nil } == true)
    // The folder goes away while the user chooses it.
    let gone = try world.temporary.folder("gone")
    try app.app.send("io.ambit.Picker.Pick", PickerInterface.PickCall(mode: .export, sources: sources).json)
    let question = try #require(try app.question())
    #expect(question.mode == .export && question.names == ["a", "b"] && question.kind == .folder)
    let place = try Descriptor.open(gone, flags: .path)
    try FileManager.default.removeItem(atPath: gone)
    _ = try app.launcher.call(
      "io.ambit.Launcher.Answer",
      LauncherInterface.AnswerCall(instance: app.instance, id: question.id, how: .user, paths: [gone]).json,
      descriptors: [place])
    #expect(refusal { _ = try app.app.receive(wait: true) } != nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(home)/Documents").sorted() == ["a", "b"])
    try await world.end()
  }

  @Test func `PCK-20: what is not the app's own is refused before the user is asked`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(modes: ["open", "import", "export", "move"]))
    let home = try container(world, app)
    try FileManager.default.createSymbolicLink(atPath: "\(home)/Documents/link", withDestinationPath: "/etc")
    let outside = try world.file("secret", "s")
    // A folder of keys would be the user's own in a home folder that has none.
    try FileManager.default.createDirectory(atPath: "\(home)/Documents/.ssh", withIntermediateDirectories: true)
    try Data("alias".utf8).write(to: URL(fileURLWithPath: "\(home)/Documents/.bashrc"))
    for (source, error) in [
      ("/home/user/Documents/.ssh", "NoSource"), ("/home/user/Documents/.bashrc", "NoSource"),
      ("/home/user/Documents/nothing", "NoSource"), ("/etc/passwd", "NoSource"), (outside, "NoSource"),
      ("/home/user/Documents/link", "NoSource"), ("/home/user/Documents/link/passwd", "NoSource"),
      ("/home/user/Documents/../../x", "NoSource"), ("/home/user", "NoSource"), ("", "NoSource"),
    ] {
      let call = PickerInterface.PickCall(mode: .export, sources: [source])
      #expect(refusal { _ = try app.app.call("io.ambit.Picker.Pick", call.json) } == error, "\(source)")
    }
    for call in [
      PickerInterface.PickCall(mode: .export), .init(mode: .open, sources: ["/home/user/Documents"]),
      .init(mode: .move, multiple: true, sources: ["/home/user/Documents"]),
    ] {
      #expect(refusal { _ = try app.app.call("io.ambit.Picker.Pick", call.json) } == "InvalidParameter")
    }
    try await world.end()
  }

  @Test func `PCK-12: the picker starts around a document that the app names, and nowhere else`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(modes: ["open", "import", "export", "move"]))
    let path = try world.file("a.txt", "A")
    let document = try app.pick([path])[0]
    func start(_ directory: String) throws -> String? {
      let other = try app.connect()
      try other.send("io.ambit.Picker.Pick", PickerInterface.PickCall(directory: directory).json)
      return try #require(try app.question()).startsAt
    }
    #expect(try start(document.path) == path)
    try await world.end()
    let second = try await BrokerWorld()
    let stranger = try second.launch()
    let client = try stranger.connect()
    try client.send("io.ambit.Picker.Pick", PickerInterface.PickCall(directory: "/etc").json)
    #expect(try #require(try stranger.question()).startsAt == nil)
    try await second.end()
  }
}
