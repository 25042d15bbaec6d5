package import Folders
internal import Foundation
internal import GRDB
internal import Kernel

/// A document that is about to be replaced by another file at its place: written down before, so that a broker that finds it
/// after a crash knows which of the two stands there, and which other files may.
package struct PendingReplacement: Equatable, Sendable {
  package let old: FileIdentity
  package let new: FileIdentity
  /// The host folder, and the document's name in it.
  package let folder: String
  package let name: String
  /// A name in that folder under which the new file, or afterwards the old one, stands for a moment.
  package let temporary: String?

  package init(old: FileIdentity, new: FileIdentity, folder: String, name: String, temporary: String?) {
    self.old = old
    self.new = new
    self.folder = folder
    self.name = name
    self.temporary = temporary
  }
}

extension GrantStore {
  static let replacementColumns =
    "volume, handleType, handle, inode, birth, newVolume, newHandleType, newHandle, newInode, newBirth, folder, name, temporary"

  package func begin(_ replacement: PendingReplacement) throws(StateError) {
    try write { db in
      try db.execute(
        sql: "INSERT INTO replacement (\(Self.replacementColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        arguments: replacement.old.row + replacement.new.row
          + [replacement.folder, replacement.name, replacement.temporary])
    }
  }

  /// Every grant of a file is a grant of another from now on, of one app or of all, and nothing is under way for it any more.
  ///
  /// - Parameter isSettled: no while something of it has still to be removed, until ``abandon(_:)``.
  package func replace(
    _ old: FileIdentity, by new: FileIdentity, of app: String? = nil, isSettled: Bool = true
  ) throws(StateError) {
    let condition = """
      volume = ? AND handleType = ? AND handle = ? AND inode = ? AND birth = ?
      AND bundleIdentifier = coalesce(?, bundleIdentifier)
      """
    mayHaveSoon(new.inode, app)
    do {
      // Those alone: an app may have thousands.
      forget(
        try write { db in
          let replaced = try String.fetchAll(
            db, sql: "SELECT id FROM grant_ WHERE \(condition)", arguments: old.row + [app])
          try db.execute(
            sql: """
              UPDATE grant_ SET volume = ?, handleType = ?, handle = ?, inode = ?, birth = ? WHERE \(condition)
              """, arguments: new.row + old.row + [app])
          if isSettled { try Self.drop(old, db) }
          return replaced
        })
    } catch {
      // Whether it was written cannot be told.
      forget(old)
      throw error
    }
  }

  /// Nothing was replaced.
  package func abandon(_ old: FileIdentity) throws(StateError) { try write { db in try Self.drop(old, db) } }

  private static func drop(_ old: FileIdentity, _ db: Database) throws {
    try db.execute(
      sql: """
        DELETE FROM replacement WHERE volume = ? AND handleType = ? AND handle = ? AND inode = ? AND birth = ?
        """, arguments: old.row)
  }

  /// The replacements that a dead broker had begun.
  package func pendingReplacements() throws(StateError) -> [PendingReplacement] {
    try read { db in
      try Row.fetchAll(db, sql: "SELECT \(Self.replacementColumns) FROM replacement").map { row in
        PendingReplacement(
          old: try FileIdentity(row: row, ["volume", "handleType", "handle", "inode", "birth"]),
          new: try FileIdentity(row: row, ["newVolume", "newHandleType", "newHandle", "newInode", "newBirth"]),
          folder: try Grant.value(row, "folder"), name: try Grant.value(row, "name"),
          temporary: try Grant.value(row, "temporary", String?.self))
      }
    }
  }
}

extension FileIdentity {
  /// In the order of the columns. SQLite's integers are signed, inode numbers are not.
  var row: StatementArguments {
    [Data(volume), handle.type, Data(handle.bytes), Int64(bitPattern: inode), birth]
  }

  init(row: Row, _ columns: [String]) throws(StateError) {
    self.init(
      volume: Array(try Grant.value(row, columns[0], Data.self)),
      handle: Kernel.FileHandle(
        type: try Grant.value(row, columns[1]), bytes: Array(try Grant.value(row, columns[2], Data.self))),
      inode: UInt64(bitPattern: try Grant.value(row, columns[3], Int64.self)), birth: try Grant.value(row, columns[4]))
  }
}
