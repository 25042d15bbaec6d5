package import Folders
internal import Foundation
internal import GRDB
internal import Kernel
internal import Synchronization

/// Records that are written to the database later, together: grants and references, which are in the journal until then; the places
/// where documents were seen; and records to be taken out again.
extension GrantStore {
  struct Pending {
    /// Of the records in the journal; nil: none can be written there.
    var turn: Int32?
    var records: [GrantJournal.Record] = []
    /// Of those in the journal.
    var bytes = 0
    var sightings: [String: Sighting] = [:]
    var takenBack: Set<String> = []
    /// Grants that have ended, as the journal had no room for; and apps that were removed.
    var endings: [GrantJournal.Ending] = []
    var removals: [String: Int64] = [:]
    /// When the first of them came, in nanoseconds of CLOCK_MONOTONIC.
    var since: Int64?
    /// The database could not be written: before then, only callers that have to try it do so.
    var restsUntil: Int64?
    /// Records that the database did not take, ever.
    var refused = 0
    /// Something was written that may not be on the disk yet.
    var isDirty = false

    var isEmpty: Bool {
      records.isEmpty && sightings.isEmpty && takenBack.isEmpty && endings.isEmpty && removals.isEmpty
    }

    /// Grants that are in force in the database, and not any more.
    var ended: Set<String> { Set((records.lazy.flatMap(\.ended) + endings).map(\.id)) }

    mutating func takeBack(_ ids: [String]) {
      takenBack.formUnion(ids)
      for index in records.indices {
        records[index].grants.removeAll { ids.contains($0.id) }
        records[index].owed.removeAll { ids.contains($0) }
        records[index].references.removeAll { ids.contains($0.id) }
        records[index].ended.removeAll { ids.contains($0.id) }
      }
    }
  }

  struct Sighting {
    let path: String
    let place: Place?
  }

  /// The records that a dead process has left.
  package struct Recovery: Sendable {
    /// Grants that were in the journal alone.
    package var grants: [Grant] = []
    /// Grants of which only the journal said that they had ended.
    package var ended: [String] = []
    /// Records of it that could not be read, or that the database refused; a sentence.
    package var problem: String?
  }

  /// How many additions wait at most.
  private static let mostRecords = 64
  /// Nanoseconds for which the database is left alone after it could not be written.
  static let rest: Int64 = 1_000_000_000

  // MARK: Writing down

  /// Writes an addition to the journal alone.
  ///
  /// - Returns: false when it has to go to the database at once: nothing may wait there that the database could refuse.
  func note(_ record: GrantJournal.Record) throws(StateError) -> Bool {
    let isAsExpected =
      record.grants.allSatisfy { grant in
        grant.revoked == nil && apps.withLock { $0[grant.bundleIdentifier] != nil }
          && known.withLock { $0[grant.id] == nil }
      } && Set(record.grants.map(\.id)).count == record.grants.count
      && record.owed.allSatisfy { id in record.grants.contains { $0.id == id } }
      && record.references.allSatisfy { reference in known.withLock { $0[reference.id] != nil } }
    guard let journal, isAsExpected else { return false }
    if pending.withLock({ $0.records.count >= Self.mostRecords }) { try settle() }
    return pending.withLock { pending in
      guard let turn = pending.turn, let size = journal.append(record, at: pending.bytes, turn: turn) else {
        return false
      }
      pending.records.append(record)
      pending.bytes += size
      pending.since = pending.since ?? Clock.monotonic()
      pending.isDirty = true
      return true
    }
  }

  /// Notes where a document was seen. It is on disk before anything else is read there or written, and at the latest with
  /// ``settleMoves()``: no caller waits for it, since the document is found again by its identity.
  package func move(_ id: String, to path: String, place: Place?) {
    pending.withLock { $0.sightings[id] = Sighting(path: path, place: place) }
    known.withLock { known in
      known[id]?.path = path
      known[id]?.place = place
    }
  }

  // MARK: Settling

  /// Since when there is something that only the journal has; nil: there is nothing, or the database is left alone.
  package var pendingSince: Int64? {
    pending.withLock { pending in pending.isResting ? nil : pending.since }
  }

  /// Writes all pending records to the database. Those that cannot be written now stay pending.
  package func settle() throws(StateError) {
    try pending.withLock { pending throws(StateError) in
      if !pending.isEmpty { try settle(&pending) }
    }
  }

  /// The same for callers that cannot report an error, where the database is not left alone.
  ///
  /// - Returns: why it failed, if it is the first time since it last did not.
  package func settleIfPossible() -> StateError? {
    let wasResting = pending.withLock { $0.restsUntil != nil }
    do throws(StateError) { try settleUnlessResting() } catch { return wasResting ? nil : error }
    return nil
  }

  /// Writes down where documents were seen, if they were. Places that cannot be written now are tried again.
  package func settleMoves() {
    if pending.withLock({ !$0.sightings.isEmpty && !$0.isResting }) { try? settle() }
  }

