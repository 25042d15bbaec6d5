import Foundation
import Kernel
import Testing
import Wire

import struct TestSupport.Deadline

/// The endpoint driven by hand, with a clock of the test's.
@Suite struct `Endpoints` {
  final class Bench {
    let folder: TemporaryFolder
    let endpoint: WireEndpoint
    var now: Int64 = 0

    init(_ change: (inout WireLimits) -> Void = { _ in }) throws {
      folder = try TemporaryFolder()
      var limits = WireLimits.app
      change(&limits)
      endpoint = WireEndpoint(
        listener: try UnixSocket.listen(in: folder.descriptor, name: "broker"),
        service: WireService(info: ServiceInfo(version: "1", url: "u"), interfaces: Interface.app), limits: limits,
        now: 0)
    }

    func client() throws -> WireClient { try WireClient(address: "unix:\(folder.path)/broker") }

    /// One round of the loop, without waiting.
    func round() throws -> [WireEndpoint.Event] {
      var entries: [PollEntry] = []
      let range = endpoint.appendEntries(to: &entries, now: now)
      try Poll.wait(&entries, timeout: .zero)
      return endpoint.process(entries[range], now: now)
    }

    /// Rounds until there is nothing to do at this time, answering every call; the scopes of the calls, in order.
    func serve() throws -> [String] {
      var scopes: [String] = []
      var idle = 0
      while idle < 2 {
        let events = try round()
        idle = events.isEmpty ? idle + 1 : 0
        for case .call(let connection, let call) in events {
          scopes.append(try call.parameters.string("scope"))
          connection.send(Reply(AccessInterface.StopReply(count: 0)))
        }
      }
      return scopes
    }
  }

  static func stop(_ number: Int) -> JSONObject { ["scope": .string("\(number)")] }

  @Test func `who calls faster than allowed waits, over all connections of the instance, and loses nothing`() throws {
    let bench = try Bench {
      $0.callBurst = 3
      $0.callsPerSecond = 2
    }
    let (first, second) = (try bench.client(), try bench.client())
    for number in 0..<4 { try first.send(AccessInterface.stop, Self.stop(number)) }
    for number in 10..<12 { try second.send(AccessInterface.stop, Self.stop(number)) }
    var served = try bench.serve()
    #expect(served.count == 3)
    #expect(bench.endpoint.timeout(now: bench.now) == .milliseconds(500))
    bench.now += 499_999_999
    #expect(try bench.serve() == [])
    #expect(bench.endpoint.timeout(now: bench.now) == .nanoseconds(1))
    for _ in 0..<3 {
      bench.now += 500_000_000
      let more = try bench.serve()
      #expect(more.count == 1)
      served += more
    }
    #expect(served.filter { $0.count == 1 } == ["0", "1", "2", "3"])
    #expect(served.filter { $0.count == 2 } == ["10", "11"])
    bench.now += 1
    #expect(try bench.serve() == [])
  }

  @Test func `while connections wait for their turn, the loop has nothing to spin on`() throws {
    let bench = try Bench {
      $0.callBurst = 1
      $0.callsPerSecond = 1
    }
    var client: WireClient? = try bench.client()
    for number in 0..<3 { try client?.send(AccessInterface.stop, Self.stop(number)) }
    #expect(try bench.serve() == ["0"])
    client = nil
    // A child that another test starts has every descriptor of this process for a moment.
    let socket = try #require(bench.endpoint.connections.values.first).socket
    try Deadline.wait(for: "the client to have hung up") {
      var entry = [PollEntry(socket, [])]
      try Poll.wait(&entry, timeout: .zero)
      return entry[0].returned.contains(.hangUp)
    }
    // Hung up, with calls unread: poll would report it again and again.
    var entries: [PollEntry] = []
    _ = bench.endpoint.appendEntries(to: &entries, now: bench.now)
    #expect(try Poll.wait(&entries, timeout: .zero) == 0)
    #expect(bench.endpoint.timeout(now: bench.now) == .seconds(1))
  }

  @Test func `calls that want no answer come out with the next one, a few at a time`() throws {
    let bench = try Bench()
    let client = try bench.client()
    for number in 0..<40 { try client.send(AccessInterface.stop, Self.stop(number), oneway: true) }
    try client.send(AccessInterface.stop, Self.stop(40))
    try client.send(AccessInterface.stop, Self.stop(41))
    var rounds: [[String]] = []
    while rounds.joined().count < 41 {
      var round: [String] = []
      for case .call(_, let call) in try bench.round() { round.append(try call.parameters.string("scope")) }
      if !round.isEmpty { rounds.append(round) }
    }
    // The last one waits for its answer, and the one behind it for that.
    #expect(rounds.map(\.count) == [16, 16, 9])
    #expect(Array(rounds.joined()) == (0...40).map(String.init))
    #expect(try bench.round().isEmpty)
  }

  @Test func `a call that waits for its answer ends when its peer goes`() throws {
    let bench = try Bench()
    var client: WireClient? = try bench.client()
    try client?.send(PickerInterface.pick, ["mode": "open"])
    try client?.send(AccessInterface.stop, Self.stop(1))
    var calls: [String] = []
    while calls.isEmpty { for case .call(_, let call) in try bench.round() { calls.append(call.member) } }
    #expect(try bench.round().isEmpty)
    #expect(bench.endpoint.timeout(now: 0) == nil)
    client = nil
    var events: [WireEndpoint.Event] = []
    // A child that another test starts has every descriptor of this process for a moment.
    try Deadline.wait(for: "the client to have hung up") {
      events = try bench.round()
      return !events.isEmpty
    }
    guard case .closed(let connection)? = events.first, events.count == 1 else {
      Issue.record("\(events)")
      return
    }
    #expect(connection.isClosed && !connection.send(Reply()))
    #expect(bench.endpoint.connections.isEmpty)
  }

  @Test func `a message that is in memory already is served without the socket becoming readable again`() throws {
    let bench = try Bench()
    let client = try bench.client()
    try client.send(AccessInterface.stop, Self.stop(1))
    try client.send(AccessInterface.stop, Self.stop(2))
    var waiting: WireConnection?
    while waiting == nil { for case .call(let connection, _) in try bench.round() { waiting = connection } }
    #expect(bench.endpoint.timeout(now: 0) == nil)
    waiting?.send(Reply(AccessInterface.StopReply(count: 0)))
    #expect(bench.endpoint.timeout(now: 0) == .zero)
    #expect(try bench.serve() == ["2"])
    #expect(bench.endpoint.timeout(now: 0) == nil)
  }

  @Test func `part of a message is waited for, and keeps nobody busy`() throws {
    let bench = try Bench()
    let peer = try UnixSocket.connect(in: bench.folder.descriptor, name: "broker")
    try Connections.send("{\"method\":\"io.am", to: peer)
    #expect(try bench.serve() == [])
    #expect(bench.endpoint.timeout(now: 0) == nil)
    try Connections.send("bit.Access.Stop\",\"parameters\":{\"scope\":\"x\"}}\0", to: peer)
    #expect(try bench.serve() == ["x"])
  }

  @Test func `one connection that sends without pause does not keep another from being served`() throws {
    let bench = try Bench()
    let (greedy, modest) = (try bench.client(), try bench.client())
    for number in 0..<100 { try greedy.send(AccessInterface.stop, Self.stop(number)) }
    try modest.send(AccessInterface.stop, Self.stop(1000))
    let served = try bench.serve()
    #expect(served.count == 101)
    #expect(try #require(served.firstIndex(of: "1000")) <= 2)
  }
}
