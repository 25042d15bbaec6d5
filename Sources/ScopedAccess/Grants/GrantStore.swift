package import Folders
internal import Foundation
internal import GRDB
internal import Kernel
internal import Synchronization

/// Apps and their grants, on disk. A grant that has been answered for is there after any crash.
package final class GrantStore: Sendable {
  private let database: DatabaseQueue
  /// What has been read or written before: starting a scope asks for a grant each time, and nobody else writes here.
  private let known = Mutex<[String: Grant]>([:])
  /// Apps that have been noted as they are now: most launches are of an app that was launched before.
  private let apps = Mutex<[String: (app: App, number: Int)]>([:])

  private struct App: Equatable {
    let name: String
    let version: String?
  }

  /// Opens or makes the database. A file that is not ours, or that is damaged, is refused and left as it is (`AUD-8`).
  package init(path: String) throws(StateError) { database = try GrantFile.open(path) }

  /// Runs statements, each a transaction of its own, and says, if one fails, which file could not be written.
  private func access<Value: Sendable>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    do { return try database.writeWithoutTransaction(body) } catch {
      throw GrantFile.explain(error, path: database.path)
    }
  }

  // MARK: Apps

  /// Notes an app and answers its number: 1 for the first that this user ever launched, and so on.
  package func register(bundleIdentifier: String, name: String, version: String?) throws(StateError) -> Int {
    let app = App(name: name, version: version)
    if let known = apps.withLock({ $0[bundleIdentifier] }), known.app == app { return known.number }
    let number = try access { db in
      try db.execute(
        sql: """
          INSERT INTO app (bundleIdentifier, name, version) VALUES (?, ?, ?)
          ON CONFLICT (bundleIdentifier) DO UPDATE SET name = excluded.name, version = coalesce(excluded.version, version)
          """, arguments: [bundleIdentifier, name, version])
      return try Int.fetchOne(
        db, sql: "SELECT number FROM app WHERE bundleIdentifier = ?", arguments: [bundleIdentifier]) ?? 0
    }
    apps.withLock { $0[bundleIdentifier] = (app, number) }
    return number
  }

  // MARK: Grants

  package func add(_ grant: Grant) throws(StateError) {
    try access { db in
      try db.cachedStatement(
        sql: "INSERT INTO grant_ (\(Grant.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      ).execute(arguments: grant.row)
    }
    known.withLock { $0[grant.id] = grant }
  }

  package func grant(_ id: String) throws(StateError) -> Grant? {
    if let grant = known.withLock({ $0[id] }) { return grant }
    let found = try access { db in
      try Row.fetchOne(
        db.cachedStatement(sql: "SELECT \(Grant.columns) FROM grant_ WHERE id = ?"), arguments: [id]
      ).map { try Grant(row: $0) }
    }
    if let found { known.withLock { $0[id] = found } }
    return found
  }

  private func forget(_ id: String) { known.withLock { $0[id] = nil } }

  /// The grant that an app already has for a document with these rights, if it is in force.
  package func grant(
    for identity: FileIdentity, of bundleIdentifier: String, rights: AccessRights
  ) throws(StateError) -> Grant? {
    try access { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: """
            SELECT \(Grant.columns) FROM grant_
            WHERE bundleIdentifier = ? AND inode = ? AND rights = ? AND revoked IS NULL
            """),
        arguments: [bundleIdentifier, Int64(bitPattern: identity.inode), rights.rawValue]
      ).map { try Grant(row: $0) }.first { $0.identity == identity }
    }
  }

  /// Every grant in force, oldest first.
  package func grants() throws(StateError) -> [Grant] {
    try access { db in
      try Row.fetchAll(db, sql: "SELECT \(Grant.columns) FROM grant_ WHERE revoked IS NULL ORDER BY created")
        .map { try Grant(row: $0) }
    }
  }

  /// Notes where a document was seen.
  package func move(_ id: String, to path: String) throws(StateError) {
    defer { forget(id) }
    try access { db in
      try db.cachedStatement(sql: "UPDATE grant_ SET path = ? WHERE id = ?").execute(arguments: [path, id])
    }
  }
}
