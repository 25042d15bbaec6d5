import Foundation
import Kernel
import Testing
import Wire

/// Whose call a call is.
@Suite struct `Callers` {
  private static let call = "{\"method\":\"a.B.C\"}"

  private func pair() throws -> (WireConnection, Descriptor) {
    let (connection, peer) = try Connections.pair()
    try UnixSocket.nameSenders(on: connection.socket)
    return (connection, peer)
  }

  /// Another process that has the connection, as a child has its parent's.
  private func write(_ text: String, to peer: Descriptor) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "printf '\(text)'"]
    process.standardOutput = FileHandle(fileDescriptor: peer.rawValue, closeOnDealloc: false)
    try process.run()
    process.waitUntilExit()
    return process.processIdentifier
  }

  @Test func `each call on a connection is of the process that wrote it`() throws {
    let (connection, peer) = try pair()
    // Two at once, and one behind them.
    try Connections.send("\(Self.call)\0\(Self.call)\0", to: peer)
    let child = try write("\(Self.call)\\0", to: peer)
    for expected in [getpid(), getpid(), child] {
      #expect(try connection.receive()?.sender?.pid == expected)
      connection.send(Reply())
    }
    try Connections.send("\(Self.call)\0", to: peer)
    #expect(try connection.receive()?.sender?.pid == getpid())
  }

  @Test func `a process's pidfd goes with all of its calls, though it came with the first`() throws {
    let (connection, peer) = try pair()
    try Connections.send("\(Self.call)\0", to: peer)
    let first = try #require(try connection.receive()?.sender)
    connection.send(Reply())
    try Connections.send("\(Self.call)\0", to: peer)
    let second = try #require(try connection.receive()?.sender)
    #expect(first.process === second.process)
  }

  @Test func `a call that two processes wrote together is a protocol error`() throws {
    let (connection, peer) = try pair()
    try Connections.send(Self.call, to: peer)
    #expect(try connection.receive() == nil && !connection.isClosed)
    _ = try write("\\0", to: peer)
    #expect {
      try connection.receive()
    } throws: {
      "\($0)".contains("two processes")
    }
    #expect(connection.isClosed)
    #expect(try Connections.read(peer)?.contains("io.ambit.ProtocolError") == true)
    // The control: both halves of one process.
    let (other, mine) = try pair()
    try Connections.send(Self.call, to: mine)
    #expect(try other.receive() == nil)
    try Connections.send("\0", to: mine)
    #expect(try other.receive()?.method == "a.B.C")
  }
}
