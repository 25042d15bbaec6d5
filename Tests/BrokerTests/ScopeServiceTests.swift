import Foundation
import Kernel
import TestSupport
import Testing
import Wire

@testable import Audit
@testable import Broker

/// Scopes, by calls on an app's socket and entries in the log.
@Suite struct `Starting and stopping` {
  @Test func `TOK-4: each start wants a stop`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    #expect(try app.start(document).count == 1)
    #expect(try app.start(document).count == 2)
    #expect(try app.stop(document) == 1)
    #expect(try app.status().used == 1)
    #expect(try app.stop(document) == 0)
    #expect(try app.status().used == 0)
    #expect(try app.stop(document) == 0)
    try await world.end()
    #expect(try world.events(.start).map(\.result) == [.allowed, .allowed])
    #expect(try world.events(.stop).count == 2)
  }

  @Test func `LIM-1: the start beyond the limit is refused, with the holders of the slots`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(limit: 2)
    let documents = try app.pick(["a", "b", "c"].map { try world.file("\($0).txt") })
    for document in documents.prefix(2) { try app.start(document) }
    let error = try #require(throws: WireError.self) { try app.start(documents[2]) }
    #expect("\(error)".contains("LimitReached"), "\(error)")
    #expect(try world.events(.start).last?.rule == "LIM-1")
    try app.stop(documents[0])
    #expect(try app.start(documents[2]).count == 1)
    try await world.end()
  }

  @Test func `TOK-15: a token of another launch opens nothing`() async throws {
    let world = try await BrokerWorld()
    let (one, other) = (try world.launch(), try world.launch())
    let document = try one.pick([try world.file("a.txt")])[0]
    #expect(throws: WireError.self) { try other.start(document) }
    #expect(try world.events(.refuse).map(\.rule) == ["TOK-15"])
    try await world.end()
  }

  @Test func `AUD-1: a policy's lifetime takes a started document away, and refuses it from then on`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(lifetime: 60))
    let document = try app.pick([try world.file("a.txt")])[0]
    try app.start(document)
    world.wait(seconds: 59)
    #expect(try app.status().used == 1)
    world.wait(seconds: 2)
    #expect(try app.status().used == 0)
    #expect(throws: WireError.remote(name: AccessInterface.Failure.revokedName, parameters: [:])) {
      try app.start(document)
    }
    #expect(try world.events(.scopeEnded).map(\.rule) == ["AUD-1"])
    try await world.end()
  }

  @Test func `AUD-1: a grant that is withdrawn ends its scopes at once`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    try app.start(document)
    try app.revokeAll()
    #expect(try app.status().used == 0)
    #expect(throws: WireError.self) { try app.start(document) }
    try await world.end()
  }

  @Test func `TOK-13: under a policy that starts what is picked it is started when it is handed over`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(startsPicked: true))
    _ = try app.pick([try world.file("a.txt")])
    #expect(try app.status().used == 1)
    try await world.end()
  }

  @Test func `a message that is no call is answered, and ends no broker`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    #expect(throws: WireError.self) { try app.connect().call("io.ambit.Access.Nothing") }
    #expect(throws: WireError.self) { try app.connect().call(AccessInterface.start, ["scope": 7]) }
    #expect(try app.status().used == 0)
    try await world.end()
  }
}

