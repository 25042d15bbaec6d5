// A device's saved state. It stores the head as one value and each row by its id.

/// One entry, as a store keeps it.
package struct SyncRow: Codable, Hashable, Sendable {
  /// Its place among the rows. An entry keeps it.
  let order: Int
  let entry: SyncEntry

  package var id: String { entry.id }
}

/// The engine's state without the entries. It is small, but for the time of a listing.
package struct SyncHead: Codable, Sendable {
  /// It has no entries.
  var engine: SyncEngine

  init(_ engine: SyncEngine) {
    self.engine = engine
    self.engine.entries = EntryTable()
  }

  package init(from decoder: any Decoder) throws { engine = try SyncEngine(from: decoder) }
  package func encode(to encoder: any Encoder) throws { try engine.encode(to: encoder) }
}

/// The changes since the delta before.
package struct SyncDelta: Codable, Sendable {
  /// It replaces the stored one.
  package var head: SyncHead
  /// Each one replaces the stored row with its id.
  package var changed: [SyncRow]
  /// The ids of stored rows to remove. There may be none with such an id.
  package var removed: [String]
}

extension SyncEngine {
  /// The rows that a device stores for ``SyncEffect/save``, as one transaction. The engine gives each change once, so a device that cannot store
  /// the delta ends.
  package mutating func takeDelta() -> SyncDelta {
    let (changed, removed) = entries.takeChanges()
    return SyncDelta(head: SyncHead(self), changed: changed, removed: removed)
  }

  /// The engine as it was when the last delta was taken. The next input is ``SyncInput/restored``.
  ///
  /// - Parameter rows: all stored rows, in any order.
  package init(head: SyncHead, rows: some Sequence<SyncRow>) {
    self = head.engine
    entries = EntryTable(rows)
  }
}

/// A store's rows after some deltas.
package struct SavedSync: Sendable {
  package internal(set) var head: SyncHead
  package private(set) var rows: [String: SyncRow] = [:]

  /// - Parameter device: the name of a device that has not saved anything.
  package init(device: String) { head = SyncHead(SyncEngine(device: device)) }

  package mutating func apply(_ delta: SyncDelta) {
    head = delta.head
    for id in delta.removed { rows[id] = nil }
    for row in delta.changed { rows[row.id] = row }
  }

  package var engine: SyncEngine { SyncEngine(head: head, rows: rows.values) }
}
