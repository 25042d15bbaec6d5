package import Folders
internal import Foundation
package import GRDB

/// A database of Ambit's own: it is made, checked and opened here, and each failure names the file and the way out.
package final class OwnDatabase: Sendable {
  /// The facts that one kind of database has in common.
  package struct Kind: Sendable {
    /// For people, with an article: “the device's state”.
    package let name: String
    /// SQLite's `application_id`: four letters.
    package let applicationID: Int
    /// SQLite's `user_version`.
    package let version: Int
    /// Makes the tables.
    package let schema: String
    /// A transaction is on the disk when its call returns, and readers do not wait for writers.
    package let isDurable: Bool
    /// The way out if the file cannot be used: a sentence.
    package let remedy: String

    package init(
      name: String, applicationID: Int, version: Int, schema: String, isDurable: Bool = true, remedy: String
    ) {
      (self.name, self.applicationID, self.version) = (name, applicationID, version)
      (self.schema, self.isDurable, self.remedy) = (schema, isDurable, remedy)
    }

    fileprivate var expected: String {
      "an SQLite database of Ambit's (application id \(String(applicationID, radix: 16)), format \(version))"
    }
  }

  package let path: String
  private let kind: Kind
  private let queue: DatabaseQueue

  /// Opens a database. A file that is missing or empty becomes a new one.
  ///
  /// - Throws: where it cannot be opened, is damaged, or was made by another program or version. Such a file is not changed.
  package init(path: String, _ kind: Kind) throws(StateError) {
    (self.path, self.kind) = (path, kind)
    do {
      let isNew = try Self.isNew(path, kind)
      var settings = Configuration()
      settings.busyMode = .timeout(5)
      let isDurable = kind.isDurable
      settings.prepareDatabase { db in
        try db.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON")
        if isDurable { try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL") }
      }
      queue = try DatabaseQueue(path: path, configuration: settings)
      guard isNew else { return }
      try queue.write { db in
        try db.execute(
          sql: kind.schema + "PRAGMA application_id = \(kind.applicationID); PRAGMA user_version = \(kind.version);")
      }
    } catch { throw Self.sentence(error, path, kind, "opened") }
  }

  /// Looks without changing anything: to set SQLite's mode of writing is a change already.
  private static func isNew(_ path: String, _ kind: Kind) throws -> Bool {
    guard let size = try FileManager.default.sizeOfRegularFile(path), size > 0 else { return true }
    guard try FileHandle.beginning(of: path, count: magic.count) == magic else { throw Foreign.bytes }
    var settings = Configuration()
    settings.readonly = true
    settings.busyMode = .timeout(5)
    let queue = try DatabaseQueue(path: path, configuration: settings)
    let (id, version, tables) = try queue.read { db in
      (
        try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0, try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0,
        try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
      )
    }
    try queue.close()
    switch (id, version) {
    case (kind.applicationID, kind.version): return false
    case (0, 0) where tables == 0: return true
    case (kind.applicationID, let version): throw Foreign.version(version)
    default: throw Foreign.database
    }
  }

  /// The first bytes of each SQLite database.
  private static let magic = Data("SQLite format 3\0".utf8)

  private enum Foreign: Error {
    case bytes, database, notAFile
    case version(Int)
  }

  /// One transaction that changes nothing.
  package func read<Value>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    do { return try queue.read(body) } catch { throw Self.sentence(error, path, kind, "read") }
  }

  /// One transaction, all or nothing.
  package func write<Value>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    do { return try queue.write(body) } catch { throw Self.sentence(error, path, kind, "written") }
  }

  // MARK: Failures

  private static let full = "the disk is full. Make room and try again; the file is as it was."

  /// Whether an error of ``write(_:)`` says that the disk is full.
  package static func isFull(_ error: StateError) -> Bool { error.description.hasSuffix(full) }

  private static func sentence(_ error: any Error, _ path: String, _ kind: Kind, _ act: String) -> StateError {
    if let error = error as? StateError { return error }
    let damaged = "it is damaged. Expected: \(kind.expected). \(kind.remedy)"
    let reason: String
    switch error {
    case Foreign.bytes: reason = "it is no database. Expected: \(kind.expected). \(kind.remedy)"
    case Foreign.database: reason = "another program made it. Expected: \(kind.expected). \(kind.remedy)"
    case Foreign.version(let version):
      reason =
        "it has format \(version), of another version of Ambit. Expected: format \(kind.version). "
        + "Use that version, or: \(kind.remedy)"
    case Foreign.notAFile: reason = "it is no regular file. Expected: \(kind.expected). \(kind.remedy)"
    case let error as DatabaseError:
      switch error.resultCode {
      case .SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_MISMATCH, .SQLITE_SCHEMA: reason = damaged
      case .SQLITE_FULL: reason = full
      // SQLite cannot make room for the memory that readers and writers share.
      case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE: reason = full
      case .SQLITE_BUSY, .SQLITE_LOCKED: reason = "another process uses it. End that process and try again."
      case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY:
        reason = "this user may not use it, or its folder is not there. Check both and their permissions."
      case .SQLITE_IOERR: reason = "the disk fails (\(error.message ?? "input/output error")). Check the disk."
      // A statement of Ambit's own that the tables do not understand.
      case .SQLITE_ERROR: reason = damaged
      default: reason = "\(error.message ?? "SQLite's error \(error.resultCode.rawValue)")."
      }
    case is DecodingError, is RowDecodingError: reason = damaged
    case let error as CocoaError where error.code == .fileReadNoPermission:
      reason = "this user may not read it. Check its permissions."
    default: reason = "\(error)."
    }
    return StateError("\(kind.name) \(path) cannot be \(act): \(reason)")
  }
}

extension FileManager {
  /// - Returns: `nil`: there is none.
  fileprivate func sizeOfRegularFile(_ path: String) throws -> Int? {
    guard let facts = try? attributesOfItem(atPath: path) else { return nil }
    guard facts[.type] as? FileAttributeType == .typeRegular else { throw OwnDatabase.notAFile }
    return (facts[.size] as? NSNumber)?.intValue
  }
}

extension FileHandle {
  fileprivate static func beginning(of path: String, count: Int) throws -> Data {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    return try file.read(upToCount: count) ?? Data()
  }
}

extension OwnDatabase {
  fileprivate static var notAFile: any Error { Foreign.notAFile }
}
