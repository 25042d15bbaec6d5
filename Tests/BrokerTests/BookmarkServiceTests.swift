import Foundation
import Kernel
import TestSupport
import Testing
import Wire

@testable import Audit
@testable import Broker

/// Bookmarks, by calls on an app's socket.
@Suite struct `Bookmarks of documents` {
  private func bookmark(
    _ document: DocumentMessage, _ app: TestApp, _ kind: BookmarksInterface.Kind = .app
  ) throws -> String {
    let call = BookmarksInterface.CreateCall(scope: document.scope, kind: kind)
    return try BookmarksInterface.CreateReply(
      json: try app.app.call("io.ambit.Bookmarks.Create", call.json).parameters
    ).bookmark
  }

  private func resolve(_ bookmark: String, _ app: TestApp) throws -> BookmarksInterface.ResolveReply {
    let call = BookmarksInterface.ResolveCall(bookmark: bookmark)
    return try .init(json: try app.app.call("io.ambit.Bookmarks.Resolve", call.json).parameters)
  }

  @Test func `BMK-1: a bookmark finds a document that was renamed, in the next launch`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let path = try world.file("a.txt")
    let document = try app.pick([path])[0]
    try app.start(document)
    let sealed = try bookmark(document, app)
    try FileManager.default.moveItem(atPath: path, toPath: "\(world.temporary.path)/b.txt")
    let next = try world.launch()
    let found = try resolve(sealed, next)
    #expect(found.document.name == "b.txt")
    #expect(found.isStale)
    #expect(found.matchedBy == .identity)
    #expect(try next.start(found.document).count == 1)
    try await world.end()
  }

  @Test func `BMK-4: a bookmark of another app opens nothing`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    try app.start(document)
    let sealed = try bookmark(document, app)
    let error = try #require(throws: WireError.self) { try resolve(sealed, try world.launch("org.example.other")) }
    #expect("\(error)".contains("BadSeal"), "\(error)")
    #expect(try world.events(.bookmarkResolved).map(\.rule) == ["BMK-4"])
    try await world.end()
  }

  @Test
  func
    `AUD-1: a document that the user has taken from an app does not come back by another app's bookmark from before`()
    async throws
  {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    try app.start(document)
    let sealed = try bookmark(document, app, .implicit)
    let other = try world.launch("org.example.other")
    _ = try resolve(sealed, other)
    world.wait(seconds: 1)
    _ = try world.user.call("io.ambit.Grants.Revoke", GrantsInterface.RevokeCall(app: "org.example.other").json)
    let error = try #require(throws: WireError.self) { try resolve(sealed, other) }
    #expect("\(error)".contains("Revoked"), "\(error)")
    #expect(try world.events(.bookmarkResolved).last?.rule == "AUD-1")
    // The first app passes it on anew.
    world.wait(seconds: 1)
    _ = try resolve(try bookmark(document, app, .implicit), other)
    try await world.end()
  }

  @Test func `BMK-18: a bookmark is made of what is started`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    #expect(throws: WireError.self) { try bookmark(document, app) }
    #expect(try world.events(.bookmarkCreated).map(\.rule) == ["BMK-18"])
    try await world.end()
  }

  @Test func `BMK-9: a bookmark of a document that was deleted says so`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let path = try world.file("a.txt")
    let document = try app.pick([path])[0]
    try app.start(document)
    let sealed = try bookmark(document, app)
    try app.stop(document)
    try FileManager.default.removeItem(atPath: path)
    let error = try #require(throws: WireError.self) { try resolve(sealed, app) }
    #expect("\(error)".contains("NotFound"), "\(error)")
    try await world.end()
  }

  @Test func `BMK-3: a policy's limit for bookmarks is kept to`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(bookmarkLifetime: 3600))
    let document = try app.pick([try world.file("a.txt")])[0]
    try app.start(document)
    let sealed = try bookmark(document, app)
    _ = try resolve(sealed, app)
    world.wait(seconds: 3601)
    #expect(throws: WireError.self) { try resolve(sealed, app) }
    #expect(try world.events(.bookmarkResolved).last?.rule == "BMK-3")
    try await world.end()
  }
}
