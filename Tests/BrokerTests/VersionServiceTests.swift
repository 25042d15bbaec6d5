import Folders
import Foundation
import Kernel
import TestSupport
import Testing
import Wire

@testable import Audit
@testable import Broker

@Suite struct `Versions of documents` {
  private func list(_ client: WireClient, _ path: String) throws -> [VersionsInterface.Version] {
    let answer = try client.call(VersionsInterface.list, VersionsInterface.ListCall(path: path).json)
    return try VersionsInterface.ListReply(json: answer.parameters).versions
  }

  private func keep(_ client: WireClient, _ path: String, conflict: Bool = true) throws -> VersionsInterface.Version {
    let answer = try client.call(
      VersionsInterface.keep, VersionsInterface.KeepCall(path: path, conflict: conflict).json)
    return try VersionsInterface.KeepReply(json: answer.parameters).version
  }

  private func text(_ client: WireClient, _ version: String) throws -> String {
    let answer = try client.call(VersionsInterface.open, VersionsInterface.OpenCall(version: version, path: nil).json)
    let file = Descriptor(owning: try answer.takeDescriptor())
    return String(decoding: try file.readAll(limit: 1000), as: UTF8.self)
  }

  private func fails(_ name: String, _ body: () throws -> Void) {
    do {
      try body()
      Issue.record("it was not refused with \(name)")
    } catch WireError.remote(let error, _) { #expect(error == name) } catch { Issue.record("\(error)") }
  }

  @Test func `are kept, read, resolved and removed, each with an event`() async throws {
    let world = try await BrokerWorld()
    let path = try world.file("a.txt", "one")
    let app = try world.launch()
    let document = try app.pick([path])[0]
    try app.start(document)
    let kept = try keep(app.app, document.path)
    #expect(kept.unresolved && kept.cause == .conflict && kept.app == "org.example.app" && kept.name == "a.txt")
    #expect(try list(app.app, document.path).map(\.id) == [kept.id])
    #expect(try list(world.user, path).map(\.id) == [kept.id])
    #expect(try text(app.app, kept.id) == "one")
    _ = try app.app.call(VersionsInterface.resolve, VersionsInterface.ResolveCall(version: kept.id).json)
    #expect(try list(app.app, document.path).map(\.unresolved) == [false])
    _ = try app.app.call(VersionsInterface.remove, VersionsInterface.RemoveCall(version: kept.id).json)
    #expect(try list(app.app, document.path).isEmpty)
    try await world.end()
    #expect(try world.events(.version).map(\.how) == ["kept", "read", "resolved", "removed"])
  }

  @Test func `are no other app's, and not of the time before the grant`() async throws {
    let world = try await BrokerWorld()
    let path = try world.file("a.txt", "secret")
    let app = try world.launch()
    let document = try app.pick([path])[0]
    try app.start(document)
    let kept = try keep(app.app, document.path)
    world.wait(seconds: 10)
    let other = try world.launch("org.example.other")
    fails(VersionsInterface.Failure.noSuchVersionName) { _ = try text(other.app, kept.id) }
    fails(VersionsInterface.Failure.notKnownName) { _ = try list(other.app, path) }
    let same = try other.pick([path])[0]
    try other.start(same)
    #expect(try list(other.app, same.path).isEmpty)
    fails(VersionsInterface.Failure.noSuchVersionName) { _ = try text(other.app, kept.id) }
    fails(VersionsInterface.Failure.noSuchVersionName) {
      _ = try other.app.call(VersionsInterface.remove, VersionsInterface.RemoveCall(version: kept.id).json)
    }
    try await world.end()
  }

  @Test(arguments: ["/documents/../../etc/passwd", "/etc/passwd", "relative", "", "/documents/x/y", "/home/user/../a"])
  func `are of nothing but the app's own documents`(path: String) async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    fails(VersionsInterface.Failure.notKnownName) { _ = try keep(app.app, path) }
    fails(VersionsInterface.Failure.notKnownName) { _ = try list(app.app, path) }
    try await world.end()
  }

