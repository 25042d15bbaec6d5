import Foundation
import GRDB
import TestSupport
import Testing

@testable import Audit

@Suite struct `Entries are found` {
  /// Whoever asks in this way has everything that fits, the oldest first, or the newest so many.
  private func expectFound(_ events: [AuditEvent], in folder: Folder, _ what: String) throws {
    let reader = try AuditReader(path: folder.log)
    let middle = events[events.count / 2].time
    let paths = Set(events.compactMap { $0.document?.path }).sorted()
    var queries = [
      AuditQuery(app: "io.example.notes"), AuditQuery(app: "io.example.nobody"),
      AuditQuery(kind: .revoke, result: .failed),
      AuditQuery(since: middle), AuditQuery(app: "io.example.editor", until: middle),
      AuditQuery(app: "io.example.editor", instance: "i1", kind: .start, grant: "g2", result: .allowed),
    ]
    queries += paths.map { AuditQuery(document: $0) }
    queries += paths.map { AuditQuery(app: "io.example.snooper", document: $0, since: middle) }
    for query in queries {
      let fitting = events.filter { event in
        (query.app == nil || event.app == query.app) && (query.instance == nil || event.instance == query.instance)
          && (query.kind == nil || event.kind == query.kind) && (query.grant == nil || event.grant == query.grant)
          && (query.result == nil || event.result == query.result)
          && (query.document.map { $0.utf8.elementsEqual((event.document?.path ?? "").utf8) } ?? true)
          && query.since.map { event.time >= $0 } ?? true && query.until.map { event.time <= $0 } ?? true
      }
      #expect(try reader.events(matching: query, limit: .max) == fitting, "\(what): \(query)")
      #expect(try reader.latest(7, matching: query) == Array(fitting.suffix(7)), "\(what): the last of \(query)")
      let from = Int64(events.count / 3)
      #expect(
        try reader.events(matching: query, after: from, limit: 5)
          == Array(fitting.filter { $0.sequence > from }.prefix(5)), "\(what): from \(from) on, \(query)")
    }
    #expect(try reader.verified().count == Int64(events.count), "\(what)")
  }

  @Test func `whether their blocks are only noted, or in the order of their texts`() throws {
    var generator = Seeded(seed: 3)
    let folder = try Folder()
    let events = numbered(generator.events(2500))
    var rest = events[...]
    let log = try AuditLog(path: folder.log)
    while !rest.isEmpty {
      let batch = rest.prefix(Int.random(in: 1...300, using: &generator))
      rest = rest.dropFirst(batch.count)
      try log.append(Array(batch))
      try log.flush()
    }
    try expectFound(events, in: folder, "noted")
    try log.finish()
    for together in [8, 3, 1] as [Int64] {
      let queue = try DatabaseQueue(path: folder.log)
      try queue.write { db in
        if together == 8 {
          // Of few, nothing is brought anywhere.
          try BlockIndex.orderNewest(db, together: 100)
          #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM place") == 0)
        }
        try BlockIndex.orderNewest(db, together: together)
        #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM newest") == 1)
      }
      try queue.close()
      try expectFound(events, in: folder, "ordered, \(together)")
    }
  }
}

/// The same for a log that is as long as it takes.
@Suite struct BlockIndexRaceTests {
  @Test func `entries are found by hundreds of blocks at a time while the log grows`() throws {
    var generator = Seeded(seed: 4)
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    let some = generator.events(256)
    // A block in each, one more than are brought together, and a begun one.
    for _ in 0...BlockIndex.orderedTogether { try log.append(some) }
    try log.append([some[0]])
    try log.flush()
    let queue = try DatabaseQueue(path: folder.log)
    let blocks = try queue.read { db in
      (
        try Int64.fetchAll(db, sql: "SELECT DISTINCT block FROM place ORDER BY 1"),
        try Int64.fetchAll(db, sql: "SELECT block FROM newest ORDER BY 1")
      )
    }
    #expect(blocks.0 + blocks.1 == Array(0...BlockIndex.orderedTogether + 1))
    #expect(blocks.1.count <= 2, "\(blocks.1)")
    try queue.close()
    try log.finish()
    let reader = try AuditReader(path: folder.log)
    let grants = some.count { $0.kind == .grant }
    let found = try reader.events(matching: AuditQuery(kind: .grant), limit: .max)
    #expect(found.count == grants * Int(BlockIndex.orderedTogether + 1) + (some[0].kind == .grant ? 1 : 0))
    #expect(try reader.verify() == 256 * (BlockIndex.orderedTogether + 1) + 1)
  }
}
