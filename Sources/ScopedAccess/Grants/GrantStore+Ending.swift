package import Folders
internal import GRDB
internal import Kernel
internal import Synchronization

/// A grant in force, with the known facts of its life.
package struct GrantRecord: Equatable, Sendable {
  package let grant: Grant
  /// The grant that this one was made from; it ends with that one.
  package let parent: String?
  /// When it was last started, in nanoseconds since 1970.
  package let used: Int64?
  /// How many bookmarks have been made of it. Where they are kept is the app's own business.
  package let bookmarks: Int
}

/// An app that was launched once.
package struct KnownApp: Equatable, Sendable {
  package let bundleIdentifier: String
  package let name: String
  package let version: String?
}

/// How grants end, and the things that need them until then.
extension GrantStore {
  private static let joined = "grant_ LEFT JOIN grantLife USING (id)"

  /// Every grant in force, of one app or of all, oldest first.
  package func records(of app: String? = nil) throws(StateError) -> [GrantRecord] {
    try? flushUses()
    // Ends that could not be written just now.
    let uses = uses.withLock(\.self)
    return try read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT \(Grant.columns), parent, used, bookmarks FROM \(Self.joined)
          WHERE revoked IS NULL AND (?1 IS NULL OR bundleIdentifier = ?1) ORDER BY created, id
          """, arguments: [app]
      ).map { row in
        let grant = try Grant(row: row)
        return GrantRecord(
          grant: grant, parent: row.value("parent"),
          used: [row.value("used"), uses[grant.id]].compactMap(\.self).max(),
          bookmarks: row.value("bookmarks") ?? 0)
      }
    }
  }

  /// The identifiers of all grants in force, the oldest first.
  package func identifiers() throws(StateError) -> [String] {
    try read { db in
      try String.fetchAll(db, sql: "SELECT id FROM grant_ WHERE revoked IS NULL ORDER BY created, id")
    }
  }

  /// The grant that one was made from, and ends with.
  package func parent(of id: String) throws(StateError) -> String? {
    try read { db in
      try String.fetchOne(
        db.cachedStatement(sql: "SELECT parent FROM grantLife WHERE id = ? AND parent IS NOT NULL"), arguments: [id])
    }
  }

  /// The grants in force that were made from these, and from those in turn.
  package func descendants(of grants: [String]) throws(StateError) -> [Grant] {
    #if AMBIT_MUTANTS
      if Mutant.descendantsStay.isActive { return [] }
    #endif
    var found: [Grant] = []
    var waiting = grants
    while let id = waiting.popLast() {
      let children = try read { db in
        try Row.fetchAll(
          db.cachedStatement(
            sql: "SELECT \(Grant.columns) FROM \(Self.joined) WHERE parent = ? AND revoked IS NULL"), arguments: [id]
        ).map { try Grant(row: $0) }
      }
      for child in children where !grants.contains(child.id) && !found.contains(where: { $0.id == child.id }) {
        found.append(child)
        waiting.append(child.id)
      }
    }
    return found
  }

  /// The user has decided on a grant themselves that had come from another one: from now on it stands by itself.
  package func makeIndependent(_ id: String) throws(StateError) {
    try access { db in
      try db.execute(sql: "UPDATE grantLife SET parent = NULL WHERE id = ? AND parent IS NOT NULL", arguments: [id])
    }
  }

  /// Ends grants, all of them or none.
  package func revoke(_ ids: [String], at time: Int64) throws(StateError) {
    try write { db in
      for id in ids {
        try db.cachedStatement(sql: "UPDATE grant_ SET revoked = ? WHERE id = ? AND revoked IS NULL")
          .execute(arguments: [time, id])
      }
    }
    forget(ids)
    forgetNextEnd()
  }

  static func end(_ ending: GrantJournal.Ending, in db: Database) throws {
    try db.cachedStatement(sql: "UPDATE grant_ SET revoked = ? WHERE id = ? AND revoked IS NULL")
      .execute(arguments: [ending.time, ending.id])
  }

  /// Where it stands that grants have ended.
  package enum Keeping: Sendable {
    /// In the files: no end of this process brings them back.
    case files
    /// Neither database nor journal had room. It is tried again with all that is written later.
    case memory
  }

  /// Ends grants, even if the disk fails: from here on no app has them (`AUD-12`). Ends that the database cannot take now go to
  /// room that its journal has set aside.
  @discardableResult
  package func withdraw(_ ids: [String], at time: Int64) -> Keeping {
    #if AMBIT_MUTANTS
      if Mutant.revokeUnstored.isActive { return .files }
    #endif
    // No caller waits for it again and again.
    let isResting = pending.withLock { $0.restsUntil.map { Clock.monotonic() < $0 } ?? false }
    if !isResting {
      if (try? revoke(ids, at: time)) != nil { return .files }
      pending.withLock { $0.restsUntil = Clock.monotonic() + Self.rest }
    }
    forget(ids)
    forgetNextEnd()
    let endings = ids.map { GrantJournal.Ending(id: $0, time: time) }
    return pending.withLock { pending in
      pending.since = pending.since ?? Clock.monotonic()
      if let turn = pending.turn,
        let size = journal?.append(.init(ended: endings), at: pending.bytes, turn: turn)
      {
        pending.records.append(.init(ended: endings))
        pending.bytes += size
        pending.isDirty = true
        return .files
      }
      pending.endings += endings
      return .memory
    }
  }

  /// The ends that have to be known, and are in no file.
  package var awaitsRoom: Bool { pending.withLock { !$0.endings.isEmpty || !$0.removals.isEmpty } }

  /// Nothing is granted while the end of a grant could be forgotten.
  func awaitEndings() throws(StateError) {
    if awaitsRoom { try settle() }
  }

  // MARK: The needs for a grant

  /// Notes that a grant was started. Written down with the next question about it, or when its app ends: a start must not wait
  /// for the disk.
  package func noteUse(_ id: String, at time: Int64) { uses.withLock { $0[id] = time } }

  package func flushUses() throws(StateError) {
    let pending = uses.withLock { uses in
      defer { uses = [:] }
      return uses
    }
    guard !pending.isEmpty else { return }
    do throws(StateError) {
      try write { db in
        for (id, time) in pending {
          try db.cachedStatement(
            sql: """
              INSERT INTO grantLife (id, used) SELECT id, ?2 FROM grant_ WHERE id = ?1
              ON CONFLICT (id) DO UPDATE SET used = max(coalesce(used, 0), excluded.used)
              """
          ).execute(arguments: [id, time])
        }
      }
    } catch {
      uses.withLock { $0.merge(pending, uniquingKeysWith: max) }
      throw error
    }
  }

  package func noteBookmark(_ id: String) throws(StateError) {
    #if AMBIT_MUTANTS
      if Mutant.bookmarkKeepsNothing.isActive { return }
    #endif
    try access { db in
      try db.cachedStatement(
        sql: """
          INSERT INTO grantLife (id, bookmarks) VALUES (?, 1)
          ON CONFLICT (id) DO UPDATE SET bookmarks = bookmarks + 1
          """
      ).execute(arguments: [id])
    }
  }

  /// Notes the file that a reference to a grant was written to.
  package func noteReference(_ id: String, inode: UInt64) throws(StateError) {
    try add(.init(references: [.init(id: id, inode: inode)]))
  }

  /// The inodes of the files that references of an app were written to, by grant. An inode may be another file's by now.
  package func references(of app: String) throws(StateError) -> [String: Set<UInt64>] {
    try read { db in
      try Self.inodes(
        Row.fetchAll(
          db.cachedStatement(
            sql: """
              SELECT grantReference.id AS id, grantReference.inode AS inode
              FROM grantReference JOIN grant_ USING (id) WHERE bundleIdentifier = ? AND revoked IS NULL
              """), arguments: [app]))
    }
  }

  private static func inodes(_ rows: [Row]) -> [String: Set<UInt64>] {
    var found: [String: Set<UInt64>] = [:]
    for row in rows {
      guard let id: String = row.value("id"), let inode: Int64 = row.value("inode") else { continue }
      found[id, default: []].insert(UInt64(bitPattern: inode))
    }
    return found
  }

  /// The grants that have ended and whose references were not all looked for yet.
  package func endedWithReferences() throws(StateError) -> [Grant] {
    try read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT \(Grant.columns) FROM grant_
          WHERE revoked IS NOT NULL AND id IN (SELECT id FROM grantReference) ORDER BY created
          """
      ).map { try Grant(row: $0) }
    }
  }

  /// Those of these grants are gone.
  package func forgetReferences(_ ids: [String]) throws(StateError) {
    try write { db in
      for id in ids {
        try db.cachedStatement(sql: "DELETE FROM grantReference WHERE id = ?").execute(arguments: [id])
      }
    }
  }

  /// The grants in force of an app that nothing but references needs: no bookmark was made of them, and none was made from them;
  /// with the inodes of the files that their references were written to.
  package func heldByReferences(of app: String) throws(StateError) -> [String: Set<UInt64>] {
    try read { db in
      try Self.inodes(
        Row.fetchAll(
          db,
          sql: """
            SELECT grantReference.id AS id, grantReference.inode AS inode
            FROM grantReference JOIN grant_ USING (id) LEFT JOIN grantLife AS life USING (id)
            WHERE grant_.bundleIdentifier = ? AND grant_.revoked IS NULL AND coalesce(life.bookmarks, 0) = 0
              AND NOT EXISTS (
                SELECT 1 FROM grantLife AS other JOIN grant_ AS child ON child.id = other.id
                WHERE other.parent = grant_.id AND child.revoked IS NULL)
            """, arguments: [app]))
    }
  }

  /// The grants of an app of which it is still to get a reference, and whether one was written before.
  package func owedReferences(of app: String) throws(StateError) -> [(grant: Grant, isFirst: Bool)] {
    try read { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: """
            SELECT \(Grant.columns), NOT EXISTS (SELECT 1 FROM grantReference WHERE grantReference.id = grant_.id) AS first
            FROM owedReference JOIN grant_ USING (id) WHERE bundleIdentifier = ? AND revoked IS NULL
            """), arguments: [app]
      ).map { (try Grant(row: $0), $0.value("first") ?? true) }
    }
  }

  package func settleReferences(_ ids: [String]) throws(StateError) {
    try write { db in
      for id in ids {
        try db.cachedStatement(sql: "DELETE FROM owedReference WHERE id = ?").execute(arguments: [id])
      }
    }
  }

  /// When an app last lost a grant of a document.
  package func lastRevoked(_ identity: FileIdentity, of app: String) throws(StateError) -> Int64? {
    try read { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: """
            SELECT \(Grant.columns) FROM grant_ WHERE bundleIdentifier = ? AND inode = ? AND revoked IS NOT NULL
            """), arguments: [app, Int64(bitPattern: identity.inode)]
      ).map { try Grant(row: $0) }.filter { $0.identity == identity }.compactMap(\.revoked).max()
    }
  }

  /// The grants in force of an app that count against its quota, the oldest first: not those that a bookmark for reading only
  /// made of another one.
  ///
  /// - Parameter onlyNeeded: those alone that something needs: a bookmark, a reference, or a grant made from it.
  /// - Returns: their identifiers.
  package func persisted(of app: String, onlyNeeded: Bool = false) throws(StateError) -> [String] {
    try read { db in
      try String.fetchAll(
        db.cachedStatement(
          sql: "\(Self.counted) SELECT id FROM counted WHERE needed OR NOT ?3 ORDER BY created, place"),
        arguments: [app, Grant.Origin.passed.rawValue, onlyNeeded])
    }
  }

  /// The grants that count against an app's quota, with the time of their last use and whether something needs them.
  private static let counted = """
    WITH counted AS (
      SELECT grant_.id AS id, grant_.rowid AS place, created, max(created, coalesce(used, 0)) AS last,
        coalesce(bookmarks, 0) > 0
          OR EXISTS (SELECT 1 FROM grantReference AS reference WHERE reference.id = grant_.id)
          OR EXISTS (
            SELECT 1 FROM grantLife AS other JOIN grant_ AS child ON child.id = other.id
            WHERE other.parent = grant_.id AND child.revoked IS NULL) AS needed
      FROM grant_ LEFT JOIN grantLife AS life ON life.id = grant_.id
      WHERE bundleIdentifier = ?1 AND revoked IS NULL AND (parent IS NULL OR origin = ?2))
    """

  /// The same grants, with when each was last used and whether something needs it, the oldest first.
  ///
  /// - Parameter list: how long a list of those used last is. A grant that something needs, and that would not be in it, is left
  ///   out: it keeps nothing else out of the list either.
  package func recency(of app: String, forListOf list: Int? = nil) throws(StateError) -> [RecentGrants.Entry] {
    try? flushUses()
    let uses = uses.withLock(\.self)
    // Ends that could not be written down count nevertheless: then all are looked at.
    let most = uses.isEmpty ? list ?? -1 : -1
    return try read { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: """
            \(Self.counted), latest AS (
              SELECT id FROM counted WHERE needed ORDER BY last DESC, created DESC, place DESC LIMIT ?3)
            SELECT id, last, needed FROM counted WHERE NOT needed OR id IN latest ORDER BY created, place
            """), arguments: [app, Grant.Origin.passed.rawValue, most]
      ).compactMap { row in
        guard let id: String = row.value("id"), let last: Int64 = row.value("last"),
          let needed: Int = row.value("needed")
        else { return nil }
        return RecentGrants.Entry(grant: id, used: max(last, uses[id] ?? last), isNeeded: needed != 0)
      }
    }
  }

  // MARK: Apps

  /// The apps that were launched and not removed since, by identifier.
  package func knownApps() throws(StateError) -> [KnownApp] {
    try read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT bundleIdentifier, name, version FROM app
          WHERE bundleIdentifier NOT IN (SELECT bundleIdentifier FROM removedApp) ORDER BY bundleIdentifier
          """
      ).compactMap { row in
        guard let identifier: String = row.value("bundleIdentifier") else { return nil }
        return KnownApp(
          bundleIdentifier: identifier, name: row.value("name") ?? identifier, version: row.value("version"))
      }
    }
  }

  /// Notes that an app was removed. Its number stays its own: another app must never get the remains of this one.
  ///
  /// Where that cannot be written now it is tried again with all that is written later.
  package func noteRemoval(of app: String, at time: Int64) {
    claims.withLock { $0 = [:] }
    forget(app: app)
    if (try? access { db in try Self.remove(app, at: time, from: db) }) != nil { return }
    pending.withLock { pending in
      pending.since = pending.since ?? Clock.monotonic()
      pending.removals[app] = time
    }
  }

  static func remove(_ app: String, at time: Int64, from db: Database) throws {
    try db.execute(
      sql: "INSERT OR REPLACE INTO removedApp (bundleIdentifier, removed) VALUES (?, ?)", arguments: [app, time])
    try db.execute(sql: "DELETE FROM sharedDocuments WHERE bundleIdentifier = ?", arguments: [app])
    try db.execute(sql: "DELETE FROM inboxDocument WHERE bundleIdentifier = ?", arguments: [app])
    try db.execute(sql: "DELETE FROM withdrawal WHERE bundleIdentifier = ?", arguments: [app])
    try db.execute(sql: "DELETE FROM entitlementAnswer WHERE bundleIdentifier = ?", arguments: [app])
    try db.execute(sql: "DELETE FROM appIdentity WHERE bundleIdentifier = ?", arguments: [app])
  }
}

extension Row {
  /// A column's value; `nil` also for one of another type than it was written with, over which GRDB's shorter way to read it would
  /// end the broker.
  fileprivate func value<Value: DatabaseValueConvertible>(_ column: String) -> Value? {
    let stored: DatabaseValue? = self[column]
    return stored.flatMap(Value.fromDatabaseValue)
  }
}
