internal import Foundation
internal import GRDB
internal import Kernel
internal import Synchronization

/// What could not be kept, as a sentence that names the file and the remedy.
package struct StateError: Error, Sendable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// Apps and their grants, on disk. A grant that has been answered for is there after any crash.
package final class GrantStore: Sendable {
  private let database: DatabaseQueue
  /// What has been read or written before: starting a scope asks for a grant each time, and nobody else writes here.
  private let known = Mutex<[String: Grant]>([:])

  /// Marks the file as Ambit's grants: "AmbG".
  private static let applicationID = 0x416d_6247

  /// Opens or makes the database.
  ///
  /// A file that is not ours, or that is damaged, is refused and left as it is: what stands in it may be all that is
  /// left of the user's decisions (`AUD-8`).
  package init(path: String) throws(StateError) {
    do {
      var configuration = Configuration()
      configuration.prepareDatabase { db in
        try db.execute(sql: "PRAGMA journal_mode = WAL")
        try db.execute(sql: "PRAGMA synchronous = NORMAL")
      }
      configuration.busyMode = .timeout(5)
      database = try DatabaseQueue(path: path, configuration: configuration)
      try database.write { db in
        let mark = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard mark == Self.applicationID || (mark == 0 && tables == 0) else {
          throw StateError("it belongs to another program")
        }
        let check = try String.fetchOne(db, sql: "PRAGMA quick_check(1)")
        guard check == "ok" else { throw StateError("it is damaged: \(check ?? "no answer")") }
        try db.execute(sql: "PRAGMA application_id = \(Self.applicationID)")
      }
      try Self.migrator.migrate(database)
    } catch let error as StateError {
      throw StateError(
        "\(path): cannot be used as Ambit's database of grants; \(error). It has been left as it is: move it away to start anew, or put a backup in its place."
      )
    } catch {
      throw Self.explain(error, path: path)
    }
  }

  private static func explain(_ error: any Error, path: String) -> StateError {
    guard let error = error as? DatabaseError else { return StateError("\(path): \(error)") }
    switch error.resultCode {
    case .SQLITE_NOTADB, .SQLITE_CORRUPT:
      return StateError(
        "\(path): cannot be used as Ambit's database of grants; it is damaged (\(error.message ?? "no reason given")). It has been left as it is: move it away to start anew, or put a backup in its place."
      )
    case .SQLITE_FULL:
      return StateError("\(path): the disk is full. Make room and try again; nothing that was there is lost.")
    case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_IOERR:
      return StateError(
        "\(path): cannot be written (\(error.message ?? "no reason given")). Make the folder writable for you, or set AMBIT_HOME to another one."
      )
    default: return StateError("\(path): \(error.message ?? "\(error.resultCode)")")
    }
  }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1: apps and grants") { db in
      try db.execute(
        sql: """
          CREATE TABLE app (
            number INTEGER PRIMARY KEY,
            bundleIdentifier TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            version TEXT
          );
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
            path TEXT NOT NULL
          );
          CREATE INDEX grantByFile ON grant_ (bundleIdentifier, inode);
          """)
    }
    return migrator
  }

  /// Runs a statement and says, if it fails, which file could not be written.
  private func write<Value: Sendable>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    do { return try database.write(body) } catch { throw Self.explain(error, path: database.path) }
  }

  // MARK: Apps

  /// Notes an app and answers its number: 1 for the first that this user ever launched, and so on.
  package func register(bundleIdentifier: String, name: String, version: String?) throws(StateError) -> Int {
    try write { db in
      try db.execute(
        sql: """
          INSERT INTO app (bundleIdentifier, name, version) VALUES (?, ?, ?)
          ON CONFLICT (bundleIdentifier) DO UPDATE SET name = excluded.name, version = coalesce(excluded.version, version)
          """, arguments: [bundleIdentifier, name, version])
      return try Int.fetchOne(
        db, sql: "SELECT number FROM app WHERE bundleIdentifier = ?", arguments: [bundleIdentifier]) ?? 0
    }
  }

  // MARK: Grants

  package func add(_ grant: Grant) throws(StateError) {
    defer { forget(grant.id) }
    try write { db in
      try db.execute(
        sql: """
          INSERT INTO grant_ (id, bundleIdentifier, kind, rights, origin, created, revoked, volume, handleType, handle,
                              inode, birth, path)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          grant.id, grant.bundleIdentifier, grant.kind.rawValue, grant.rights.rawValue, grant.origin.rawValue,
          grant.created, grant.revoked, Data(grant.identity.volume), grant.identity.handle.type,
          Data(grant.identity.handle.bytes), Int64(bitPattern: grant.identity.inode), grant.identity.birth,
          grant.path,
        ])
    }
  }

  package func grant(_ id: String) throws(StateError) -> Grant? {
    if let grant = known.withLock({ $0[id] }) { return grant }
    let found = try write { db in
      try Row.fetchOne(db, sql: "SELECT * FROM grant_ WHERE id = ?", arguments: [id]).flatMap(Self.grant)
    }
    if let found { known.withLock { $0[id] = found } }
    return found
  }

  private func forget(_ id: String) { known.withLock { $0[id] = nil } }

  /// The grant that an app already has for a document with these rights, if it is in force.
  package func grant(
    for identity: FileIdentity, of bundleIdentifier: String, rights: AccessRights
  ) throws(StateError) -> Grant? {
    try write { db in
      try Row.fetchAll(
        db,
        sql: "SELECT * FROM grant_ WHERE bundleIdentifier = ? AND inode = ? AND rights = ? AND revoked IS NULL",
        arguments: [bundleIdentifier, Int64(bitPattern: identity.inode), rights.rawValue]
      ).compactMap(Self.grant).first { $0.identity == identity }
    }
  }

  /// Every grant in force, oldest first.
  package func grants() throws(StateError) -> [Grant] {
    try write { db in
      try Row.fetchAll(db, sql: "SELECT * FROM grant_ WHERE revoked IS NULL ORDER BY created").compactMap(Self.grant)
    }
  }

  /// Notes where a document was seen.
  package func move(_ id: String, to path: String) throws(StateError) {
    defer { forget(id) }
    try write { db in try db.execute(sql: "UPDATE grant_ SET path = ? WHERE id = ?", arguments: [path, id]) }
  }

  private static func grant(_ row: Row) -> Grant? {
    guard let kind = DocumentKind(rawValue: row["kind"]), let rights = AccessRights(rawValue: row["rights"]),
      let origin = Grant.Origin(rawValue: row["origin"])
    else { return nil }
    let volume: Data = row["volume"]
    let handle: Data = row["handle"]
    let inode: Int64 = row["inode"]
    return Grant(
      id: row["id"], bundleIdentifier: row["bundleIdentifier"], kind: kind, rights: rights, origin: origin,
      created: row["created"], revoked: row["revoked"],
      identity: FileIdentity(
        volume: Array(volume), handle: FileHandle(type: row["handleType"], bytes: Array(handle)),
        inode: UInt64(bitPattern: inode), birth: row["birth"]),
      path: row["path"])
  }
}
