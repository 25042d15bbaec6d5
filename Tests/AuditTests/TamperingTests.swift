import Foundation
import GRDB
import TestSupport
import Testing

@testable import Audit

/// Everything of a log, in memory, so that ten thousand changes can be made to it and taken back.
private final class Exhibit {
  let files: LogFiles
  let queue: DatabaseQueue
  let entries: [EncodedEvent]
  let checkpoints: [Int64]
  let key: AuditKey.Public?
  let secret: AuditKey
  private let pristine: Evidence

  /// What lies beside the segment.
  struct Evidence {
    var journal: [UInt8]?
    var head: [UInt8]?
    var end: [UInt8]?
    var publicKey: [UInt8]?
    var own: AuditKey.Beside
  }

  /// A log of a broker that ended (`stored` entries), or of one that was killed when it had `waiting` more in the journal.
  ///
  /// - Parameters:
  ///   - isOrdered: what finds its entries is in the order of their texts already.
  ///   - isSigned: the head has those as well.
  init(stored: Int, waiting: Int, seed: UInt64, isOrdered: Bool = false, isSigned: Bool = true) throws {
    let folder = try Folder()
    var generator = Seeded(seed: seed)
    var settings = AuditLog.Settings()
    settings.checkpointEvery = 5
    settings.syncAfter = .max / 2
    var log: AuditLog? = try AuditLog(path: folder.log, settings: settings)
    var left = stored
    while left > 0 {
      let count = min(left, Int.random(in: 1...6, using: &generator))
      try log?.append(generator.events(count))
      try log?.flush()
      left -= count
    }
    if waiting > 0 {
      // With a journal that has none of what is stored, which would make up for it.
      try log?.finish()
      log = try AuditLog(path: folder.log, settings: settings)
      try log?.append(generator.events(1))
      try log?.append(generator.events(waiting - 1))
      if isSigned { try log?.core.syncNow() }
    } else {
      log = nil
    }
    files = LogFiles(folder.log)
    func bytes(_ path: String) -> [UInt8]? { (try? Data(contentsOf: URL(filePath: path))).map(Array.init) }
    // Without the zeros that a journal has for what is to come.
    var journal = bytes(files.journal)
    if let all = journal { journal = Array(all.prefix(try Journal(all, boot: JournalFile.boot).end)) }
    secret = try #require(AuditKey.beside(files).key)
    pristine = Evidence(
      journal: journal, head: bytes(files.head), end: bytes(files.end), publicKey: bytes(files.publicKey),
      own: .here(secret))
    key = try AuditKey.publicKey(of: files)
    queue = try DatabaseQueue()
    let source = try AuditFile.openForReading(folder.log, of: files)
    try source.backup(to: queue)
    (entries, checkpoints) = try queue.write { db in
      for name in AuditSchema.triggers.keys { try db.execute(sql: "DROP TRIGGER \(name)") }
      if isOrdered {
        try BlockIndex.place(try #require(try BlockIndex.newest(0, db).map(BlockIndex.terms)).map { ($0, 0) }, db)
        try db.execute(sql: "DELETE FROM newest")
      }
      let rows = try Row.fetchAll(db, sql: "SELECT sequence, payload, hash FROM entry ORDER BY sequence")
      return (
        rows.compactMap(SegmentReader.entry), try Int64.fetchAll(db, sql: "SELECT sequence FROM checkpoint ORDER BY 1")
      )
    }
    withExtendedLifetime(log) {}
  }

  /// What verification says of the log with something done to it; nil when it takes it for whole.
  func finding(
    key: AuditKey.Public? = nil, anchors: [ChainMark] = [], _ change: (Database, inout Evidence) throws -> Void
  )
    throws -> String?
  {
    var finding: String?
    try queue.inDatabase { db in
      try db.execute(sql: "BEGIN")
      defer { try? db.execute(sql: "ROLLBACK") }
      var evidence = pristine
      try change(db, &evidence)
      do {
        let segment = OpenSegments.Segment(files, number: 0, queue: queue)
        let head = try HeadFile.statement(evidence.head, [.head, .closed], files.head)
        let beside = try AuditKey.publicKey(evidence.publicKey, files.publicKey)
        let view = try LogView(files: files, segments: [segment], newest: db, journal: evidence.journal, all: true)
        let end = try EndFile.mark(evidence.end, evidence.own.key, files.end)
        var verifier = try LogVerifier(
          files, key: key, beside: beside, own: evidence.own, head: head, end: end, begins: nil, anchors: anchors)
        _ = try verifier.check(view) { _ in true }
      } catch {
        finding = "\(error)"
      }
    }
    return finding
  }
}

@Suite struct `AUD-4: tampering` {
  @Test(arguments: 0..<4)
  func `is found, whatever is changed, removed, moved or cut off: 1,200 times at random`(seed: Int) throws {
    try tamper(seed, times: 300)
  }

