internal import GRDB
internal import Kernel
internal import Synchronization

/// The parts of an open log, for the threads that work on it: those that append, the one that moves entries to the database, and
/// the one that brings the journal to the disk.
///
/// Locks are taken in this order: ``store``, ``disk``, ``signed``, ``state``. A thread that appends takes the last one alone, and
/// no thread waits for a disk while holding it.
final class LogCore: Sendable {
  struct State {
    var journal: JournalFile
    var tail: JournalFile.Tail
    var last: ChainMark
    /// The mark of the last entry is still to be written.
    var isMarkDue = false
    /// The last checkpoint, and when it was made.
    var checkpoint: Int64
    var checkpointTime = Disk.now()
    /// Entries that are only in the journal: those that a thread is moving, and those that came since.
    var moving: [EncodedEvent] = []
    var waiting: [EncodedEvent] = []
    /// When the first and the last of them came, and when to try again after a failure.
    var since: Int64 = 0
    var latest: Int64 = 0
    var retry: Int64?
    /// A thread moves entries, or is about to.
    var isMoving = false
    /// The numbers of entries that are the first of a segment each, and only in the journal.
    var firsts: [Int64] = []
    /// The segment that is written: the number of the entry before its first, and its bytes.
    var segment: (base: Int64, bytes: Int)
    var isFinished = false

    /// Up to where the journal is known to be on the disk.
    var synced = ChainMark()
    /// Bytes of the journal that are not known to be there, the last ones of it.
    var unsynced: [UInt8]
    /// When the first entry of those came; nil when there is none.
    var dirtySince: Int64?
    /// Of those that came since a sync was begun.
    var dirtyMeanwhile: Int64?
    /// A thread waits for the disk.
    var isUrgent = false
    /// The journal's name may not be on the disk yet.
    var isNewName = true
    /// The entry that has the findings of ``OpenDoubts``, until it is on the disk.
    var doubtsEntry: Int64?
    /// The disk did not take these. Nothing is accepted until another journal has been written.
    var failure: AuditLogError?

    init(
      journal: JournalFile, tail: JournalFile.Tail, last: ChainMark, checkpoint: Int64, unsynced: [UInt8],
      segment: (base: Int64, bytes: Int)
    ) {
      self.journal = journal
      self.tail = tail
      self.last = last
      self.checkpoint = checkpoint
      self.unsynced = unsynced
      self.segment = segment
    }
  }

  let files: LogFiles
  let settings: AuditLog.Settings
  let key: AuditKey
  let head: HeadFile
  let end: EndFile
  let state: Mutex<State>
  /// Held by the thread that moves entries.
  let store: Mutex<SegmentStore>
  /// Held by the thread that removes old segments.
  let removal = Mutex(())
  /// Held by the thread that brings the journal to the disk, or makes another one.
  let disk = Mutex(())
  /// The last entry that the head has been signed for.
  let signed = Mutex<Int64>(-1)
  /// Wakes the thread that waits until the disk is due.
  let wakeup: Wakeup
  /// Told when more is on the disk than before.
  let listener = Mutex<(@Sendable () -> Void)?>(nil)

  init(
    _ files: LogFiles, _ settings: AuditLog.Settings, _ key: AuditKey, _ state: consuming State, _ store: SegmentStore
  ) throws {
    self.files = files
    self.settings = settings
    self.key = key
    head = try HeadFile(files.head)
    end = try EndFile(files.end, at: state.last, key: key)
    wakeup = try Wakeup()
    self.state = Mutex(state)
    self.store = Mutex(store)
  }

  // MARK: Adding

  /// - Parameters:
  ///   - earlier: events that come before the others, in the same batch.
  ///   - reserve: bytes that have to be left of the room that the journal has set aside; `nil`: all of them.
  ///   - isMarked: whether the mark of the last entry is written at once, and not by ``mark()``.
  func append(
    _ events: [AuditEvent], after earlier: [AuditEvent] = [], leaving reserve: Int? = nil, isMarked: Bool = true
  ) throws(AuditLogError) -> Int64 {
    let reserve = reserve ?? settings.journalReserve
    // Appending is not faster than moving for long, unless entries cannot be moved.
    if reserve > 0, state.withLock({ $0.moving.count + $0.waiting.count >= Self.most }) { try flush() }
    return try state.withLock { state throws(AuditLogError) in
      let count = earlier.count + events.count
      guard count > 0 else { return state.last.sequence }
      guard !state.isFinished else { throw AuditLogError(.failed, files.log, "it has been closed") }
      if let failure = state.failure { throw failure }
      var bytes: [UInt8] = []
      bytes.reserveCapacity(512 * count)
      var encoded: [EncodedEvent] = []
      encoded.reserveCapacity(count)
      var last = state.last
      // By spans: an event has many texts, and a copy of it counts each of them.
      for batch in [earlier, events] {
        let batch = batch.span
        for index in batch.indices {
          let next = EncodedEvent(batch[index], after: last)
          encoded.append(next)
          Journal.append(next, rest: count - encoded.count, synced: state.synced.sequence, to: &bytes)
          last = next.mark
        }
      }
      try state.journal.append(bytes, &state.tail, leaving: reserve)
      if isMarked { end.write(last) }
      state.isMarkDue = !isMarked
      let now = Disk.now()
      if state.waiting.isEmpty { state.since = now }
      state.latest = now
      let new = events.span
      for index in new.indices {
        let sequence = encoded[earlier.count + index].mark.sequence
        if new[index].kind == .logRotated { state.firsts.append(sequence) }
        if new[index].kind == .brokerStarted, new[index].detail[AuditEvent.Fact.doubt] != nil {
          state.doubtsEntry = sequence
        }
      }
      state.waiting.append(contentsOf: encoded)
      state.last = last
      state.unsynced += bytes
      if state.dirtyMeanwhile == nil { state.dirtyMeanwhile = now }
      if state.dirtySince == nil {
        state.dirtySince = now
        wakeup.signal()
      }
      return last.sequence
    }
  }

