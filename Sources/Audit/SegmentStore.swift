internal import GRDB
internal import Kernel

/// The segment that is written.
struct SegmentStore {
  private let files: LogFiles
  private(set) var queue: DatabaseQueue
  private(set) var number: Int
  /// The number of the entry before its first.
  private(set) var base: Int64

  var path: String { files.segment(number) }

  /// - Parameter mark: the entry before its first, if it is made.
  init(_ files: LogFiles, number: Int, after mark: ChainMark = ChainMark()) throws {
    let path = files.segment(number)
    self.files = files
    self.number = number
    queue = try AuditFile.openForWriting(path, of: files, after: mark)
    base = try queue.writeWithoutTransaction { db in
      // A process that keeps the database locked must not hold up the broker's callers: the journal has room.
      try db.execute(sql: "PRAGMA busy_timeout = 200")
      return try SegmentReader.base(db, file: path).sequence
    }
  }

  func last() throws -> ChainMark { try queue.read { try SegmentReader.last($0, file: path) } }

  /// Bytes.
  func size() -> Int {
    (try? queue.read { try SegmentReader.size($0) }) ?? 0
  }

  func add(_ events: some Collection<EncodedEvent>, checkpoint: Statement? = nil, durably: Bool) throws {
    try queue.writeWithoutTransaction { db in
      try SegmentReader.add(events, to: db, file: files.journal, checkpoint: checkpoint, durably: durably)
    }
  }

  /// Begins the segments that begin among entries.
  ///
  /// - Parameters:
  ///   - firsts: the numbers of entries that are the first of a segment each, in their order.
  ///   - end: has those before such an entry in the segment that ends with them, and on the disk.
  /// - Returns: the entries of the segment that is written then.
  mutating func split<Failure: Error>(
    _ events: [EncodedEvent], at firsts: [Int64],
    _ end: (ArraySlice<EncodedEvent>, SegmentStore) throws(Failure) -> Void
  ) throws(AuditLogError) -> ArraySlice<EncodedEvent> {
    var rest = events[...]
    for first in firsts where first > base + 1 && first <= (events.last?.mark.sequence ?? 0) {
      let ending = rest.prefix { $0.mark.sequence < first }
      do {
        try end(ending, self)
        FaultPoint.segmentEnded.pass()
        try renew()
        FaultPoint.segmentMade.pass()
      } catch {
        throw AuditLogError(error, file: path)
      }
      rest = rest[ending.endIndex...]
    }
    return rest
  }

  /// Goes on in another file, which begins where this one ends.
  private mutating func renew() throws {
    let mark = try last()
    let next = try SegmentStore(files, number: number + 1, after: mark)
    // One that was left is only taken for the file that it claims to be.
    guard next.base == mark.sequence else {
      throw AuditLogError(
        .damaged, next.path, "it goes on from entry \(next.base), and the segment before it ends with \(mark.sequence)")
    }
    let old = queue
    self = next
    // It is not written again. As one file, if no reader has it open just now, it can be read
    // where nothing can be written.
    try? old.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = DELETE") }
    try? old.close()
  }
}

extension EncodedEvent {
  /// It says of itself that a segment begins with it: the sign by which it is known of entries of another writer.
  var beginsSegment: Bool {
    Payload(payload)?.text(.kind)?.elementsEqual(AuditEvent.Kind.logRotated.rawValue.utf8) ?? false
  }
}
