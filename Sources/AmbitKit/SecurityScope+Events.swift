internal import Foundation
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
    try BrokerEvents<AccessInterface.EventsReply>(AccessInterface.events).stream { Event($0.event) }
  }

  /// The same for a program that does nothing else meanwhile.
  ///
  /// - Parameter body: told each event; `false` ends it.
  public static func forEachEvent(_ body: (Event) throws -> Bool) throws {
    try BrokerEvents<AccessInterface.EventsReply>(AccessInterface.events).forEach { try body(Event($0.event)) }
  }
}

extension SecurityScope.Event {
  /// An event that this version does not know says that something has changed.
  fileprivate init(_ event: AccessInterface.Event) {
    self.init(kind: Kind(rawValue: event.kind.rawValue) ?? .lost, path: event.path, cause: event.cause)
  }
}
