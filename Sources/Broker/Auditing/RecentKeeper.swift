internal import Audit
internal import BrokerCore
internal import Kernel

/// The documents that were used last: from the log when it is asked for the first time, and from the events since.
@BrokerLoop
final class RecentKeeper {
  private let path: String
  private var known: RecentDocuments?

  /// - Parameter path: of the log.
  init(_ trail: AuditTrail, path: String) {
    self.path = path
    trail.onAllowed = { [weak self] in self?.known?.take($0) }
  }

  /// Where they were, the last one first.
  var paths: [String] {
    if known == nil {
      let query = AuditQuery(result: .allowed)
      let events = try? AuditReader(path: path).latest(RecentDocuments.enoughEvents, matching: query)
      known = RecentDocuments(events ?? [])
    }
    return known?.items.map(\.path) ?? []
  }
}