  /// - Throws: also when something is pending and the database is left alone.
  func settleUnlessResting() throws(StateError) {
    guard pending.withLock({ $0.isEmpty || !$0.isResting }) else {
      throw StateError("\(path): it could not be written a moment ago")
    }
    try settle()
  }

  private func settle(_ pending: inout Pending) throws(StateError) {
    let hadGrants = pending.records.contains { !$0.grants.isEmpty }
    let hadSightings = !pending.sightings.isEmpty
    if hadGrants { FaultPoint.grantsDue.pass() }
    let next = Int32.random(in: 1 ... .max)
    let refused: Int
    checkpointer.note(pending.records.count)
    do throws(StateError) {
      refused = try use { [pending] db in
        try Self.transaction(db) { db in try Self.apply(pending, to: db, next) }
      }
    } catch {
      pending.restsUntil = Clock.monotonic() + Self.rest
      throw error
    }
    // Where nothing was in the journal it goes on with the number that it has.
    if pending.bytes > 0 || pending.turn == nil { pending.turn = journal?.clear() == true ? next : nil }
    pending = Pending(turn: pending.turn, refused: pending.refused + refused, isDirty: true)
    if hadGrants { FaultPoint.grantsSettled.pass() }
    if hadSightings { FaultPoint.grantMoved.pass() }
  }

  /// - Parameter next: the turn that begins with it, where records are taken over.
  /// - Returns: how much the database refused.
  private static func apply(_ pending: Pending, to db: Database, _ next: Int32) throws -> Int {
    var refused = 0
    if pending.bytes > 0 || pending.turn == nil {
      for record in pending.records { refused += try take(record, db) }
      try db.execute(sql: "PRAGMA user_version = \(next)")
    }
    for (id, seen) in pending.sightings {
      try db.cachedStatement(sql: "UPDATE grant_ SET path = ?, place = ? WHERE id = ?")
        .execute(arguments: [seen.path, seen.place.map { Data($0.bytes) }, id])
    }
    for ending in pending.endings { try end(ending, in: db) }
    for (app, time) in pending.removals { try remove(app, at: time, from: db) }
    for id in pending.takenBack {
      for table in ["owedReference", "grantReference", "grantLife", "grant_"] {
        try db.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ?").execute(arguments: [id])
      }
    }
    return refused
  }

  /// A record that the database refuses, as beside one of another time, must not keep all others from it. Records that it has
  /// already stay as they are: a commit that was said to have failed may not have.
  private static func take(_ record: GrantJournal.Record, _ db: Database) throws -> Int {
    do {
      try insert(record, into: db, unlessThere: true)
      return 0
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      return 1
    }
  }

  /// Lets statements read the database as it will be when all pending records are in it, without writing it.
  func foresee<Value: Sendable>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
    let pending = pending.withLock(\.self)
    return try use { db in
      try Self.transaction(db, end: "ROLLBACK") { db in
        _ = try Self.apply(pending, to: db, 0)
        return try body(db)
      }
    }
  }

  // MARK: The last process, and the disk

  private static func turn(_ db: Database) throws -> Int32 { try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0 }

  /// Takes over the records that a dead process had in the journal alone. Where they cannot be written now they stay pending.
  func recover() throws(StateError) -> Recovery {
    guard let journal else { return Recovery() }
    let turn = try use(Self.turn)
    let found = turn == 0 ? .init() : try journal.records(turn: turn)
    var recovery = Recovery(
      grants: found.records.flatMap(\.grants), ended: found.records.flatMap(\.ended).map(\.id))
    let aside = found.isCut ? journal.keepAside() : nil
    pending.withLock { pending in
      pending.records = found.records
      pending.bytes = found.bytes
      // With no number of its own it gets one below.
      pending.turn = found.records.isEmpty ? nil : turn
      try? settle(&pending)
      var problems: [String] = []
      if found.isCut {
        problems.append(
          "what stood behind \(found.records.count) records of \(journal.path) was not whole"
            + (aside.map { ", and is kept as \($0)" } ?? ""))
      }
      if pending.refused > 0 {
        problems.append("\(pending.refused) records of \(journal.path) do not belong to \(path), and were left out")
      }
      if !problems.isEmpty { recovery.problem = problems.joined(separator: "; ") }
    }
    return recovery
  }

  /// Brings to the disk all that was written so far; from any thread. Waits for it.
  package func synchronize() throws(StateError) {
    guard
      pending.withLock({ pending in
        defer { pending.isDirty = false }
        return pending.isDirty
      })
    else { return }
    do throws(KernelError) {
      // A checkpoint has brought to the disk the records that it has moved from there to the database. Records that were struck out of the
      // journal are in this log: so it is first.
      if let log = try? Descriptor.open("\(path)-wal", flags: [.read, .noFollow]) { try log.synchronize() }
      try journal?.synchronize()
    } catch {
      pending.withLock { $0.isDirty = true }
      throw StateError("\(path): the disk has not taken it: \(error)")
    }
  }
}

extension GrantStore.Pending {
  fileprivate var isResting: Bool { restsUntil.map { Clock.monotonic() < $0 } ?? false }
}
