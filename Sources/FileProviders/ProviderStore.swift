internal import Databases
package import Folders
internal import Foundation
internal import GRDB
internal import Synchronization

/// A provider that the user has enabled.
package struct EnabledProvider: Sendable, Equatable {
  /// The identifier of its app.
  package let identifier: String
  package let name: String
  /// The bundle.
  package let app: String
  /// The extension's program.
  package let program: String
  /// Its manifest says that its identifiers are the same on all devices (`PRV-21`).
  package let acrossDevices: Bool
  /// The modes of its own picker; words: open, import.
  package let pickerModes: [String]

  package init(
    identifier: String, name: String, app: String, program: String, acrossDevices: Bool = false,
    pickerModes: [String] = []
  ) {
    (self.identifier, self.name, self.app, self.program) = (identifier, name, app, program)
    (self.acrossDevices, self.pickerModes) = (acrossDevices, pickerModes)
  }
}

/// A file that shows an item of a provider's.
package struct ProvidedFile: Sendable, Equatable {
  package let provider: String
  package var item: ProviderItem
  /// Below the provider's folder.
  package var path: String
  package var isHere: Bool
  /// It has content that the provider has not got yet.
  package var isChanged: Bool
  /// The file's ``FoundFile/node``, so that it is known again under another name; empty: it is not known.
  package var node: String

  package init(
    provider: String, item: ProviderItem, path: String, isHere: Bool = false, isChanged: Bool = false, node: String = ""
  ) {
    (self.provider, self.item, self.path) = (provider, item, path)
    (self.isHere, self.isChanged, self.node) = (isHere, isChanged, node)
  }
}

