internal import Folders
internal import Foundation
internal import GRDB
package import Kernel
internal import Paths
internal import Synchronization
internal import SystemPackage

/// The kept versions of documents: a table, and a folder with their contents.
///
/// A version belongs to a document, and a document is known by its file. When another file takes the document's place, the versions
/// follow (``succeed(_:by:)``).
package final class VersionStore {
  private let database: DatabaseQueue
  /// The loop writes here, and does not wait for the disk: a thread does, before a change is promised.
  package let table: VersionTable
  private let checkpointer: Checkpointer
  private let removals: VersionRemovals
  /// The folder of the contents, each under its version's identifier.
  private let folder: Descriptor
  package let rules: VersionRules
  /// Of any document; `nil`: the table may have changed since.
  private let areThereConflicts = Mutex<Bool?>(nil)
  /// Documents that were replaced since this store was opened, and their successors. A version that is added late belongs to the
  /// successor.
  private let successors = Mutex<[FileIdentity: FileIdentity]>([:])
  private static let mostSuccessors = 4096

  /// - Parameters:
  ///   - path: the table's file.
  ///   - contents: an existing folder of the user's alone.
  package init(path: String, contents: String, rules: VersionRules = VersionRules()) throws {
    self.rules = rules
    table = VersionTable(path: path)
    checkpointer = Checkpointer(path)
    folder = try Descriptor.open(contents, flags: [.read, .directory, .noFollow])
    removals = VersionRemovals(of: table, in: folder, most: rules.total)
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA trusted_schema = OFF")
      try db.execute(sql: "PRAGMA journal_mode = WAL")
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
      // Pages. Long before that many are in the journal it is moved by a thread (Checkpointer).
      try db.execute(sql: "PRAGMA wal_autocheckpoint = 10000")
      try db.execute(sql: "PRAGMA foreign_keys = ON")
    }
    do {
      database = try DatabaseQueue(path: path, configuration: configuration)
      try Self.migrator.migrate(database)
    } catch let error as DatabaseError {
      throw StateError(
        "\(path): the table of versions cannot be used: \(error.message ?? "\(error)"). Move it away to start anew.")
    }
    try clear()
  }

  deinit { checkpointer.close() }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(
        sql: """
          CREATE TABLE document (
            number INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, path TEXT NOT NULL
          ) STRICT;
          CREATE INDEX document_path ON document (path);
          CREATE TABLE version (
            id TEXT PRIMARY KEY, document INTEGER NOT NULL REFERENCES document (number) ON DELETE CASCADE,
            name TEXT NOT NULL, modified INTEGER NOT NULL, kept INTEGER NOT NULL, app TEXT, device TEXT NOT NULL,
            size INTEGER NOT NULL, package INTEGER NOT NULL, cause TEXT NOT NULL, unresolved INTEGER NOT NULL
          ) STRICT;
          CREATE INDEX version_document ON version (document, kept);
          """)
    }
    migrator.registerMigration("2") { db in
      try db.execute(
        sql: """
          ALTER TABLE version ADD COLUMN place TEXT NOT NULL DEFAULT '';
          UPDATE version SET place = (SELECT path FROM document WHERE number = version.document);
          """)
    }
    return migrator
  }

  /// Removes contents that no version has: a broker died while it kept or removed one.
  private func clear() throws {
    let known = Set(try database.read { db in try String.fetchAll(db, sql: "SELECT id FROM version") })
    removals.remove(
      try DirectoryReader.entries(of: folder).map(\.name).filter { !known.contains($0) }, size: 0)
  }

  // MARK: Asking

  /// The versions of a document, newest first.
  package func versions(of document: FileIdentity) throws -> [KeptVersion] {
    try database.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT version.* FROM version JOIN document ON document.number = version.document
          WHERE document.identity = ? ORDER BY kept DESC, id DESC
          """, arguments: [document.stored]
      ).compactMap(KeptVersion.init(row:))
    }
  }

  /// The versions of the document that was last seen at a path, newest first.
  package func versions(at path: String) throws -> [KeptVersion] {
    try database.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT version.* FROM version JOIN document ON document.number = version.document
          WHERE document.path = ? ORDER BY kept DESC, id DESC
          """, arguments: [path]
      ).compactMap(KeptVersion.init(row:))
    }
  }

  /// A version, and its document's identity and last known path.
  package func version(_ id: String) throws -> (version: KeptVersion, document: FileIdentity, path: String)? {
    try database.read { db in
      guard
        let row = try Row.fetchOne(
          db,
          sql: """
            SELECT version.*, document.identity, document.path FROM version JOIN document ON document.number = version.document
            WHERE id = ?
            """, arguments: [id]),
        let version = KeptVersion(row: row), let identity = Self.identity(row["identity"])
      else { return nil }
      return (version, identity, row["path"])
    }
  }

  /// Opens the content of a version: a file for reading, or a package's folder.
  package func open(_ version: KeptVersion) throws(KernelError) -> Descriptor {
    try Descriptor.open(
      version.id, below: folder, flags: version.isPackage ? [.read, .directory, .noFollow] : [.read, .noFollow])
  }

  /// Whether a document has conflicts that are not resolved. Where there are none at all, the table is not asked.
  ///
  /// - Parameter since: nanoseconds since 1970: earlier ones do not count.
  package func hasConflicts(_ document: FileIdentity, since: () throws -> Int64) throws -> Bool {
    let areThere = try areThereConflicts.withLock { known in
      let answer =
        try known
        ?? database.read { db in
          try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM version WHERE unresolved)") ?? false
        }
      known = answer
      return answer
    }
    guard areThere else { return false }
    let since = try since()
    return try versions(of: document).contains { $0.isUnresolved && $0.kept >= since }
  }

  private func change<Value>(_ body: (Database) throws -> Value) throws -> Value {
    defer {
      areThereConflicts.withLock { $0 = nil }
      checkpointer.note()
    }
    return try database.write(body)
  }

  // MARK: Keeping

  /// Begins to keep a content. Its content is copied by any thread, and then it is added.
  ///
  /// - Parameters:
  ///   - open: the document, where it is open for reading already and must not be opened again.
  ///   - id: of the version.
  package func draft(
    of document: FoundDocument, open: Descriptor? = nil, id: String = Grant.makeID()
  ) -> VersionDraft {
    VersionDraft(id, of: document, open: open, in: folder, largest: rules.largest, besides: removals)
  }

  /// Adds a version under its draft's identifier. Its content is on the disk. What has to make room for it goes. The version
  /// survives a power failure when the ``table`` is on the disk too.
  ///
  /// - Parameter document: the document that it is a version of: the same file, or the one that has taken its place.
  /// - Throws: `StateError` if there is no room; the content is removed then.
  package func add(
    _ draft: VersionDraft, of document: FileIdentity, as version: KeptVersion
  ) throws {
    let key = present(document).stored
    do {
      let gone = try change { db -> [KeptVersion] in
        let number = try Self.number(db, key, version.place)
        let all = try Row.fetchAll(db, sql: "SELECT * FROM version").compactMap(KeptVersion.init(row:))
        let own = try Row.fetchAll(db, sql: "SELECT * FROM version WHERE document = ?", arguments: [number])
          .compactMap(KeptVersion.init(row:))
        let removed = rules.removals(
          for: version.size, by: version.app, isConflict: version.isUnresolved, of: own, among: all)
        guard let removed else {
          throw StateError(
            "it has \(version.size) bytes. A version has \(rules.largest) at most, those of an app \(rules.ofApp), all "
              + "together \(rules.total); unresolved conflicts stay, and have \(rules.conflictsOfApp) of an app and "
              + "\(rules.conflicts) together")
        }
        for id in removed { try db.execute(sql: "DELETE FROM version WHERE id = ?", arguments: [id]) }
        try db.execute(
          sql: "INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          arguments: [
            version.id, number, version.name, version.modified, version.kept, version.app, version.device,
            Int64(clamping: version.size), version.isPackage, version.cause.rawValue, version.isUnresolved,
            version.place,
          ])
        return all.filter { removed.contains($0.id) }
      }
      removals.remove(gone.map(\.id), size: gone.reduce(0) { $0 + $1.size })
    } catch {
      discard(draft)
      throw error
    }
  }

  private static func number(_ db: Database, _ key: Data, _ path: String) throws -> Int64 {
    try db.execute(
      sql:
        "INSERT INTO document (identity, path) VALUES (?, ?) ON CONFLICT (identity) DO UPDATE SET path = excluded.path",
      arguments: [key, path])
    return try Int64.fetchOne(db, sql: "SELECT number FROM document WHERE identity = ?", arguments: [key]) ?? 0
  }

  /// The file that is a document by now.
  private func present(_ document: FileIdentity) -> FileIdentity {
    successors.withLock { successors in
      var document = document
      for _ in 0..<64 {
        guard let next = successors[document] else { break }
        document = next
      }
      return document
    }
  }

  /// Another file is the document from now on.
  package func succeed(_ old: FileIdentity, by new: FileIdentity) throws {
    guard old != new else { return }
    successors.withLock { successors in
      if successors.count >= Self.mostSuccessors { successors = [:] }
      successors[old] = new
      // It may have been the document before.
      successors[new] = nil
    }
    try change { db in
      guard
        let number = try Int64.fetchOne(
          db, sql: "SELECT number FROM document WHERE identity = ?", arguments: [old.stored])
      else { return }
      try Self.rename(db, number, to: new.stored)
    }
  }

  /// The new file may have versions of its own by now: then they are one document's.
  private static func rename(_ db: Database, _ number: Int64, to key: Data) throws {
    if let other = try Int64.fetchOne(db, sql: "SELECT number FROM document WHERE identity = ?", arguments: [key]) {
      try db.execute(sql: "UPDATE version SET document = ? WHERE document = ?", arguments: [other, number])
      try db.execute(sql: "DELETE FROM document WHERE number = ?", arguments: [number])
    } else {
      try db.execute(sql: "UPDATE document SET identity = ? WHERE number = ?", arguments: [key, number])
    }
  }

  /// Another file has the path of a document with versions. It was saved by a rename that the broker did not see.
  ///
  /// For documents in a container only: elsewhere the new file may be of another app's, which must not see the old one's contents. A
  /// document that was asked for at its new place since it was moved there keeps its versions.
  package func follow(_ present: FileIdentity, at path: String) throws {
    let key = present.stored
    let known = try database.read { db in
      try String.fetchOne(db, sql: "SELECT path FROM document WHERE identity = ?", arguments: [key])
    }
    if known == path { return }
    try change { db in
      guard known == nil else {
        return try db.execute(sql: "UPDATE document SET path = ? WHERE identity = ?", arguments: [path, key])
      }
      let former = try Int64.fetchOne(
        db, sql: "SELECT number FROM document WHERE path = ? ORDER BY number DESC", arguments: [path])
      if let former { try Self.rename(db, former, to: key) }
    }
  }

  /// A conflict is resolved.
  package func resolve(_ id: String) throws {
    try change { db in
      try db.execute(sql: "UPDATE version SET unresolved = 0 WHERE id = ?", arguments: [id])
    }
  }

  package func remove(_ id: String) throws {
    let size = try change { db -> Int64? in
      let size = try Int64.fetchOne(db, sql: "SELECT size FROM version WHERE id = ?", arguments: [id])
      try db.execute(sql: "DELETE FROM version WHERE id = ?", arguments: [id])
      return size
    }
    if let size { removals.remove([id], size: UInt64(clamping: size)) }
  }

  /// Removes a draft's content.
  package func discard(_ draft: VersionDraft) { removals.remove(draft.names, size: draft.room) }

  // MARK: Forms

  private static func identity(_ key: Data) -> FileIdentity? {
    var reader = BinaryReader(key)
    return try? reader.identity()
  }
}

extension KeptVersion {
  fileprivate init?(row: Row) {
    guard let cause = Cause(rawValue: row["cause"]) else { return nil }
    self.init(
      id: row["id"], name: row["name"], place: row["place"], modified: row["modified"], kept: row["kept"],
      app: row["app"], device: row["device"], size: UInt64(clamping: row["size"] as Int64), isPackage: row["package"],
      cause: cause, isUnresolved: row["unresolved"])
  }
}
