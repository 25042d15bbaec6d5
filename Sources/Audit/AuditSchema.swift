internal import GRDB

/// A segment's tables, as migrations: a step once published is never edited; the next version adds one.
///
/// `entry` has the parts of the chain, and nothing else: the payload is the event, the hash stands for it and all before it.
/// Entries are never changed or taken out one by one: triggers refuse it, which guards against mistakes. An attacker can drop a
/// trigger; the chain is for that.
///
/// `block` and `place` are there to find entries: for each block of 256 the times that occur in it, and the texts that people ask
/// for. A row for each text and block, and not one for each entry, keeps writing cheap and an index of ten million entries small;
/// that a clock was set back makes a block's times wider and nothing else.
///
/// `newest` has the texts of the last blocks as they came, eight bytes each and ascending; of 256 at a time they are put into
/// `place`. There each is on a page of its own, and all of these would be written for every few entries.
enum AuditSchema {
  /// SQLite's `application_id`: "AMBa".
  static let applicationID: Int32 = 0x414D_4261

  static let tables = [
    // One row at most, of the entry before the segment's first; in a log's first segment there is none.
    "CREATE TABLE base (sequence INTEGER NOT NULL, hash BLOB NOT NULL) STRICT",
    "CREATE TABLE entry (sequence INTEGER PRIMARY KEY, payload BLOB NOT NULL, hash BLOB NOT NULL) STRICT",
    "CREATE TABLE checkpoint (sequence INTEGER PRIMARY KEY, statement TEXT NOT NULL) STRICT",
    "CREATE TABLE block (number INTEGER PRIMARY KEY, earliest INTEGER NOT NULL, latest INTEGER NOT NULL) STRICT",
    "CREATE TABLE place (term INTEGER, block INTEGER, PRIMARY KEY (term, block)) STRICT, WITHOUT ROWID",
    "CREATE TABLE newest (block INTEGER PRIMARY KEY, terms BLOB NOT NULL) STRICT",
  ]

  static let triggers = Dictionary(
    uniqueKeysWithValues: ["base", "entry", "checkpoint"].flatMap { table in
      ["update", "delete"].map { action in
        (
          "\(table)_\(action)",
          "CREATE TRIGGER \(table)_\(action) BEFORE \(action.uppercased()) ON \(table) "
            + "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
        )
      }
    })

  /// By the name that stands third in each: CREATE TABLE name.
  private static func named(_ statements: [String]) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: statements.compactMap { sql in
        sql.split(whereSeparator: { $0.isWhitespace || $0 == "(" }).dropFirst(2).first.map { (String($0), sql) }
      })
  }

  static let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1: log") { db in
      for sql in tables { try db.execute(sql: sql) }
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
    try checkObjects(db, file: file)
    guard try migrator.hasCompletedMigrations(db) else { return }
    let base = try SegmentReader.base(db, file: file)
    let first = try Int64.fetchOne(db, sql: "SELECT min(sequence) FROM entry")
    guard first ?? base.sequence + 1 == base.sequence + 1 else {
      throw AuditLogError(.damaged, file, "its entries begin with \(first ?? 0), not \(base.sequence + 1)")
    }
  }

  /// An added trigger would act when the next entry is written, and a table that is gone is no sign of an older version.
  private static func checkObjects(_ db: Database, file: String) throws {
    var expected = try migrator.hasCompletedMigrations(db) ? named(tables).merging(triggers) { $1 } : [:]
    for row in try Row.fetchAll(db, sql: "SELECT type, name, tbl_name, sql FROM sqlite_schema") {
      let (type, name) = (row["type"] as String?, (row["name"] as String?) ?? "")
      let sql: String? = row["sql"]
      // SQLite's own, which it makes for a primary key. A trigger may be called as they are, or as a table is.
      if type == "index", sql == nil, name.hasPrefix("sqlite_autoindex_") { continue }
      if type == "table", name == migrationTable, row["tbl_name"] == name { continue }
      guard let made = expected.removeValue(forKey: name) else {
        throw AuditLogError(.damaged, file, "it has something in it that no log has (\(name))")
      }
      guard sql == made else {
        let what = triggers[name] == nil ? "its table \(name)" : "its protection against changes (\(name))"
        throw AuditLogError(.damaged, file, "\(what) is not as it was made")
      }
    }
    if let name = expected.keys.min() {
      let what = triggers[name] == nil ? "its table \(name)" : "its protection against changes (\(name))"
      throw AuditLogError(.damaged, file, "\(what) was taken away")
    }
  }

  /// GRDB's.
  private static let migrationTable = "grdb_migrations"
}
