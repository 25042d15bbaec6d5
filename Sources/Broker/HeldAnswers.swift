internal import Audit
internal import Kernel
internal import Wire

/// Answers that are ready, and whose decisions are not on the disk although they should be by now. The loop goes on: what
/// waits are the answers, and with them who asked.
struct HeldAnswers {
  private struct Held {
    /// The last entry that has to be on the disk.
    let entry: Int64
    let connection: WireConnection
    let reply: Reply
    let descriptors: [Descriptor]
  }

  private var waiting: [Held] = []

  var isEmpty: Bool { waiting.isEmpty }

  mutating func add(_ reply: Reply, _ descriptors: [Descriptor], to connection: WireConnection, after entry: Int64) {
    waiting.append(Held(entry: entry, connection: connection, reply: reply, descriptors: descriptors))
  }

  /// Sends those that nothing is in the way of any more.
  mutating func release(through entry: Int64) {
    guard let first = waiting.first, first.entry <= entry else { return }
    let ready = waiting.prefix { $0.entry <= entry }
    waiting.removeFirst(ready.count)
    for held in ready { held.connection.send(held.reply, descriptors: held.descriptors) }
  }
}

extension Broker {
  /// Answers a call; later, if the disk is late with what was decided, or the policy wants everything there first.
  ///
  /// - Parameter sync: what holds for it; `nil`: what does for the request under way.
  func send(
    _ reply: Reply, descriptors: [Descriptor] = [], on connection: WireConnection, _ sync: AuditLog.Sync? = nil
  ) {
    guard let entry = log.heldUntil(sync ?? request?.sync ?? .group) else {
      connection.send(reply, descriptors: descriptors)
      return
    }
    held.add(reply, descriptors, to: connection, after: entry)
  }
}