/// The picker's half in the broker.
@Suite struct `Picking` {
  @Test func `PCK-9: a choice that is cancelled grants nothing`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let error = try #require(throws: WireError.self) { try app.pick([]) }
    #expect("\(error)".contains("Cancelled"), "\(error)")
    #expect(try world.events(.grant).isEmpty)
    try await world.end()
  }

  @Test func `PCK-7: a document of another type than the policy allows is refused`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(types: ["md"]))
    #expect(throws: WireError.self) { try app.pick([try world.file("a.txt")]) }
    #expect(try world.events(.pick).map(\.rule) == ["PCK-7"])
    try await world.end()
  }

  @Test func `PCK-1: a mode that the policy does not allow asks no user`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(rules: .init(modes: []))
    #expect(throws: WireError.self) { try app.app.call("io.ambit.Picker.Pick", PickerInterface.PickCall().json) }
    #expect(try world.events(.pick).map(\.result) == [.refused])
    try await world.end()
  }

  @Test func `questions are asked one after the other`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let (first, second) = (try app.connect(), try app.connect())
    try first.send("io.ambit.Picker.Pick", PickerInterface.PickCall().json)
    try app.settle()
    try second.send("io.ambit.Picker.Pick", PickerInterface.PickCall().json)
    try app.settle()
    for (name, client) in [("a.txt", first), ("b.txt", second)] {
      try app.choose([try world.file(name)])
      let answer = try #require(try client.receive(wait: true))
      #expect(try PickerInterface.PickReply(json: answer.parameters).documents.map(\.name) == [name])
    }
    try await world.end()
  }

  @Test func `PCK-19: a question whose request is closed is taken back, and grants nothing`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    do {
      let asking = try app.connect()
      try asking.send("io.ambit.Picker.Pick", PickerInterface.PickCall(multiple: true).json)
      #expect(try app.question() != nil)
    }
    // The connection has gone with its client.
    #expect(try app.question() == nil)
    let event = try #require(try world.events(.pickCancelled).last)
    #expect(event.rule == "PCK-19")
    try await world.end()
  }

  @Test func `a question whose app has gone makes room for the next one`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    do {
      let gone = try app.connect()
      try gone.send("io.ambit.Picker.Pick", PickerInterface.PickCall().json)
      try app.settle()
    }
    try app.settle()
    try app.app.send("io.ambit.Picker.Pick", PickerInterface.PickCall().json)
    // The first question was asked already, and its answer comes too late.
    try app.choose([try world.file("late.txt")])
    #expect(try app.question() == nil)
    try app.choose([try world.file("a.txt")])
    let answer = try #require(try app.app.receive(wait: true))
    #expect(try PickerInterface.PickReply(json: answer.parameters).documents.map(\.name) == ["a.txt"])
    try await world.end()
  }
}

/// Events of documents, for apps that listen.
@Suite struct `Events for apps` {
  private func listen(_ app: TestApp) throws -> WireClient {
    let client = try app.connect()
    try client.send(AccessInterface.events, [:], more: true)
    try app.settle()
    return client
  }

  private func next(_ client: WireClient) throws -> AccessInterface.Event {
    let answer = try #require(try client.receive(wait: true))
    #expect(answer.continues)
    return try AccessInterface.EventsReply(json: answer.parameters).event
  }

  @Test func `AUD-1: an app is told that a started document was taken away, and why`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let other = try world.launch("org.example.other")
    let (events, others) = (try listen(app), try listen(other))
    let document = try app.pick([try world.file("a.txt")])[0]
    let path = try app.start(document).path
    try app.revokeAll()
    let first = try next(events)
    #expect(first.kind == .scopeEnded)
    #expect(first.path == path)
    #expect(first.cause == "user")
    #expect(try next(events).kind == .grantEnded)
    // It is none of another app's business.
    #expect(try others.receive(wait: false) == nil)
    try await world.end()
  }

  @Test func `an app that does not read is told that it has lost events, and is served all the same`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let events = try listen(app)
    let document = try app.pick([try world.file("a.txt")])[0]
    try await world.tell(app, document.grant, times: 20_000)
    #expect(try app.start(document).count == 1)
    var kinds: [AccessInterface.Event.Kind] = []
    while kinds.last != .lost { kinds.append(try next(events).kind) }
    #expect(kinds.count > 256)
    #expect(kinds.count < 20_000)
    try app.revokeAll()
    #expect(try next(events).kind == .scopeEnded)
    try await world.end()
  }

  @Test func `TOK-11: of a launch that is over the broker keeps nothing, also if it listened`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let events = try listen(app)
    #expect(try await world.listeners() == 1)
    let report: JSONObject = ["instance": .string(app.instance), "status": 0, "signal": 0]
    _ = try app.launcher.call("io.ambit.Launcher.Ended", report)
    _ = try world.launch().status()
    #expect(try await world.listeners() == 0)
    withExtendedLifetime(events) {}
    try await world.end()
  }

  @Test func `a call for events without “more” is refused`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    #expect(throws: WireError.self) { try app.connect().call(AccessInterface.events) }
    try await world.end()
  }
}
