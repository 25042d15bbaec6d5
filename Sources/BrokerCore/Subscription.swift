package import Wire

/// Events for one client, as the answers to a Varlink call with `more`. As many wait for a client that does not read as
/// ``capacity``; then they are dropped, and the client is told so as soon as there is room: it asks anew.
@BrokerLoop
package final class Subscription<Event: WireMessage> {
  package let connection: WireConnection
  private let capacity: Int
  private let lost: Event?
  private var waiting: [Event] = []
  private var hasLost = false

  /// - Parameter lost: says that events were dropped; `nil`: its events are no news when they are late.
  package init(_ connection: WireConnection, capacity: Int = 256, lost: Event?) {
    (self.connection, self.capacity, self.lost) = (connection, capacity, lost)
  }

  package var isOver: Bool { connection.isClosed }

  package func send(_ event: Event) {
    if waiting.count < capacity, !hasLost { waiting.append(event) } else { hasLost = true }
    flush()
  }

  /// Sends the last event: the connection is free for another call. Of a client that does not read it is closed.
  package func end(_ event: Event) {
    flush()
    guard waiting.isEmpty, !hasLost, !connection.wantsWrite else { return connection.close() }
    connection.send(Reply(event.json))
  }

  /// Sends as much as the client has room for.
  package func flush() {
    while !waiting.isEmpty, !connection.wantsWrite {
      connection.send(Reply(waiting.removeFirst().json, continues: true))
    }
    guard hasLost, waiting.isEmpty, !connection.wantsWrite else { return }
    hasLost = false
    if let lost { connection.send(Reply(lost.json, continues: true)) }
  }
}
