internal import Folders
internal import Foundation
internal import GRDB

#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// The file of the grants: looked at before it is written, and never touched when it is not as it should be. Its content may
/// be all that is left of the user's decisions (`AUD-8`).
enum GrantFile {
  /// Marks the file as Ambit's grants: "AmbG".
  private static let applicationID = 0x416d_6247

  /// The place of records that are not in the database yet (``GrantJournal``).
  static func journal(of path: String) -> String {
    (path.hasSuffix(".sqlite") ? String(path.dropLast(7)) : path) + ".journal"
  }

  /// A connection that reads and writes; the database is made where there is none.
  ///
  /// - Parameter isNew: nothing says that there was one. Then it may be empty: a crash leaves it so while it is made.
  static func open(_ path: String, isNew: Bool) throws(StateError) -> DatabaseQueue {
    #if AMBIT_MUTANTS
      if Mutant.damageHidden.isActive, (try? connect(path, writing: false).read(check)) == nil {
        for file in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + file) }
      }
      let isNew = Mutant.damageHidden.isActive || isNew
    #endif
    do {
      // Setting the journal's mode writes to the file, so a connection that cannot write has to look at it first.
      let isMade = try holdsAnything(path)
      if isMade {
        try connect(path, writing: false).read(check)
      } else if !isNew {
        let isThere = FileManager.default.fileExists(atPath: path)
        throw isThere
          ? StateError("it is empty, and \(journal(of: path)) beside it says that it was not")
          : StateError(
            "\(path): it is gone, and with it what apps were granted; \(journal(of: path)) beside it says that it was there. "
              + "Put a backup in its place; or move that away to start anew: then the log has the end of each grant.")
      }
      let database = try connect(path, writing: true)
      try database.write { db in try db.execute(sql: "PRAGMA application_id = \(applicationID)") }
      try migrator.migrate(database)
      // So that it is on the disk, and never empty again.
      if !isMade { try database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
      try database.read(check)
      return database
    } catch let error as StateError {
      throw error.description.utf8.starts(with: path.utf8) ? error : refusal(path, because: error.description)
    } catch {
      throw explain(error, path: path)
    }
  }

  static func connect(_ path: String, writing: Bool) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = !writing
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA trusted_schema = OFF")
      guard writing else { return }
      try db.execute(sql: "PRAGMA journal_mode = WAL")
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
      // Pages. Long before that many are in the journal it is moved by a thread (Checkpointer).
      try db.execute(sql: "PRAGMA wal_autocheckpoint = 10000")
    }
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Whether there is something at the path.
  private static func holdsAnything(_ path: String) throws(StateError) -> Bool {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return false }
    if attributes[.type] as? FileAttributeType == .typeDirectory { throw StateError("it is a folder") }
    // SQLite opens any file under these names, and would wait for the writer of a pipe.
    for beside in ["", "-wal", "-shm", "-journal"].map({ path + $0 }) {
      guard let type = try? FileManager.default.attributesOfItem(atPath: beside)[.type] as? FileAttributeType else {
        continue
      }
      if type != .typeRegular {
        throw StateError(beside == path ? "it is no regular file" : "\(beside) is no regular file")
      }
    }
    let size = attributes[.size] as? Int ?? 0
    // SQLite takes a file that is shorter than its smallest page for an empty one, and would write over it.
    if size > 0, size < 512 { throw StateError("it is no database") }
    return size > 0
  }

  /// Refuses another program's database, a later version's, and a damaged one. Reads only.
  private static func check(_ db: Database) throws {
    let mark = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
    let entries = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
    guard mark == applicationID || (mark == 0 && entries == 0) else {
      throw StateError("it belongs to another program")
    }
    let answer = try String.fetchOne(db, sql: "PRAGMA quick_check(1)")
    guard answer == "ok" else { throw StateError("it is damaged: \(answer ?? "no answer")") }
    if try migrator.hasBeenSuperseded(db) { throw StateError("a newer version of Ambit wrote it") }
    guard try migrator.hasCompletedMigrations(db) else { return }
    do {
      // A page check says nothing of the names in the schema.
      _ = try db.makeStatement(sql: "SELECT \(Grant.columns) FROM grant_")
      _ = try db.makeStatement(sql: "SELECT \(GrantStore.replacementColumns) FROM replacement")
      _ = try db.makeStatement(sql: "SELECT number, bundleIdentifier, name, version FROM app")
      _ = try db.makeStatement(sql: "SELECT id, parent, used, bookmarks FROM grantLife")
      _ = try db.makeStatement(sql: "SELECT id, inode FROM grantReference")
      _ = try db.makeStatement(sql: "SELECT bundleIdentifier, removed FROM removedApp")
      _ = try db.makeStatement(sql: "SELECT id FROM owedReference")
      _ = try db.makeStatement(sql: "SELECT store, turns, sealingKey FROM stamp")
      _ = try db.makeStatement(sql: "SELECT \(GrantStore.identityColumns) FROM appIdentity")
      _ = try db.makeStatement(sql: "SELECT stamp, digest, read FROM fileDigest")
      _ = try db.makeStatement(sql: "SELECT bundleIdentifier, browsable, publicScope, version FROM sharedDocuments")
      _ = try db.makeStatement(sql: "SELECT bundleIdentifier, program, subject, allowed FROM entitlementAnswer")
      _ = try db.makeStatement(sql: "SELECT bundleIdentifier, identity, changed FROM inboxDocument")
      _ = try db.makeStatement(sql: "SELECT bundleIdentifier, identity, parent, time FROM withdrawal")
    } catch let error as DatabaseError {
      throw StateError("it is damaged: \(error.message ?? "its tables are not as they were made")")
    }
  }

  /// A failure of the database as a sentence that names the file and the remedy.
  static func explain(_ error: any Error, path: String) -> StateError {
    if let error = error as? StateError { return StateError("\(path): \(error)") }
    guard let error = error as? DatabaseError else { return StateError("\(path): \(error)") }
    let reason = error.message ?? "no reason given"
    switch error.resultCode {
    case .SQLITE_NOTADB, .SQLITE_CORRUPT: return refusal(path, because: "it is damaged (\(reason))")
    case .SQLITE_FULL:
      return StateError("\(path): the disk is full. Make room and try again; nothing that was there is lost.")
    // A full disk also causes this, in the memory that SQLite's processes share.
    case .SQLITE_IOERR:
      return StateError(
        "\(path): the disk has not taken it (\(reason)). Make room there if it is full, and try again; nothing that was there is lost."
      )
    case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
      return StateError(
        "\(path): cannot be written (\(reason)). Make the folder writable for you, or set AMBIT_HOME to another one.")
    default: return StateError("\(path): \(error.message ?? "\(error.resultCode)")")
    }
  }

  private static func refusal(_ path: String, because reason: String) -> StateError {
    StateError(
      "\(path): cannot be used as Ambit's database of grants; \(reason). It has been left as it is: move it away to start anew, or put a backup in its place."
    )
  }

  private static let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1: apps and grants") { db in
      try db.execute(sql: apps + grants + ends + replacements)
    }
    migrator.registerMigration("2: documents that an app has made") { db in
      try db.execute(sql: "ALTER TABLE grant_ ADD COLUMN appMade INTEGER NOT NULL DEFAULT 0")
    }
    migrator.registerMigration("3: documents in Inboxes") { db in
      try db.execute(
        sql: """
          CREATE TABLE inboxDocument (
            bundleIdentifier TEXT NOT NULL,
            identity BLOB NOT NULL,
            changed INTEGER NOT NULL,
            PRIMARY KEY (bundleIdentifier, identity)
          ) WITHOUT ROWID
          """)
    }
    migrator.registerMigration("4: documents that the user has taken from apps") { db in
      try db.execute(
        sql: """
          CREATE TABLE withdrawal (
            bundleIdentifier TEXT NOT NULL,
            identity BLOB NOT NULL,
            parent TEXT NOT NULL,
            time INTEGER NOT NULL,
            PRIMARY KEY (bundleIdentifier, identity, parent)
          ) WITHOUT ROWID
          """)
    }
    return migrator
  }()

  /// Apps, what they are known by, and what users have said of them. A stamp says which store it is, and how often a broker has begun
  /// and ended with it.
  private static let apps = """
    CREATE TABLE app (
      number INTEGER PRIMARY KEY,
      bundleIdentifier TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      version TEXT
    );
    CREATE TABLE removedApp (
      bundleIdentifier TEXT PRIMARY KEY REFERENCES app (bundleIdentifier),
      removed INTEGER NOT NULL
    );
    CREATE TABLE sharedDocuments (
      bundleIdentifier TEXT PRIMARY KEY REFERENCES app (bundleIdentifier),
      browsable INTEGER NOT NULL,
      publicScope INTEGER NOT NULL,
      version TEXT
    );
    CREATE TABLE entitlementAnswer (
      bundleIdentifier TEXT NOT NULL REFERENCES app (bundleIdentifier),
      program TEXT NOT NULL,
      subject TEXT NOT NULL,
      allowed INTEGER NOT NULL,
      PRIMARY KEY (bundleIdentifier, program, subject)
    ) WITHOUT ROWID;
    CREATE TABLE appIdentity (
      bundleIdentifier TEXT PRIMARY KEY,
      claimed TEXT NOT NULL,
      digest TEXT NOT NULL,
      path TEXT NOT NULL,
      owners TEXT NOT NULL,
      seen INTEGER NOT NULL
    );
    CREATE INDEX appIdentityByClaim ON appIdentity (claimed);
    CREATE TABLE fileDigest (stamp TEXT PRIMARY KEY, digest TEXT NOT NULL, read INTEGER NOT NULL);
    CREATE TABLE stamp (store TEXT NOT NULL, turns INTEGER NOT NULL, sealingKey TEXT);
    INSERT INTO stamp (store, turns) VALUES (lower(hex(randomblob(8))), 0);

    """

  private static let grants = """
    CREATE TABLE grant_ (
      id TEXT PRIMARY KEY,
      bundleIdentifier TEXT NOT NULL REFERENCES app (bundleIdentifier),
      kind TEXT NOT NULL,
      rights TEXT NOT NULL,
      origin TEXT NOT NULL,
      created INTEGER NOT NULL,
      revoked INTEGER,
      volume BLOB NOT NULL,
      handleType INTEGER NOT NULL,
      handle BLOB NOT NULL,
      inode INTEGER NOT NULL,
      birth INTEGER NOT NULL,
      path TEXT NOT NULL,
      place BLOB,
      decided INTEGER,
      until INTEGER,
      launch TEXT
    );
    CREATE INDEX grantByFile ON grant_ (bundleIdentifier, inode);
    CREATE INDEX grantByInode ON grant_ (inode);
    CREATE INDEX grantByEnd ON grant_ (until) WHERE until IS NOT NULL AND revoked IS NULL;
    CREATE INDEX grantByLaunch ON grant_ (launch) WHERE launch IS NOT NULL AND revoked IS NULL;

    """

  /// What decides when a grant ends: its parent, its uses, its bookmarks and its references.
  private static let ends = """
    CREATE TABLE grantLife (
      id TEXT PRIMARY KEY REFERENCES grant_ (id),
      parent TEXT REFERENCES grant_ (id),
      used INTEGER,
      bookmarks INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX grantByParent ON grantLife (parent) WHERE parent IS NOT NULL;
    CREATE TABLE grantReference (
      id TEXT NOT NULL REFERENCES grant_ (id),
      inode INTEGER NOT NULL,
      PRIMARY KEY (id, inode)
    );
    CREATE TABLE owedReference (id TEXT PRIMARY KEY REFERENCES grant_ (id)) WITHOUT ROWID;

    """

  /// Replacements that are under way.
  private static let replacements = """
    CREATE TABLE replacement (
      volume BLOB NOT NULL,
      handleType INTEGER NOT NULL,
      handle BLOB NOT NULL,
      inode INTEGER NOT NULL,
      birth INTEGER NOT NULL,
      newVolume BLOB NOT NULL,
      newHandleType INTEGER NOT NULL,
      newHandle BLOB NOT NULL,
      newInode INTEGER NOT NULL,
      newBirth INTEGER NOT NULL,
      folder TEXT NOT NULL,
      name TEXT NOT NULL,
      temporary TEXT
    );
    """
}