  @Test func `names the first entry that is not as it was`() throws {
    let log = try Exhibit(stored: 30, waiting: 0, seed: 5)
    for sequence in [1, 2, 17, 30] as [Int64] {
      let changed = try log.finding { db, _ in
        try db.execute(
          sql: "UPDATE entry SET hash = x'\(EntryHash().hexadecimal)' WHERE sequence = ?", arguments: [sequence])
      }
      #expect(changed?.contains("entry \(sequence) is not as it was written") == true, "\(changed ?? "")")
      let removed = try log.finding { db, _ in
        try db.execute(sql: "DELETE FROM entry WHERE sequence = ?", arguments: [sequence])
      }
      #expect(
        removed?.contains(sequence == 30 ? "entries 30 to 30 are missing" : "entry \(sequence) is missing") == true,
        "\(removed ?? "")")
    }
  }

  /// What nothing beside the log can show, and what shows it.
  @Test func `by who has every file and a key is shown by an anchor or the key that was noted`() throws {
    let log = try Exhibit(stored: 20, waiting: 0, seed: 6)
    let other = AuditKey()
    func forge(_ db: Database, _ evidence: inout Exhibit.Evidence) throws {
      let head = try #require(try HeadFile.statement(evidence.head, [.head, .closed], ""))
      try db.execute(
        sql: "DELETE FROM checkpoint; DELETE FROM entry WHERE sequence > 12; DELETE FROM block; DELETE FROM place")
      try db.execute(sql: "DELETE FROM newest")
      var writer = SegmentWriter()
      try db.execute(sql: "DELETE FROM entry")
      for entry in log.entries.prefix(12) { try writer.add(entry, to: db) }
      try writer.finish(db)
      let mark = log.entries[11].mark
      evidence.head = Array(Statement(.closed, mark, time: head.time, checkpoint: 0, key: other).line.utf8)
      evidence.own = .here(other)
      evidence.publicKey = Array((other.publicKey.text + "\n").utf8)
    }
    #expect(try log.finding(forge) == nil, "nothing is wrong with the forgery itself")
    let key = try #require(log.key)
    #expect(try log.finding(key: key, forge)?.contains("another key than the one that was given") == true)
    let anchors = [log.entries[19].mark]
    #expect(try log.finding(anchors: anchors, forge)?.contains("entries 13 to 20 are missing") == true)
    #expect(try log.finding(anchors: anchors) { _, _ in } == nil)
    let wrong = ChainMark(sequence: 7, hash: log.entries[7].mark.hash)
    #expect(try log.finding(anchors: [wrong]) { _, _ in }?.contains("than when its hash was noted") == true)
  }
}

private enum Tampering: CaseIterable {
  case flipPayload, flipHash, removeEntry, cutTail, exchange, duplicate, forgeOne, forgeRest, insertAndChain
  case removeCheckpoint, flipCheckpoint, exchangeCheckpoints, signCheckpoint
  case hide, hideTime, invent, base, removeNote, flipNote, lengthenNote
  case flipHead, removeHead, foreignHead, foreignKey, removeKey, flipKey
  case cutJournal, flipJournal, removeJournal, zeroJournal, dropRecord, repeatRecord, exchangeRecords
  case flipEnd, removeEnd, foreignEnd, cutJournalAndEnd, removeJournalAndEnd, cutJournalAndKey, exchangeSecret

  static let ofJournal: [Self] = [
    .flipEnd, .removeEnd, .foreignEnd, .cutJournalAndEnd, .removeJournalAndEnd, .cutJournalAndKey,
    .cutJournal, .flipJournal, .removeJournal, .zeroJournal,
    .dropRecord, .repeatRecord, .exchangeRecords,
  ]

  static let ofNotes: [Self] = [.removeNote, .flipNote, .lengthenNote]

