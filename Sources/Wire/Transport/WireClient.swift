package import Kernel
internal import Synchronization

/// A client that waits for its answers. Calls from several threads go one after the other.
package final class WireClient: Sendable {
  /// For `poll(2)`, together with `receive(wait: false)`.
  package let socket: Descriptor
  private let state: Mutex<State>

  private struct State {
    var framer: MessageFramer<Descriptor>
    var buffer = [UInt8](repeating: 0, count: 8192)
    /// How soon answers come.
    var eagerness = AdaptivePolling(most: WireClient.mostAwake, processors: Poll.processors)
    var patience: Patience?
  }

  /// The step to take when an answer does not come.
  package struct Patience: Sendable {
    let limit: Duration
    let isOver: @Sendable () throws(WireError) -> Duration?

    /// - Parameters:
    ///   - limit: how long nothing has to come.
    ///   - isOver: told so, from the thread that waits. It answers how much longer to wait before it is told again; `nil`: for
    ///     ever. The call throws its errors.
    package init(_ limit: Duration, isOver: @escaping @Sendable () throws(WireError) -> Duration?) {
      (self.limit, self.isOver) = (limit, isOver)
    }
  }

  /// Nanoseconds; most answers take less, and no processor is burnt for the others.
  private static let mostAwake: Int64 = 200_000

  /// One answer, with the descriptors that came with it.
  package struct Answer: Sendable {
    package let parameters: JSONObject
    package let descriptors: [Descriptor]
    /// More answers to the same call follow.
    package let continues: Bool

    /// The one descriptor that came with it, as a number that is the caller's to close.
    package func takeDescriptor() throws(WireError) -> Int32 {
      guard let only = descriptors.first, descriptors.count == 1 else {
        throw .broken("\(descriptors.count) descriptors came where one was expected")
      }
      do { return try only.duplicated() } catch { throw .kernel(error) }
    }
  }

  /// Takes over a connected socket.
  package init(socket: Descriptor, limits: WireLimits = .client) {
    self.socket = socket
    state = Mutex(State(framer: MessageFramer(limits: limits)))
  }

  /// Connects to a Varlink address, for example `unix:/run/ambit/broker`.
  package convenience init(address: String) throws(WireError) {
    let path = try WireAddress.path(of: address)
    do {
      self.init(socket: try WireAddress.connect(path: path))
    } catch {
      throw .kernel(error)
    }
  }

  /// From now on, each wait for an answer has this patience. Without any it is for ever.
  package func setPatience(_ patience: Patience?) { state.withLock { $0.patience = patience } }

  /// Calls a method and waits for its one answer.
  ///
  /// - Parameter meanwhile: runs when the call has been sent, before its answer is waited for.
  /// - Throws: `WireError.remote` when the answer is an error; `unread` when the other side went before it had read the call.
  package func call(
    _ method: String, _ parameters: JSONObject = [:], descriptors: [Descriptor] = [], meanwhile: () -> Void = {}
  ) throws(WireError) -> Answer {
    let call = IncomingCall(method: method, parameters: parameters)
    return try state.withLock { state throws(WireError) in
      try send(call, descriptors)
      meanwhile()
      try awaitAnswer(&state)
      guard let answer = try receive(&state, wait: true) else { throw .closed }
      guard !answer.continues else { throw .broken("several answers to a call that asked for one") }
      return answer
    }
  }

  /// Calls a method that answers several times, and hands over each answer until the last one, or until `body` answers
  /// false; the connection is then of no more use, since further answers may be on their way.
  package func callMore(
    _ method: String, _ parameters: JSONObject = [:], _ body: (Answer) throws(WireError) -> Bool
  ) throws(WireError) {
    try send(method, parameters, more: true)
    while let answer = try receive(wait: true) {
      guard try body(answer), answer.continues else { return }
    }
  }

  /// Sends a call without waiting for an answer; `receive` takes that.
  package func send(
    _ method: String, _ parameters: JSONObject = [:], more: Bool = false, oneway: Bool = false,
    descriptors: [Descriptor] = []
  ) throws(WireError) {
    let call = IncomingCall(method: method, parameters: parameters, more: more, oneway: oneway)
    try state.withLock { _ throws(WireError) in try send(call, descriptors) }
  }

  /// The next answer.
  ///
  /// - Parameter wait: false: nil when none is here yet. After `poll(2)` reported something, ask until nil.
  /// - Throws: `WireError.remote` when the answer is an error; `closed` when the other side has gone, `unread` when it had not
  ///   read the call by then.
  package func receive(wait: Bool) throws(WireError) -> Answer? {
    try state.withLock { state throws(WireError) in try receive(&state, wait: wait) }
  }

  /// The next answer, by a thread that has nothing else to do: as ``call(_:_:descriptors:)`` waits for it.
  package func awaitAnswer() throws(WireError) -> Answer? {
    try state.withLock { state throws(WireError) in
      if !state.framer.hasMessage { try awaitAnswer(&state) }
      return try receive(&state, wait: true)
    }
  }

  private func send(_ call: IncomingCall, _ descriptors: [Descriptor]) throws(WireError) {
    let bytes = call.message.framed
    var sent = 0
    do {
      while sent < bytes.count {
        sent += try UnixSocket.send(
          bytes, from: sent, descriptors: sent == 0 ? descriptors : [], to: socket, wait: true)
      }
    } catch {
      throw Self.lost(error)
    }
  }

  /// Waits until something of an answer is here: awake for a moment where the last ones came at once, and asleep from then on.
  private func awaitAnswer(_ state: inout State) throws(WireError) {
    var entry = [PollEntry(socket, .read)]
    let start = Clock.monotonic()
    var left = state.patience?.limit
    while true {
      let began = Clock.monotonic()
      do {
        if try Poll.wait(&entry, timeout: left, awake: state.eagerness.patience) > 0 { break }
      } catch { throw Self.lost(error) }
      // A signal ends a wait as well.
      left = left.map { max(.zero, $0 - .nanoseconds(Clock.monotonic() - began)) }
      if left == .zero { left = try state.patience?.isOver() }
    }
    state.eagerness.waited(Clock.monotonic() - start)
  }

  private func receive(_ state: inout State, wait: Bool) throws(WireError) -> Answer? {
    while true {
      let message: MessageFramer<Descriptor>.Message?
      do { message = try state.framer.next() } catch { throw .broken(error.description) }
      if let message { return try answer(message) }
      if wait, state.patience != nil { try awaitAnswer(&state) }
      let received: UnixSocket.Received
      do { received = try UnixSocket.receive(into: &state.buffer, from: socket, wait: wait) } catch {
        throw Self.lost(error)
      }
      switch received {
      case .nothing: return nil
      case .end: throw .closed
      case .unread: throw .unread
      case .truncated: throw .broken("descriptors were lost on the way; this process can open no more")
      case .bytes(let count, let descriptors, _):
        state.framer.append(state.buffer[..<count], passengers: descriptors)
      }
    }
  }

  private func answer(_ message: MessageFramer<Descriptor>.Message) throws(WireError) -> Answer {
    let document: JSONValue
    do { document = try JSONValue(parsing: message.bytes, depth: WireLimits.client.depth) } catch {
      throw .broken(error.description)
    }
    guard case .object(let object) = document else { throw .broken("a message is a JSON object") }
    let reply: Reply
    do { reply = try Reply(message: object) } catch { throw .unexpectedReply(error) }
    if let name = reply.error { throw .remote(name: name, parameters: reply.parameters) }
    return Answer(
      parameters: reply.parameters, descriptors: message.passengers, continues: reply.continues)
  }

  /// A process that sends into a closed socket is told so (EPIPE); the other side has received only a part of the call.
  private static func lost(_ error: KernelError) -> WireError {
    error.isPeerGone ? .unread : .kernel(error)
  }
}
