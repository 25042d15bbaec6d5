internal import CloudSync
internal import Folders
internal import Foundation
internal import GRDB

/// The state of a device's engine (`engine.sqlite` in the folder's `.ambit-cloud`).
final class DeviceStore {
  /// "AmbD"
  private static let applicationID = 0x416d_6244
  private let queue: DatabaseQueue

  /// - Throws: where it cannot be opened, or was made by another version.
  init(path: String) throws(StateError) {
    do {
      var settings = Configuration()
      settings.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL") }
      queue = try DatabaseQueue(path: path, configuration: settings)
      let version = try queue.read { db in
        (try Int.fetchOne(db, sql: "PRAGMA application_id"), try Int.fetchOne(db, sql: "PRAGMA user_version"))
      }
      switch version {
      case (0, 0): try queue.write { db in try Self.make(db) }
      case (Self.applicationID, 1): break
      default: throw StateError("another version of Ambit made it")
      }
    } catch { throw StateError("the device's state \(path) cannot be opened: \(error)") }
  }

  private static func make(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE head (number INTEGER PRIMARY KEY, state BLOB NOT NULL);
        CREATE TABLE entry (id TEXT PRIMARY KEY, state BLOB NOT NULL) WITHOUT ROWID;
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = 1;
        """)
  }

  /// The engine as it was saved last; `nil`: it never was.
  func engine() throws -> SyncEngine? {
    try queue.read { db in
      guard let head = try Data.fetchOne(db, sql: "SELECT state FROM head WHERE number = 1") else { return nil }
      let decoder = JSONDecoder()
      let rows = try Data.fetchAll(db, sql: "SELECT state FROM entry").map {
        try decoder.decode(SyncRow.self, from: $0)
      }
      return SyncEngine(head: try decoder.decode(SyncHead.self, from: head), rows: rows)
    }
  }

  /// When this returns, the state is on the disk.
  func save(_ delta: SyncDelta) throws {
    let encoder = JSONEncoder()
    try queue.write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO head VALUES (1, ?)", arguments: [try encoder.encode(delta.head)])
      for id in delta.removed { try db.execute(sql: "DELETE FROM entry WHERE id = ?", arguments: [id]) }
      for row in delta.changed {
        try db.execute(sql: "INSERT OR REPLACE INTO entry VALUES (?, ?)", arguments: [row.id, try encoder.encode(row)])
      }
    }
  }
}
