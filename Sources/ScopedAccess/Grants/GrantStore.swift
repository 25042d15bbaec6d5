internal import AppModel
package import Folders
internal import Foundation
internal import GRDB
internal import Kernel
internal import Synchronization

/// Apps and their grants, on disk. A grant that has been answered for is there whenever a process dies; ``synchronize()`` brings it
/// to the disk.
package final class GrantStore: Sendable {
  private let database: DatabaseQueue
  let checkpointer: Checkpointer
  /// Nil: new records go to the database at once.
  let journal: GrantJournal?
  /// Records that are written down and not in the database yet.
  let pending = Mutex(Pending())
  /// Grants that have been read or written before: starting a scope asks for a grant each time, and no other process writes here.
  let known = Mutex<[String: Grant]>([:])
  /// Apps that have been noted as they are now: most launches are of an app that was launched before.
  let apps = Mutex<[String: (app: App, number: Int)]>([:])
  /// Of the apps that were asked about, which files they have no grant of: most that are chosen are new to their app.
  private let files = Mutex<[String: FileFilter]>([:])
  /// Which apps claim an identifier, as far as that has been asked; and contents of files as they were read last.
  let claims = Mutex<[String: [RememberedApp]]>([:])
  let digests = Mutex<[FileStamp: [UInt8]]>([:])
  /// The apps that show their Documents, as far as that is known: it is asked for at each question to a user.
  let sharing = Mutex<[KnownApp]?>(nil)
  /// When the next grant ends by itself, as far as that is known: the broker asks each time it waits.
  let ending = Mutex<Int64??>(nil)
  /// When grants were last started, as far as it is not on disk yet.
  let uses = Mutex<[String: Int64]>([:])
  /// Records that the last process has left in the journal alone.
  private let recovered = Mutex(Recovery())

  struct App: Equatable {
    let name: String
    let version: String?
  }

  /// Opens or makes the database. A file that is not ours, or that is damaged, is refused and left as it is (`AUD-8`).
  package init(path: String) throws(StateError) {
    let name = GrantFile.journal(of: path)
    // Before anything is written: another process may have both.
    var journal = try GrantJournal(name, makes: false)
    database = try GrantFile.open(path, isNew: journal?.wasUsed != true)
    if journal == nil { journal = try GrantJournal(name, makes: true) }
    self.journal = journal
    checkpointer = Checkpointer(path)
    // One app's requests must not keep all others waiting because another program has the database locked.
    try use { db in try db.execute(sql: "PRAGMA busy_timeout = 250") }
    #if AMBIT_MUTANTS
      if Mutant.grantsForgotten.isActive { try use { db in try db.execute(sql: "UPDATE grant_ SET revoked = 1") } }
    #endif
    let recovery = try recover()
    recovered.withLock { $0 = recovery }
  }

  deinit {
    try? settle()
    checkpointer.close()
  }

  var path: String { database.path }
  package var recovery: Recovery { recovered.withLock(\.self) }

  /// Runs statements that write, each a transaction of its own, and says, if one fails, which file could not be written.
  func access<Value: Sendable>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    try settle()
    // The log's entry about it is brought to the disk after it.
    defer { pending.withLock { $0.isDirty = true } }
    return try use(body)
  }

  /// The same for statements that hold together or not at all.
  func write<Value: Sendable>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    try access { db in try Self.transaction(db, body) }
  }

  /// Runs statements that only read. They find records that are not in the database yet as well, also where it cannot be written.
  func read<Value: Sendable>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    do throws(StateError) { try settleUnlessResting() } catch { return try foresee(body) }
    return try use(body)
  }

  func use<Value: Sendable>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    defer { checkpointer.note() }
    do { return try database.writeWithoutTransaction(body) } catch {
      throw GrantFile.explain(error, path: database.path)
    }
  }

  /// The same as `Database.inTransaction(_:_:)`, with statements that are prepared once.
  static func transaction<Value>(
    _ db: Database, end: String = "COMMIT", _ body: (Database) throws -> Value
  ) throws -> Value {
    try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
    do {
      let value = try body(db)
      try db.cachedStatement(sql: end).execute()
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
    return try read { db in
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
    try awaitEndings()
    for grant in grants { mayHaveSoon(grant.identity.inode, grant.bundleIdentifier) }
    try add(.init(grants: grants, owed: owed), from: parent)
    if grants.contains(where: { $0.term.until != nil }) { forgetNextEnd() }
    for grant in grants { remember(grant) }
  }

  func add(_ record: GrantJournal.Record, from parent: String? = nil) throws(StateError) {
    if parent == nil, try note(record) { return }
    try write { db in
      try Self.insert(record, into: db)
      guard let parent else { return }
      for grant in record.grants {
        try db.execute(sql: "INSERT INTO grantLife (id, parent) VALUES (?, ?)", arguments: [grant.id, parent])
      }
    }
  }

  /// Takes back grants before any client is told of them. Those that cannot be taken out of the file now are none from here on: it
  /// is tried again with all later writes, and found by the next process (``unwritten(_:)``).
  package func takeBack(_ ids: [String]) {
    forget(ids)
    pending.withLock { $0.takeBack(ids) }
    try? settle()
  }

  /// Grants of a process that died before it told any client: the newest ones, back to the first that is known, and those of the
  /// journal alone. Several lots may have come to the disk together.
  ///
  /// - Parameter isKnown: whether it was written down.
  package func unwritten(_ isKnown: (Grant) throws -> Bool) throws -> [Grant] {
    let last = try read { db in
      try Row.fetchAll(db, sql: "SELECT \(Grant.columns) FROM grant_ ORDER BY rowid DESC LIMIT 1024")
        .map { try Grant(row: $0) }
    }
    let found = Array(try last.prefix { try !isKnown($0) })
    return try found
      + recovery.grants.filter { grant in
        try !found.contains { $0.id == grant.id } && !isKnown(grant)
      }
  }

  /// - Parameter unlessThere: a grant that is there stays as it is; else it is an error.
  static func insert(_ record: GrantJournal.Record, into db: Database, unlessThere: Bool = false) throws {
    let values =
      "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" + (unlessThere ? " ON CONFLICT (id) DO NOTHING" : "")
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
    for ending in record.ended { try end(ending, in: db) }
  }

  func remember(_ grant: Grant) { known.withLock { $0[grant.id] = grant } }

  package func grant(_ id: String) throws(StateError) -> Grant? {
    if let grant = known.withLock({ $0[id] }) { return grant }
    let found = try read { db in
      try Row.fetchOne(
        db.cachedStatement(sql: "SELECT \(Grant.columns) FROM grant_ WHERE id = ?"), arguments: [id]
      ).map { try Grant(row: $0) }
    }
    guard let found else { return nil }
    known.withLock { $0[id] = found }
    return found
  }

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
    #if AMBIT_MUTANTS
      if Mutant.secondGrant.isActive { return nil }
    #endif
    guard try mayHave(identity.inode, bundleIdentifier) else { return nil }
    func isIt(_ grant: Grant) -> Bool {
      grant.identity == identity && grant.bundleIdentifier == bundleIdentifier && grant.rights == rights
        && (grant.origin == .passed) == passed
    }
    let (new, gone) = pending.withLock { pending in
      let gone = pending.takenBack.union(pending.ended)
      return (pending.records.lazy.flatMap(\.grants).first { isIt($0) && !gone.contains($0.id) }, gone)
    }
    if let new { return known.withLock { $0[new.id] } ?? new }
    let old = try use { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: """
            SELECT \(Grant.columns) FROM grant_
            WHERE bundleIdentifier = ? AND inode = ? AND rights = ? AND revoked IS NULL AND (origin = ?) = ?
            """),
        arguments: [
          bundleIdentifier, Int64(bitPattern: identity.inode), rights.rawValue, Grant.Origin.passed.rawValue, passed,
        ]
      ).map { try Grant(row: $0) }.first { isIt($0) && !gone.contains($0.id) }
    }
    // Where it was seen since may not be in the database yet.
    return old.map { old in known.withLock { $0[old.id] } ?? old }
  }

  private func mayHave(_ inode: UInt64, _ app: String) throws(StateError) -> Bool {
    if let known = files.withLock({ $0[app]?.mayHave(inode) }) { return known }
    let filter = try read { db in
      var filter = FileFilter()
      let all = try Int64.fetchCursor(
        db, sql: "SELECT inode FROM grant_ WHERE bundleIdentifier = ? AND revoked IS NULL", arguments: [app])
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
    try read { db in
      try Row.fetchAll(db, sql: "SELECT \(Grant.columns) FROM grant_ WHERE revoked IS NULL ORDER BY created")
        .map { try Grant(row: $0) }
    }
  }

  /// Every grant in force of an app, oldest first.
  package func grants(of app: String) throws(StateError) -> [Grant] {
    try read { db in
      try Row.fetchAll(
        db,
        sql: "SELECT \(Grant.columns) FROM grant_ WHERE bundleIdentifier = ? AND revoked IS NULL ORDER BY created",
        arguments: [app]
      ).map { try Grant(row: $0) }
    }
  }

  /// Every grant in force of a document that was last seen in a folder, oldest first.
  ///
  /// - Parameter folder: absolute.
  package func grants(inside folder: String) throws(StateError) -> [Grant] {
    // Every path that begins with "folder/" is less than "folder0", by the bytes.
    try read { db in
      try Row.fetchAll(
        db,
        sql: "SELECT \(Grant.columns) FROM grant_ WHERE revoked IS NULL AND path > ? AND path < ? ORDER BY created",
        arguments: ["\(folder)/", "\(folder)0"]
      ).map { try Grant(row: $0) }
    }
  }

  /// The grants in force of packages that something would be in by its path.
  package func packages(around path: String) throws(StateError) -> [Grant] {
    try read { db in
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
    try read { db in
      try Row.fetchAll(
        db, sql: "SELECT \(Grant.columns) FROM grant_ WHERE revoked IS NULL ORDER BY rowid DESC LIMIT ?",
        arguments: [count]
      ).map { try Grant(row: $0) }
    }
  }
}
