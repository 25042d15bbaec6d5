internal import CloudSync
internal import Databases
internal import Folders
internal import Foundation
internal import GRDB

/// The state of a device's engine (`engine.sqlite` in the folder's `.ambit-cloud`).
final class DeviceStore {
  private static let kind = OwnDatabase.Kind(
    // "AmbD"
    name: "the device's state", applicationID: 0x416d_6244, version: 2,
    schema: """
      CREATE TABLE head (number INTEGER PRIMARY KEY, state BLOB NOT NULL);
      CREATE TABLE entry (id TEXT PRIMARY KEY, state BLOB NOT NULL) WITHOUT ROWID;
      """,
    remedy:
      "Move it away; to the device all its documents are new then: none is removed, and those that the cloud has too "
      + "are there twice (“Letter 2.txt”).")
  private let database: OwnDatabase

  /// - Throws: where it cannot be opened, or was made by another version.
  init(path: String) throws(StateError) { database = try OwnDatabase(path: path, Self.kind) }

  /// The engine as it was saved last; `nil`: it never was.
  func engine() throws -> SyncEngine? {
    try database.read { db in
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
    try database.write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO head VALUES (1, ?)", arguments: [try encoder.encode(delta.head)])
      for id in delta.removed { try db.execute(sql: "DELETE FROM entry WHERE id = ?", arguments: [id]) }
      for row in delta.changed {
        try db.execute(sql: "INSERT OR REPLACE INTO entry VALUES (?, ?)", arguments: [row.id, try encoder.encode(row)])
      }
    }
  }
}