  @Test func `of an earlier file at a path are the user's to see, and no app's`() async throws {
    let world = try await BrokerWorld()
    let path = try world.file("a.txt", "secret")
    let other = try world.file("b.txt", "mine")
    let app = try world.launch()
    let document = try app.pick([other])[0]
    try app.start(document)
    world.wait(seconds: 1)
    let kept = try keep(world.user, path)
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: other, toPath: path)
    #expect(try list(world.user, path).map(\.id) == [kept.id])
    #expect(try list(app.app, document.path).isEmpty)
    fails(VersionsInterface.Failure.noSuchVersionName) { _ = try text(app.app, kept.id) }
    try await world.end()
  }

  @Test func `from before a document came into a container are not the app's that has the container`() async throws {
    let world = try await BrokerWorld()
    let path = try world.file("a.txt", "secret")
    let app = try world.launch()
    let inside = "\(try app.documents(world))/a.txt"
    let before = try keep(world.user, path)
    world.clock.advance(1)
    try move(path, inside)
    let own = "/home/user/Documents/a.txt"
    #expect(try list(app.app, own).isEmpty)
    try put("mine", inside)
    let kept = try keep(app.app, own)
    #expect(try list(app.app, own).map(\.id) == [kept.id] && text(app.app, kept.id) == "mine")
    fails(VersionsInterface.Failure.noSuchVersionName) { _ = try text(app.app, before.id) }
    fails(VersionsInterface.Failure.noSuchVersionName) {
      _ = try app.app.call(VersionsInterface.remove, VersionsInterface.RemoveCall(version: before.id).json)
    }
    #expect(try list(world.user, inside).map(\.id) == [kept.id, before.id])
    // What it has moved out is not its own any more.
    try move(inside, path)
    _ = try keep(world.user, path)
    fails(VersionsInterface.Failure.noSuchVersionName) { _ = try text(app.app, kept.id) }
    try await world.end()
  }

  @Test func `of a package are listed with all folders`() async throws {
    let world = try await BrokerWorld()
    let folder = try world.temporary.folder("Essay.pkg/in")
    try put("inside", "\(folder)/b")
    let kept = try keep(world.user, "\(world.temporary.path)/Essay.pkg", conflict: false)
    let answer = try world.user.call(
      VersionsInterface.contents, VersionsInterface.ContentsCall(version: kept.id).json)
    #expect(try VersionsInterface.ContentsReply(json: answer.parameters).paths == ["in/b"])
    try await world.end()
  }

  @Test func `of a document for reading only stay as they are`() async throws {
    let world = try await BrokerWorld()
    let path = try world.file("a.txt", "one")
    let app = try world.launch()
    let document = try app.pick([path], .init(multiple: true, access: .readOnly))[0]
    try app.start(document)
    fails(VersionsInterface.Failure.readOnlyName) { _ = try keep(app.app, document.path) }
    world.clock.advance(1)
    let kept = try keep(world.user, path)
    #expect(try text(app.app, kept.id) == "one")
    fails(VersionsInterface.Failure.readOnlyName) {
      _ = try app.app.call(VersionsInterface.remove, VersionsInterface.RemoveCall(version: kept.id).json)
    }
    try await world.end()
  }
}

@Suite struct `A package's files` {
  private let temporary: TemporaryFolder
  private let folder: Descriptor

  init() throws {
    temporary = try TemporaryFolder()
    for name in ["p/a", "p/b/c"] { try temporary.folder(name) }
    _ = try temporary.write("p/2", "")
    _ = try temporary.write("p/b/1", "")
    folder = try Descriptor.open("\(temporary.path)/p", flags: [.read, .directory])
  }

  @Test func `are told in order, and folders count as well`() throws {
    #expect(try PackageListing.paths(in: folder, most: 5) { true } == ["2", "b/1"])
    #expect(throws: KernelError.self) { try PackageListing.paths(in: folder, most: 4) { true } }
  }

  @Test func `are not looked for when they are not wanted any more`() throws {
    #expect(throws: KernelError.self) { try PackageListing.paths(in: folder) { false } }
  }
}

@Suite struct `Memory pressure` {
  @Test func `ends the largest first, and as few as it takes`() {
    let apps = [(id: "a", memory: 10), (id: "b", memory: 30), (id: "c", memory: 20)]
    func ended(_ until: Int?) -> [String] {
      PressureRule.order(apps, all: 100, until: until).filter(\.isEnded).map(\.id)
    }
    #expect(ended(nil) == ["b", "c", "a"])
    #expect(ended(100) == [])
    #expect(ended(99) == ["b"])
    #expect(ended(70) == ["b"])
    #expect(ended(69) == ["b", "c"])
    #expect(ended(0) == ["b", "c", "a"])
  }

  @Test func `ends suspended apps alone`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    func press(_ app: String?, _ until: Int?) throws -> LauncherInterface.PressMemoryReply {
      try .init(
        json: try world.user.call(
          LauncherInterface.pressMemory, LauncherInterface.PressMemoryCall(app: app, until: until).json
        ).parameters)
    }
    #expect(try press(nil, 0).instances.isEmpty && world.suspension.ends == 0)
    #expect(throws: WireError.self) { _ = try press(app.instance, nil) }
    _ = try world.user.call(LauncherInterface.suspend, LauncherInterface.SuspendCall(app: app.instance).json)
    #expect(try press(nil, 1 << 20).instances.map(\.ended) == [false])
    #expect(try press(app.instance, nil).instances.map(\.ended) == [true] && world.suspension.ends == 1)
    try await world.end()
    #expect(try world.events(.suspend).map(\.how) == ["user", "memory pressure"])
  }
}
