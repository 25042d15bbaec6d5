internal import Foundation
internal import Kernel
internal import Synchronization
internal import Wire

/// The events of an app's documents without a call of its own. Ambit's addition.
extension SecurityScope {
  /// Something that happened to one of the app's documents.
  public struct Event: Sendable, Hashable {
    /// The kind of event.
    public enum Kind: String, Sendable, Hashable, Codable {
      /// A started document was taken away.
      case scopeEnded
      /// The grant is over: only picking the document again gives it back.
      case grantEnded
      /// Another file is the document from now on; it stands at the same path.
      case replaced
      /// Events were dropped because they were not read. ``SecurityScope/status(of:)`` tells the started documents.
      case lost
    }

    /// The kind of event.
    public let kind: Kind
    /// Where the document stood while it was started; `nil` for ``Kind/lost``, and for a document that this launch has not seen.
    public let path: String?
    /// The cause of its end: `user`, `app`, `lifetime`, `quota`, `reference`, `removed`. For ``Kind/replaced``: `app` or `host`.
    public let cause: String?
  }

  /// The events from now on, in their order, until the task that reads them is cancelled or the broker ends.
  ///
  ///     for try await event in try SecurityScope.events() where event.kind == .scopeEnded { close(event.path) }
  ///
  /// - Throws: a `CocoaError` where there is no broker.
  public static func events() throws -> AsyncThrowingStream<Event, any Error> {
    let client = try listen()
    let isOver = EventReading()
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
          try read(client) { event in
            continuation.yield(event)
            return true
          }
          continuation.finish()
        } catch { continuation.finish(throwing: error) }
      }
    } catch { throw WireError.kernel(error).cocoa() }
    return stream
  }

  /// The same for a program that does nothing else meanwhile.
  ///
  /// - Parameter body: told each event; `false` ends it.
  public static func forEachEvent(_ body: (Event) throws -> Bool) throws { try read(try listen(), body) }

  private static func listen() throws -> WireClient {
    do {
      let client = try Broker.connect()
      try client.send(AccessInterface.events, [:], more: true)
      return client
    } catch { throw error.cocoa() }
  }

  private static func read(_ client: WireClient, _ body: (Event) throws -> Bool) throws {
    while let event = try next(client) {
      // An event that this version does not know says that something has changed.
      let kind = Event.Kind(rawValue: event.kind.rawValue) ?? .lost
      guard try body(.init(kind: kind, path: event.path, cause: event.cause)) else { return }
    }
  }

  /// - Returns: `nil`: the broker has ended, or the events are not wanted any more.
  private static func next(_ client: WireClient) throws -> AccessInterface.Event? {
    do throws(WireError) {
      guard let answer = try client.receive(wait: true) else { return nil }
      do { return try AccessInterface.EventsReply(json: answer.parameters).event } catch {
        throw .unexpectedReply(error)
      }
    } catch {
      if case .closed = error { return nil }
      throw error.cocoa()
    }
  }
}

/// Whether the events are still read.
private final class EventReading: Sendable {
  private let state = Atomic(false)
  var isSet: Bool { state.load(ordering: .relaxed) }
  func set() { state.store(true, ordering: .relaxed) }
}
