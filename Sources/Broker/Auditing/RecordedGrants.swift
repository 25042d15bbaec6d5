internal import Audit

/// Which grants are in force by the log: a fold over its entries about them, in their order.
struct RecordedGrants {
  /// The entry by which each came about, or was carried on.
  private(set) var inForce: [String: AuditEvent] = [:]
  private(set) var ended: Set<String> = []
  /// The grants that have just ended: the next entry may say that this failed.
  private var withdrawn: [String: AuditEvent] = [:]

  /// The kinds of entries that it has to be given.
  static let kinds: [AuditEvent.Kind] = [.grant, .carried, .revoke]

  mutating func take(_ event: AuditEvent) {
    guard let id = event.grant else { return }
    switch (event.kind, event.result) {
    case (.grant, .allowed):
      inForce[id] = event
      ended.remove(id)
    case (.carried, .allowed) where event.detail[AuditEvent.Fact.carries] == "grant":
      if !ended.contains(id), inForce[id] == nil { inForce[id] = event }
    case (.revoke, .allowed):
      withdrawn[id] = inForce.removeValue(forKey: id)
      ended.insert(id)
    case (.revoke, .failed):
      inForce[id] = inForce[id] ?? withdrawn[id]
      ended.remove(id)
    default: break
    }
  }

  /// Whether there is an entry that says how it stands.
  func knows(_ id: String) -> Bool { inForce[id] != nil || ended.contains(id) }
}
