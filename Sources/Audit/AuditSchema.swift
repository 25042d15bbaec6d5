internal import GRDB

/// The log's tables, as migrations: a step once published is never edited; the next version adds one.
///
/// Rows cannot be changed or taken out, by any connection: triggers refuse it. That guards against mistakes; who can
/// write the file can also drop a trigger, which opening the log notices. To make a changed past show, a later
/// migration can add a column `hash BLOB` (SHA-256 over the previous row's hash and `EventRow.canonicalBytes`), with
/// rows from before it starting the chain.
enum AuditSchema {
  /// SQLite's `application_id`: "AMBa".
  static let applicationID: Int32 = 0x414D_4261

  static let eventTable = """
    CREATE TABLE event (
      sequence INTEGER PRIMARY KEY,
      time INTEGER NOT NULL,
      kind TEXT NOT NULL,
      result TEXT NOT NULL,
      app TEXT,
      instance TEXT,
      pid INTEGER,
      "grant" TEXT,
      path TEXT,
      volume TEXT,
      inode INTEGER,
      birth INTEGER,
      how TEXT,
      rule TEXT,
      reason TEXT,
      detail TEXT,
      checksum INTEGER NOT NULL
    ) STRICT
    """

  /// What keeps the log append-only and numbered from 1 without gaps, by name.
  ///
  /// The first also keeps `INSERT OR REPLACE` from replacing a row, for which SQLite runs no delete trigger.
  static let triggers = [
    "event_append": """
    CREATE TRIGGER event_append BEFORE INSERT ON event
    WHEN NEW.sequence IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM event)
    BEGIN SELECT RAISE(ABORT, 'the audit log is numbered without gaps'); END
    """,
    "event_update": """
    CREATE TRIGGER event_update BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
    """,
    "event_delete": """
    CREATE TRIGGER event_delete BEFORE DELETE ON event
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
    """,
  ]

  static let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1: events") { db in
      try db.execute(sql: eventTable)
      try db.execute(sql: "CREATE INDEX event_app ON event(app)")
      try db.execute(sql: "CREATE INDEX event_time ON event(time)")
      for trigger in triggers.sorted(by: { $0.key < $1.key }) { try db.execute(sql: trigger.value) }
    }
    return migrator
  }()

  /// Refuses what is not a log, what a later version wrote, and a log whose protection was taken away.
  ///
  /// Reads only.
  static func check(_ db: Database, file: String) throws {
    let application = try Int32.fetchOne(db, sql: "PRAGMA application_id")
    guard application == applicationID else {
      throw AuditLogError(.foreign, file, "it is a database of another program")
    }
    if try migrator.hasBeenSuperseded(db) {
      let known = Set(migrator.migrations)
      let unknown = try migrator.appliedIdentifiers(db).filter { !known.contains($0) }.sorted()
      throw AuditLogError(.newer, file, "it has \(unknown.map { "\"\($0)\"" }.joined(separator: ", "))")
    }
    guard try migrator.hasCompletedMigrations(db) else { return }
    for (name, sql) in triggers.sorted(by: { $0.key < $1.key }) {
      let found = try String.fetchOne(
        db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?", arguments: [name])
      guard found == sql else {
        throw AuditLogError(.damaged, file, "its protection against changes (\(name)) was taken away")
      }
    }
    let first = try Int64.fetchOne(db, sql: "SELECT min(sequence) FROM event")
    guard first ?? 1 == 1 else { throw AuditLogError(.damaged, file, "its entries begin with \(first ?? 0), not 1") }
  }
}
