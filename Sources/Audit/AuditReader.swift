internal import GRDB

/// Reads the log, also while the broker writes it. Every call sees the entries that are complete at that moment.
package struct AuditReader: Sendable {
  package let path: String
  private let queue: DatabaseQueue

  /// Opens the log for reading only.
  ///
  /// - Throws: problem `missing` when there is none yet; else as `AuditLog.init` does.
  package init(path: String) throws(AuditLogError) {
    self.path = path
    do {
      queue = try AuditFile.openForReading(path)
    } catch {
      throw AuditLogError(error, file: path)
    }
  }

  /// The number of the log's last entry; 0 when it has none.
  package func lastSequence() throws(AuditLogError) -> Int64 {
    try read { db in
      try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(sequence) FROM event")) ?? 0
    }
  }

  /// The first events after a number that fit, in the log's order.
  ///
  /// - Throws: problem `damaged` when an entry is not as it was written, or when one is missing and the query is empty.
  package func events(matching query: AuditQuery = AuditQuery(), after sequence: Int64 = 0, limit: Int)
    throws(AuditLogError) -> [AuditEvent]
  {
    let events = try fetch(query, after: sequence, order: "ASC", limit: limit)
    if query.isEmpty, let first = events.first, first.sequence != max(0, sequence) + 1 {
      throw AuditLogError(.damaged, path, "entry \(max(0, sequence) + 1) is missing")
    }
    return events
  }

  /// The last events that fit, in the log's order.
  ///
  /// - Throws: as `events(matching:after:limit:)` does.
  package func latest(_ limit: Int, matching query: AuditQuery = AuditQuery()) throws(AuditLogError) -> [AuditEvent] {
    try fetch(query, after: 0, order: "DESC", limit: limit).reversed()
  }

  /// Reads the whole log and checks it: SQLite's own structure, every entry's checksum, the numbers without a gap.
  ///
  /// The other calls check what they touch. This finds what they cannot: an entry that a damaged index hides.
  /// Takes time in proportion to the log.
  /// - Returns: how many entries there are.
  package func verify() throws(AuditLogError) -> Int64 {
    try read { db in
      let found = try String.fetchAll(db, sql: "PRAGMA integrity_check(1)")
      guard found == ["ok"] else {
        throw AuditLogError(.damaged, path, "SQLite says \"\(found.joined(separator: "; "))\"")
      }
      var count: Int64 = 0
      let rows = try Row.fetchCursor(db, sql: "SELECT \(EventRow.columns) FROM event ORDER BY sequence")
      while let row = try rows.next() {
        count += 1
        let event = try EventRow.event(row, file: path)
        guard event.sequence == count else { throw AuditLogError(.damaged, path, "entry \(count) is missing") }
      }
      return count
    }
  }

  private func fetch(
    _ query: AuditQuery, after sequence: Int64, order: String, limit: Int
  ) throws(AuditLogError) -> [AuditEvent] {
    guard limit > 0 else { return [] }
    return try read { db in
      let (conditions, values) = query.conditions
      let sql = """
        SELECT \(EventRow.columns) FROM event
        WHERE \((["sequence > ?"] + conditions).joined(separator: " AND "))
        ORDER BY sequence \(order) LIMIT ?
        """
      let arguments: StatementArguments = [sequence] + values + [limit]
      let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
      var events: [AuditEvent] = []
      while let row = try rows.next() {
        let event = try EventRow.event(row, file: path)
        if query.isEmpty, let last = events.last, abs(event.sequence - last.sequence) != 1 {
          throw AuditLogError(.damaged, path, "entry \(min(event.sequence, last.sequence) + 1) is missing")
        }
        events.append(event)
      }
      return events
    }
  }

  private func read<Value>(_ body: (Database) throws -> Value) throws(AuditLogError) -> Value {
    do {
      return try queue.read(body)
    } catch {
      throw AuditLogError(error, file: path)
    }
  }
}
