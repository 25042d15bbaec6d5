package import Folders
internal import Foundation
internal import GRDB

/// Something that an app wants its user to find: a document, or a part of one.
package struct IndexedItem: Equatable, Sendable {
  package var app: String
  /// The app's own name of it.
  package var identifier: String
  /// A group of items that are deleted together.
  package var domain: String?
  package var title: String
  package var about: String?
  /// Searched, and never shown.
  package var text: String?
  package var keywords: [String]
  package var contentType: String?
  /// The grant of the document that it is about.
  package var grant: String?

  package init(
    app: String, identifier: String, domain: String? = nil, title: String, about: String? = nil, text: String? = nil,
    keywords: [String] = [], contentType: String? = nil, grant: String? = nil
  ) {
    (self.app, self.identifier, self.domain, self.title, self.about) = (app, identifier, domain, title, about)
    (self.text, self.keywords, self.contentType, self.grant) = (text, keywords, contentType, grant)
  }
}

/// The items that apps have indexed, of all apps (`search.sqlite`). Only the user searches it; no app reads another one's items, or its own.
///
/// A file that is damaged or of another version is made anew: apps index their items again.
package final class ItemIndex: Sendable {
  /// "AmbI"
  private static let applicationID = 0x416d_6249
  private static let version = 2
  /// Of one app.
  package static let mostItems = 10_000
  /// Of the texts and names of one app's items.
  package static let mostBytes = 64 << 20
  /// Bytes of a text; the rest is not searched.
  private static let longestText = 65_536
  private static let longestTitle = 1024

  /// The user can search while an app writes.
  private let pool: DatabasePool

  package init(path: String) throws(StateError) {
    do {
      if let pool = try? Self.opened(path) {
        self.pool = pool
      } else {
        for file in ["", "-journal", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + file) }
        pool = try DatabasePool(path: path)
        try pool.write { db in try Self.make(db) }
      }
    } catch { throw StateError("the index \(path) cannot be opened: \(error)") }
  }

  private static func opened(_ path: String) throws -> DatabasePool? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    let pool = try DatabasePool(path: path)
    let isOurs = try pool.read { db in
      try Int.fetchOne(db, sql: "PRAGMA application_id") == applicationID
        && Int.fetchOne(db, sql: "PRAGMA user_version") == version
        && String.fetchOne(db, sql: "PRAGMA quick_check(1)") == "ok"
    }
    return isOurs ? pool : nil
  }

  private static func make(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE item (
          id INTEGER PRIMARY KEY, app TEXT NOT NULL, identifier TEXT NOT NULL, domain TEXT, title TEXT NOT NULL, about TEXT,
          type TEXT, grant_ TEXT, bytes INTEGER NOT NULL, UNIQUE (app, identifier));
        CREATE VIRTUAL TABLE words USING fts5(title, about, text, keywords, tokenize = 'unicode61 remove_diacritics 2');
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """)
  }

  /// Adds items, or replaces those of the same identifiers.
  ///
  /// - Parameter isWanted: asked before each item.
  /// - Throws: ``Excess``: the app would have more than is kept; `StateError`; `CancellationError`. None was added then.
  package func put(_ items: [IndexedItem], while isWanted: () -> Bool = { true }) throws {
    try write { db in
      for item in items.map(Self.cut) {
        guard isWanted() else { throw CancellationError() }
        try Self.delete(db, "app = ? AND identifier = ?", [item.app, item.identifier])
        let keywords = item.keywords.joined(separator: " ")
        try db.execute(
          sql: """
            INSERT INTO item (app, identifier, domain, title, about, type, grant_, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
          arguments: [
            item.app, item.identifier, item.domain, item.title, item.about, item.contentType, item.grant,
            Self.bytes(item),
          ])
        try db.execute(
          sql: "INSERT INTO words (rowid, title, about, text, keywords) VALUES (?, ?, ?, ?, ?)",
          arguments: [db.lastInsertedRowID, item.title, item.about ?? "", item.text ?? "", keywords])
      }
      for app in Set(items.map(\.app)) {
        let row = try Row.fetchOne(
          db, sql: "SELECT count(*), coalesce(sum(bytes), 0) FROM item WHERE app = ?", arguments: [app])
        guard let row else { continue }
        guard row[0] <= Self.mostItems else { throw Excess.items }
        guard row[1] <= Self.mostBytes else { throw Excess.bytes }
      }
    }
  }

  /// What an app would have too much of.
  package enum Excess: Error { case items, bytes }

  private static func cut(_ item: IndexedItem) -> IndexedItem {
    var item = item
    item.title = cut(item.title, longestTitle)
    item.about = item.about.map { cut($0, longestTitle) }
    item.text = item.text.map { cut($0, longestText) }
    item.keywords = [cut(item.keywords.joined(separator: " "), longestTitle)]
    return item
  }

  private static func bytes(_ item: IndexedItem) -> Int {
    let texts = [item.identifier, item.domain, item.title, item.about, item.text, item.contentType, item.grant]
    return (texts + item.keywords).reduce(0) { $0 + ($1?.utf8.count ?? 0) }
  }

  /// - Parameters:
  ///   - identifiers, domains: whose; with neither, all of the app's.
  ///   - isWanted: asked before each of them.
  /// - Throws: `StateError`; `CancellationError`: none was deleted.
  package func delete(
    of app: String, identifiers: [String]?, domains: [String]?, while isWanted: () -> Bool = { true }
  ) throws {
    try write { db in
      guard identifiers != nil || domains != nil else { return try Self.delete(db, "app = ?", [app]) }
      for (column, names) in [("identifier", identifiers ?? []), ("domain", domains ?? [])] {
        for name in names {
          guard isWanted() else { throw CancellationError() }
          try Self.delete(db, "app = ? AND \(column) = ?", [app, name])
        }
      }
    }
  }

  private static func delete(_ db: Database, _ condition: String, _ arguments: StatementArguments) throws {
    try db.execute(
      sql: "DELETE FROM words WHERE rowid IN (SELECT id FROM item WHERE \(condition))", arguments: arguments)
    try db.execute(sql: "DELETE FROM item WHERE \(condition)", arguments: arguments)
  }

  /// The items with all of the words, each the beginning of one of theirs; the best first.
  package func search(_ words: [String], most: Int) throws(StateError) -> [IndexedItem] {
    // In quotes they are words, whatever FTS5 would make of them.
    let pattern = words.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"*" }.joined(separator: " ")
    guard !words.isEmpty, words.allSatisfy({ $0.contains { $0.isLetter || $0.isNumber } }) else { return [] }
    do {
      return try pool.read { db in
        try Row.fetchAll(
          db,
          sql: """
            SELECT app, identifier, domain, item.title, item.about, type, grant_ FROM words JOIN item ON item.id = words.rowid
            WHERE words MATCH ? ORDER BY bm25(words, 8, 4, 1, 4) LIMIT ?
            """, arguments: [pattern, most]
        ).compactMap { row in
          guard let app = String.fromDatabaseValue(row[0]), let identifier = String.fromDatabaseValue(row[1]),
            let title = String.fromDatabaseValue(row[3])
          else { return nil }
          return IndexedItem(
            app: app, identifier: identifier, domain: String.fromDatabaseValue(row[2]), title: title,
            about: String.fromDatabaseValue(row[4]), contentType: String.fromDatabaseValue(row[5]),
            grant: String.fromDatabaseValue(row[6]))
        }
      }
    } catch { throw StateError("the index cannot be searched: \(error)") }
  }

  private func write(_ body: (Database) throws -> Void) throws {
    do { try pool.write(body) } catch let error as DatabaseError {
      throw StateError("the index cannot be written: \(error)")
    }
  }

  private static func cut(_ text: String, _ bytes: Int) -> String {
    text.utf8.count <= bytes ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
  }
}
