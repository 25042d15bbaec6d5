internal import Foundation
internal import GRDB

#if canImport(Glibc)
  internal import Glibc
#endif

/// Which blocks may have entries that fit a query. An entry is then looked at itself: a term is a sum over a text, and two
/// texts may have one sum.
enum BlockIndex {
  /// The texts that people ask for.
  static let fields: [Payload.Text] = [.kind, .result, .app, .instance, .grant, .path]

  static func term(_ field: Payload.Text, _ text: some Collection<UInt8>) -> Int64 {
    let sum = Checksum.of(text, from: Checksum.of(CollectionOfOne(UInt8(field.rawValue))))
    return Int64(bitPattern: sum)
  }

  /// The terms of an entry.
  static func terms(_ payload: Payload) -> [Int64] {
    fields.compactMap { field in payload.text(field).map { term(field, $0) } }
  }

  /// The blocks that may have entries that fit, in their order.
  static func blocks(
    _ db: Database, _ filter: EntryFilter, from first: Int64, through last: Int64, ascending: Bool
  ) throws -> FoundBlocks {
    FoundBlocks(
      ordered: try ordered(db, filter, from: first, through: last, ascending: ascending),
      newest: filter.texts.isEmpty ? nil : try newest(db, filter, from: first, through: last, ascending: ascending),
      terms: filter.texts.map { field, text in term(field, text) }, ascending: ascending)
  }

  /// Those that are known by their texts' order, or by their times alone.
  private static func ordered(
    _ db: Database, _ filter: EntryFilter, from first: Int64, through last: Int64, ascending: Bool
  ) throws -> RowCursor {
    var sql = "SELECT block.number FROM block"
    var conditions = ["block.number BETWEEN ? AND ?"]
    var arguments: StatementArguments = [first, last]
    if let since = filter.since {
      conditions.append("block.latest >= ?")
      arguments += [since]
    }
    if let until = filter.until {
      conditions.append("block.earliest <= ?")
      arguments += [until]
    }
    // One text leads through the blocks, by the index's own order; the others are asked for.
    if let (field, text) = filter.texts.first {
      sql = "SELECT place.block FROM place CROSS JOIN block ON block.number = place.block"
      conditions[0] = "place.block BETWEEN ? AND ?"
      conditions.insert("place.term = ?", at: 0)
      arguments = [term(field, text)] + arguments
    }
    for (field, text) in filter.texts.dropFirst() {
      conditions.append("EXISTS (SELECT 1 FROM place AS other WHERE other.term = ? AND other.block = block.number)")
      arguments += [term(field, text)]
    }
    sql += " WHERE \(conditions.joined(separator: " AND ")) ORDER BY 1 \(ascending ? "ASC" : "DESC")"
    return try Row.fetchCursor(db, sql: sql, arguments: arguments)
  }

  /// Those that are only noted, with any texts.
  private static func newest(
    _ db: Database, _ filter: EntryFilter, from first: Int64, through last: Int64, ascending: Bool
  ) throws -> RowCursor {
    let sql = """
      SELECT newest.block, newest.terms FROM newest CROSS JOIN block ON block.number = newest.block
      WHERE newest.block BETWEEN ? AND ? AND block.latest >= ? AND block.earliest <= ?
      ORDER BY 1 \(ascending ? "ASC" : "DESC")
      """
    return try Row.fetchCursor(
      db, sql: sql, arguments: [first, last, filter.since ?? .min, filter.until ?? .max])
  }

  // MARK: Writing

  /// So many blocks are brought in the order of their texts at a time.
  static let orderedTogether: Int64 = 256

  /// Notes the facts of a block up to here.
  static func note(_ terms: Set<Int64>, of block: Int64, _ db: Database) throws {
    let insert = try db.cachedStatement(sql: "INSERT OR REPLACE INTO newest VALUES (?, ?)")
    insert.setUncheckedArguments([block, note(terms)])
    try insert.execute()
  }

  /// The note of a block that has these terms.
  static func note(_ terms: Set<Int64>) -> Data {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(terms.count * 8)
    for term in terms.sorted() { bytes.append(number: term) }
    return Data(bytes)
  }

  /// The note of a block; nil when there is none.
  static func newest(_ block: Int64, _ db: Database) throws -> Data? {
    try Data.fetchOne(db.cachedStatement(sql: "SELECT terms FROM newest WHERE block = ?"), arguments: [block])
  }

  /// The terms in a note, in ascending order.
  static func terms(_ note: Data) -> [Int64] {
    let bytes = Array(note)
    return stride(from: 0, to: bytes.count - 7, by: 8).map { Int64(bitPattern: bytes.number(at: $0)) }
  }

