internal import GRDB
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// Reads the log, also while the broker writes it, and also one that a dead broker left. Every call sees each entry that
/// was complete when it began, whether it is in the journal, in a segment or on its way.
///
/// That holds because a call reads the journal first and the segments after it. An entry is in the journal from before any
/// answer until the database has it: a journal is only ever made longer, and when another file takes its place, or it goes
/// away, its entries were committed before. So an entry that is not found in the journal because it has left is found in
/// the database, whose snapshot is taken later; the other order could miss it in both. Entries that both have are taken
/// from the database: it holds all up to its last, so later entries in the journal follow without a gap. Should a new
/// journal be begun while the old file is read, the old one still is as it was.
///
/// Segments but the newest are as they were left, and a new one begins where the one before it ends.
package struct AuditReader: Sendable {
  package let path: String
  let files: LogFiles
  private let open: OpenSegments

  /// Opens the log for reading only.
  ///
  /// - Throws: problem `missing` when there is none yet; else as `AuditLog.init` does.
  package init(path: String) throws(AuditLogError) {
    self.path = path
    files = LogFiles(path)
    open = OpenSegments(files)
    try retrying { try open.refresh() }
  }

  /// The number of the log's last entry; 0 when it has none.
  package func lastSequence() throws(AuditLogError) -> Int64 {
    try read { view in view.last.sequence }
  }

  /// The first events after a number that fit, in the log's order.
  ///
  /// - Throws: problem `damaged` when an entry is not as it was written, or when one is missing and the query is empty.
  package func events(matching query: AuditQuery = AuditQuery(), after sequence: Int64 = 0, limit: Int)
    throws(AuditLogError) -> [AuditEvent]
  {
    guard limit > 0 else { return [] }
    return try read { view in
      try view.events(matching: EntryFilter(query), after: max(0, sequence), limit: limit, ascending: true)
    }
  }

  /// The last events that fit, in the log's order.
  ///
  /// - Throws: as `events(matching:after:limit:)` does.
  package func latest(_ limit: Int, matching query: AuditQuery = AuditQuery()) throws(AuditLogError) -> [AuditEvent] {
    guard limit > 0 else { return [] }
    return try read { view in
      try view.events(matching: EntryFilter(query), after: 0, limit: limit, ascending: false).reversed()
    }
  }

  /// The number of the entry before the first that there is: entries up to there were removed, because they were old.
  package func removedThrough() throws(AuditLogError) -> Int64 {
    try read { view in try view.base.sequence }
  }

  /// The last entry's number and hash.
  package func anchor() throws(AuditLogError) -> ChainMark { try read { view in view.last } }

  /// The public key that lies beside the log; nil when there is none.
  package func publicKey() throws(AuditLogError) -> AuditKey.Public? { try AuditKey.publicKey(of: files) }

  private static let mostAttempts = 12

  /// The findings that another look would bring again.
  private struct Settled: Error { let error: AuditLogError }

  func read<Value>(wholeJournal: Bool = false, _ body: (LogView) throws -> Value) throws(AuditLogError) -> Value {
    try retrying {
      // Not after the segments: see above.
      let journal = try JournalFile.read(files.journal, whole: wholeJournal)
      let segments = try open.refresh()
      guard let newest = segments.last else { return nil }
      return try newest.queue.read { db in
        // One that was begun meanwhile may have entries that are neither here nor in the journal any more.
        if files.segments().last != newest.number { return nil }
        let view = try LogView(files: files, segments: segments, newest: db, journal: journal, all: wholeJournal)
        do { return try body(view) } catch let error as AuditLogError where error.problem == .damaged {
          // Damage in an unchanging part is there the next time as well, and may take long to find.
          guard files.segments() == segments.map(\.number) else { throw error }
          throw Settled(error: error)
        }
      }
    }
  }

  /// - Parameter body: gives nil when the log went on in another file meanwhile.
  @discardableResult
  private func retrying<Value>(_ body: () throws -> Value?) throws(AuditLogError) -> Value {
    do {
      for attempt in 0..<Self.mostAttempts {
        do {
          if let value = try body() { return value }
        } catch let error as AuditLogError
          where [.damaged, .missing].contains(error.problem) && attempt < Self.mostAttempts - 1
        {
          // A journal is read piece by piece: of a record that is written meanwhile a reader can see the end and not the
          // beginning. And a segment may be removed before it is looked at.
          if error.problem == .missing, files.segments().isEmpty { throw error }
          usleep(2_000)
        }
      }
      throw AuditLogError(.busy, path, "new segments come too fast to read it")
    } catch let settled as Settled {
      throw settled.error
    } catch {
      throw AuditLogError(error, file: path)
    }
  }
}

/// The segments that a reader knows. Those that it is asked about are open.
final class OpenSegments: Sendable {
  final class Segment: Sendable {
    let number: Int
    let path: String
    private let files: LogFiles
    private let open: Mutex<DatabaseQueue?>

    init(_ files: LogFiles, number: Int, queue: DatabaseQueue? = nil) {
      self.number = number
      self.files = files
      path = files.segment(number)
      open = Mutex(queue)
    }

    var queue: DatabaseQueue {
      get throws {
        try open.withLock { open in
          if let open { return open }
          let queue = try AuditFile.openForReading(path, of: files)
          open = queue
          return queue
        }
      }
    }
  }

  private let files: LogFiles
  private let known = Mutex<[Segment]>([])

  init(_ files: LogFiles) { self.files = files }

  /// Those that there are now, in their order.
  @discardableResult
  func refresh() throws -> [Segment] {
    let numbers = files.segments()
    if numbers.isEmpty { _ = try AuditFile.openForReading(files.log, of: files) }
    return try known.withLock { known in
      if known.map(\.number) != numbers {
        known = numbers.map { number in known.first { $0.number == number } ?? Segment(files, number: number) }
      }
      _ = try known.last?.queue
      return known
    }
  }
}
