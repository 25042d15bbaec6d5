internal import GRDB

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

  /// The blocks in their order, from one on.
  static func blocks(
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

  func fits(_ payload: Payload) -> Bool {
    if let since, payload.time < since { return false }
    if let until, payload.time > until { return false }
    return texts.allSatisfy { field, text in payload.text(field)?.elementsEqual(text) ?? false }
  }
}
