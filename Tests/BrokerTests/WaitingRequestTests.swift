import Foundation
import Kernel
import TestSupport
import Testing
import Wire

@testable import Audit
@testable import Broker

/// A request that waits keeps no other one waiting, and looks again when it goes on.
@Suite struct `A request that waits` {
  @Test func `others are answered meanwhile, and it is answered with what was found`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    try world.finder.close()
    let slow = try app.connect()
    try slow.send(AccessInterface.start, AccessInterface.StartCall(scope: document.scope).json)
    #expect(try app.status().used == 0)
    #expect(try slow.receive(wait: false) == nil)
    world.finder.open()
    let answer = try #require(try slow.receive(wait: true))
    #expect(try AccessInterface.StartReply(json: answer.parameters).count == 1)
    #expect(try app.status().used == 1)
    try await world.end()
  }

  @Test func `AUD-1: a grant that is withdrawn meanwhile is not started`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    try world.finder.close()
    let slow = try app.connect()
    try slow.send(AccessInterface.start, AccessInterface.StartCall(scope: document.scope).json)
    try app.settle()
    try app.revokeAll()
    world.finder.open()
    #expect(throws: WireError.remote(name: AccessInterface.Failure.revokedName, parameters: [:])) {
      try slow.receive(wait: true)
    }
    #expect(try app.status().used == 0)
    #expect(try world.events(.start).allSatisfy { $0.result != .allowed })
    try await world.end()
  }

  @Test func `a client that has gone meanwhile starts nothing`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    try world.finder.close()
    do {
      let gone = try app.connect()
      try gone.send(AccessInterface.start, AccessInterface.StartCall(scope: document.scope).json)
      try app.settle()
    }
    try app.settle()
    world.finder.open()
    #expect(try app.start(document).count == 1)
    #expect(try world.events(.start).map(\.result) == [.allowed])
    try await world.end()
  }

  @Test func `TOK-4: two starts that wait for the same document show it once, and count twice`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    try world.finder.close()
    let both = [try app.connect(), try app.connect()]
    for each in both { try each.send(AccessInterface.start, AccessInterface.StartCall(scope: document.scope).json) }
    try app.settle()
    world.finder.open()
    let counts = try both.map { client in
      try AccessInterface.StartReply(json: try #require(try client.receive(wait: true)).parameters).count
    }
    #expect(counts.sorted() == [1, 2])
    #expect(try app.stop(document) == 1)
    #expect(try app.stop(document) == 0)
    #expect(try app.status().used == 0)
    try await world.end()
  }

  @Test func `LIM-1: a slot that another start has taken meanwhile is not taken again`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch(limit: 1)
    let documents = try app.pick([try world.file("a.txt"), try world.file("b.txt")])
    try world.finder.close()
    let both = [try app.connect(), try app.connect()]
    for (client, document) in zip(both, documents) {
      try client.send(AccessInterface.start, AccessInterface.StartCall(scope: document.scope).json)
    }
    try app.settle()
    world.finder.open()
    let started = both.filter { (try? $0.receive(wait: true)) != nil }
    #expect(started.count == 1)
    #expect(try app.status().used == 1)
    try await world.end()
  }

  @Test func `BMK-16: a file system that does not answer is given up after 10 seconds`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    try world.finder.close()
    let slow = try app.connect()
    try slow.send(AccessInterface.start, AccessInterface.StartCall(scope: document.scope).json)
    try app.settle()
    world.wait(seconds: 10)
    let error = try #require(throws: WireError.self) { try slow.receive(wait: true) }
    #expect("\(error)".contains("Unavailable"), "\(error)")
    world.finder.open()
    try await world.end()
  }
}
