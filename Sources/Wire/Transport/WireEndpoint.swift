package import Kernel

/// One listening socket with its connections, for a loop that waits with `poll(2)`: accepts, reads, checks every call
/// against the service, answers introspection, and keeps the limits. The rest is for the loop.
///
///     let range = endpoint.appendEntries(to: &entries, now: now)
///     try Poll.wait(&entries, timeout: endpoint.timeout(now: now))
///     for event in endpoint.process(entries[range], now: now) { … }
///
/// Times are nanoseconds of a clock that does not go back.
package final class WireEndpoint {
  package enum Event {
    /// Answer with `connection.send`, now or later. A call that was `oneway` must not be answered: the next one may be waiting already.
    case call(WireConnection, CheckedCall)
    /// The connection is over; a call that it waited with needs no answer any more.
    case closed(WireConnection)
    /// The bytes were not the protocol; the peer was told, and the connection is over.
    case broken(WireConnection, reason: String)
    /// One connection too many was refused.
    case refused(limit: Int)
    /// No connection can be accepted at the moment; tried again shortly.
    case failed(KernelError)
  }

  package let service: WireService
  package let limits: WireLimits
  package private(set) var connections: [Int: WireConnection] = [:]

  /// `nil`: no more connections are taken.
  private var listener: Descriptor?
  private var nextID = 1
  private var bucket: TokenBucket
  /// Connections with which one may go on reading as soon as there are tokens again.
  private var starved: Set<Int> = []
  /// Nothing is accepted before this time.
  private var acceptAgain: Int64 = 0

  /// Calls without an answer, of one connection at a time.
  private static let mostOneway = 16

  /// After a failed accept the listener stays readable: without a pause the loop would spin.
  private static let acceptPause: Int64 = 100_000_000

  package init(listener: Descriptor, service: WireService, limits: WireLimits, now: Int64) {
    self.listener = listener
    self.service = service
    self.limits = limits
    bucket = TokenBucket(burst: limits.callBurst, perSecond: limits.callsPerSecond, now: now)
  }

  /// Appends the entries that the endpoint waits for; answers where they stand.
  package func appendEntries(to entries: inout [PollEntry], now: Int64) -> Range<Int> {
    let start = entries.count
    if let listener, now >= acceptAgain { entries.append(PollEntry(listener, .read)) }
    for (id, connection) in connections where !starved.contains(id) {
      entries.append(PollEntry(connection.socket, connection.events, tag: id))
    }
    return start..<entries.count
  }

  /// How long the loop may wait for the sake of this endpoint; nil: for ever.
  package func timeout(now: Int64) -> Duration? {
    // Poll says nothing of a message that is in memory already, nor of a connection that an answer closed.
    for connection in connections.values {
      if connection.isClosed || (connection.hasMessage && !starved.contains(connection.id)) { return .zero }
    }
    var times: [Int64] = []
    if listener != nil, now < acceptAgain { times.append(acceptAgain - now) }
    if !starved.isEmpty { times.append(bucket.wait(now: now)) }
    return times.min().map { .nanoseconds($0) }
  }

  /// Deals with the events that `poll(2)` reported on the endpoint's entries. At most one call of each connection that takes an answer
  /// comes out, and a few before it that take none; `broken` is followed by `closed`.
  package func process(_ entries: ArraySlice<PollEntry>, now: Int64) -> [Event] {
    var events: [Event] = []
    var readable = starved
    starved = []
    // Bytes that were read ahead while a call was waiting are not announced by poll.
    for (id, connection) in connections where connection.hasMessage { readable.insert(id) }
    for entry in entries where entry.hasHappened {
      guard entry.tag != 0 else {
        accept(now: now, &events)
        continue
      }
      guard let connection = connections[entry.tag] else { continue }
      if entry.returned.contains(.write) { connection.flush() }
      if !entry.returned.isDisjoint(with: .over) && !connection.wantsRead { connection.close() }
      readable.insert(entry.tag)
    }
    for id in readable { read(id, now: now, &events) }
    for (id, connection) in connections where connection.isClosed {
      connections[id] = nil
      starved.remove(id)
      events.append(.closed(connection))
    }
    return events
  }

  /// From now on no client can connect. A client that has, and was not accepted yet, is told that nothing was read.
  package func stopListening() { listener = nil }

  private func accept(now: Int64, _ events: inout [Event]) {
    guard let listener else { return }
    // A few at a time, so that connecting again and again does not keep others from being served.
    for _ in 0..<16 {
      do {
        guard let socket = try UnixSocket.accept(listener) else { return }
        let connection = WireConnection(id: nextID, socket: socket, limits: limits)
        nextID += 1
        guard connections.count < limits.connections else {
          connection.refuse(.tooMuch("connections", limits.connections))
          events.append(.refused(limit: limits.connections))
          continue
        }
        connections[connection.id] = connection
      } catch {
        acceptAgain = now + Self.acceptPause
        events.append(.failed(error))
        return
      }
    }
  }

  private func read(_ id: Int, now: Int64, _ events: inout [Event]) {
    guard let connection = connections[id] else { return }
    var oneway = 0
    while connection.wantsRead {
      guard bucket.wait(now: now) == 0 else {
        starved.insert(id)
        return
      }
      do throws(WireError) {
        guard let call = try connection.receive() else { return }
        _ = bucket.take(now: now)
        switch service.check(call) {
        // One at a time. One that takes no answer is often followed by the next call at once.
        case .call(let checked):
          events.append(.call(connection, checked))
          oneway += 1
          guard call.oneway, oneway < Self.mostOneway else { return }
        case .answer(let reply): connection.send(reply)
        }
      } catch {
        events.append(.broken(connection, reason: error.description))
      }
    }
  }
}