  /// Brings the notes of complete blocks in the order of the texts, if they are many.
  ///
  /// - Parameter together: so many are much.
  static func orderNewest(_ db: Database, together: Int64 = orderedTogether) throws {
    let bounds = try Row.fetchOne(db.cachedStatement(sql: "SELECT min(block), max(block) FROM newest"))
    guard let first = bounds?[0] as? Int64, let last = bounds?[1] as? Int64, last - first >= together else {
      return
    }
    var places: [(term: Int64, block: Int64)] = []
    let rows = try Row.fetchCursor(db, sql: "SELECT block, terms FROM newest WHERE block < ?", arguments: [last])
    while let row = try rows.next() {
      guard let block = row[0] as? Int64, let note = row[1] as? Data else { continue }
      places += terms(note).map { ($0, block) }
    }
    try place(places.sorted { ($0.term, $0.block) < ($1.term, $1.block) }, db)
    try db.execute(sql: "DELETE FROM newest WHERE block < ?", arguments: [last])
  }

  /// - Parameter places: in ascending order, or it takes ten times as long.
  static func place(_ places: [(term: Int64, block: Int64)], _ db: Database) throws {
    let insert = try db.cachedStatement(sql: "INSERT OR IGNORE INTO place VALUES (?, ?)")
    for (term, block) in places {
      insert.setUncheckedArguments([term, block])
      try insert.execute()
    }
  }
}

/// The numbers of blocks, one after another: those that are only noted are the newest.
struct FoundBlocks {
  private let ordered: RowCursor
  private let newest: RowCursor?
  /// That a note has to have.
  private let terms: [Int64]
  private let ascending: Bool
  private var isInFirst = true
  private var last: Int64?

  fileprivate init(ordered: RowCursor, newest: RowCursor?, terms: [Int64], ascending: Bool) {
    (self.ordered, self.newest, self.terms, self.ascending) = (ordered, newest, terms, ascending)
  }

  mutating func next() throws -> Int64? {
    while true {
      guard let found = try isInFirst == ascending ? nextOrdered() : nextNewest() else {
        guard isInFirst else { return nil }
        isInFirst = false
        continue
      }
      // One that an earlier version began may be known in both ways.
      if let last, ascending ? found <= last : found >= last { continue }
      last = found
      return found
    }
  }

  private func nextOrdered() throws -> Int64? {
    while let row = try ordered.next() {
      if let block = Int64.fromDatabaseValue(row.databaseValues.first ?? .null) { return block }
    }
    return nil
  }

  private func nextNewest() throws -> Int64? {
    while let row = try newest?.next() {
      guard let block = row[0] as? Int64, let note = row[1] as? Data else { continue }
      let known = BlockIndex.terms(note)
      if terms.allSatisfy({ known.contains(sorted: $0) }) { return block }
    }
    return nil
  }
}

extension [Int64] {
  /// Whether an array in ascending order has a value.
  fileprivate func contains(sorted value: Int64) -> Bool {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low < endIndex && self[low] == value
  }
}

/// A query as it is held against entries: texts are equal when their bytes are.
struct EntryFilter {
  /// The rarest first.
  let texts: [(Payload.Text, [UInt8])]
  let since: Int64?
  let until: Int64?

  init(_ query: AuditQuery) {
    let asked: [(Payload.Text, String?)] = [
      (.grant, query.grant), (.instance, query.instance), (.path, query.document), (.app, query.app),
      (.kind, query.kind?.rawValue), (.result, query.result?.rawValue),
    ]
    texts = asked.compactMap { field, text in text.map { (field, Array(Payload.storable($0).utf8)) } }
    since = query.since.map { Timestamp($0).microseconds }
    until = query.until.map { Timestamp($0).microseconds }
  }

  var isEmpty: Bool { texts.isEmpty && since == nil && until == nil }

  /// False when a text that is asked for occurs nowhere in the payload's bytes: of a block most entries are told apart so, in a
  /// twentieth of the time that reading them takes.
  func mayFit(_ payload: Data) -> Bool {
    guard let text = texts.first?.1, let first = text.first else { return true }
    return unsafe payload.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      var place = 0
      while place + text.count <= bytes.count {
        guard let found = unsafe memchr(start + place, Int32(first), bytes.count - text.count - place + 1) else {
          return false
        }
        if unsafe memcmp(found, text, text.count) == 0 { return true }
        place = unsafe UnsafeRawPointer(found) - start + 1
      }
      return false
    }
  }

  func fits(_ payload: Payload) -> Bool {
    if let since, payload.time < since { return false }
    if let until, payload.time > until { return false }
    return texts.allSatisfy { field, text in payload.text(field)?.elementsEqual(text) ?? false }
  }
}
