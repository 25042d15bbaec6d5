internal import Foundation
internal import GRDB

/// Logs as they were before their entries were chained: a row of columns and a checksum each, and a journal of such rows.
/// They are read once, when such a log is brought up to date.
enum FirstFormat {
  static let columns = """
    sequence, time, kind, result, app, instance, pid, "grant", path, volume, inode, birth, how, rule, reason, detail, \
    checksum
    """

  /// - Throws: `AuditLogError` (damaged) when a value is not of the kind that was written, or the checksum differs.
  static func event(_ values: [DatabaseValue], file: String, _ part: AuditLogError.Part = .database) throws
    -> AuditEvent
  {
    guard values.count == 17, let sequence = Int64.fromDatabaseValue(values[0]) else {
      throw AuditLogError(.damaged, file, "an entry has no number", of: part)
    }
    func damaged(_ what: String) -> AuditLogError {
      AuditLogError(.damaged, file, "entry \(sequence) \(what)", of: part)
    }
    let sum = Int64(bitPattern: Checksum.of(canonicalBytes(values.dropLast())))
    guard Int64.fromDatabaseValue(values[16]) == sum else { throw damaged("is not as it was written") }
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

  /// A row's values as bytes: each with its kind and its length.
  static func canonicalBytes(_ values: some Sequence<DatabaseValue>) -> [UInt8] {
    var bytes: [UInt8] = []
    for value in values {
      switch value.storage {
      case .null:
        bytes.append(0)
      case .int64(let number):
        bytes.append(1)
        bytes.append(number: UInt64(bitPattern: number))
      case .string(let text):
        bytes.append(2)
        bytes.append(number: UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
      case .double(let number):
        bytes.append(3)
        bytes.append(number: number.bitPattern)
      case .blob(let data):
        bytes.append(4)
        bytes.append(number: UInt64(data.count))
        bytes.append(contentsOf: data)
      }
    }
    return bytes
  }

  private static func values(canonical bytes: [UInt8]) -> [DatabaseValue]? {
    var values: [DatabaseValue] = []
    var place = 0
    while place < bytes.count {
      let kind = bytes[place]
      place += 1
      if kind == 0 {
        values.append(.null)
        continue
      }
      guard place + 8 <= bytes.count else { return nil }
      let number = bytes.number(at: place)
      place += 8
      switch kind {
      case 1: values.append(Int64(bitPattern: number).databaseValue)
      case 2:
        guard number <= UInt64(bytes.count - place) else { return nil }
        let end = place + Int(number)
        guard let text = String(validating: bytes[place..<end], as: UTF8.self) else { return nil }
        values.append(text.databaseValue)
        place = end
      default: return nil
      }
    }
    return values
  }

  // MARK: Its journal

  static let journalMagic = Array("AMBITJ1\n".utf8)

  /// The events of whole batches, and the number of the entry before the first; nil when it is another format's.
  ///
  ///     header   "AMBITJ", 1, newline; u64 sequence and u64 checksum of the entry before the first; u64 check of these
  ///     record   u32 length of the payload; u32 records of the same batch that follow; u64 checksum of the payload;
  ///              u64 check of these; the payload: the canonical bytes of a row, but for its checksum
  static func journal(_ bytes: [UInt8], file: String) throws -> (base: Int64, events: [AuditEvent])? {
    guard bytes.starts(with: journalMagic), bytes.count >= 32 else { return nil }
    guard Checksum.of(bytes[..<24]) == bytes.number(at: 24) else {
      throw AuditLogError(.damaged, file, "its first 32 bytes are not as written", of: .journal)
    }
    let base = Int64(bitPattern: bytes.number(at: 8))
    var (events, batch): ([AuditEvent], [AuditEvent]) = ([], [])
    var place = 32
    while place + 24 <= bytes.count, Checksum.of(bytes[place..<place + 16]) == bytes.number(at: place + 16) {
      let length = Int(UInt32(truncatingIfNeeded: bytes.number(at: place)))
      let rest = bytes.number(at: place) >> 32
      guard length <= bytes.count - place - 24 else { break }
      let payload = Array(bytes[place + 24..<place + 24 + length])
      guard let values = values(canonical: payload), values.count == 16 else { break }
      let sum = Int64(bitPattern: bytes.number(at: place + 8)).databaseValue
      batch.append(try event(values + [sum], file: file, .journal))
      place += 24 + length
      if rest == 0 {
        events += batch
        batch = []
      }
    }
    return (base, events)
  }
}
