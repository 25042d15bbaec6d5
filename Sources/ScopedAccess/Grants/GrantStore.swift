package import Folders
internal import Foundation
internal import GRDB
internal import Kernel
internal import Synchronization

/// Apps and their grants, on disk. A grant that has been answered for is there after any crash.
package final class GrantStore: Sendable {
  private let database: DatabaseQueue
  private let mover: JournalMover
  /// Nil: what is added goes to the database at once.
  private let journal: GrantJournal?
  /// What is only in the journal.
  private let added: Mutex<Added>
  /// What has been read or written before: starting a scope asks for a grant each time, and nobody else writes here.
  private let known = Mutex<[String: Grant]>([:])
  /// Grants that are none, whatever the file says.
  private let takenBack = Mutex<Set<String>>([])
  /// Apps that have been noted as they are now: most launches are of an app that was launched before.
  private let apps = Mutex<[String: (app: App, number: Int)]>([:])
  /// Of the apps that were asked about, which files they have no grant of: most that are chosen are new to their app.
  private let files = Mutex<[String: FileFilter]>([:])
  /// The apps that show their Documents, as far as that is known: it is asked for at each question to a user.
  let sharing = Mutex<[KnownApp]?>(nil)
  /// When the next grant ends by itself, as far as that is known: the broker asks each time it waits.
  let ending = Mutex<Int64??>(nil)
  /// When grants were last started, as far as it is not on disk yet.
  let uses = Mutex<[String: Int64]>([:])
  /// Where documents were seen, as far as it is not on disk yet.
  private let sightings = Mutex<[String: Sighting]>([:])

  private struct Added {
    /// Of the next records in the journal; nil: none can be written, as the database has no number.
    var turn: Int32?
    var records: [GrantJournal.Record] = []
    var bytes = 0
    /// When the first was added, in nanoseconds of CLOCK_MONOTONIC.
    var since: Int64?
  }

  private struct Sighting {
    let path: String
    let place: Place?
  }

  private struct App: Equatable {
    let name: String
    let version: String?
  }

  /// Opens or makes the database. A file that is not ours, or that is damaged, is refused and left as it is (`AUD-8`).
  package init(path: String) throws(StateError) {
    database = try GrantFile.open(path)
    mover = JournalMover(path)
    journal = try GrantJournal(GrantFile.journal(of: path))
    added = Mutex(Added())
    try takeOver()
  }

  deinit {
    try? settle()
    settleMoves()
    mover.close()
  }

  /// Runs statements, each a transaction of its own, and says, if one fails, which file could not be written.
  func access<Value: Sendable>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    try settle()
    settleMoves()
    return try use(body)
  }

  /// The same for statements that hold together or not at all.
  func write<Value: Sendable>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    try access { db in try Self.transaction(db, body) }
  }

  private func use<Value: Sendable>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    defer { mover.note() }
    do { return try database.writeWithoutTransaction(body) } catch {
      throw GrantFile.explain(error, path: database.path)
    }
  }

  /// What `Database.inTransaction(_:_:)` does, with statements that are prepared once.
  private static func transaction<Value>(_ db: Database, _ body: (Database) throws -> Value) throws -> Value {
    try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
    do {
      let value = try body(db)
      try db.cachedStatement(sql: "COMMIT").execute()
      return value
    } catch {
      if db.isInsideTransaction { try? db.execute(sql: "ROLLBACK") }
      throw error
    }
  }

  // MARK: Apps

  /// Notes an app and answers its number: 1 for the first that this user ever launched, and so on.
  package func register(bundleIdentifier: String, name: String, version: String?) throws(StateError) -> Int {
    let app = App(name: name, version: version)
    if let known = apps.withLock({ $0[bundleIdentifier] }), known.app == app { return known.number }
    let number = try access { db in
      try db.execute(
        sql: """
          INSERT INTO app (bundleIdentifier, name, version) VALUES (?, ?, ?)
          ON CONFLICT (bundleIdentifier) DO UPDATE SET name = excluded.name, version = coalesce(excluded.version, version)
          """, arguments: [bundleIdentifier, name, version])
      try db.execute(sql: "DELETE FROM removedApp WHERE bundleIdentifier = ?", arguments: [bundleIdentifier])
      return try Int.fetchOne(
        db, sql: "SELECT number FROM app WHERE bundleIdentifier = ?", arguments: [bundleIdentifier]) ?? 0
    }
    apps.withLock { $0[bundleIdentifier] = (app, number) }
    sharing.withLock { $0 = nil }
    return number
  }

  /// The number of an app that was launched and not removed since.
  package func number(of bundleIdentifier: String) throws(StateError) -> Int? {
    if let known = apps.withLock({ $0[bundleIdentifier] }) { return known.number }
    return try access { db in
      try Int.fetchOne(
        db.cachedStatement(
          sql: """
            SELECT number FROM app WHERE bundleIdentifier = ?1
            AND NOT EXISTS (SELECT 1 FROM removedApp WHERE bundleIdentifier = ?1)
            """), arguments: [bundleIdentifier])
    }
  }

  // MARK: Grants

  package func add(_ grant: Grant, from parent: String? = nil) throws(StateError) { try add([grant], from: parent) }

  /// Adds grants, all of them or none.
  ///
  /// - Parameters:
  ///   - parent: the grant that they were made from.
  ///   - owed: grants of which the app is still to get a reference, new ones or others.
  package func add(_ grants: [Grant], from parent: String? = nil, owed: [String] = []) throws(StateError) {
    guard !grants.isEmpty || !owed.isEmpty else { return }
    for grant in grants { mayHaveSoon(grant.identity.inode, grant.bundleIdentifier) }
    try add(.init(grants: grants, owed: owed), from: parent)
    if grants.contains(where: { $0.term.until != nil }) { forgetNextEnd() }
    for grant in grants { remember(grant) }
  }

  func add(_ record: GrantJournal.Record, from parent: String? = nil) throws(StateError) {
    if parent == nil, try note(record) { return }
    try write { db in
      try insert(record, into: db)
      guard let parent else { return }
      for grant in record.grants {
        try db.execute(sql: "INSERT INTO grantLife (id, parent) VALUES (?, ?)", arguments: [grant.id, parent])
      }
    }
  }

  /// Takes back grants that nobody has been told of. What cannot be taken out of the file is none from here on, and is found
  /// by the next process (``newest()``).
  package func takeBack(_ ids: [String]) {
    known.withLock { known in for id in ids { known[id] = nil } }
    takenBack.withLock { $0.formUnion(ids) }
    _ = try? write { db in
      for id in ids {
        for table in ["owedReference", "grantReference", "grantLife", "grant_"] {
          try db.execute(sql: "DELETE FROM \(table) WHERE id = ?", arguments: [id])
        }
      }
    }
  }

  /// The grants that were added last, together: a process that died may not have told anybody of them.
  package func newest() throws(StateError) -> [Grant] {
    let last = try access { db in
      try Row.fetchAll(db, sql: "SELECT \(Grant.columns) FROM grant_ ORDER BY rowid DESC LIMIT 1024")
        .map { try Grant(row: $0) }
    }
    return Array(last.prefix { $0.created == last.first?.created })
  }

  private func insert(_ record: GrantJournal.Record, into db: Database) throws {
    let values = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    for grant in record.grants {
      try db.cachedStatement(sql: "INSERT INTO grant_ (\(Grant.columns)) VALUES \(values)").execute(
        arguments: grant.row)
    }
    for id in record.owed {
      try db.cachedStatement(sql: "INSERT OR IGNORE INTO owedReference (id) VALUES (?)").execute(arguments: [id])
    }
    for reference in record.references {
      try db.cachedStatement(sql: "INSERT OR IGNORE INTO grantReference (id, inode) VALUES (?, ?)")
        .execute(arguments: [reference.id, Int64(bitPattern: reference.inode)])
    }
  }

  func remember(_ grant: Grant) { known.withLock { $0[grant.id] = grant } }

  package func grant(_ id: String) throws(StateError) -> Grant? {
    if let grant = known.withLock({ $0[id] }) { return grant }
    let found = try access { db in
      try Row.fetchOne(
        db.cachedStatement(sql: "SELECT \(Grant.columns) FROM grant_ WHERE id = ?"), arguments: [id]
      ).map { try Grant(row: $0) }
    }
    guard let found, !takenBack.withLock({ $0.contains(id) }) else { return nil }
    known.withLock { $0[id] = found }
    return found
  }

  private func forget(_ id: String) { known.withLock { $0[id] = nil } }
  func forget(_ ids: [String]) { known.withLock { known in for id in ids { known[id] = nil } } }
  func forget(app: String) {
    apps.withLock { $0[app] = nil }
    sharing.withLock { $0 = nil }
  }

  func forget(_ identity: FileIdentity) { known.withLock { $0 = $0.filter { $0.value.identity != identity } } }

  /// The grant that an app already has for a document with these rights, if it is in force.
  ///
  /// - Parameter passed: one that another app passed on; otherwise one that the user decided on. The two end for different reasons.
  package func grant(
    for identity: FileIdentity, of bundleIdentifier: String, rights: AccessRights, passed: Bool = false
  ) throws(StateError) -> Grant? {
    guard try mayHave(identity.inode, bundleIdentifier) else { return nil }
    let new = added.withLock { added in
      added.records.lazy.flatMap(\.grants).first { grant in
        grant.identity == identity && grant.bundleIdentifier == bundleIdentifier && grant.rights == rights
          && (grant.origin == .passed) == passed
      }
    }
    if let new { return new }
    return try use { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: """
            SELECT \(Grant.columns) FROM grant_
            WHERE bundleIdentifier = ? AND inode = ? AND rights = ? AND revoked IS NULL AND (origin = ?) = ?
            """),
        arguments: [
          bundleIdentifier, Int64(bitPattern: identity.inode), rights.rawValue, Grant.Origin.passed.rawValue, passed,
        ]
      ).map { try Grant(row: $0) }.first { grant in
        grant.identity == identity && !takenBack.withLock { $0.contains(grant.id) }
      }
    }
  }

  private func mayHave(_ inode: UInt64, _ app: String) throws(StateError) -> Bool {
    if let known = files.withLock({ $0[app]?.mayHave(inode) }) { return known }
    let filter = try access { db in
      var filter = FileFilter()
      let all = try Int64.fetchCursor(
        db, sql: "SELECT inode FROM grant_ WHERE bundleIdentifier = ?", arguments: [app])
      while let inode = try all.next() { filter.add(UInt64(bitPattern: inode)) }
      return filter
    }
    files.withLock { $0[app] = filter }
    return filter.mayHave(inode)
  }

  /// Before it is written that an app has a grant of it, or any app.
  func mayHaveSoon(_ inode: UInt64, _ app: String?) {
    files.withLock { files in
      for name in app.map({ [$0] }) ?? Array(files.keys) { files[name]?.add(inode) }
    }
  }

  /// Every grant in force, oldest first.
  package func grants() throws(StateError) -> [Grant] {
    try access { db in
      try Row.fetchAll(db, sql: "SELECT \(Grant.columns) FROM grant_ WHERE revoked IS NULL ORDER BY created")
        .map { try Grant(row: $0) }
    }
  }

  /// Every grant in force of what was last seen in a folder, oldest first.
  ///
  /// - Parameter folder: absolute.
  package func grants(inside folder: String) throws(StateError) -> [Grant] {
    // Whatever begins with "folder/" is less than "folder0", by the bytes.
    try access { db in
      try Row.fetchAll(
        db,
        sql: "SELECT \(Grant.columns) FROM grant_ WHERE revoked IS NULL AND path > ? AND path < ? ORDER BY created",
        arguments: ["\(folder)/", "\(folder)0"]
      ).map { try Grant(row: $0) }
    }
  }

  /// The grants in force of packages that something would be in by its path.
  package func packages(around path: String) throws(StateError) -> [Grant] {
    try access { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT \(Grant.columns) FROM grant_ WHERE revoked IS NULL AND kind = 'package'
          AND substr(?, 1, length(path) + 1) = path || '/' ORDER BY created
          """, arguments: [path]
      ).map { try Grant(row: $0) }
    }
  }

  /// The newest grants in force, the newest first.
  package func newest(_ count: Int) throws(StateError) -> [Grant] {
    try access { db in
      try Row.fetchAll(
        db, sql: "SELECT \(Grant.columns) FROM grant_ WHERE revoked IS NULL ORDER BY rowid DESC LIMIT ?",
        arguments: [count]
      ).map { try Grant(row: $0) }
    }
  }

  // MARK: What is written down later

  /// How many additions wait at most.
  private static let mostAdded = 64

  /// Since when there is something that only the journal has; nil: there is nothing.
  package var pendingSince: Int64? { added.withLock(\.since) }

  /// Writes an addition to the journal alone.
  ///
  /// - Returns: false when it has to go to the database at once: nothing may wait there that the database could refuse.
  private func note(_ record: GrantJournal.Record) throws(StateError) -> Bool {
    let isAsExpected =
      record.grants.allSatisfy { grant in
        grant.revoked == nil && apps.withLock { $0[grant.bundleIdentifier] != nil }
          && known.withLock { $0[grant.id] == nil }
      } && Set(record.grants.map(\.id)).count == record.grants.count
      && record.owed.allSatisfy { id in record.grants.contains { $0.id == id } }
      && record.references.allSatisfy { reference in known.withLock { $0[reference.id] != nil } }
    guard let journal, isAsExpected else { return false }
    if added.withLock({ $0.records.count >= Self.mostAdded }) { try settle() }
    return added.withLock { added in
      guard let turn = added.turn, let size = journal.append(record, at: added.bytes, turn: turn) else { return false }
      added.records.append(record)
      added.bytes += size
      added.since = added.since ?? Clock.monotonic()
      return true
    }
  }

  /// Takes what is only in the journal over to the database. What cannot be written now stays there.
  package func settle() throws(StateError) {
    try added.withLock { added throws(StateError) in
      guard !added.records.isEmpty else { return }
      FaultPoint.grantsDue.pass()
      added = Added(turn: try takeOver(added.records, of: added.turn))
      FaultPoint.grantsSettled.pass()
    }
  }

  /// Takes over what a process that died had in the journal alone.
  private func takeOver() throws(StateError) {
    try added.withLock { added throws(StateError) in
      guard let journal else { return }
      let turn = try use(Self.turn)
      let records = turn == 0 ? [] : try journal.records(turn: turn)
      do throws(StateError) {
        added.turn = turn == 0 || !records.isEmpty ? try takeOver(records, of: turn) : turn
      } catch {
        // With nothing to take over, nothing would have to be written.
        if !records.isEmpty { throw error }
      }
    }
  }

  private static func turn(_ db: Database) throws -> Int32 { try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0 }

  /// - Returns: the turn that begins with it; nil when another store has taken them over and begun one.
  private func takeOver(_ records: [GrantJournal.Record], of turn: Int32?) throws(StateError) -> Int32? {
    let next = Int32.random(in: 1 ... .max)
    mover.note(records.count)
    return try use { db in
      try Self.transaction(db) { db in
        guard try Self.turn(db) == turn else { return nil }
        for record in records { try insert(record, into: db) }
        try db.execute(sql: "PRAGMA user_version = \(next)")
        return next
      }
    }
  }

  /// Notes where a document was seen. It is on disk before anything else is read there or written, and at the latest with
  /// ``settleMoves()``: nobody waits for it, since it is found again by what it is.
  package func move(_ id: String, to path: String, place: Place?) {
    sightings.withLock { $0[id] = Sighting(path: path, place: place) }
    known.withLock { known in
      known[id]?.path = path
      known[id]?.place = place
    }
  }

  /// Writes down where documents were seen. What cannot be written now is tried again.
  package func settleMoves() {
    let pending = sightings.withLock { sightings in
      defer { sightings = [:] }
      return sightings
    }
    guard !pending.isEmpty else { return }
    func write(_ db: Database) throws {
      for (id, seen) in pending {
        try db.cachedStatement(sql: "UPDATE grant_ SET path = ?, place = ? WHERE id = ?")
          .execute(arguments: [seen.path, seen.place.map { Data($0.bytes) }, id])
      }
    }
    do throws(StateError) {
      // One of them may be of a grant that is not there yet.
      try settle()
      try use { db in pending.count == 1 ? try write(db) : try Self.transaction(db, write) }
      FaultPoint.grantMoved.pass()
    } catch { sightings.withLock { $0.merge(pending) { newer, _ in newer } } }
  }
}