/// The enabled providers and their items (`providers.sqlite`). Which content is here is said by this table, and by nothing that an app can
/// change.
package final class ProviderStore: Sendable {
  private static let kind = OwnDatabase.Kind(
    // "AmbP"
    name: "the table of providers", applicationID: 0x416d_6250, version: 5,
    schema: """
      CREATE TABLE provider (identifier TEXT PRIMARY KEY, name TEXT NOT NULL, app TEXT NOT NULL,
        program TEXT NOT NULL, across INTEGER NOT NULL, pickers TEXT NOT NULL);
      CREATE TABLE item (
        provider TEXT NOT NULL REFERENCES provider ON DELETE CASCADE, identifier TEXT NOT NULL, parent TEXT NOT NULL,
        filename TEXT NOT NULL, folder INTEGER NOT NULL, type TEXT, size INTEGER NOT NULL, modified INTEGER NOT NULL,
        version TEXT NOT NULL, capabilities INTEGER NOT NULL, path TEXT NOT NULL, here INTEGER NOT NULL,
        changed INTEGER NOT NULL, node TEXT NOT NULL, marks INTEGER NOT NULL, PRIMARY KEY (provider, identifier),
        UNIQUE (provider, path)) WITHOUT ROWID;
      CREATE TABLE anchor (
        provider TEXT NOT NULL REFERENCES provider ON DELETE CASCADE, folder TEXT NOT NULL, anchor TEXT NOT NULL,
        PRIMARY KEY (provider, folder)) WITHOUT ROWID;
      CREATE TABLE discarded (
        provider TEXT NOT NULL REFERENCES provider ON DELETE CASCADE, identifier TEXT NOT NULL, parent TEXT NOT NULL,
        PRIMARY KEY (provider, identifier)) WITHOUT ROWID;
      """, isDurable: false,
    remedy: "Move it and the folder CloudStorage away, and enable the providers again (ambit provider enable).")
  private let database: OwnDatabase
  private let known = Mutex(Known())

  /// The part of the table that is in memory: each coordinated access asks three times for one document.
  private struct Known {
    /// Counts the changes of the table.
    var changes = 0
    var providers: [EnabledProvider]?
    /// By provider and path; `nil`: there is none.
    var files: [String: [String: ProvidedFile?]] = [:]
    var count = 0
  }

  /// Documents in memory.
  private static let most = 1000

  /// - Throws: where it cannot be opened, or was made by another version.
  package init(path: String) throws(StateError) { database = try OwnDatabase(path: path, Self.kind) }

  // MARK: Providers

  package func providers() throws(StateError) -> [EnabledProvider] {
    let (changes, known) = self.known.withLock { ($0.changes, $0.providers) }
    if let known { return known }
    let all = try database.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM provider ORDER BY identifier").map {
        EnabledProvider(
          identifier: $0["identifier"], name: $0["name"], app: $0["app"], program: $0["program"],
          acrossDevices: $0["across"], pickerModes: ($0["pickers"] as String).split(separator: " ").map(String.init))
      }
    }
    self.known.withLock { if $0.changes == changes { $0.providers = all } }
    return all
  }

  package func enable(_ provider: EnabledProvider) throws(StateError) {
    try write { db in
      try db.execute(
        sql: """
          INSERT INTO provider VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (identifier) DO UPDATE SET
          name = excluded.name, app = excluded.app, program = excluded.program, across = excluded.across,
          pickers = excluded.pickers
          """,
        arguments: [
          provider.identifier, provider.name, provider.app, provider.program, provider.acrossDevices,
          provider.pickerModes.joined(separator: " "),
        ])
      // Another program may count in another way.
      try db.execute(sql: "DELETE FROM anchor WHERE provider = ?", arguments: [provider.identifier])
    }
  }

  package func disable(_ provider: String) throws(StateError) {
    try write { db in try db.execute(sql: "DELETE FROM provider WHERE identifier = ?", arguments: [provider]) }
  }

  // MARK: Items

  /// - Parameter here: those whose content is here, and no other.
  package func files(of provider: String, here: Bool = false) throws(StateError) -> [ProvidedFile] {
    try database.read { db in
      let sql = "SELECT \(Self.columns) FROM item WHERE provider = ? \(here ? "AND here" : "") ORDER BY path"
      let rows = try Row.fetchCursor(db, sql: sql, arguments: [provider])
      var files: [ProvidedFile] = []
      while let row = try rows.next() { files.append(Self.file(row)) }
      return files
    }
  }

  /// The items of a provider at one moment.
  package struct Reading: Sendable {
    package let provider: String
    package let files: [ProvidedFile]
    fileprivate let changes: Int
  }

  package func reading(of provider: String) throws(StateError) -> Reading {
    let changes = known.withLock { $0.changes }
    return Reading(provider: provider, files: try files(of: provider), changes: changes)
  }

  package func isUnchanged(since reading: Reading) -> Bool { known.withLock { $0.changes } == reading.changes }

  /// The items of a provider now. They are read again only if the table was changed meanwhile.
  package func files(since reading: Reading) throws(StateError) -> [ProvidedFile] {
    isUnchanged(since: reading) ? reading.files : try files(of: reading.provider)
  }

  /// The number of items, and of documents whose content is here.
  package func counts(of provider: String) throws(StateError) -> (items: Int, here: Int) {
    try database.read { db in
      let sql = "SELECT count(*), count(*) FILTER (WHERE here AND NOT folder) FROM item WHERE provider = ?"
      let row = try Row.fetchOne(db, sql: sql, arguments: [provider])
      return (row?[0] ?? 0, row?[1] ?? 0)
    }
  }

  package func file(of provider: String, path: String) throws(StateError) -> ProvidedFile? {
    let (changes, known) = self.known.withLock { ($0.changes, $0.files[provider]?[path]) }
    if let known { return known }
    let file = try database.read { db in
      let statement = try db.cachedStatement(sql: "SELECT \(Self.columns) FROM item WHERE provider = ? AND path = ?")
      return try Row.fetchOne(statement, arguments: [provider, path]).map(Self.file)
    }
    self.known.withLock { known in
      // The table may have been changed since it was read.
      guard known.changes == changes else { return }
      if known.count >= Self.most { (known.files, known.count) = ([:], 0) }
      known.files[provider, default: [:]][path] = .some(file)
      known.count += 1
    }
    return file
  }

  private func write(_ body: (Database) throws -> Void) throws(StateError) {
    defer { known.withLock { $0 = Known(changes: $0.changes + 1) } }
    try database.write(body)
  }

  package func file(of provider: String, item: String) throws(StateError) -> ProvidedFile? {
    try database.read { db in
      try Row.fetchOne(
        db, sql: "SELECT \(Self.columns) FROM item WHERE provider = ? AND identifier = ?", arguments: [provider, item]
      )
      .map(Self.file)
    }
  }

  package func put(_ files: [ProvidedFile]) throws(StateError) {
    try write { db in
      let statement = try db.cachedStatement(
        sql: "INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      for file in files {
        let item = file.item
        try statement.execute(
          arguments: [
            file.provider, item.identifier, item.parent, item.filename, item.isFolder, item.contentType, item.size,
            item.modified, item.version, Int(item.capabilities.rawValue), file.path, file.isHere, file.isChanged,
            file.node, Int(item.marks.rawValue),
          ])
      }
    }
  }

  /// Gives items other places and descriptions. The facts of their contents stay as they are by now: another request may have brought,
  /// sent or taken one away since the caller has read them.
  package func place(_ files: [ProvidedFile]) throws(StateError) {
    guard !files.isEmpty else { return }
    try write { db in
      let statement = try db.cachedStatement(
        sql: """
          UPDATE OR REPLACE item SET parent = ?, filename = ?, type = ?, capabilities = ?, path = ?, marks = ?
          WHERE provider = ? AND identifier = ?
          """)
      for file in files {
        let item = file.item
        try statement.execute(
          arguments: [
            item.parent, item.filename, item.contentType, Int(item.capabilities.rawValue), file.path,
            Int(item.marks.rawValue), file.provider, item.identifier,
          ])
      }
    }
  }

  package func remove(_ identifiers: [String], of provider: String) throws(StateError) {
    try write { db in
      for identifier in identifiers {
        try db.execute(
          sql: "DELETE FROM item WHERE provider = ? AND identifier = ?", arguments: [provider, identifier])
      }
    }
  }

  // MARK: Anchors

  /// The anchors that changes of folders follow, by the folders' identifiers (`PRV-9`).
  package func anchors(of provider: String) throws(StateError) -> [String: String] {
    try database.read { db in
      let rows = try Row.fetchAll(
        db, sql: "SELECT folder, anchor FROM anchor WHERE provider = ?", arguments: [provider])
      return Dictionary(rows.map { ($0["folder"], $0["anchor"]) }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// Replaces them all.
  package func put(anchors: [String: String], of provider: String) throws(StateError) {
    try write { db in
      try db.execute(sql: "DELETE FROM anchor WHERE provider = ?", arguments: [provider])
      for (folder, anchor) in anchors {
        try db.execute(sql: "INSERT INTO anchor VALUES (?, ?, ?)", arguments: [provider, folder, anchor])
      }
    }
  }

  // MARK: The trash

  /// Notes the folder from which an item went to the provider's trash.
  package func noteDiscarded(_ identifier: String, from parent: String, of provider: String) throws(StateError) {
    try write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO discarded VALUES (?, ?, ?)", arguments: [provider, identifier, parent])
    }
  }

  /// The folder from which an item went to the trash, if that was here; it is forgotten.
  package func takeDiscarded(_ identifier: String, of provider: String) throws(StateError) -> String? {
    let parent = try database.read { db in
      try String.fetchOne(
        db, sql: "SELECT parent FROM discarded WHERE provider = ? AND identifier = ?",
        arguments: [provider, identifier])
    }
    try write { db in
      try db.execute(
        sql: "DELETE FROM discarded WHERE provider = ? AND identifier = ?", arguments: [provider, identifier])
    }
    return parent
  }

  private static let columns =
    "provider, identifier, parent, filename, folder, type, size, modified, version, capabilities, marks, path, here, changed, node"

  /// In the order of ``columns``: a column's name is looked for in each row anew.
  private static func file(_ row: Row) -> ProvidedFile {
    let item = ProviderItem(
      identifier: row[1], parent: row[2], filename: row[3], isFolder: row[4], contentType: row[5], size: row[6],
      modified: row[7], version: row[8], capabilities: .init(rawValue: row[9]), marks: .init(rawValue: row[10]))
    return ProvidedFile(
      provider: row[0], item: item, path: row[11], isHere: row[12], isChanged: row[13], node: row[14])
  }
}
