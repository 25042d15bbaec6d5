import Foundation
import Kernel
import Synchronization
import TestSupport
import Testing
import Wire

@Suite struct `Client and server` {
  @Test func `a call is answered`() throws {
    let folder = try TemporaryFolder()
    let server = try TestServer(in: folder) { connection, call, _ in
      let scope = (try? call.parameters.string("scope")) ?? ""
      connection.send(Reply(AccessInterface.StartReply(path: "/documents/1/\(scope)", count: 3)))
    }
    defer { server.stop() }
    let client = try WireClient(address: server.address)
    let answer: AccessInterface.StartReply = try client.call(
      AccessInterface.start, AccessInterface.StartCall(scope: "x", caller: "a:1"))
    #expect(answer == .init(path: "/documents/1/x", count: 3))
  }

  @Test func `errors come as errors, and the connection goes on`() throws {
    let folder = try TemporaryFolder()
    let server = try TestServer(in: folder) { connection, _, _ in
      connection.send(Reply(AccessInterface.Failure.unavailable("gone")))
    }
    defer { server.stop() }
    let client = try WireClient(address: server.address)
    #expect(throws: WireError.remote(name: "io.ambit.Access.Unavailable", parameters: ["reason": "gone"])) {
      try client.call(AccessInterface.stop, ["scope": "x"])
    }
    #expect(
      throws: WireError.remote(name: "org.varlink.service.InvalidParameter", parameters: ["parameter": "scope"])
    ) { try client.call(AccessInterface.stop) }
    #expect(
      throws: WireError.remote(
        name: "org.varlink.service.InterfaceNotFound", parameters: ["interface": "io.ambit.Launcher"])
    ) { try client.call(LauncherInterface.instances) }
    #expect(try client.call("org.varlink.service.GetInfo").parameters.string("version") == "1.0")
  }

  @Test func `several answers to one call arrive in order, waiting or not`() throws {
    let folder = try TemporaryFolder()
    let server = try TestServer(in: folder, interfaces: Interface.user, limits: .user) { connection, call, _ in
      for number in 0..<50 { connection.send(Reply(["n": JSONValue(number)], continues: true)) }
      connection.send(Reply(["n": 50]))
    }
    defer { server.stop() }
    let client = try WireClient(address: server.address)
    var seen: [Int] = []
    try client.callMore(LauncherInterface.prompts, ["instance": "i"]) { answer throws(WireError) in
      seen.append((try? answer.parameters.int("n")) ?? -1)
      return true
    }
    #expect(seen == Array(0...50))

    seen = []
    try client.send(LauncherInterface.prompts, ["instance": "i"], more: true)
    var isLast = false
    while !isLast {
      var entries = [PollEntry(client.socket, .read)]
      try Poll.wait(&entries)
      while let answer = try client.receive(wait: false) {
        seen.append(try answer.parameters.int("n"))
        isLast = !answer.continues
      }
    }
    #expect(seen == Array(0...50))
  }

  @Test func `an answer that comes late, after other connections were served, comes to its own call`() throws {
    let folder = try TemporaryFolder()
    let waiting = Mutex<Int?>(nil)
    let server = try TestServer(in: folder) { connection, call, memory in
      if call.member == "Pick" {
        waiting.withLock { $0 = connection.id }
        memory.held = connection
      } else {
        connection.send(Reply(["count": 0]))
        memory.held?.send(Reply(["documents": []]))
        memory.held = nil
      }
    }
    defer { server.stop() }
    let picking = try WireClient(address: server.address)
    try picking.send(PickerInterface.pick, ["mode": "open"])
    // Sent behind the call that waits: answered after it.
    try picking.send(AccessInterface.stop, ["scope": "z"])
    let other = try WireClient(address: server.address)
    while waiting.withLock({ $0 == nil }) { _ = try other.call("org.varlink.service.GetInfo") }
    #expect(try picking.receive(wait: false) == nil)
    _ = try other.call(AccessInterface.stop, ["scope": "x"])
    #expect(try picking.receive(wait: true)?.parameters == ["documents": []])
    #expect(try picking.receive(wait: true)?.parameters == ["count": 0])
  }

  @Test func `a client that sends nonsense loses its own connection and nobody else's`() throws {
    let folder = try TemporaryFolder()
    let server = try TestServer(in: folder) { connection, _, _ in connection.send(Reply(["count": 0])) }
    defer { server.stop() }
    let good = try WireClient(address: server.address)
    _ = try good.call(AccessInterface.stop, ["scope": "x"])
    let bad = try UnixSocket.connect(path: folder.path + "/broker")
    _ = try UnixSocket.send([1, 2, 3, 0], to: bad, wait: true)
    let client = WireClient(socket: bad)
    #expect(
      throws: WireError.remote(
        name: "io.ambit.ProtocolError", parameters: ["reason": "a value was expected, at byte 0"])
    ) { try client.receive(wait: true) }
    #expect(throws: WireError.closed) { try client.receive(wait: true) }
    _ = try good.call(AccessInterface.stop, ["scope": "x"])
    #expect(
      server.log.withLock { $0 } == [
        "broken: the connection was ended, because of a broken message: a value was expected, at byte 0", "closed",
      ])
  }

  @Test func `one connection too many is told so, and there is room again when one goes`() throws {
    let folder = try TemporaryFolder()
    var limits = WireLimits.app
    limits.connections = 3
    let server = try TestServer(in: folder, limits: limits) { connection, _, _ in connection.send(Reply(["count": 0])) }
    defer { server.stop() }
    var clients = try (0..<3).map { _ in try WireClient(address: server.address) }
    for client in clients { _ = try client.call(AccessInterface.stop, ["scope": "x"]) }
    let late = try WireClient(address: server.address)
    #expect(
      throws: WireError.remote(name: "io.ambit.TooMuch", parameters: ["limit": "connections", "value": 3])
    ) { try late.receive(wait: true) }
    clients.removeLast()
    while server.log.withLock({ !$0.contains("closed") }) { usleep(1000) }
    _ = try WireClient(address: server.address).call(AccessInterface.stop, ["scope": "x"])
    #expect(server.log.withLock { $0.contains("refused: 3") })
  }

  @Test func `calls of many threads over one client do not mix`() throws {
    let folder = try TemporaryFolder()
    let server = try TestServer(in: folder) { connection, call, _ in
      connection.send(Reply(["path": call.parameters["scope"] ?? .null, "count": 1]))
    }
    defer { server.stop() }
    let client = try WireClient(address: server.address)
    try onOwnThreads(4) { thread in
      for round in 0..<200 {
        let answer = try client.call(AccessInterface.start, ["scope": .string("\(thread)/\(round)")])
        try #require(try answer.parameters.string("path") == "\(thread)/\(round)")
      }
    }
  }

  @Test func `a server that is gone, or was never there, is an error`() throws {
    let folder = try TemporaryFolder()
    #expect(throws: WireError.self) { try WireClient(address: "unix:\(folder.path)/none") }
    #expect(throws: WireError.badAddress("the address “tcp:1:2” is not of the form unix:/PATH")) {
      try WireClient(address: "tcp:1:2")
    }
    let server = try TestServer(in: folder) { _, _, _ in }
    let client = try WireClient(address: server.address)
    server.stop()
    #expect(throws: WireError.unread) { try client.call(AccessInterface.status) }
  }

  @Test func `who calls a server that goes is told whether the call was read`() throws {
    let folder = try TemporaryFolder()
    let listener = try UnixSocket.listen(in: folder.descriptor, name: "broker")
    var endpoint: WireEndpoint? = WireEndpoint(
      listener: listener, service: WireService(info: .init(version: "1", url: ""), interfaces: Interface.app),
      limits: .app, now: 0)
    func turn() throws -> [WireEndpoint.Event] {
      guard let endpoint else { return [] }
      var entries: [PollEntry] = []
      let range = endpoint.appendEntries(to: &entries, now: 0)
      try Poll.wait(&entries, timeout: .zero)
      return endpoint.process(entries[range], now: 0)
    }
    let address = "unix:\(folder.path)/broker"
    let clients = try (0..<3).map { _ in try WireClient(address: address) }
    // One that is read, one that is not, and one that has not called yet.
    try clients[0].send(AccessInterface.status)
    var calls = 0
    for _ in 0..<3 { for case .call in try turn() { calls += 1 } }
    #expect(calls == 1 && endpoint?.connections.count == 3)
    try clients[1].send(AccessInterface.status)
    // From here on who connects is not accepted.
    let late = try WireClient(address: address)
    try late.send(AccessInterface.status)
    endpoint = nil
    #expect(throws: WireError.closed) { try clients[0].receive(wait: true) }
    #expect(throws: WireError.unread) { try clients[1].receive(wait: true) }
    #expect(throws: WireError.unread) { try clients[2].call(AccessInterface.status) }
    withExtendedLifetime(listener) {}
  }

  @Test func `who stops listening tells those that wait, and serves the others`() throws {
    let folder = try TemporaryFolder()
    let address = "unix:\(folder.path)/broker"
    let endpoint = WireEndpoint(
      listener: try UnixSocket.listen(in: folder.descriptor, name: "broker"),
      service: WireService(info: .init(version: "1", url: ""), interfaces: Interface.app), limits: .app, now: 0)
    func turn() throws {
      var entries: [PollEntry] = []
      let range = endpoint.appendEntries(to: &entries, now: 0)
      try Poll.wait(&entries, timeout: .zero)
      for case .call(let connection, _) in endpoint.process(entries[range], now: 0) {
        connection.send(Reply(["count": 1]))
      }
    }
    let served = try WireClient(address: address)
    try turn()
    let waiting = try WireClient(address: address)
    try waiting.send(AccessInterface.status)
    endpoint.stopListening()
    #expect(endpoint.timeout(now: 0) == nil)
    #expect(throws: WireError.unread) { try waiting.receive(wait: true) }
    #expect(throws: WireError.self) { try WireClient(address: address) }
    try served.send(AccessInterface.status)
    try turn()
    #expect(try served.receive(wait: true)?.parameters.int("count") == 1)
  }

  @Test func `a socket may stand in a folder whose path is too long for an address`() throws {
    let folder = try TemporaryFolder()
    let deep = (0..<4).map { "\($0)" + String(repeating: "d", count: 100) }.joined(separator: "/")
    let path = folder.path + "/" + deep
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let directory = Descriptor(owning: unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    let listener = try UnixSocket.listen(in: directory, name: "broker")
    #expect(try UnixSocket.accept(listener) == nil)
    let attributes = try FileManager.default.attributesOfItem(atPath: path + "/broker")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let client = try UnixSocket.connect(path: path + "/broker")
    let server = try #require(try UnixSocket.accept(listener))
    #expect(try UnixSocket.send([7], to: client, wait: true) == 1)
    var buffer: [UInt8] = [0, 0]
    guard case .bytes(1, _, _) = try UnixSocket.receive(into: &buffer, from: server, wait: true) else {
      throw CocoaError(.fileReadUnknown)
    }
    #expect(buffer == [7, 0])
    let peer = try UnixSocket.peer(of: server)
    #expect(peer.pid == getpid() && peer.userID == getuid() && peer.groupID == getgid())
    _ = try UnixSocket.connect(in: directory, name: "broker")
    for name in ["", ".", "..", "a/b", String(repeating: "x", count: 100)] {
      #expect(throws: KernelError.self) { try UnixSocket.connect(in: directory, name: name) }
      #expect(throws: KernelError.self) { try UnixSocket.listen(in: directory, name: name) }
    }
    #expect(throws: KernelError.self) { try UnixSocket.listen(in: directory, name: "broker") }
  }
}
