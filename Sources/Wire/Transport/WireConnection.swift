package import Kernel

/// The server's end of one connection, for a loop that waits with `poll(2)`: nothing in it waits.
///
/// Calls are answered in order. While a call waits for its answer, nothing more is read; the peer's later bytes wait in the
/// kernel's socket buffer, which is bounded, and so is the buffer here.
///
/// The loop, whenever the socket is readable **and whenever it has answered a call**, since a whole message may
/// already be in memory:
///
///     while let call = try connection.receive() { …answer now, or remember the connection and answer later… }
package final class WireConnection {
  package let id: Int
  package let socket: Descriptor
  /// The connection is over: drop it.
  package private(set) var isClosed = false

  private let limits: WireLimits
  private var framer: MessageFramer<Descriptor>
  private var readBuffer = [UInt8](repeating: 0, count: 8192)
  private var outgoing: [Outgoing] = []
  private var outstanding = 0
  /// The call that waits for its answer, and whether it takes several.
  private var pending: (method: String, more: Bool)?
  /// The sender of the bytes in memory, and with them of the next call. With its pidfd once that has come.
  private var sender: UnixSocket.Sender?

  private struct Outgoing {
    let bytes: [UInt8]
    var sent: Int
    var descriptors: [Descriptor]
  }

  package init(id: Int, socket: Descriptor, limits: WireLimits) {
    self.id = id
    self.socket = socket
    self.limits = limits
    framer = MessageFramer(limits: limits)
  }

  /// A call has been handed out and not been answered for good. Hang-up is still reported by `poll(2)` meanwhile.
  package var isAwaitingReply: Bool { pending != nil }
  /// The next call is in memory already and can be had now.
  package var hasMessage: Bool { wantsRead && framer.hasMessage }
  package var wantsRead: Bool { !isClosed && pending == nil }
  package var wantsWrite: Bool { !isClosed && !outgoing.isEmpty }
  /// The events to wait for.
  package var events: PollEvents {
    if wantsRead { return wantsWrite ? .readOrWrite : .read }
    return wantsWrite ? .write : PollEvents(rawValue: 0)
  }

  /// The next call, or nil when none is here, a call waits for its answer, or the connection is closed.
  ///
  /// - Throws: when the bytes were not the protocol. The peer has then been told why, if it could still be told, and the
  ///   connection is closed. Also when the connection breaks.
  package func receive() throws(WireError) -> IncomingCall? {
    while wantsRead {
      let message: MessageFramer<Descriptor>.Message?
      do { message = try framer.next() } catch { throw end(error.description) }
      if let message { return try call(message) }
      let received: UnixSocket.Received
      do { received = try UnixSocket.receive(into: &readBuffer, from: socket, wait: false) } catch {
        close()
        throw .kernel(error)
      }
      switch received {
      case .nothing: return nil
      case .end, .unread: close()
      case .truncated: throw end("descriptors were lost on the way")
      case .bytes(let count, let descriptors, let sender):
        try note(sender)
        framer.append(readBuffer[..<count], passengers: descriptors)
      }
    }
    return nil
  }

  /// The owner of the next call. A call that two processes have written together has none: here, where it is read, nothing whole
  /// is in memory any more, so the bytes there are the beginning of that call.
  private func note(_ sender: UnixSocket.Sender?) throws(WireError) {
    if framer.buffered > 0, sender?.pid != self.sender?.pid {
      throw end("a message came from two processes (\(self.sender?.pid ?? 0) and \(sender?.pid ?? 0))")
    }
    if sender?.process != nil { UnixSocket.passNoProcesses(on: socket) }
    // A later message of the same process comes without its pidfd.
    if let sender, sender.process == nil, sender.pid == self.sender?.pid { return }
    self.sender = sender
  }

  private func call(_ message: MessageFramer<Descriptor>.Message) throws(WireError) -> IncomingCall {
    let document: JSONValue
    do { document = try JSONValue(parsing: message.bytes, depth: limits.depth) } catch { throw end(error.description) }
    guard case .object(let object) = document else { throw end("a message is a JSON object") }
    let call: IncomingCall
    do { call = try IncomingCall(message: object, descriptors: message.passengers, sender: sender) } catch {
      throw end(error.description)
    }
    if !call.oneway { pending = (call.method, call.more) }
    return call
  }

  /// Answers the call that waits, and sends as much as can be sent now.
  ///
  /// An answer that continues keeps the call waiting for the next one; one to a call that takes only one answer is sent
  /// as the last. With nothing waiting (the call was `oneway`, or the connection has closed since), nothing is sent.
  ///
  /// - Returns: whether there was a call to answer.
  @discardableResult
  package func send(_ reply: Reply, descriptors: [Descriptor] = []) -> Bool {
    guard !isClosed, let call = pending else { return false }
    precondition(!reply.continues || call.more, "\(call.method) was not called with “more”")
    if !reply.continues { pending = nil }
    enqueue(reply, descriptors)
    flush()
    return true
  }

  private func enqueue(_ reply: Reply, _ descriptors: [Descriptor] = []) {
    let bytes = reply.message.framed
    outgoing.append(Outgoing(bytes: bytes, sent: 0, descriptors: descriptors))
    outstanding += bytes.count
  }

  /// Sends as much as can be sent now. Closes the connection when the peer has gone, or leaves too much unread.
  package func flush() {
    var next = 0
    defer { outgoing.removeFirst(min(next, outgoing.count)) }
    while !isClosed, next < outgoing.count {
      do {
        let count = try UnixSocket.send(
          outgoing[next].bytes, from: outgoing[next].sent, descriptors: outgoing[next].descriptors, to: socket,
          wait: false)
        if count == 0 { break }
        outgoing[next].sent += count
        outgoing[next].descriptors = []
        outstanding -= count
        if outgoing[next].sent == outgoing[next].bytes.count { next += 1 }
      } catch {
        // Gone, or the kernel will take no more descriptors in flight: a lost answer ends the connection.
        close()
      }
    }
    if outstanding > limits.outstandingBytes { close() }
  }

  /// Ends the connection. The socket is closed with its last reference; descriptors that came and were not handed out
  /// are closed now.
  package func close() {
    isClosed = true
    framer = MessageFramer(limits: limits)
    pending = nil
    outgoing = []
    outstanding = 0
  }

  /// Tells a peer that has not called yet why it will not be served, if that fits, and ends the connection.
  package func refuse(_ error: ErrorReply) {
    enqueue(Reply(error))
    flush()
    close()
  }

  /// Tells the peer the fault, if that fits, and ends the connection.
  private func end(_ reason: String) -> WireError {
    refuse(.protocolError(reason))
    return .broken(reason)
  }
}
