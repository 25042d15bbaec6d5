internal import Foundation
internal import Kernel
internal import Synchronization
internal import Wire

/// What happens to an app's documents without a call of its own. Ambit's addition.
extension SecurityScope {
  /// Something that happened to one of the app's documents.
  public struct Event: Sendable, Hashable {
    /// What happened.
    public enum Kind: String, Sendable, Hashable, Codable {
      /// A started document was taken away.
      case scopeEnded
      /// The grant is over: only picking the document again gives it back.
      case grantEnded
      /// Another file is the document from now on; it stands at the same path.
      case replaced
      /// Events were dropped because they were not read. ``SecurityScope/status(of:)`` says what is started.
      case lost
    }

    /// What happened.
    public let kind: Kind
    /// Where the document stood while it was started; `nil` for ``Kind/lost``, and for a document that this launch has not seen.
    public let path: String?
    /// What ended it: `user`, `app`, `lifetime`, `quota`, `reference`, `removed`. For ``Kind/replaced``: `app` or `host`.
    public let cause: String?
  }

  /// The events from now on, in their order, until the task that reads them is cancelled or the broker ends.
  ///
  ///     for try await event in try SecurityScope.events() where event.kind == .scopeEnded { close(event.path) }
  ///
  /// - Throws: a `CocoaError` where there is no broker.
  public static func events() throws -> AsyncThrowingStream<Event, any Error> {
    let client: WireClient
    do {
      client = try Broker.connect()
      try client.send(AccessInterface.events, [:], more: true)
    } catch { throw error.cocoa() }
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
      try Worker.start { continuation.read(from: client) }
    } catch { throw WireError.kernel(error).cocoa() }
    return stream
  }
}

/// Whether the events are still read.
private final class EventReading: Sendable {
  private let state = Atomic(false)
  var isSet: Bool { state.load(ordering: .relaxed) }
  func set() { state.store(true, ordering: .relaxed) }
}

extension AsyncThrowingStream<SecurityScope.Event, any Error>.Continuation {
  fileprivate func read(from client: WireClient) {
    do {
      while let answer = try client.receive(wait: true) {
        let event: AccessInterface.Event
        do { event = try AccessInterface.EventsReply(json: answer.parameters).event } catch {
          throw WireError.unexpectedReply(error)
        }
        // An event that this version does not know says that something has changed.
        let kind = SecurityScope.Event.Kind(rawValue: event.kind.rawValue) ?? .lost
        yield(.init(kind: kind, path: event.path, cause: event.cause))
      }
      finish()
    } catch { if case .closed = error as? WireError { finish() } else { finish(throwing: error) } }
  }
}
