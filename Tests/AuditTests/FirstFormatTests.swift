import Foundation
import GRDB
import Testing

@testable import Audit

/// A log as the first version wrote it: rows of columns, and a journal of such rows.
@Suite struct `A log from before there was a chain` {
  private func values(_ event: AuditEvent) throws -> [DatabaseValue] {
    let document = event.document
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let detail = event.detail.isEmpty ? nil : String(decoding: try encoder.encode(event.detail), as: UTF8.self)
    return [
      event.sequence.databaseValue, Timestamp(event.time).microseconds.databaseValue,
      event.kind.rawValue.databaseValue, event.result.rawValue.databaseValue, event.app.databaseValue,
      event.instance.databaseValue, event.pid.databaseValue, event.grant.databaseValue,
      (document?.path).databaseValue, (document?.volume).databaseValue,
      (document?.inode).map { Int64(bitPattern: $0) }.databaseValue,
      (document?.birth).map { Timestamp($0).microseconds }.databaseValue, event.how.databaseValue,
      event.rule.databaseValue, event.reason.databaseValue, detail.databaseValue,
    ]
  }

  private func write(_ events: some Sequence<AuditEvent>, to folder: Folder) throws {
    let queue = try DatabaseQueue(path: folder.log)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA application_id = \(AuditSchema.applicationID)")
    }
    try AuditSchema.migrator.migrate(queue, upTo: AuditSchema.firstMigration)
    try queue.write { db in
      let marks = Array(repeating: "?", count: 17).joined(separator: ", ")
      for event in events {
        let values = try values(event)
        let sum = Int64(bitPattern: Checksum.of(FirstFormat.canonicalBytes(values)))
        try db.execute(
          sql: "INSERT INTO event (\(FirstFormat.columns)) VALUES (\(marks))",
          arguments: StatementArguments(values + [sum.databaseValue]))
      }
    }
    try queue.close()
  }

  private func writeJournal(_ events: [AuditEvent], after base: AuditEvent, to folder: Folder) throws {
    func sum(_ event: AuditEvent) throws -> UInt64 { Checksum.of(FirstFormat.canonicalBytes(try values(event))) }
    var bytes = FirstFormat.journalMagic
    bytes.append(number: base.sequence)
    bytes.append(number: try sum(base))
    bytes.append(number: Checksum.of(bytes))
    for event in events {
      let payload = FirstFormat.canonicalBytes(try values(event))
      let start = bytes.count
      bytes.append(number: UInt32(payload.count))
      bytes.append(number: UInt32(0))
      bytes.append(number: try sum(event))
      bytes.append(number: Checksum.of(bytes[start...]))
      bytes += payload
    }
    try Data(bytes).write(to: URL(filePath: folder.journal))
  }

  @Test(arguments: [0, 5, 12])
  func `is brought up to date with its journal, and its entries begin the chain`(common: Int) throws {
    let folder = try Folder()
    var generator = SplitMix(seed: 3)
    let all = numbered(generator.events(700))
    try write(all.prefix(600), to: folder)
    try writeJournal(Array(all[(600 - common)...]), after: all[600 - common - 1], to: folder)
    let error = #expect(throws: AuditLogError.self) { _ = try AuditReader(path: folder.log) }
    #expect(error?.description.contains("any `ambit run` brings it up to date") == true)
    do {
      let log = try AuditLog(path: folder.log)
      #expect(log.takenOver == 100)
      #expect(log.doubts.isEmpty)
      #expect(try AuditReader(path: folder.log).events(limit: 1000) == all)
      #expect(try log.append([AuditEvent(.exit)]) == 701)
    }
    let reader = try AuditReader(path: folder.log)
    #expect(try reader.verify() == 701)
    #expect(try reader.events(limit: 700) == all)
    let query = AuditQuery(app: "io.example.notes", kind: .start)
    #expect(
      try reader.events(matching: query, limit: 1000)
        == all.filter { $0.app == "io.example.notes" && $0.kind == .start })
  }

  @Test(arguments: ["row", "gap", "journal", "other journal"])
  func `is refused and left as it is when something of it is damaged`(what: String) throws {
    let folder = try Folder()
    var generator = SplitMix(seed: 8)
    let all = numbered(generator.events(40))
    try write(all.prefix(30), to: folder)
    try writeJournal(Array(all[25...]), after: all[24], to: folder)
    switch what {
    case "row": try sql("DROP TRIGGER event_update; UPDATE event SET how = 'x' WHERE sequence = 7", on: folder.log)
    case "gap": try sql("DROP TRIGGER event_delete; DELETE FROM event WHERE sequence = 7", on: folder.log)
    case "journal":
      var bytes = try Data(contentsOf: URL(filePath: folder.journal))
      bytes[9] ^= 1
      try bytes.write(to: URL(filePath: folder.journal))
    default:
      let others = numbered(generator.events(40))
      try writeJournal(Array(others[25...]), after: others[24], to: folder)
    }
    let error = #expect(throws: AuditLogError.self) { _ = try AuditLog(path: folder.log) }
    #expect(error?.problem == (what == "other journal" ? .foreign : .damaged), "\(error?.description ?? "")")
    if what == "row" || what == "gap" {
      let left = try DatabaseQueue(path: folder.log).read { db in
        try Int.fetchOne(db, sql: "SELECT count(*) FROM event")
      }
      #expect(left == (what == "gap" ? 29 : 30))
    }
  }
}
