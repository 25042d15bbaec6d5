internal import Foundation
internal import Kernel
internal import Synchronization
internal import Wire

/// The answers of a call that answers many times, or that is made again after each answer, on a connection of its own.
struct BrokerEvents<Reply: WireMessage> {
  private let client: WireClient
  private let method: String
  private let isRepeated: Bool

  /// - Parameter isRepeated: it answers once, and is made again.
  /// - Throws: a `CocoaError` where there is no broker.
  init(_ method: String, isRepeated: Bool = false, answer: Reply.Type = Reply.self) throws {
    (self.method, self.isRepeated) = (method, isRepeated)
    do {
      client = try Broker.connect()
      if !isRepeated { try client.send(method, [:], more: true) }
    } catch { throw error.cocoa() }
  }

  /// Until the task that reads them is cancelled, or the broker ends.
  func stream<Event: Sendable>(_ event: @escaping @Sendable (Reply) throws -> Event) throws
    -> AsyncThrowingStream<Event, any Error>
  {
    let isOver = Reading()
    // A thread that waits for the next event looks each second whether it is still wanted.
    client.setPatience(
      .init(.seconds(1)) { () throws(WireError) in
        if isOver.isSet { throw .closed }
        return .seconds(1)
      })
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Event.self, throwing: (any Error).self)
    continuation.onTermination = { _ in isOver.set() }
    do throws(KernelError) {
      try Worker.start {
        do {
          try forEach { reply in
            continuation.yield(try event(reply))
            return true
          }
          continuation.finish()
        } catch { continuation.finish(throwing: error) }
      }
    } catch { throw WireError.kernel(error).cocoa() }
    return stream
  }

  /// - Parameter body: `false` ends it.
  func forEach(_ body: (Reply) throws -> Bool) throws {
    while let reply = try next() {
      guard try body(reply) else { return }
    }
  }

  /// - Returns: `nil`: the broker has ended, or the events are not wanted any more.
  private func next() throws -> Reply? {
    do throws(WireError) {
      if isRepeated { try client.send(method, [:]) }
      guard let answer = try client.receive(wait: true) else { return nil }
      do { return try Reply(json: answer.parameters) } catch { throw .unexpectedReply(error) }
    } catch {
      if case .closed = error { return nil }
      throw error.cocoa()
    }
  }
}

/// Whether the events are still read.
private final class Reading: Sendable {
  private let state = Atomic(false)
  var isSet: Bool { state.load(ordering: .relaxed) }
  func set() { state.store(true, ordering: .relaxed) }
}
