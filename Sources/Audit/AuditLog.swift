internal import GRDB
internal import Synchronization

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
      if events.count == 1, let number = try appendAtKnownEnd(events[0]) { return number }
      let end = try queue.writeWithoutTransaction { db in
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
      knownEnd.withLock { $0 = end }
      return end
    } catch {
      throw AuditLogError(error, file: path)
    }
  }

  /// The number of the last entry, as this process knows it.
  private let knownEnd = Mutex<Int64?>(nil)

  /// Adds one event as a single statement, which is a transaction by itself: nothing to begin, to ask and to commit.
  ///
  /// - Returns: `nil` if the end is not known, or if another process has written since: the log accepts no number but
  ///   the next.
  private func appendAtKnownEnd(_ event: AuditEvent) throws -> Int64? {
    guard let end = knownEnd.withLock({ $0 }) else { return nil }
    do {
      try queue.writeWithoutTransaction { db in
        let values: [(any DatabaseValueConvertible)?] = EventRow.values(event, sequence: end + 1)
        try db.cachedStatement(sql: EventRow.insert).execute(arguments: StatementArguments(values))
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      knownEnd.withLock { $0 = nil }
      return nil
    }
    knownEnd.withLock { $0 = end + 1 }
    return end + 1
  }
}
