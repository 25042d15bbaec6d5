import Foundation
import Kernel
import Testing
import Wire

import struct TestSupport.Deadline

@Suite struct `Connections` {
  /// A server's end and a raw peer.
  static func pair(_ limits: WireLimits = .app) throws -> (WireConnection, Descriptor) {
    let (server, peer) = try UnixSocket.pair()
    return (WireConnection(id: 1, socket: server, limits: limits), peer)
  }

  static func send(_ text: String, _ descriptors: [Descriptor] = [], to peer: Descriptor) throws {
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
      sent += try UnixSocket.send(
        bytes, from: sent, descriptors: sent == 0 ? descriptors : [], to: peer, wait: true)
    }
  }

  /// What the peer has got so far, with zeros shown as bars; nil at the end.
  static func read(_ peer: Descriptor) throws -> String? {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    switch try UnixSocket.receive(into: &buffer, from: peer, wait: false) {
    case .bytes(let count, _, _): return String(decoding: buffer[..<count].map { $0 == 0 ? 0x7C : $0 }, as: UTF8.self)
    case .nothing: return ""
    case .end, .unread, .truncated: return nil
    }
  }

  @Test func `calls are answered in order, one at a time`() throws {
    let (connection, peer) = try Self.pair()
    #expect(try connection.receive() == nil)
    try Self.send("{\"method\":\"a.B.One\"}\0{\"method\":\"a.B.Two\",\"parameters\":{\"x\":1}}\0{\"meth", to: peer)
    #expect(try connection.receive()?.method == "a.B.One")
    #expect(connection.isAwaitingReply && !connection.wantsRead && connection.events == [])
    #expect(try connection.receive() == nil)
    #expect(connection.send(Reply(["n": 1])))
    #expect(connection.hasMessage)
    let second = try connection.receive()
    #expect(second?.method == "a.B.Two" && second?.parameters == ["x": 1])
    #expect(connection.send(Reply(ErrorReply("a.B.No", ["why": "x"]))))
    #expect(try connection.receive() == nil)
    #expect(!connection.isClosed && connection.events == .read && !connection.hasMessage)
    #expect(
      try Self.read(peer) == #"{"parameters":{"n":1}}|{"error":"a.B.No","parameters":{"why":"x"}}|"#)
  }

  @Test func `a call that takes several answers gets them until the last`() throws {
    let (connection, peer) = try Self.pair()
    try Self.send("{\"method\":\"a.B.C\",\"more\":true}\0", to: peer)
    #expect(try connection.receive()?.more == true)
    #expect(connection.send(Reply(["n": 1], continues: true)))
    #expect(connection.isAwaitingReply)
    #expect(connection.send(Reply(["n": 2])))
    #expect(!connection.isAwaitingReply)
    #expect(!connection.send(Reply(["n": 3])))
    #expect(try Self.read(peer) == #"{"parameters":{"n":1},"continues":true}|{"parameters":{"n":2}}|"#)
  }

  @Test func `a call that wants no answer gets none`() throws {
    let (connection, peer) = try Self.pair()
    try Self.send("{\"method\":\"a.B.C\",\"oneway\":true}\0{\"method\":\"a.B.D\"}\0", to: peer)
    #expect(try connection.receive()?.oneway == true)
    #expect(!connection.send(Reply()))
    #expect(try connection.receive()?.method == "a.B.D")
    #expect(try Self.read(peer) == "")
  }

  static let broken: [(String, String)] = [
    ("hello\0", "a value was expected, at byte 0"),
    ("\0", "the document ends too early, at byte 0"),
    ("[]\0", "a message is a JSON object"),
    ("{}\0", "the field “method” is not a string"),
    ("{\"method\":1}\0", "the field “method” is not a string"),
    ("{\"method\":\"a.B\",\"method\":\"a.C\"}\0", "a field occurs twice, at byte 16"),
    ("{\"method\":\"a.B\",\"parameters\":[]}\0", "the field “parameters” is not an object"),
    ("{\"method\":\"a.B\",\"more\":1}\0", "the field “more” is not true or false"),
    ("{\"method\":\"a.B\",\"onewey\":true}\0", "the field “onewey” is not part of a call"),
    ("{\"method\":\"a.B\",\"oneway\":true,\"more\":true}\0", "the field “oneway” is not usable together with “more”"),
    (String(repeating: "x", count: 65_537), "a message is longer than 65536 bytes"),
  ]

  @Test(arguments: broken) func `a broken message ends the connection, which says why`(text: String, why: String) throws
  {
    let (connection, peer) = try Self.pair()
    try Self.send(text, to: peer)
    #expect(throws: WireError.broken(why)) { try connection.receive() }
    #expect(connection.isClosed && connection.events == [])
    let answer = JSONObject(
      dictionaryLiteral: ("error", "io.ambit.ProtocolError"), ("parameters", ["reason": .string(why)]))
    #expect(try Self.read(peer) == answer.text + "|")
    #expect(try connection.receive() == nil)
  }

  @Test func `a call before the broken one is still handed out`() throws {
    let (connection, peer) = try Self.pair()
    try Self.send("{\"method\":\"a.B.C\"}\0nonsense\0", to: peer)
    #expect(try connection.receive()?.method == "a.B.C")
    connection.send(Reply())
    #expect(throws: WireError.self) { try connection.receive() }
  }

  @Test func `when the peer goes, the connection is closed, and what is read before is served`() throws {
    var (connection, peer): (WireConnection, Descriptor?) = try Self.pair()
    try Self.send("{\"method\":\"a.B.C\",\"oneway\":true}\0{\"me", to: try #require(peer))
    peer = nil
    #expect(try connection.receive()?.method == "a.B.C")
    // A child that another test starts has every descriptor of this process for a moment.
    try Deadline.wait(for: "the end to be seen") { try connection.receive() == nil && connection.isClosed }
    (connection, peer) = try Self.pair()
    try Self.send("{\"method\":\"a.B.C\"}\0", to: try #require(peer))
    #expect(try connection.receive() != nil)
    // For certain: with a copy in somebody's child the answer would be taken.
    #expect(shutdown(try #require(peer).rawValue, Int32(SHUT_RDWR)) == 0)
    peer = nil
    #expect(connection.send(Reply()))
    #expect(connection.isClosed)
  }

  @Test func `a peer that does not read is dropped when too much waits for it`() throws {
    var limits = WireLimits.app
    limits.outstandingBytes = 100_000
    let (connection, peer) = try Self.pair(limits)
    let big = Reply(["x": .string(String(repeating: "y", count: 50_000))], continues: true)
    try Self.send("{\"method\":\"a.B.C\",\"more\":true}\0", to: peer)
    _ = try connection.receive()
    var sent = 0
    while !connection.isClosed && sent < 1000 {
      connection.send(big)
      sent += 1
      #expect(connection.isClosed || connection.wantsWrite || sent < 100)
    }
    #expect(connection.isClosed)
    // The kernel's buffer holds some; what is held here is bounded.
    #expect(sent > 2 && sent < 100)
  }

  @Test func `what could not be sent at once is sent when the peer reads`() throws {
    let (connection, peer) = try Self.pair()
    let reply = Reply(["x": .string(String(repeating: "y", count: 800_000))])
    try Self.send("{\"method\":\"a.B.C\"}\0", to: peer)
    _ = try connection.receive()
    connection.send(reply)
    #expect(connection.events == [.read, .write])
    var got = ""
    while !got.hasSuffix("|") {
      got += try #require(try Self.read(peer))
      connection.flush()
    }
    #expect(got == "{\"parameters\":\(reply.parameters.text)}|")
    #expect(connection.events == .read)
  }
}

@Suite struct `Descriptors on the wire` {
  static let call = "{\"method\":\"a.B.C\"}\0"

  static func take(_ connection: WireConnection) throws -> IncomingCall? {
    let call = try connection.receive()
    if call != nil { connection.send(Reply()) }
    return call
  }

  @Test func `they come with the call that they were sent with`() throws {
    let folder = try TemporaryFolder()
    let (connection, peer) = try Connections.pair(.user)
    try Connections.send(Self.call, to: peer)
    try Connections.send(Self.call, [folder.file("a", "A"), folder.file("b")], to: peer)
    try Connections.send(Self.call, to: peer)
    try Connections.send(Self.call, [folder.file("c")], to: peer)
    #expect(try folder.openCount("a") == 0)  // in flight
    let counts = try (0..<4).map { _ in try Self.take(connection)?.descriptors.count }
    #expect(counts == [0, 2, 0, 1])
    #expect(try folder.openCount("a") == 0)
  }

  @Test func `they are open, close-on-exec, and closed with their last reference`() throws {
    let folder = try TemporaryFolder()
    let (connection, peer) = try Connections.pair(.user)
    try Connections.send(Self.call, [folder.file("a", "content")], to: peer)
    var call = try Self.take(connection)
    let descriptor = try #require(call?.descriptors.first)
    #expect(fcntl(descriptor.rawValue, F_GETFD) == FD_CLOEXEC)
    let handle = FileHandle(fileDescriptor: descriptor.rawValue, closeOnDealloc: false)
    #expect(try handle.readToEnd() == Data("content".utf8))
    #expect(try folder.openCount("a") == 1)
    call = nil
    withExtendedLifetime(descriptor) {}
  }

  @Test func `a message of many pieces keeps them`() throws {
    let folder = try TemporaryFolder()
    let (connection, peer) = try Connections.pair(.user)
    let big = "{\"method\":\"a.B.C\",\"parameters\":{\"x\":\"\(String(repeating: "y", count: 100_000))\"}}\0"
    try Connections.send(Self.call, to: peer)
    try Connections.send(big, [folder.file("a")], to: peer)
    #expect(try Self.take(connection)?.descriptors.count == 0)
    #expect(try Self.take(connection)?.descriptors.count == 1)
  }

  @Test func `more than are allowed end the connection, and none stays open`() throws {
    let folder = try TemporaryFolder()
    let (connection, peer) = try Connections.pair(.app)
    try Connections.send(Self.call, [folder.file("a")], to: peer)
    #expect(throws: WireError.broken("more than 0 descriptors came with a message")) { try connection.receive() }
    #expect(connection.isClosed)
    #expect(try folder.openCount("a") == 0)
  }

  @Test func `253 go in one message, 254 do not`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.file("a")
    let (connection, peer) = try Connections.pair(.user)
    let many = [Descriptor](repeating: file, count: UnixSocket.maximumDescriptors)
    try Connections.send(Self.call, many, to: peer)
    #expect(try Self.take(connection)?.descriptors.count == 253)
    #expect(throws: KernelError.self) { try Connections.send(Self.call, many + [file], to: peer) }
    #expect(try folder.openCount("a") == 1)
  }

  @Test func `an answer brings its own`() throws {
    let folder = try TemporaryFolder()
    let server = try TestServer(in: folder) { connection, call, _ in
      connection.send(Reply(["used": 0]), descriptors: (try? [folder.file("a", "hello")]) ?? [])
    }
    defer { server.stop() }
    let client = try WireClient(address: server.address)
    for _ in 0..<200 {
      let answer = try client.call(AccessInterface.status)
      let descriptor = try #require(answer.descriptors.first)
      #expect(try folder.openCount("a") >= 1)
      withExtendedLifetime(descriptor) {}
    }
    _ = try client.call(AccessInterface.status)
    #expect(try folder.openCount("a") <= 1)
  }
}
