internal import GRDB

extension Journal {
  /// Checks that this is the journal of a log: that an entry which both have is the same in both.
  ///
  /// - Parameter last: the number of the database's last entry.
  func check(against db: Database, last: Int64, file: String) throws {
    // With no entry in common, entries between the two are gone.
    let common = min(last, self.last.sequence)
    guard let mark = mark(common) else {
      throw AuditLogError(
        .damaged, file, "it goes on from entry \(base.sequence), and the log ends with entry \(last)", of: .journal)
    }
    guard common > 0 else { return }
    let statement = try db.cachedStatement(sql: "SELECT checksum FROM event WHERE sequence = ?")
    guard try Int64.fetchOne(statement, arguments: [common]) == mark.checksum else {
      throw AuditLogError(.foreign, file, "its entry \(common) is another than the log's", of: .journal)
    }
  }
}

extension Journal.Mark {
  /// The mark of the database's last entry.
  static func last(_ db: Database, file: String) throws -> Self {
    let sql = "SELECT sequence, checksum FROM event ORDER BY sequence DESC LIMIT 1"
    guard let row = try Row.fetchOne(db.cachedStatement(sql: sql)) else { return Self() }
    let values = Array(row.databaseValues)
    guard let sequence = Int64.fromDatabaseValue(values[0]), let checksum = Int64.fromDatabaseValue(values[1]) else {
      throw AuditLogError(.damaged, file, "its last entry has no number or no checksum")
    }
    return Self(sequence: sequence, checksum: checksum)
  }
}

extension EventRow {
  /// Adds events to the database, in one transaction. Those that it has already are left out: whatever died between
  /// the commit and the journal's end, doing it again changes nothing.
  ///
  /// - Parameter durably: returns when they, and everything before them, are on the disk.
  static func add(_ events: some Collection<EncodedEvent>, to db: Database, file: String, durably: Bool) throws {
    // Of the last entry, so that nothing before it can be missing either: SQLite writes its log in order.
    if durably { try db.execute(sql: "PRAGMA synchronous = FULL") }
    defer { if durably { try? db.execute(sql: "PRAGMA synchronous = NORMAL") } }
    try db.inTransaction(.immediate) {
      var last = try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(sequence) FROM event")) ?? 0
      let insert = try db.cachedStatement(sql: EventRow.insert)
      for event in events where event.sequence > last {
        guard event.sequence == last + 1 else {
          throw AuditLogError(.damaged, file, "entry \(last + 1) is missing", of: .journal)
        }
        guard let values = event.values else {
          throw AuditLogError(.damaged, file, "entry \(event.sequence) is no event", of: .journal)
        }
        insert.setUncheckedArguments(StatementArguments(values))
        try insert.execute()
        last = event.sequence
      }
      return .commit
    }
  }
}
