internal import Foundation
internal import GRDB

/// A log at one moment: its segments, of which the newest is seen through one snapshot, and the entries that
/// are only in the journal.
struct LogView {
  let files: LogFiles
  let segments: [OpenSegments.Segment]
  let newest: Database
  /// The mark of the last entry of all.
  let last: ChainMark
  /// Entries that no segment has.
  let waiting: [EncodedEvent]
  /// Which time since a start of the machine the journal was begun in; nil when there is none.
  let journalBoot: [UInt8]?

  /// - Parameter all: also the journal's copies of entries that are in a segment are held against its hashes.
  init(files: LogFiles, segments: [OpenSegments.Segment], newest: Database, journal bytes: [UInt8]?, all: Bool = false)
    throws
  {
    self.files = files
    self.segments = segments
    self.newest = newest
    let stored = try SegmentReader.last(newest, file: segments.last?.path ?? files.log)
    guard let bytes else {
      (last, waiting, journalBoot) = (stored, [], nil)
      return
    }
    let journal = try Journal(bytes, file: files.journal, trusting: all ? 0 : stored.sequence)
    journalBoot = journal.boot
    // One that was read before another segment was begun may have nothing that is not in an older one.
    let base = try SegmentReader.base(newest, file: segments.last?.path ?? files.log).sequence
    guard journal.end > 0, journal.last.sequence >= base else {
      (last, waiting) = (stored, [])
      return
    }
    try journal.check(against: newest, last: stored, file: files.journal)
    waiting = journal.events(after: stored.sequence)
    last = waiting.last?.mark ?? stored
  }

  /// The mark of the entry before the first that there is.
  var base: ChainMark {
    get throws {
      guard let first = segments.first else { return ChainMark() }
      return try with(first) { try SegmentReader.base($0, file: first.path) }
    }
  }

  func with<Value>(_ segment: OpenSegments.Segment, _ body: (Database) throws -> Value) throws -> Value {
    segment.number == segments.last?.number ? try body(newest) : try segment.queue.read(body)
  }

  /// The first that fit after a number, or the last ones, from the last on.
  func events(matching filter: EntryFilter, after sequence: Int64, limit: Int, ascending: Bool) throws -> [AuditEvent] {
    var events: [AuditEvent] = []
    func take(_ entries: some Sequence<EncodedEvent>) throws {
      for entry in entries {
        guard events.count < limit else { return }
        guard entry.mark.sequence > sequence, let payload = Payload(entry.payload), filter.fits(payload) else {
          continue
        }
        events.append(try payload.event(file: files.journal))
      }
    }
    if !ascending { try take(waiting.reversed()) }
    for segment in ascending ? segments : segments.reversed() where events.count < limit {
      try with(segment) { db in
        // A segment that ends before has none.
        let end = try SegmentReader.last(db, file: segment.path).sequence
        guard end > sequence else { return }
        var search = SegmentSearch(db, file: segment.path, after: sequence, through: end, ascending: ascending)
        try search.find(filter, limit: limit - events.count) { events.append($0) }
      }
    }
    if ascending { try take(waiting) }
    try checkNumbers(of: events, filter, after: ascending ? try max(sequence, base.sequence) : nil)
    // A damaged page may lead nowhere, and say nothing of it.
    if ascending, filter.isEmpty, events.count < limit, last.sequence > events.last?.sequence ?? sequence {
      throw AuditLogError(.damaged, files.log, "entry \((events.last?.sequence ?? sequence) + 1) is missing")
    }
    return events
  }

  /// With nothing asked for, every entry fits.
  private func checkNumbers(of events: [AuditEvent], _ filter: EntryFilter, after first: Int64?) throws {
    guard filter.isEmpty else { return }
    var previous = first
    for event in events {
      if let previous, abs(event.sequence - previous) != 1 {
        throw AuditLogError(.damaged, files.log, "entry \(min(previous, event.sequence) + 1) is missing")
      }
      previous = event.sequence
    }
    if first == nil, events.first.map({ $0.sequence != last.sequence }) ?? false {
      throw AuditLogError(.damaged, files.log, "entry \(last.sequence) is missing")
    }
  }
}

/// Looking for entries of one segment.
struct SegmentSearch {
  private let db: Database
  private let file: String
  private let bounds: ClosedRange<Int64>
  private let ascending: Bool

  init(_ db: Database, file: String, after sequence: Int64, through end: Int64, ascending: Bool) {
    self.db = db
    self.file = file
    bounds = sequence + 1...end
    self.ascending = ascending
  }

  mutating func find(_ filter: EntryFilter, limit: Int, _ found: (AuditEvent) -> Void) throws {
    guard !filter.isEmpty else {
      try scan(bounds, filter, limit: limit, found)
      return
    }
    var blocks = try BlockIndex.blocks(
      db, filter, from: SegmentWriter.block(bounds.lowerBound), through: SegmentWriter.block(bounds.upperBound),
      ascending: ascending)
    var rest = limit
    while rest > 0, let block = try blocks.next() {
      let whole = (block << SegmentWriter.blockBits) + 1...((block + 1) << SegmentWriter.blockBits)
      rest -= try scan(whole.clamped(to: bounds), filter, limit: rest, found)
    }
  }

  /// How many were found. Each is held against the hash that it was written with.
  @discardableResult
  private func scan(_ range: ClosedRange<Int64>, _ filter: EntryFilter, limit: Int, _ found: (AuditEvent) -> Void)
    throws
    -> Int
  {
    let sql = """
      SELECT sequence, payload, hash FROM entry WHERE sequence BETWEEN ? AND ?
      ORDER BY sequence \(ascending ? "ASC" : "DESC")
      """
    let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: [range.lowerBound, range.upperBound])
    var count = 0
    var neighbour: ChainMark?
    while count < limit, let row = try rows.next() {
      if let mayFit = try row.withUnsafeData(atIndex: 1, { $0.map(filter.mayFit) }), !mayFit {
        neighbour = nil
        continue
      }
      guard let entry = SegmentReader.entry(row), let payload = Payload(entry.payload),
        payload.sequence == entry.mark.sequence
      else { throw damaged(Int64.fromDatabaseValue(row.databaseValues.first ?? .null)) }
      let other = neighbour
      neighbour = entry.mark
      guard filter.fits(payload) else { continue }
      // Of its neighbour before it the hash is at hand, or is looked up.
      let known = ascending && other?.sequence == entry.mark.sequence - 1 ? other?.hash : nil
      guard let before = try known ?? SegmentReader.hash(db, of: entry.mark.sequence - 1) else {
        throw AuditLogError(.damaged, file, "entry \(entry.mark.sequence - 1) is missing")
      }
      guard EntryHash(after: before, entry.payload) == entry.mark.hash else { throw damaged(entry.mark.sequence) }
      found(try payload.event(file: file))
      count += 1
    }
    return count
  }

  private func damaged(_ sequence: Int64?) -> AuditLogError {
    AuditLogError(.damaged, file, "entry \(sequence.map { "\($0) " } ?? "")is not as it was written")
  }
}
