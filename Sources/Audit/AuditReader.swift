internal import GRDB

/// Reads the log, also while the broker writes it, and what a broker that died left. Every call sees each entry that was
/// complete when it began, whether it is in the journal, in the database or on its way.
///
/// That holds because a call reads the journal first and the database after it. An entry is in the journal from before
/// anybody is answered until the database has it: a journal is only ever made longer, and when another file takes its
/// place, or it goes away, what it held was committed before. So an entry that is not found in the journal because it
/// has left is found in the database, whose snapshot is taken later; the other order could miss it in both. Entries
/// that both have are taken from the database: it holds all from 1 to its last, so what is after that in the journal
/// follows without a gap. Should a new journal be begun while the old file is read, the old one still is what it was.
package struct AuditReader: Sendable {
  package let path: String
  private let queue: DatabaseQueue

  /// The database's snapshot, its last number, and the events after that one.
  private struct View {
    let db: Database
    let last: Int64
    let waiting: [AuditEvent]
  }

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
    try read { view in view.waiting.last?.sequence ?? view.last }
  }

  /// The first events after a number that fit, in the log's order.
  ///
  /// - Throws: problem `damaged` when an entry is not as it was written, or when one is missing and the query is empty.
  package func events(matching query: AuditQuery = AuditQuery(), after sequence: Int64 = 0, limit: Int)
    throws(AuditLogError) -> [AuditEvent]
  {
    guard limit > 0 else { return [] }
    let events = try read { view in
      let stored = try fetch(query, view, after: sequence, order: "ASC", limit: limit)
      // After the first that the database has no more of, none of the journal can come.
      guard stored.count < limit else { return stored }
      return stored
        + view.waiting.lazy.filter { $0.sequence > sequence && query.fits($0) }.prefix(limit - stored.count)
    }
    if query.isEmpty, let first = events.first, first.sequence != max(0, sequence) + 1 {
      throw AuditLogError(.damaged, path, "entry \(max(0, sequence) + 1) is missing")
    }
    return events
  }

  /// The last events that fit, in the log's order.
  ///
  /// - Throws: as `events(matching:after:limit:)` does.
  package func latest(_ limit: Int, matching query: AuditQuery = AuditQuery()) throws(AuditLogError) -> [AuditEvent] {
    guard limit > 0 else { return [] }
    return try read { view in
      let waiting = view.waiting.filter(query.fits).suffix(limit)
      guard waiting.count < limit else { return Array(waiting) }
      return try fetch(query, view, after: 0, order: "DESC", limit: limit - waiting.count).reversed() + waiting
    }
  }

  /// Reads the whole log and checks it: SQLite's own structure, every entry's checksum, the numbers without a gap.
  ///
  /// The other calls check what they touch. This finds what they cannot: an entry that a damaged index hides.
  /// Takes time in proportion to the log.
  /// - Returns: how many entries there are.
  package func verify() throws(AuditLogError) -> Int64 {
    try read { view in
      let found = try String.fetchAll(view.db, sql: "PRAGMA integrity_check(1)")
      guard found == ["ok"] else {
        throw AuditLogError(.damaged, path, "SQLite says \"\(found.joined(separator: "; "))\"")
      }
      var count: Int64 = 0
      let rows = try Row.fetchCursor(view.db, sql: "SELECT \(EventRow.columns) FROM event ORDER BY sequence")
      while let row = try rows.next() {
        count += 1
        let event = try EventRow.event(row, file: path)
        guard event.sequence == count else { throw AuditLogError(.damaged, path, "entry \(count) is missing") }
      }
      return count + Int64(view.waiting.count)
    }
  }

  private func fetch(
    _ query: AuditQuery, _ view: View, after sequence: Int64, order: String, limit: Int
  ) throws -> [AuditEvent] {
    let (conditions, values) = query.conditions
    let sql = """
      SELECT \(EventRow.columns) FROM event
      WHERE \((["sequence > ?"] + conditions).joined(separator: " AND "))
      ORDER BY sequence \(order) LIMIT ?
      """
    let arguments: StatementArguments = [sequence] + values + [limit]
    let rows = try Row.fetchCursor(view.db.cachedStatement(sql: sql), arguments: arguments)
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

  private func read<Value>(_ body: (View) throws -> Value) throws(AuditLogError) -> Value {
    let file = JournalFile.path(ofLog: path)
    // Not after the database: see above.
    let journal = try JournalFile.read(file)
    do {
      // One transaction: one snapshot for all that is asked of the database here.
      return try queue.read { db in
        let last = try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(sequence) FROM event")) ?? 0
        guard let journal, journal.end > 0 else { return try body(View(db: db, last: last, waiting: [])) }
        try journal.check(against: db, last: last, file: file)
        let waiting = try journal.records.drop { $0.sequence <= last }.map { event in
          guard let values = event.values else {
            throw AuditLogError(.damaged, file, "entry \(event.sequence) is no event", of: .journal)
          }
          return try EventRow.event(values: values, file: file)
        }
        return try body(View(db: db, last: last, waiting: waiting))
      }
    } catch {
      throw AuditLogError(error, file: path)
    }
  }
}
