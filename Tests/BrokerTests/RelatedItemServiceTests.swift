import Foundation
import TestSupport
import Testing
import Wire

@testable import Audit
@testable import Broker

/// Siblings of documents, as the broker decides on them (`COO-25`).
@Suite struct RelatedItemServiceTests {
  /// A player that has started a film.
  private struct Player {
    let world: BrokerWorld
    let app: TestApp
    let film: DocumentMessage

    init(_ rules: LauncherInterface.GrantRules) async throws {
      world = try await BrokerWorld()
      app = try world.launch(rules: rules)
      let path = try world.file("film.mov")
      for name in ["film.srt", "film.key"] { _ = try world.file(name) }
      film = try #require(try app.pick([path]).first)
      try app.start(film)
    }

    func path(_ name: String) -> String { "/documents/\(film.grant)/\(name)" }

    /// A presenter, for as long as its connection is kept; `nil`: it was refused.
    func present(_ name: String) throws -> WireClient? {
      let client = try app.connect()
      try client.send(
        CoordinationInterface.present,
        CoordinationInterface.PresentCall(path: path(name), purpose: "p", primary: path("film.mov")).json, more: true)
      do {
        _ = try client.receive(wait: true)
        return client
      } catch WireError.remote(CoordinationInterface.Failure.notKnownName, _) { return nil }
    }

    /// Whether the app may coordinate it.
    func has(_ name: String, writing: Bool = false) throws -> Bool {
      let call = CoordinationInterface.AccessCall(
        intents: [.init(path: path(name), use: writing ? .write : .read, options: [])], purpose: "p")
      do {
        let answer = try app.app.call(CoordinationInterface.access, call.json)
        let done = CoordinationInterface.DoneCall(access: try answer.parameters.int("access"))
        _ = try app.app.call(CoordinationInterface.done, done.json)
        return true
      } catch WireError.remote { return false }
    }
  }

  @Test func `one presenter or several have it, until the last one leaves`() async throws {
    let player = try await Player(.init(related: ["srt"]))
    #expect(try !player.has("film.srt"))
    var (one, two) = (try player.present("film.srt"), try player.present("film.srt"))
    #expect(one != nil && two != nil)
    #expect(try player.has("film.srt", writing: true))
    one = nil
    try player.app.settle()
    #expect(try player.has("film.srt"))
    two = nil
    try Deadline.wait(for: "the last presenter to leave") { try !player.has("film.srt") }
    try await player.world.end()
    #expect(try player.world.events(.related).map(\.how) == ["shown", "taken away"])
  }

  @Test func `it goes with the scope of its document, and does not come back by itself`() async throws {
    let player = try await Player(.init(related: ["srt"]))
    let presenter = try #require(try player.present("film.srt"))
    try player.app.stop(player.film)
    #expect(try !player.has("film.srt"))
    #expect(try player.present("film.srt") == nil)
    try player.app.start(player.film)
    #expect(try !player.has("film.srt"))
    let again = try #require(try player.present("film.srt"))
    #expect(try player.has("film.srt"))
    try player.app.revokeAll()
    #expect(try !player.has("film.srt"))
    withExtendedLifetime((presenter, again)) {}
    try await player.world.end()
    let events = try player.world.events(.related)
    #expect(events.filter { $0.result == .allowed }.map(\.how) == ["shown", "taken away", "shown", "taken away"])
    #expect(events.count { $0.result == .refused } == 1)
  }

  @Test func `the policy's rules for documents hold for it, too`() async throws {
    let typed = try await Player(.init(types: ["mov"], related: ["srt"]))
    #expect(try typed.present("film.srt") == nil)
    try await typed.world.end()
    #expect(try typed.world.events(.related).map(\.result) == [.refused])

    let reading = try await Player(.init(readOnly: true, related: ["srt"]))
    let presenter = try #require(try reading.present("film.srt"))
    #expect(try reading.has("film.srt") && !reading.has("film.srt", writing: true))
    #expect(try reading.present("film.key") == nil)
    withExtendedLifetime(presenter) {}
    try await reading.world.end()
  }

  @Test(
    arguments: [
      ("a.b", "a", "b"), ("a.b.c", "a.b", "c"), ("é.srt", "é", "srt"), (".a.b", ".a", "b"), ("..b", ".", "b"),
      ("a", nil, nil),
      (".a", nil, nil), ("a.", nil, nil), ("", nil, nil), ("a.s/t", nil, nil), ("a.s t", nil, nil),
      ("a.\u{1F980}", nil, nil),
      ("a." + String(repeating: "x", count: 33), nil, nil), (String(repeating: "x", count: 253) + ".ab", nil, nil),
    ] as [(String, String?, String?)])
  func `a name is a stem and an extension`(name: String, stem: String?, type: String?) {
    let parts = RelatedName(name)
    #expect(parts?.stem == stem && parts?.type == type, "\(name)")
  }
}
