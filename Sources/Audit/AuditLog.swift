internal import GRDB
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// The broker's log: entries are added at its end and never changed or taken out.
///
/// One process writes it; any number read it meanwhile (`AuditReader`). An entry goes to a journal first, with one
/// write(2), and from there with others to the database: a commit costs ten times as much as that write. Entries are
/// in the order of their numbers in both, and an entry leaves the journal only when the database has it.
package final class AuditLog: Sendable {
  package let path: String
  /// What a process that died left in the journal: entries that were moved to the database when this log was opened.
  package let takenOver: Int
  /// Bytes at the journal's end that were no whole entry, and were dropped: a process or the power went in the midst of
  /// writing one, before anybody was answered.
  package let tornBytes: Int
  private let queue: DatabaseQueue
  private let state: Mutex<State>
  /// Whoever moves entries has it, and takes it before ``state``.
  private let moving = Mutex(())

  private struct State {
    var journal: JournalFile
    var last: Journal.Mark
    /// Entries that are only in the journal.
    var waiting: [EncodedEvent] = []
    /// When the first and the last of them came, and when to try again after a failure.
    var since: Int64 = 0
    var latest: Int64 = 0
    var retry: Int64?
    /// Somebody moves entries, or is about to.
    var isMoving = false
  }

  /// Entries are moved when none has come for so long, …
  private static let quiet: Int64 = 20_000_000
  /// … when the first has waited for so long, …
  private static let patience: Int64 = 100_000_000
  /// … or when there are so many: more would keep a request waiting for milliseconds.
  private static let many = 256
  /// When they cannot be moved, this long is waited …
  private static let pause: Int64 = 1_000_000_000
  /// … and with so many waiting, nothing is accepted any more.
  private static let most = 1024
  /// Bytes of a journal before a new one takes its place.
  private let journalSize: Int

  /// Opens the log; makes it (mode 0600) if there is none. Its folder has to exist. What is in a journal that a process
  /// left is moved to the database.
  ///
  /// - Throws: when a file is something else, damaged, a newer version's or out of reach (`AUD-8`). It is then left
  ///   exactly as it was. Problem `busy` when another process writes the log.
  package init(path: String, journalSize: Int = 512 * 1024) throws(AuditLogError) {
    self.path = path
    self.journalSize = journalSize
    do {
      let queue = try AuditFile.openForWriting(path)
      let file = JournalFile.path(ofLog: path)
      let found = try JournalFile.open(file)
      let (before, last) = try queue.writeWithoutTransaction { db in
        let before = try Journal.Mark.last(db, file: path)
        if let journal = found?.1, journal.end > 0 { try journal.check(against: db, last: before.sequence, file: file) }
        try EventRow.add(found?.1.records ?? [], to: db, file: file, durably: false)
        // Whoever keeps the database locked must not hold up those who wait for the broker: the journal has room.
        try db.execute(sql: "PRAGMA busy_timeout = 200")
        return (before, try Journal.Mark.last(db, file: path))
      }
      takenOver = Int(last.sequence - before.sequence)
      tornBytes = found?.1.torn ?? 0
      // A journal whose header never reached the disk holds nothing.
      let usable = found.flatMap { $0.1.end > 0 ? $0.0 : nil }
      try usable?.takeBackRemains()
      let journal = try usable ?? JournalFile.make(file, after: last, replacing: found != nil)
      state = Mutex(State(journal: journal, last: last))
      self.queue = queue
    } catch {
      throw AuditLogError(error, file: path)
    }
  }

  /// Leaves the database with everything, and no journal.
  deinit {
    do { try flush() } catch { return }
    state.withLock { state in
      do {
        // On the disk, and not only in the kernel's hands: the journal is what a power failure would be mended with.
        let (frames, done) = try queue.writeWithoutTransaction { try $0.checkpoint(.passive) }
        if frames == done { state.journal.remove() }
      } catch {
        // The journal stays, and whoever opens the log next takes over what is in it.
      }
    }
  }

  /// Adds events in their order, all of them or none, and numbers them on from the log's last entry.
  ///
  /// When it returns they are in a file: no end of this process takes them back, and every reader finds them. Their own
  /// `sequence` is not looked at. Text with U+0000 in it or longer than 8 KiB is recorded with U+FFFD there, or cut and
  /// ended by `…`.
  /// - Returns: the last entry's number; with no events, that of the entry that was last already (0: none).
  @discardableResult
  package func append(_ events: [AuditEvent]) throws(AuditLogError) -> Int64 {
    // Nobody adds faster than entries are moved for long, unless they cannot be moved.
    if state.withLock({ $0.waiting.count >= Self.most }) { try flush() }
    return try state.withLock { state throws(AuditLogError) in
      guard !events.isEmpty else { return state.last.sequence }
      var bytes: [UInt8] = []
      bytes.reserveCapacity(512 * events.count)
      var encoded: [EncodedEvent] = []
      for (index, event) in events.enumerated() {
        let next = EncodedEvent(event, sequence: state.last.sequence + Int64(index) + 1)
        Journal.append(next, rest: events.count - 1 - index, to: &bytes)
        encoded.append(next)
      }
      try state.journal.append(bytes)
      let now = Self.now()
      if state.waiting.isEmpty { state.since = now }
      state.latest = now
      state.waiting += encoded
      if let last = encoded.last { state.last = Journal.Mark(sequence: last.sequence, checksum: last.checksum) }
      return state.last.sequence
    }
  }

  /// When `flush()` should be called, in nanoseconds of CLOCK_MONOTONIC, by whoever has nothing better to do until then;
  /// nil when there is nothing to move.
  package var flushDeadline: Int64? {
    state.withLock { state in
      guard !state.waiting.isEmpty else { return nil }
      if state.isMoving { return Self.now() + Self.quiet }
      if let retry = state.retry { return retry }
      return state.waiting.count >= Self.many ? 0 : min(state.since + Self.patience, state.latest + Self.quiet)
    }
  }

  /// Somebody is about to call ``flush()``: nobody else need.
  package func willFlush() { state.withLock { $0.isMoving = true } }

  /// Moves what is in the journal to the database. If that fails, nothing is lost: the journal keeps it.
  ///
  /// From any thread: what is added meanwhile waits for none of it, but for a moment when the journal is full.
  package func flush() throws(AuditLogError) {
    try moving.withLock { _ throws(AuditLogError) in
      defer { state.withLock { $0.isMoving = false } }
      let (batch, renewing, journal) = state.withLock { ($0.waiting, $0.journal.end >= journalSize, $0.journal.path) }
      guard !batch.isEmpty else { return }
      do throws(AuditLogError) { try add(batch, journal, durably: renewing) } catch {
        state.withLock { $0.retry = Self.now() + Self.pause }
        throw error
      }
      try state.withLock { state throws(AuditLogError) in
        state.waiting.removeFirst(batch.count)
        state.since = Self.now()
        state.retry = nil
        guard renewing else { return }
        // A journal may go only when all that it holds is on the disk. Otherwise a power failure could take entries out of
        // the database and leave later ones in the new journal.
        try add(state.waiting, journal, durably: true)
        state.waiting.removeAll(keepingCapacity: true)
        // If no new file can be made, the old one goes on.
        if let next = try? JournalFile.make(journal, after: state.last, replacing: true) { state.journal = next }
      }
    }
  }

  private func add(_ events: [EncodedEvent], _ journal: String, durably: Bool) throws(AuditLogError) {
    guard !events.isEmpty else { return }
    do {
      try queue.writeWithoutTransaction { db in
        try EventRow.add(events, to: db, file: journal, durably: durably)
      }
    } catch {
      throw AuditLogError(error, file: path)
    }
  }

  private static func now() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
