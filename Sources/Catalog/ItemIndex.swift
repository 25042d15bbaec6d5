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
  private static let version = 1
  /// Of one app.
  package static let mostItems = 10_000
  /// Bytes of a text; the rest is not searched.
  private static let longestText = 65_536
  private static let longestTitle = 1024

  private let queue: DatabaseQueue

  package init(path: String) throws(StateError) {
    do {
      if let queue = try? Self.opened(path) {
        self.queue = queue
      } else {
        for file in ["", "-journal", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + file) }
        queue = try DatabaseQueue(path: path)
        try queue.write { db in try Self.make(db) }
      }
    } catch { throw StateError("the index \(path) cannot be opened: \(error)") }
  }

  private static func opened(_ path: String) throws -> DatabaseQueue? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    let queue = try DatabaseQueue(path: path)
    let isOurs = try queue.read { db in
      try Int.fetchOne(db, sql: "PRAGMA application_id") == applicationID
        && Int.fetchOne(db, sql: "PRAGMA user_version") == version
        && String.fetchOne(db, sql: "PRAGMA quick_check(1)") == "ok"
    }
    return isOurs ? queue : nil
  }

  private static func make(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE item (
          id INTEGER PRIMARY KEY, app TEXT NOT NULL, identifier TEXT NOT NULL, domain TEXT, title TEXT NOT NULL, about TEXT,
          type TEXT, grant_ TEXT, UNIQUE (app, identifier));
        CREATE VIRTUAL TABLE words USING fts5(title, about, text, keywords, tokenize = 'unicode61 remove_diacritics 2');
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """)
  }

  /// Adds items, or replaces those of the same identifiers.
  ///
  /// - Returns: `false`: the app would have more than ``mostItems``, and none was added.
  package func put(_ items: [IndexedItem]) throws(StateError) -> Bool {
    try write { db in
      for item in items {
        try Self.delete(db, "app = ? AND identifier = ?", [item.app, item.identifier])
        try db.execute(
          sql: "INSERT INTO item (app, identifier, domain, title, about, type, grant_) VALUES (?, ?, ?, ?, ?, ?, ?)",
          arguments: [
            item.app, item.identifier, item.domain, Self.cut(item.title, Self.longestTitle),
            item.about.map { Self.cut($0, Self.longestTitle) }, item.contentType, item.grant,
          ])
        try db.execute(
          sql: "INSERT INTO words (rowid, title, about, text, keywords) VALUES (?, ?, ?, ?, ?)",
          arguments: [
            db.lastInsertedRowID, Self.cut(item.title, Self.longestTitle),
            item.about.map { Self.cut($0, Self.longestTitle) } ?? "",
            item.text.map { Self.cut($0, Self.longestText) } ?? "",
            Self.cut(item.keywords.joined(separator: " "), Self.longestTitle),
          ])
      }
      for app in Set(items.map(\.app)) {
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM item WHERE app = ?", arguments: [app]) ?? 0
        guard count <= Self.mostItems else { throw TooMany() }
      }
    }
  }

  private struct TooMany: Error {}

  /// - Parameters:
  ///   - identifiers, domains: whose; with neither, all of the app's.
  package func delete(of app: String, identifiers: [String]?, domains: [String]?) throws(StateError) {
    _ = try write { db in
      guard identifiers != nil || domains != nil else { return try Self.delete(db, "app = ?", [app]) }
      for identifier in identifiers ?? [] { try Self.delete(db, "app = ? AND identifier = ?", [app, identifier]) }
      for domain in domains ?? [] { try Self.delete(db, "app = ? AND domain = ?", [app, domain]) }
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
      return try queue.read { db in
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

  private func write(_ body: (Database) throws -> Void) throws(StateError) -> Bool {
    do {
      try queue.write(body)
      return true
    } catch is TooMany {
      return false
    } catch { throw StateError("the index cannot be written: \(error)") }
  }

  private static func cut(_ text: String, _ bytes: Int) -> String {
    text.utf8.count <= bytes ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
  }
}
