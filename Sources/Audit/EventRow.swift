internal import Foundation
internal import GRDB

/// An event as a row of the table: the one place that knows the columns and their order.
enum EventRow {
  static let columns = """
    sequence, time, kind, result, app, instance, pid, "grant", path, volume, inode, birth, how, rule, reason, detail, \
    checksum
    """

  static let insert = """
    INSERT INTO event (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """

  /// Bytes of one text column at most. The longest path has 4096; what an app says of itself could be of any length,
  /// and must not fill the disk.
  static let longestText = 8192

  /// The values of the columns but the last. Texts are stored as `storable(_:)` leaves them.
  static func values(_ event: AuditEvent, sequence: Int64) -> [DatabaseValue] {
    let document = event.document
    return [
      sequence.databaseValue,
      Timestamp(event.time).microseconds.databaseValue,
      text(event.kind.rawValue),
      event.result.rawValue.databaseValue,
      text(event.app), text(event.instance), event.pid.databaseValue, text(event.grant),
      text(document?.path), text(document?.volume), (document?.inode).map { Int64(bitPattern: $0) }.databaseValue,
      (document?.birth).map { Timestamp($0).microseconds }.databaseValue,
      text(event.how), text(event.rule), text(event.reason), detail(event.detail),
    ]
  }

  /// The event that a row of `columns` holds.
  ///
  /// - Throws: `AuditLogError` (damaged) when a value is not of the kind that was written, or the checksum differs.
  static func event(_ row: Row, file: String) throws -> AuditEvent {
    try event(values: Array(row.databaseValues), file: file)
  }

  static func event(values: [DatabaseValue], file: String) throws -> AuditEvent {
    guard values.count == 17, let sequence = Int64.fromDatabaseValue(values[0]) else {
      throw AuditLogError(.damaged, file, "an entry has no number")
    }
    func damaged(_ what: String) -> AuditLogError { AuditLogError(.damaged, file, "entry \(sequence) \(what)") }
    guard Int64.fromDatabaseValue(values[16]) == checksum(Array(values.dropLast())) else {
      throw damaged("is not as it was written")
    }
    // From here on the row is as some version of Ambit wrote it.
    func text(_ index: Int) -> String? { String.fromDatabaseValue(values[index]) }
    func number(_ index: Int) -> Int64? { Int64.fromDatabaseValue(values[index]) }
    guard let time = number(1), let kind = text(2), let result = text(3).flatMap(AuditEvent.Result.init) else {
      throw damaged("has no time, kind or result that this version of Ambit knows")
    }
    var facts: [String: String] = [:]
    if let json = text(15) {
      guard let decoded = try? JSONDecoder().decode([String: String].self, from: Data(json.utf8)) else {
        throw damaged("has facts that cannot be read")
      }
      facts = decoded
    }
    let document = text(8).map { path in
      AuditEvent.Document(
        path: path, volume: text(9), inode: number(10).map { UInt64(bitPattern: $0) },
        birth: number(11).map { Timestamp(microseconds: $0).date })
    }
    return AuditEvent(
      AuditEvent.Kind(rawValue: kind), result, time: Timestamp(microseconds: time).date, app: text(4),
      instance: text(5), pid: number(6).map { Int32(truncatingIfNeeded: $0) }, grant: text(7), document: document,
      how: text(12), rule: text(13), reason: text(14), detail: facts, sequence: sequence)
  }

  /// A text as it can be stored: without U+0000, at which SQLite's text functions would end it, and not too long.
  static func storable(_ text: String) -> String {
    var text = text
    if text.utf8.contains(0) { text = text.replacing("\0", with: "\u{fffd}") }
    guard text.utf8.count > longestText else { return text }
    // An index into the bytes is rounded down to where a scalar begins.
    let end = text.utf8.index(text.startIndex, offsetBy: longestText)
    return String(text.unicodeScalars[..<end]) + "…"
  }

  private static func text(_ text: String?) -> DatabaseValue {
    text.map(storable).databaseValue
  }

  private static func detail(_ facts: [String: String]) -> DatabaseValue {
    facts.isEmpty ? .null : JSONText.object(facts.mapValues(storable)).databaseValue
  }
}

/// An event as it is recorded, with its number: the bytes of its row, and their checksum.
struct EncodedEvent: Equatable {
  let payload: [UInt8]
  let checksum: Int64
  let sequence: Int64

  init(payload: [UInt8], checksum: Int64, sequence: Int64) {
    self.payload = payload
    self.checksum = checksum
    self.sequence = sequence
  }

  init(_ event: AuditEvent, sequence: Int64) {
    payload = EventRow.canonicalBytes(EventRow.values(event, sequence: sequence))
    checksum = Int64(bitPattern: Checksum.of(payload[...]))
    self.sequence = sequence
  }

  /// The row's values; nil when the bytes are not those of a row, which only another program can have written.
  var values: [DatabaseValue]? {
    guard let values = EventRow.values(canonical: payload), values.count == 16 else { return nil }
    return values + [checksum.databaseValue]
  }
}