  /// False when it changes nothing here.
  func apply(
    to log: Exhibit, _ db: Database, _ evidence: inout Exhibit.Evidence, _ random: inout Seeded
  ) throws -> Bool {
    let entry = try #require(log.entries.randomElement(using: &random))
    let other = try #require(log.entries.randomElement(using: &random))
    let number = entry.mark.sequence
    func put(_ payload: [UInt8], _ hash: EntryHash, _ sequence: Int64) throws {
      try db.execute(
        sql: "INSERT OR REPLACE INTO entry VALUES (?, ?, ?)", arguments: [sequence, Data(payload), hash.data])
    }
    func flip(_ bytes: inout [UInt8]) {
      bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    }
    /// Writes events anew from a place on, chained to what is before, as who knows the format but not the key can.
    func chain(_ payloads: [[UInt8]], from first: Int64) throws {
      var last = first == 1 ? ChainMark() : log.entries[Int(first) - 2].mark
      var writer = SegmentWriter()
      try db.execute(sql: "DELETE FROM entry WHERE sequence >= ?", arguments: [first])
      for payload in payloads {
        let event = try #require(Payload(payload)).event(file: "")
        let encoded = EncodedEvent(event, after: last)
        try writer.add(encoded, to: db)
        last = encoded.mark
      }
      try writer.finish(db)
    }
    switch self {
    case .flipPayload:
      var payload = entry.payload
      flip(&payload)
      try put(payload, entry.mark.hash, number)
    case .flipHash:
      var hash = entry.mark.hash.bytes
      flip(&hash)
      try put(entry.payload, try #require(EntryHash(bytes: hash)), number)
    case .removeEntry: try db.execute(sql: "DELETE FROM entry WHERE sequence = ?", arguments: [number])
    case .cutTail: try db.execute(sql: "DELETE FROM entry WHERE sequence >= ?", arguments: [number])
    case .exchange:
      guard number != other.mark.sequence else { return false }
      try put(entry.payload, entry.mark.hash, other.mark.sequence)
      try put(other.payload, other.mark.hash, number)
    case .duplicate: try put(entry.payload, entry.mark.hash, Int64(log.entries.count) + 1)
    case .forgeOne:
      let before = number == 1 ? ChainMark() : log.entries[Int(number) - 2].mark
      let forged = EncodedEvent(random.event(), after: before)
      try put(forged.payload, forged.mark.hash, number)
    case .forgeRest:
      let rest = log.entries[Int(number)...].map(\.payload)
      try chain([Payload.encode(random.event(), sequence: number)] + rest, from: number)
    case .insertAndChain:
      let rest = log.entries[(Int(number) - 1)...].map(\.payload)
      try chain([Payload.encode(random.event(), sequence: number)] + rest, from: number)
    case .removeCheckpoint:
      try db.execute(
        sql: "DELETE FROM checkpoint WHERE sequence = ?",
        arguments: [log.checkpoints.randomElement(using: &random) ?? 0])
    case .flipCheckpoint, .exchangeCheckpoints, .signCheckpoint:
      let place = try #require(log.checkpoints.randomElement(using: &random))
      let another = try #require(log.checkpoints.randomElement(using: &random))
      let sql = "SELECT statement FROM checkpoint WHERE sequence = ?"
      var line = try #require(try String.fetchOne(db, sql: sql, arguments: [place]))
      if self == .flipCheckpoint {
        var bytes = Array(line.utf8)
        flip(&bytes)
        line = String(decoding: bytes, as: UTF8.self)
      } else if self == .exchangeCheckpoints {
        guard place != another else { return false }
        line = try #require(try String.fetchOne(db, sql: sql, arguments: [another]))
      } else {
        let said = try #require(Statement(line))
        line = Statement(.checkpoint, said.mark, time: said.time, checkpoint: said.checkpoint, key: AuditKey()).line
      }
      try db.execute(sql: "UPDATE checkpoint SET statement = ? WHERE sequence = ?", arguments: [line, place])
    case .hide:
      let all = try Row.fetchAll(db, sql: "SELECT term, block FROM place")
      guard let one = all.randomElement(using: &random) else { return false }
      try db.execute(sql: "DELETE FROM place WHERE term = ? AND block = ?", arguments: [one["term"], one["block"]])
    case .hideTime: try db.execute(sql: "UPDATE block SET latest = latest - 1")
    case .invent:
      try db.execute(sql: "INSERT INTO place VALUES (?, 0)", arguments: [Int64.random(in: 0...9999, using: &random)])
    case .removeNote, .flipNote, .lengthenNote:
      guard var note = try BlockIndex.newest(0, db).map(Array.init) else { return false }
      if self == .flipNote { flip(&note) }
      if self == .lengthenNote { note += [UInt8](repeating: 0, count: Int.random(in: 1...8, using: &random)) }
      try db.execute(sql: "DELETE FROM newest")
      if self != .removeNote { try db.execute(sql: "INSERT INTO newest VALUES (0, ?)", arguments: [Data(note)]) }
    case .base: try db.execute(sql: "INSERT INTO base VALUES (?, ?)", arguments: [number, entry.mark.hash.data])
    case .flipHead:
      var head = try #require(evidence.head)
      flip(&head)
      evidence.head = head
    case .removeHead: evidence.head = nil
    case .foreignHead:
      let mark = Bool.random(using: &random) ? entry.mark : log.entries[log.entries.count - 1].mark
      evidence.head = Array(Statement(.head, mark, time: 1, checkpoint: 0, key: AuditKey()).line.utf8)
    case .foreignKey: evidence.publicKey = Array((AuditKey().publicKey.text + "\n").utf8)
    case .removeKey: evidence.publicKey = nil
    case .flipKey:
      var key = try #require(evidence.publicKey)
      flip(&key)
      evidence.publicKey = key
    case .flipEnd:
      guard var end = evidence.end else { return false }
      flip(&end)
      evidence.end = end
    case .removeEnd:
      guard evidence.end != nil else { return false }
      evidence.end = nil
    case .foreignEnd:
      guard evidence.end != nil else { return false }
      evidence.end = EndMark(entry.mark, boot: JournalFile.boot, key: AuditKey()).bytes
    case .cutJournalAndEnd:
      guard let bytes = evidence.journal else { return false }
      let records = try Journal(bytes, boot: JournalFile.boot).records
      let last = Int.random(in: 0..<records.count - 1, using: &random)
      evidence.journal = Array(bytes.prefix(records[last].payload.upperBound))
      evidence.end = EndMark(records[last].mark, boot: JournalFile.boot, key: AuditKey()).bytes
    case .removeJournalAndEnd:
      guard evidence.journal != nil else { return false }
      (evidence.journal, evidence.end) = (nil, nil)
    case .cutJournalAndKey:
      // Without the key nobody knows that the mark was not written with it.
      guard let bytes = evidence.journal else { return false }
      let records = try Journal(bytes, boot: JournalFile.boot).records
      let last = Int.random(in: 0..<records.count - 1, using: &random)
      evidence.journal = Array(bytes.prefix(records[last].payload.upperBound))
      evidence.end = EndMark(records[last].mark, boot: JournalFile.boot, key: AuditKey()).bytes
      evidence.own = .gone
    case .exchangeSecret: evidence.own = .here(AuditKey())
    case .cutJournal, .flipJournal, .removeJournal, .zeroJournal, .dropRecord, .repeatRecord, .exchangeRecords:
      guard let bytes = evidence.journal else { return false }
      evidence.journal = try tampered(bytes, &random)
    }
    return true
  }

  private func tampered(_ bytes: [UInt8], _ random: inout Seeded) throws -> [UInt8]? {
    var bytes = bytes
    let records = try Journal(bytes, boot: JournalFile.boot).records.map { record in
      record.payload.lowerBound - Journal.frameSize..<record.payload.upperBound
    }
    let first = Int.random(in: 0..<records.count - 1, using: &random)
    let second = Int.random(in: first + 1..<records.count, using: &random)
    switch self {
    case .cutJournal: return Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
    case .flipJournal:
      bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      return bytes
    case .zeroJournal:
      // From somewhere in a record on: whether a zero becomes one does not matter.
      for place in records[second].lowerBound..<bytes.count { bytes[place] = 0 }
      return bytes
    case .dropRecord:
      bytes.removeSubrange(records[first])
      return bytes
    case .repeatRecord:
      bytes.insert(contentsOf: bytes[records[first]], at: records[second].lowerBound)
      return second == first + 1 ? bytes + bytes[records[first]] : bytes
    case .exchangeRecords:
      let (one, two) = (Array(bytes[records[first]]), Array(bytes[records[second]]))
      bytes.replaceSubrange(records[second], with: one)
      bytes.replaceSubrange(records[first], with: two)
      return bytes
    default: return nil
    }
  }
}

/// The same in its full number.
@Suite struct TamperingRaceTests {
  @Test(arguments: 0..<4)
  func `AUD-4: tampering is found, whatever is changed, removed, moved or cut off: 10,000 times at random`(seed: Int)
    throws
  {
    try tamper(seed, times: 2600)
  }
}

private func tamper(_ seed: Int, times: Int) throws {
  var generator = Seeded(seed: UInt64(100 + seed))
  let log = try Exhibit(
    stored: 18, waiting: seed % 2 == 0 ? 0 : 6, seed: UInt64(seed), isOrdered: seed > 1, isSigned: seed != 3)
  #expect(try log.finding { _, _ in } == nil, "as it was it is whole")
  #expect(log.entries.count == 18 && log.checkpoints.count >= 3)
  var made: [Tampering: Int] = [:]
  while made.values.reduce(0, +) < times {
    let way = Tampering.allCases.randomElement(using: &generator) ?? .flipPayload
    var isChange = true
    let finding = try log.finding { db, evidence in
      isChange = try way.apply(to: log, db, &evidence, &generator)
    }
    guard isChange else { continue }
    made[way, default: 0] += 1
    try #require(finding != nil, "\(way), the \(made[way] ?? 0)th of it")
  }
  let others = (seed % 2 == 0 ? Tampering.ofJournal.count : 0) + (seed > 1 ? Tampering.ofNotes.count : 1)
  #expect(made.count >= Tampering.allCases.count - others)
}
