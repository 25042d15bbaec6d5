internal import Foundation
internal import GRDB

/// Entries and their index, on their way into a segment. Within one transaction; `finish` at its end.
///
/// The index is noted block by block first (`newest`), which changes a page or two, and brought in the order of the texts
/// (`place`) for many blocks at a time: there each text is on another page.
struct SegmentWriter {
  /// Entries in a block: 1 to 256, 257 to 512, …
  static let blockBits: Int64 = 8

  static func block(_ sequence: Int64) -> Int64 { (sequence - 1) >> blockBits }

  private let isOrdered: Bool
  private var block: Int64 = -1
  private var times: (earliest: Int64, latest: Int64) = (.max, .min)
  /// Of the block, as far as it goes.
  private var terms: Set<Int64> = []

  /// - Parameter isOrdered: in the order of the texts at once.
  init(isOrdered: Bool = false) { self.isOrdered = isOrdered }

  mutating func add(_ event: EncodedEvent, to db: Database) throws {
    guard let payload = Payload(event.payload), payload.sequence == event.mark.sequence else {
      throw AuditLogError(.damaged, "\(db.description)", "entry \(event.mark.sequence) is no event", of: .journal)
    }
    let insert = try db.cachedStatement(sql: "INSERT INTO entry VALUES (?, ?, ?)")
    insert.setUncheckedArguments([event.mark.sequence, Data(event.payload), event.mark.hash.data])
    try insert.execute()
    let own = Self.block(event.mark.sequence)
    if own != block {
      try finish(db)
      block = own
      if !isOrdered { terms = try Self.terms(of: own, before: event.mark.sequence, db) }
    }
    times = (min(times.earliest, payload.time), max(times.latest, payload.time))
    for term in BlockIndex.terms(payload) { terms.insert(term) }
  }

  /// The terms of the entries that a block has already.
  private static func terms(of block: Int64, before sequence: Int64, _ db: Database) throws -> Set<Int64> {
    let first = (block << blockBits) + 1
    guard sequence > first else { return [] }
    if let noted = try BlockIndex.newest(block, db) { return Set(BlockIndex.terms(noted)) }
    // Begun by a version that did not note it so.
    let sql = "SELECT payload FROM entry WHERE sequence BETWEEN ? AND ?"
    let payloads = try Data.fetchAll(db, sql: sql, arguments: [first, sequence - 1])
    return Set(payloads.compactMap { Payload(Array($0)) }.flatMap(BlockIndex.terms))
  }

  /// Writes down the facts of the block up to here.
  mutating func finish(_ db: Database) throws {
    if block >= 0, times.earliest <= times.latest {
      let sql = """
        INSERT INTO block VALUES (?, ?, ?) ON CONFLICT (number) DO UPDATE
        SET earliest = min(earliest, excluded.earliest), latest = max(latest, excluded.latest)
        """
      let insert = try db.cachedStatement(sql: sql)
      insert.setUncheckedArguments([block, times.earliest, times.latest])
      try insert.execute()
      if isOrdered {
        try BlockIndex.place(terms.sorted().map { ($0, block) }, db)
      } else {
        try BlockIndex.note(terms, of: block, db)
      }
    }
    times = (.max, .min)
    terms.removeAll(keepingCapacity: true)
    block = -1
  }
}

/// A segment's statements about itself.
enum SegmentReader {
  /// The mark of the entry before the first.
  static func base(_ db: Database, file: String) throws -> ChainMark {
    let rows = try Row.fetchAll(db.cachedStatement(sql: "SELECT sequence, hash FROM base"))
    guard let row = rows.first else { return ChainMark() }
    guard rows.count == 1, let mark = mark(row) else {
      throw AuditLogError(.damaged, file, "it does not say what comes before its first entry")
    }
    return mark
  }

