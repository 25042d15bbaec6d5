internal import GRDB

/// The broker's log: entries are added at its end and never changed or taken out.
///
/// One process writes it; any number read it meanwhile (`AuditReader`).
package final class AuditLog: Sendable {
  package let path: String
  private let queue: DatabaseQueue

  /// Opens the log; makes it (mode 0600) if there is none. Its folder has to exist.
  ///
  /// - Throws: when the file is something else, damaged, a newer version's or out of reach (`AUD-8`). It is then left
  ///   exactly as it was.
  package init(path: String) throws(AuditLogError) {
    self.path = path
    do {
      queue = try AuditFile.openForWriting(path)
    } catch {
      throw AuditLogError(error, file: path)
    }
  }

  /// Adds events in their order, all of them or none, and numbers them on from the log's last entry.
  ///
  /// When it returns they are in the file: no end of this process takes them back. Their own `sequence` is not looked at.
  /// Text with U+0000 in it or longer than 8 KiB is recorded with U+FFFD there, or cut and ended by `…`.
  /// - Returns: the last entry's number; with no events, that of the entry that was last already (0: none).
  @discardableResult
  package func append(_ events: [AuditEvent]) throws(AuditLogError) -> Int64 {
    do {
      return try queue.writeWithoutTransaction { db in
        var last: Int64 = 0
        try db.inTransaction(.immediate) {
          last = try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(sequence) FROM event")) ?? 0
          let insert = try db.cachedStatement(sql: EventRow.insert)
          for event in events {
            last += 1
            let values: [(any DatabaseValueConvertible)?] = EventRow.values(event, sequence: last)
            try insert.execute(arguments: StatementArguments(values))
          }
          return .commit
        }
        return last
      }
    } catch {
      throw AuditLogError(error, file: path)
    }
  }
}
