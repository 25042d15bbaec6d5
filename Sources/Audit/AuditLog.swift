internal import Kernel
internal import Synchronization

/// The broker's log: entries are added at its end and never changed or taken out.
///
/// One process writes it; any number read it meanwhile (`AuditReader`). An entry goes to a journal first, with one
/// write(2), and from there with others to the database: a commit costs ten times as much as that write. Entries are
/// in the order of their numbers in both, and an entry leaves the journal only when the database has it, and on the disk.
///
/// Each is chained to the one before it (``EntryHash``), and the log's content is signed (``Statement``).
package final class AuditLog: Sendable {
  /// How a log is kept. Sizes are in bytes, spans in nanoseconds.
  package struct Settings: Sendable {
    /// Of a journal before a new one takes its place.
    package var journalSize = 1 << 20
    /// Bytes of it that are set aside for entries that have to be written on a full disk as well
    /// (``AuditLog/appendFromReserve(_:)``).
    package var journalReserve = 256 << 10
    var journalLength: Int { journalSize + journalReserve }
    /// An entry reaches the disk so much later, …
    package var syncAfter: Int64 = 50_000_000
    /// … and if it has not after so long, nothing is answered before it has.
    package var syncWithin: Int64 = 100_000_000
    /// Entries, and time, between two checkpoints.
    package var checkpointEvery: Int64 = 4096
    package var checkpointSpan: Int64 = 60_000_000_000
    /// Bytes of a segment, after which another one is due.
    package var segmentSize = 64 << 20
    /// How much of it is kept.
    package var retention = Retention()
    /// Called by the thread that brings entries to the disk, before it does: for the records that those entries tell of.
    package var beforeSync: @Sendable () -> Void = {}
    /// Has the bytes of a descriptor on the disk when it returns 0; else errno.
    var sync: @Sendable (Int32) -> Int32 = Disk.sync

    package init() {}
  }

  /// How much of a log is kept: whole segments, the newest always.
  package struct Retention: Equatable, Sendable {
    /// Bytes of all segments together; nil: any.
    package var bytes: Int?
    /// Microseconds since the last entry of a segment; nil: any.
    package var span: Int64?

    package init(bytes: Int? = nil, span: Int64? = nil) {
      self.bytes = bytes
      self.span = span
    }
  }

  package let path: String
  /// The entries that a dead process left in the journal: they were moved to the database when this log was opened.
  package let takenOver: Int
  /// Bytes at the journal's end that were no whole entry, and were dropped: a process or the power went in the midst of writing
  /// one, before any answer was given.
  package let tornBytes: Int
  /// Faults that were found, which may be an attacker's work as well as an accident; sentences without their full stop.
  package let doubts: [String]
  let core: LogCore

  /// Opens the log; makes it (mode 0600) if there is none. Its folder has to exist. Entries in a journal that a process left
  /// are moved to the database.
  ///
  /// - Throws: when a file is something else, damaged, a newer version's or out of reach, or when the log does not go as
  ///   far as its signed head says (`AUD-8`). It is then left exactly as it was. Problem `busy` when another process
  ///   writes the log.
  package init(path: String, settings: Settings = Settings()) throws(AuditLogError) {
    self.path = path
    do {
      let opening = try LogOpening(LogFiles(path), settings)
      (takenOver, tornBytes, doubts) = (opening.takenOver, opening.tornBytes, opening.doubts)
      lacksCarried = opening.lacksCarried
      core = opening.core
    } catch {
      throw AuditLogError(error, file: path)
    }
    core.startSyncing()
  }

  deinit { try? finish() }

  /// Adds events in their order, all of them or none, and numbers them on from the log's last entry.
  ///
  /// When it returns they are in a file: no end of this process takes them back, and every reader finds them. Their own
  /// `sequence` is not looked at. Text with U+0000 in it or longer than 8 KiB is recorded with U+FFFD there, or cut and
  /// ended by `…`.
  ///
  /// - Parameters:
  ///   - earlier: events that come before the others, in the same batch. They begin no segment.
  ///   - isMarked: `false`: ``mark()`` follows as soon as the caller's own callers have their answers. Until then nothing tells
  ///     of the entries if they are taken away behind a killed broker.
  /// - Returns: the last entry's number; with no events, that of the entry that was last already (0: none).
  @discardableResult
  package func append(
    _ events: [AuditEvent], after earlier: [AuditEvent] = [], isMarked: Bool = true
  ) throws(AuditLogError) -> Int64 {
    try core.append(events, after: earlier, isMarked: isMarked)
  }

  /// Notes beside the log how far it goes, if that was put off.
  package func mark() { core.mark() }

  /// The same for entries that take something away from an app: on a full disk they go to room that all
  /// others have left (`AUD-12`).
  package func appendFromReserve(_ events: [AuditEvent]) throws(AuditLogError) {
    _ = try core.append(events, leaving: 0)
  }

  /// When `flush()` should be called, in nanoseconds of CLOCK_MONOTONIC, by a thread that is idle until then; nil when
  /// there is nothing to move.
  package var flushDeadline: Int64? { core.flushDeadline }

  /// A thread is about to call ``flush()``: no other thread need.
  package func willFlush() { core.willFlush() }

  /// Moves the journal's entries to the database. If that fails, nothing is lost: the journal keeps them.
  ///
  /// From any thread: appending meanwhile waits for none of it.
  package func flush() throws(AuditLogError) { try core.flush() }

  /// When a decision is on the disk.
  package enum Sync: String, Sendable {
    /// A moment after it was answered; should the disk be late, before it is answered.
    case group
    /// Before it is answered.
    case full
  }

  /// The entry that has to be on the disk before any answer is given; nil when nothing is in the way.
  package func heldUntil(_ sync: Sync) -> Int64? { core.heldUntil(sync) }

  /// Everything up to this entry is on the disk.
  package var durable: Int64 { core.state.withLock { $0.synced.sequence } }

  /// A thread of the log's calls the given closure when more is on the disk than before.
  package func onDisk(_ body: @escaping @Sendable () -> Void) { core.listener.withLock { $0 = body } }

  /// Leaves the database with everything and on the disk, its head signed, and no journal. Nothing can be added after.
  package func finish() throws(AuditLogError) { try core.finish() }

  /// Another segment is due: with an entry of kind `logRotated`, and the state in force after it (`carried`, `carriedAll`).
  package var isSegmentFull: Bool {
    let size = core.settings.segmentSize
    return core.state.withLock { $0.firsts.isEmpty && $0.segment.bytes >= size }
  }

  /// Entries of the segment that is written.
  package var segmentEntries: Int64 {
    core.state.withLock { state in
      let base = state.firsts.last.map { $0 - 1 } ?? state.segment.base
      return state.last.sequence - base
    }
  }

  /// The newest segment was begun, and its process died before all that was in force was carried into it.
  package let lacksCarried: Bool

  /// Removes the segments that need not be kept, the oldest first (``Settings/retention``). Entries with the state in force
  /// have to follow: of a segment that lacks them the one before is kept.
  ///
  /// An entry first tells of the removal, and then a signed statement (`audit.begins`): `verify` takes no other beginning.
  /// - Parameter now: microseconds since 1970.
  /// - Returns: the number of the last entry that was removed; nil: nothing was.
  @discardableResult
  package func removeOld(now: Int64) throws(AuditLogError) -> Int64? { try core.removeOld(now: now) }

  /// The last entry's number and hash: the anchor to write down elsewhere, to hold the log against later.
  package var anchor: ChainMark { core.state.withLock { $0.last } }
}