  /// Writes the mark of the last entry, if that was put off.
  func mark() {
    state.withLock { state in
      guard state.isMarkDue, !state.isFinished else { return }
      end.write(state.last)
      state.isMarkDue = false
    }
  }

  // MARK: Moving

  /// Entries are moved when none has come for so long, …
  private static let quiet: Int64 = 20_000_000
  /// … when the first has waited for so long, …
  private static let patience: Int64 = 100_000_000
  /// … or when there are so many.
  private static let many = 1024
  /// When they cannot be moved, this long is waited …
  private static let pause: Int64 = 1_000_000_000
  /// … and with so many waiting, nothing is accepted any more.
  private static let most = 8192

  var flushDeadline: Int64? {
    state.withLock { state in
      guard state.isMoving || !state.waiting.isEmpty else { return nil }
      if state.isMoving { return Disk.now() + Self.quiet }
      if let retry = state.retry { return retry }
      return state.waiting.count >= Self.many ? 0 : min(state.since + Self.patience, state.latest + Self.quiet)
    }
  }

  func willFlush() { state.withLock { $0.isMoving = true } }

  func flush() throws(AuditLogError) {
    try store.withLock { store throws(AuditLogError) in
      // A thread of a broker that has ended may come here late.
      if !state.withLock(\.isFinished) { try move(&store) }
    }
  }

  private func move(_ store: inout SegmentStore) throws(AuditLogError) {
    defer { state.withLock { $0.isMoving = false } }
    let (batch, isFull, checkpoint, firsts) = state.withLock { state in
      let isDue = isCheckpointDue(state)
      // Taken out, and not shared: the next entry would have to copy them all.
      swap(&state.moving, &state.waiting)
      return (state.moving, state.tail.end >= settings.journalSize, isDue, state.firsts)
    }
    guard let last = batch.last?.mark else { return }
    do throws(AuditLogError) {
      let rest = try store.split(batch, at: firsts) { events, store throws(AuditLogError) in
        try end(store, with: events)
      }
      try add(rest, store, checkpointAt: checkpoint || isFull ? last : nil, durably: isFull)
      let segment = (store.base, store.size())
      state.withLock { state in
        state.segment = segment
        state.firsts.removeAll { $0 <= last.sequence }
      }
    } catch {
      state.withLock { state in
        state.waiting = state.moving + state.waiting
        state.moving = []
        state.retry = Disk.now() + Self.pause
      }
      throw error
    }
    state.withLock { state in
      state.moving = []
      state.since = Disk.now()
      state.retry = nil
    }
    // If no new file can be made, the old one goes on.
    if isFull { try? renewJournal(after: last) }
  }

  private func isCheckpointDue(_ state: borrowing State) -> Bool {
    guard let last = state.waiting.last?.mark.sequence else { return false }
    return last - state.checkpoint >= settings.checkpointEvery
      || Disk.now() - state.checkpointTime >= settings.checkpointSpan
  }

  private func add(
    _ events: some Collection<EncodedEvent>, _ store: SegmentStore, checkpointAt mark: ChainMark?, durably: Bool
  ) throws(AuditLogError) {
    do {
      let checkpoint = mark.map { statement(.checkpoint, $0) }
      try store.add(events, checkpoint: checkpoint, durably: durably)
      guard let mark else { return }
      state.withLock { state in
        state.checkpoint = mark.sequence
        state.checkpointTime = Disk.now()
      }
    } catch {
      throw AuditLogError(error, file: files.segment(store.number))
    }
  }

  /// The last entries of a segment, with a checkpoint after them, and on the disk before another one begins.
  private func end(_ store: SegmentStore, with events: ArraySlice<EncodedEvent>) throws(AuditLogError) {
    do {
      let last = try events.last?.mark ?? store.last()
      let isNoted = state.withLock { $0.checkpoint >= last.sequence }
      try add(events, store, checkpointAt: isNoted ? nil : last, durably: true)
    } catch {
      throw AuditLogError(error, file: files.segment(store.number))
    }
  }

  func statement(_ kind: Statement.Kind, _ mark: ChainMark) -> Statement {
    let checkpoint = state.withLock { $0.checkpoint }
    return Statement(kind, mark, time: Disk.time(), checkpoint: checkpoint, key: key)
  }

  // MARK: The end

  func finish() throws(AuditLogError) {
    try store.withLock { store throws(AuditLogError) in
      guard !state.withLock({ $0.isFinished }) else { return }
      // Also if it cannot be closed in order: then the journal stays, and the next process that opens the log takes it over.
      defer {
        state.withLock { $0.isFinished = true }
        wakeup.signal()
        try? store.queue.close()
      }
      settings.beforeSync()
      try move(&store)
      let (rest, last, checkpoint) = state.withLock { state in
        state.isFinished = true
        return (state.waiting, state.last, state.checkpoint)
      }
      try add(rest, store, checkpointAt: last.sequence > checkpoint ? last : nil, durably: true)
      do {
        // In its one file, as far as no reader has it open meanwhile.
        _ = try? store.queue.writeWithoutTransaction { try $0.checkpoint(.passive) }
        try sign(last, isFinal: true)
        state.withLock { state in
          state.journal.remove()
          end.remove()
          state.synced = last
          state.dirtySince = nil
        }
        removeDoubts()
      } catch {
        throw AuditLogError(error, file: files.log)
      }
    }
  }
}
