package import Folders
internal import GRDB
package import Paths
internal import Query
internal import Synchronization

/// The catalog of one app. Changes are transactions, from any thread; each says which items it has changed.
package final class CatalogTable: Sendable {
  private let store: CatalogStore
  let number: Int
  /// The last change.
  private let ordinal: Mutex<Int64>

  init(_ store: CatalogStore, _ number: Int) throws(StateError) {
    self.store = store
    self.number = number
    do {
      let last = try store.pool.read { db in
        try Int64.fetchOne(db, sql: "SELECT max(ordinal) FROM item_\(number)") ?? 0
      }
      ordinal = Mutex(last)
    } catch { throw CatalogStore.explain(error, store.path) }
  }

  static let columns = """
    id, external, folder, path, kind, size, created, modified, writable, here, container, reference, grant_, launch, device, inode, changed, \
    ordinal
    """

  /// The names are searched in their folded form (`SearchText`), by any three characters in a row.
  ///
  /// Each 64th change merges so many pages of that index at once, and the broker's loop waits for it: with the pages of 4,050 bytes that
  /// FTS5 has otherwise up to 30 ms, with small ones less than 10 ms.
  static func schema(_ number: Int) -> String {
    """
    CREATE TABLE item_\(number) (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      external INTEGER NOT NULL,
      folder TEXT,
      path TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL,
      size INTEGER,
      created INTEGER,
      modified INTEGER,
      writable INTEGER NOT NULL,
      here INTEGER NOT NULL,
      container TEXT,
      reference TEXT,
      grant_ TEXT,
      launch TEXT,
      device INTEGER NOT NULL,
      inode INTEGER NOT NULL,
      changed INTEGER NOT NULL,
      ordinal INTEGER NOT NULL,
      folded TEXT NOT NULL,
      type TEXT NOT NULL
    );
    CREATE INDEX folder_\(number) ON item_\(number) (folder);
    CREATE INDEX modified_\(number) ON item_\(number) (modified);
    CREATE INDEX size_\(number) ON item_\(number) (size);
    CREATE INDEX folded_\(number) ON item_\(number) (folded);
    CREATE INDEX type_\(number) ON item_\(number) (type);
    CREATE VIRTUAL TABLE name_\(number) USING fts5 (
      folded, content = 'item_\(number)', content_rowid = 'id', tokenize = 'trigram case_sensitive 1', columnsize = 0
    );
    INSERT INTO name_\(number) (name_\(number), rank) VALUES ('pgsz', 512);
    """
  }

  // MARK: Reading

  private func read<Value>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    do { return try store.pool.read(body) } catch { throw CatalogStore.explain(error, store.path) }
  }

  /// Items as they are now. Those that are gone are not among them.
  package func items(_ ids: [Int64]) throws(StateError) -> [Int64: CatalogItem] {
    try read { db in
      let statement = try db.cachedStatement(sql: "SELECT \(Self.columns) FROM item_\(number) WHERE id = ?")
      var found: [Int64: CatalogItem] = [:]
      for id in ids {
        if let row = try Row.fetchOne(statement, arguments: [id]) { found[id] = try CatalogItem(row: row) }
      }
      return found
    }
  }

  package func item(at path: String) throws(StateError) -> CatalogItem? {
    try read { db in try fetch(db, path) }
  }

  /// All items that a query may be about, in the order of their paths, so many at a time.
  ///
  /// - Parameters:
  ///   - body: `false` ends it.
  package func candidates(
    for narrowing: Narrowing, batch: Int = 512, _ body: ([CatalogItem]) throws -> Bool
  ) throws(StateError) {
    try read { db in
      let rows = try Row.fetchCursor(
        db, sql: "SELECT \(Self.columns) FROM item_\(number) WHERE \(narrowing.condition(number)) ORDER BY path",
        arguments: StatementArguments(narrowing.arguments))
      var items: [CatalogItem] = []
      while let row = try rows.next() {
        items.append(try CatalogItem(row: row))
        if items.count == batch {
          guard try body(items) else { return }
          items = []
        }
      }
      if !items.isEmpty { _ = try body(items) }
    }
  }

  package func count() throws(StateError) -> Int {
    try read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM item_\(number)") ?? 0 }
  }

  private func fetch(_ db: Database, _ path: String) throws -> CatalogItem? {
    let statement = try db.cachedStatement(sql: "SELECT \(Self.columns) FROM item_\(number) WHERE path = ?")
    return try Row.fetchOne(statement, arguments: [path]).map { try CatalogItem(row: $0) }
  }

  private func fetch(_ db: Database, where condition: String, _ arguments: StatementArguments) throws -> [CatalogItem] {
    try Row.fetchAll(
      db.cachedStatement(sql: "SELECT \(Self.columns) FROM item_\(number) WHERE \(condition)"), arguments: arguments
    ).map { try CatalogItem(row: $0) }
  }

  // MARK: Changing

  private func write<Value>(_ body: (Database, Int64) throws -> Value) throws(StateError) -> Value {
    let next = ordinal.withLock { ordinal in
      ordinal += 1
      return ordinal
    }
    do { return try store.pool.write { db in try body(db, next) } } catch {
      throw CatalogStore.explain(error, store.path)
    }
  }

  /// Adds items, or changes those that are there under the same paths.
  ///
  /// - Returns: the items, and whether each is new or other than it was.
  package func put(_ items: [CatalogItem]) throws(StateError) -> [(id: Int64, isNews: Bool)] {
    guard !items.isEmpty else { return [] }
    return try write { db, ordinal in try items.map { try put($0, db, ordinal) } }
  }

  private func put(_ item: CatalogItem, _ db: Database, _ ordinal: Int64) throws -> (id: Int64, isNews: Bool) {
    if let former = try fetch(db, item.record.path) {
      if former.isSame(as: item) { return (former.id, false) }
      try update(former.id, former, item, db, ordinal)
      return (former.id, true)
    }
    try db.cachedStatement(
      sql: """
        INSERT INTO item_\(number) (
          external, folder, path, kind, size, created, modified, writable, here, container, reference, grant_, launch, device, inode,
          changed, ordinal, folded, type)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    ).execute(arguments: item.row(ordinal))
    let id = db.lastInsertedRowID
    try db.cachedStatement(sql: "INSERT INTO name_\(number) (rowid, folded) VALUES (?, ?)")
      .execute(arguments: [id, item.folded])
    return (id, true)
  }

  private func update(
    _ id: Int64, _ former: CatalogItem, _ item: CatalogItem, _ db: Database, _ ordinal: Int64
  ) throws {
    try db.cachedStatement(
      sql: """
        UPDATE item_\(number) SET external = ?, folder = ?, path = ?, kind = ?, size = ?, created = ?, modified = ?, writable = ?,
          here = ?, container = ?, reference = ?, grant_ = ?, launch = ?, device = ?, inode = ?, changed = ?, ordinal = ?, folded = ?, type = ?
        WHERE id = ?
        """
    ).execute(arguments: item.row(ordinal) + [id])
    guard former.folded != item.folded else { return }
    try unname(id, former.folded, db)
    try db.cachedStatement(sql: "INSERT INTO name_\(number) (rowid, folded) VALUES (?, ?)")
      .execute(arguments: [id, item.folded])
  }

  private func unname(_ id: Int64, _ folded: String, _ db: Database) throws {
    try db.cachedStatement(sql: "INSERT INTO name_\(number) (name_\(number), rowid, folded) VALUES ('delete', ?, ?)")
      .execute(arguments: [id, folded])
  }

  private func delete(_ items: [CatalogItem], _ db: Database) throws -> [Int64] {
    for item in items {
      try unname(item.id, item.folded, db)
      try db.cachedStatement(sql: "DELETE FROM item_\(number) WHERE id = ?").execute(arguments: [item.id])
    }
    return items.map(\.id)
  }

  /// Removes the items at paths.
  package func remove(_ paths: [String]) throws(StateError) -> [Int64] {
    guard !paths.isEmpty else { return [] }
    return try write { db, _ in try delete(try paths.compactMap { try fetch(db, $0) }, db) }
  }

  /// Removes the items of a folder that are not among those that were found there, and what is in them.
  ///
  /// - Parameter found: their paths.
  /// - Returns: the items that are gone.
  package func sweep(folder: String, keeping found: Set<PathKey>) throws(StateError) -> [Int64] {
    try write { db, _ in
      let gone = try fetch(db, where: "folder = ?", [folder]).filter { !found.contains(PathKey($0.record.path)) }
      var ids = try delete(gone, db)
      for item in gone where item.record.kind == .folder {
        let name = item.record.name
        ids += try delete(try tree(folder.isEmpty ? name : folder.path(of: name), db), db)
      }
      return ids
    }
  }

  /// Removes the items in a folder, at any depth.
  package func removeTree(_ folder: String) throws(StateError) -> [Int64] {
    try write { db, _ in try delete(try tree(folder, db), db) }
  }

  private func tree(_ folder: String, _ db: Database) throws -> [CatalogItem] {
    if folder.isEmpty { return try fetch(db, where: "folder IS NOT NULL", []) }
    // Every path that begins with "folder/" is less than "folder0", by the bytes.
    return try fetch(
      db, where: "folder = ? OR (folder > ? AND folder < ?)", [folder, "\(folder)/", "\(folder)0"])
  }

  /// An item has another path, and stays the same one. An item that was there keeps its place, and the moved one is gone.
  ///
  /// - Returns: the items that have changed.
  package func move(from path: String, to item: CatalogItem) throws(StateError) -> [Int64] {
    try write { db, ordinal in
      guard let former = try fetch(db, path), path != item.record.path else {
        return [try put(item, db, ordinal).id]
      }
      if try fetch(db, item.record.path) != nil {
        return try delete([former], db) + [try put(item, db, ordinal).id]
      }
      try update(former.id, former, item, db, ordinal)
      return [former.id]
    }
  }

  /// A folder has another place, and so have all items in it.
  ///
  /// - Parameters:
  ///   - old, new: from `Documents` on.
  ///   - root: the path of `Documents`.
  package func moveTree(from old: String, to new: String, root: String) throws(StateError) -> [Int64] {
    try write { db, ordinal in
      var moved: [Int64] = []
      for item in try tree(old, db) {
        guard let folder = item.folder, let rest = folder.path(within: old) else { continue }
        var now = item
        let place = rest.isEmpty ? new : new.path(of: rest)
        now.folder = place
        now.record.path = root.path(of: place).path(of: item.record.name)
        if let inWay = try fetch(db, now.record.path), inWay.id != item.id { moved += try delete([inWay], db) }
        try update(item.id, item, now, db, ordinal)
        moved.append(item.id)
      }
      return moved
    }
  }

  /// The external items, by grant.
  package func external() throws(StateError) -> [CatalogItem] {
    try read { db in try fetch(db, where: "external = 1", []) }
  }

  package func local() throws(StateError) -> [CatalogItem] {
    try read { db in try fetch(db, where: "external = 0", []) }
  }
}