  /// Bytes; SQLite's files beside it are its own until they are moved into it.
  static func size(_ db: Database) throws -> Int {
    try (Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0) * (Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
  }

  /// The mark of the last entry, or of the one before the first.
  static func last(_ db: Database, file: String) throws -> ChainMark {
    let sql = "SELECT sequence, hash FROM entry ORDER BY sequence DESC LIMIT 1"
    guard let row = try Row.fetchOne(db.cachedStatement(sql: sql)) else { return try base(db, file: file) }
    guard let mark = mark(row) else { throw AuditLogError(.damaged, file, "its last entry has no number or no hash") }
    return mark
  }

  static func hash(_ db: Database, of sequence: Int64) throws -> EntryHash? {
    let sql = "SELECT hash FROM entry WHERE sequence = ?1 UNION ALL SELECT hash FROM base WHERE sequence = ?1 LIMIT 1"
    let data = try Data.fetchOne(db.cachedStatement(sql: sql), arguments: [sequence])
    return data.flatMap { EntryHash(bytes: $0) } ?? (sequence == 0 ? EntryHash() : nil)
  }

  static func entry(_ row: Row) -> EncodedEvent? {
    guard let sequence = row[0] as? Int64, let payload = try? row.withUnsafeData(atIndex: 1, { $0.map(Array.init) }),
      let hash = try? row.withUnsafeData(atIndex: 2, { $0.flatMap { EntryHash(bytes: $0) } })
    else { return nil }
    return EncodedEvent(payload: payload, mark: ChainMark(sequence: sequence, hash: hash))
  }

  private static func mark(_ row: Row) -> ChainMark? {
    guard let sequence = row[0] as? Int64, let hash = (row[1] as? Data).flatMap({ EntryHash(bytes: $0) }) else {
      return nil
    }
    return ChainMark(sequence: sequence, hash: hash)
  }

  /// Adds events, in one transaction. Those that it has already are left out: after a death between the commit and the
  /// journal's end, doing it again changes nothing.
  ///
  /// - Parameter durably: returns when they, and everything before them, are on the disk.
  static func add(
    _ events: some Collection<EncodedEvent>, to db: Database, file: String, checkpoint: Statement?, durably: Bool
  ) throws {
    // Of the last entry, so that nothing before it can be missing either: SQLite writes its log in order.
    if durably { try db.execute(sql: "PRAGMA synchronous = FULL") }
    defer { if durably { try? db.execute(sql: "PRAGMA synchronous = NORMAL") } }
    try db.inTransaction(.immediate) {
      var last = try last(db, file: file)
      let before = last.sequence
      var writer = SegmentWriter()
      for event in events where event.mark.sequence > last.sequence {
        guard event.mark.sequence == last.sequence + 1 else {
          throw AuditLogError(.damaged, file, "entry \(last.sequence + 1) is missing", of: .journal)
        }
        try writer.add(event, to: db)
        last = event.mark
      }
      try writer.finish(db)
      let count = "SELECT count(*) FROM entry WHERE sequence > ?"
      let isKept =
        try Int64.fetchOne(db.cachedStatement(sql: count), arguments: [before]) == last.sequence - before
        && Self.last(db, file: file) == last
      guard isKept else {
        throw AuditLogError(.damaged, file, "it does not keep what is written to it")
      }
      try BlockIndex.orderNewest(db)
      // Something to write, or there is nothing to wait for.
      if durably {
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        try db.execute(sql: "PRAGMA user_version = \((version + 1) % 1_000_000)")
      }
      if let checkpoint {
        try db.execute(
          sql: "INSERT INTO checkpoint VALUES (?, ?)", arguments: [checkpoint.mark.sequence, checkpoint.line])
      }
      return .commit
    }
  }

  /// The earliest and the latest time of its entries, in microseconds since 1970; 0 when it has none.
  static func times(_ db: Database) throws -> (first: Int64, last: Int64) {
    let row = try Row.fetchOne(db, sql: "SELECT min(earliest), max(latest) FROM block")
    return ((row?[0] as Int64?) ?? 0, (row?[1] as Int64?) ?? 0)
  }

  /// It says of everything that was in force when it began.
  static func hasAllCarried(_ db: Database) throws -> Bool {
    let kind = EntryFilter(AuditQuery(kind: .carriedAll))
    var blocks = try BlockIndex.blocks(db, kind, from: 0, through: .max, ascending: true)
    while let block = try blocks.next() {
      let sql = "SELECT payload FROM entry WHERE sequence BETWEEN ? AND ?"
      let first = (block << SegmentWriter.blockBits) + 1
      let last = (block + 1) << SegmentWriter.blockBits
      for payload in try Data.fetchAll(db, sql: sql, arguments: [first, last]) {
        if Payload(Array(payload)).map(kind.fits) ?? false { return true }
      }
    }
    return false
  }

  /// The last checkpoint's number; 0: none.
  static func lastCheckpoint(_ db: Database) throws -> Int64 {
    try Int64.fetchOne(db, sql: "SELECT max(sequence) FROM checkpoint") ?? 0
  }
}

extension EntryHash {
  var data: Data { Data(bytes) }
}
