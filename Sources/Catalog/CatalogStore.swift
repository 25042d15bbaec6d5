package import Folders
internal import Foundation
internal import GRDB
internal import Synchronization

/// The catalogs of all apps in one database (`catalog.sqlite`). Each app has tables of its own, and a query reads those of one app.
///
/// It is a cache: what it says can be read again from the files and the grants. A file that is damaged, of another version, or of a broker
/// that did not end in order is deleted, and made anew.
package final class CatalogStore: Sendable {
  /// "AmbC"
  private static let applicationID = 0x416d_6243
  /// Of the tables below. Another number: they are made anew.
  private static let version = 3
  private static let mostConnections = 4

  let pool: DatabasePool
  package let path: String
  private let tables = Mutex<[String: Int]>([:])

  /// Opens the database, or makes it.
  ///
  /// - Parameter key: of the store of grants, and of the broker's last end. With another one than the database remembers it is made anew.
  package init(path: String, key: String) throws(StateError) {
    self.path = path
    do {
      if let pool = Self.reopened(path, key) {
        self.pool = pool
      } else {
        Self.remove(path)
        pool = try Self.connect(path)
        try pool.write { db in try Self.make(db) }
      }
      // Until it ends in order, nobody takes it over.
      try pool.write { db in try db.execute(sql: "UPDATE state SET key = NULL") }
      let found = try pool.read { db in
        try Row.fetchAll(db, sql: "SELECT app, number FROM app").compactMap { row -> (String, Int)? in
          guard let app = String.fromDatabaseValue(row["app"]), let number = Int.fromDatabaseValue(row["number"]) else {
            return nil
          }
          return (app, number)
        }
      }
      tables.withLock { $0 = Dictionary(found, uniquingKeysWith: { first, _ in first }) }
    } catch { throw Self.explain(error, path) }
  }

  /// Ends in order: the next broker goes on with it if it has the same key.
  package func close(key: String) {
    try? pool.write { db in try db.execute(sql: "UPDATE state SET key = ?", arguments: [key]) }
    try? pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    try? pool.close()
  }

  /// Closes a database that cannot be used, and removes it.
  package func discard() {
    try? pool.close()
    Self.remove(path)
  }

  private static func remove(_ path: String) {
    for file in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + file) }
  }

  private static func connect(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.maximumReaderCount = mostConnections
    configuration.busyMode = .timeout(1)
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA trusted_schema = OFF")
      // Nothing here has to survive the machine; so nobody waits for its disk.
      if !db.configuration.readonly { try db.execute(sql: "PRAGMA synchronous = OFF") }
    }
    return try DatabasePool(path: path, configuration: configuration)
  }

  /// - Returns: `nil`: there is none that can be used.
  private static func reopened(_ path: String, _ key: String) -> DatabasePool? {
    guard let type = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType,
      type == .typeRegular, let pool = try? connect(path)
    else { return nil }
    let isUsable = try? pool.read { db in
      guard try Int.fetchOne(db, sql: "PRAGMA application_id") == applicationID,
        try Int.fetchOne(db, sql: "PRAGMA user_version") == version,
        try String.fetchOne(db, sql: "SELECT key FROM state") == key
      else { return false }
      return try String.fetchOne(db, sql: "PRAGMA quick_check(1)") == "ok"
    }
    if isUsable == true { return pool }
    try? pool.close()
    return nil
  }

  private static func make(_ db: Database) throws {
    try db.execute(
      sql: """
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        CREATE TABLE state (key TEXT);
        INSERT INTO state (key) VALUES (NULL);
        CREATE TABLE app (number INTEGER PRIMARY KEY AUTOINCREMENT, app TEXT NOT NULL UNIQUE);
        """)
  }

  static func explain(_ error: any Error, _ path: String) -> StateError {
    if let error = error as? StateError { return error }
    guard let error = error as? DatabaseError else { return StateError("\(path): \(error)") }
    return StateError("\(path): \(error.message ?? "\(error.resultCode)")")
  }

  // MARK: Apps

  /// The tables of an app, which are made if there are none.
  package func table(of app: String) throws(StateError) -> CatalogTable {
    if let number = tables.withLock({ $0[app] }) { return try CatalogTable(self, number) }
    do {
      let number = try pool.write { db in
        try db.execute(sql: "INSERT INTO app (app) VALUES (?)", arguments: [app])
        let number = Int(db.lastInsertedRowID)
        try db.execute(sql: CatalogTable.schema(number))
        return number
      }
      tables.withLock { $0[app] = number }
      return try CatalogTable(self, number)
    } catch { throw Self.explain(error, path) }
  }

  /// Forgets an app.
  package func remove(_ app: String) throws(StateError) {
    guard let number = tables.withLock({ $0.removeValue(forKey: app) }) else { return }
    do {
      try pool.write { db in
        try db.execute(
          sql: """
            DROP TABLE IF EXISTS name_\(number);
            DROP TABLE IF EXISTS item_\(number);
            DELETE FROM app WHERE number = \(number);
            """)
      }
    } catch { throw Self.explain(error, path) }
  }
}
