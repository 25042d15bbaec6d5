import Foundation
import Kernel
import Testing

/// The kernel's word of who sent what was received.
@Suite struct `Senders` {
  /// Has another process write to a socket, and waits for its end.
  ///
  /// - Returns: its number.
  static func write(_ text: String, to socket: Descriptor) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "printf %s '\(text)'"]
    process.standardOutput = FileHandle(fileDescriptor: socket.rawValue, closeOnDealloc: false)
    try process.run()
    process.waitUntilExit()
    return process.processIdentifier
  }

  private func send(_ text: String, to socket: Descriptor) throws {
    #expect(try UnixSocket.send(Array(text.utf8), to: socket, wait: true) == text.utf8.count)
  }

  private func receive(_ socket: Descriptor) throws -> (text: String, sender: UnixSocket.Sender?) {
    var buffer = [UInt8](repeating: 0, count: 256)
    guard case .bytes(let count, _, let sender) = try UnixSocket.receive(into: &buffer, from: socket, wait: false)
    else {
      return ("", nil)
    }
    return (String(decoding: buffer[..<count], as: UTF8.self), sender)
  }

  @Test func `each read names the process that wrote, whoever made the connection, and none has bytes of two`() throws {
    let folder = try Folder()
    let directory = try Descriptor.open(folder.path, flags: [.read, .directory])
    let listener = try UnixSocket.listen(in: directory, name: "s")
    try UnixSocket.nameSenders(on: listener)
    let client = try UnixSocket.connect(in: directory, name: "s")
    // Also what is sent before anybody has accepted.
    try send("own ", to: client)
    let child = try Self.write("its ", to: client)
    try send("own again", to: client)
    let server = try #require(try UnixSocket.accept(listener))

    let first = try receive(server)
    #expect(first.text == "own " && first.sender?.pid == getpid())
    let second = try receive(server)
    #expect(second.text == "its " && second.sender?.pid == child && child != getpid())
    let third = try receive(server)
    #expect(third.text == "own again" && third.sender?.pid == getpid())
    // Where pidfds come along, they say who has ended since.
    if let process = first.sender?.process { #expect(!process.processHasEnded) }
    if let process = second.sender?.process { #expect(process.processHasEnded) }
  }

  @Test func `pidfds come until they are not wanted, and nobody is named where it was not asked for`() throws {
    let (server, client) = try UnixSocket.pair()
    try send("a", to: client)
    let unnamed = try receive(server)
    #expect(unnamed.text == "a" && unnamed.sender == nil)
    try UnixSocket.nameSenders(on: server)
    try send("b", to: client)
    #expect(try receive(server).sender?.pid == getpid())
    UnixSocket.passNoProcesses(on: server)
    try send("c", to: client)
    let named = try receive(server)
    #expect(named.sender?.pid == getpid() && named.sender?.process == nil)
  }

  @Test func `descriptors come with their sender, and whoever is named is not one of them`() throws {
    let (server, client) = try UnixSocket.pair()
    try UnixSocket.nameSenders(on: server)
    let file = try Descriptor.open("/dev/null", flags: .read)
    _ = try UnixSocket.send([1], descriptors: [file, file], to: client, wait: true)
    var buffer = [UInt8](repeating: 0, count: 16)
    guard case .bytes(1, let descriptors, let sender) = try UnixSocket.receive(into: &buffer, from: server, wait: false)
    else { return #expect(Bool(false), "one byte") }
    #expect(descriptors.count == 2 && sender?.pid == getpid())
  }

  @Test func `a process knows its own numbers, and that it has not ended`() throws {
    let own = try Descriptor.process(getpid())
    #expect(own.processNumbers().first == getpid() && !own.processHasEnded)
    // What is no init of a namespace makes no sandbox.
    let table = try Descriptor.open("/proc", flags: [.read, .directory])
    #expect(SandboxProcesses(init: own, table: table) == nil)
  }
}
