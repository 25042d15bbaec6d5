internal import Audit
internal import BrokerCore
internal import Kernel
internal import Wire

/// Replies that are ready, and whose decisions are not on the disk although they should be by now. The loop goes on: the replies wait,
/// and with them the clients.
@BrokerLoop
final class PendingReplies: LoopMember {
  private struct Pending {
    /// The last entry that has to be on the disk.
    let entry: Int64
    let connection: WireConnection
    let reply: Reply
    let descriptors: [Descriptor]
  }

  private let log: AuditLog
  private var waiting: [Pending] = []

  init(_ log: AuditLog) { self.log = log }

  /// Sends a reply; later, if the disk is late with the decision, or the policy wants everything there first.
  func send(_ reply: Reply, descriptors: [Descriptor], on connection: WireConnection, _ sync: AuditLog.Sync) {
    guard let entry = log.heldUntil(sync) else {
      connection.send(reply, descriptors: descriptors)
      return
    }
    waiting.append(Pending(entry: entry, connection: connection, reply: reply, descriptors: descriptors))
  }

  /// Sends those that nothing is in the way of any more.
  func prepare(now: Int64) {
    let entry = log.durable
    guard let first = waiting.first, first.entry <= entry else { return }
    let ready = waiting.prefix { $0.entry <= entry }
    waiting.removeFirst(ready.count)
    for each in ready { each.connection.send(each.reply, descriptors: each.descriptors) }
  }
}
