import Foundation
import GRDB
import TestSupport
import Testing

@testable import Audit

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct `The audit log` {
  @Test(arguments: 0..<4)
  func `AUD-4: holds random batches in their order and without a gap, also over restarts`(seed: Int) throws {
    let folder = try Folder()
    var generator = Seeded(seed: UInt64(seed))
    var model: [AuditEvent] = []
    var log: AuditLog?
    for _ in 0..<40 {
      if log == nil { log = try AuditLog(path: folder.log) }
      let batch = generator.events(Int.random(in: 0..<8, using: &generator))
      model += batch
      #expect(try log?.append(batch) == Int64(model.count))
      if Int.random(in: 0..<5, using: &generator) == 0 { log = nil }
    }
    let expected = numbered(model)
    let reader = try AuditReader(path: folder.log)
    #expect(try reader.events(limit: 1000) == expected)
    #expect(try reader.lastSequence() == Int64(model.count))
    #expect(try reader.verify() == Int64(model.count))
  }

  @Test(arguments: 10..<14)
  func `a query answers what fits, as a filter over all events would`(seed: Int) throws {
    let folder = try Folder()
    var generator = Seeded(seed: UInt64(seed))
    let all = numbered(generator.events(200))
    try AuditLog(path: folder.log).append(all)
    let reader = try AuditReader(path: folder.log)
    var hits = 0
    for _ in 0..<100 {
      let sample = all.randomElement(using: &generator) ?? all[0]
      func sometimes<Value>(_ value: Value?) -> Value? { Int.random(in: 0..<3, using: &generator) == 0 ? value : nil }
      let query = AuditQuery(
        app: sometimes(sample.app), instance: sometimes(sample.instance), kind: sometimes(sample.kind),
        grant: sometimes(sample.grant), result: sometimes(sample.result), since: sometimes(sample.time))
      let after = Int64.random(in: -1..<210, using: &generator)
      let limit = Int.random(in: -1..<220, using: &generator)
      let fitting = all.filter { event in
        (query.app == nil || event.app == query.app) && (query.instance == nil || event.instance == query.instance)
          && (query.kind == nil || event.kind == query.kind) && (query.grant == nil || event.grant == query.grant)
          && (query.result == nil || event.result == query.result) && (query.since.map { event.time >= $0 } ?? true)
      }
      hits += fitting.count
      let expected = fitting.filter { $0.sequence > after }.prefix(max(0, limit))
      #expect(try reader.events(matching: query, after: after, limit: limit) == Array(expected))
      #expect(try reader.latest(limit, matching: query) == Array(fitting.suffix(max(0, limit))))
    }
    #expect(hits > 500)
  }

  @Test(arguments: [
    "UPDATE entry SET payload = x'00'",
    "UPDATE entry SET sequence = 9 WHERE sequence = 3",
    "DELETE FROM entry WHERE sequence = 2",
    "DELETE FROM entry",
    "UPDATE checkpoint SET statement = ''",
  ])
  func `is append-only for every connection`(statement: String) throws {
    let folder = try Folder()
    try AuditLog(path: folder.log).append([AuditEvent(.launch), AuditEvent(.start), AuditEvent(.stop)])
    let before = try AuditReader(path: folder.log).events(limit: 10)
    let error = #expect(throws: DatabaseError.self) { try sql(statement, on: folder.log) }
    #expect(error?.message?.contains("the audit log is") == true)
    #expect(try AuditReader(path: folder.log).events(limit: 10) == before)
    #expect(before.count == 3)
  }

  @Test func `has one writer at a time, and the next one goes on with its numbers`() throws {
    let folder = try Folder()
    var first: AuditLog? = try AuditLog(path: folder.log)
    #expect(try first?.append([AuditEvent(.launch)]) == 1)
    let error = #expect(throws: AuditLogError.self) { _ = try AuditLog(path: folder.log) }
    #expect(error?.problem == .busy)
    #expect(error?.description.contains("one writer at a time") == true)
    #expect(try first?.append([AuditEvent(.exit)]) == 2)
    first = nil
    let second = try AuditLog(path: folder.log)
    #expect(try second.append([]) == 2)
    #expect(try second.append([AuditEvent(.launch), AuditEvent(.exit)]) == 4)
    #expect(try AuditReader(path: folder.log).verify() == 4)
  }

  @Test func `is read while it is written, complete up to some batch each time`() throws {
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    let batches = 300
    let path = folder.log
    let writer = OwnThread {
      for batch in 0..<batches {
        try log.append((0..<3).map { AuditEvent(.start, detail: ["batch": "\(batch)", "place": "\($0)"]) })
      }
    }
    let reader = try AuditReader(path: path)
    var seen: Int64 = 0
    while seen < batches * 3 {
      let events = try reader.events(after: seen, limit: 50)
      for event in events {
        #expect(event.sequence == seen + 1)
        #expect(event.detail == ["batch": "\(seen / 3)", "place": "\(seen % 3)"])
        seen = event.sequence
      }
      #expect(try reader.lastSequence() % 3 == 0)
      if events.isEmpty { usleep(500) }
    }
    try writer.value()
  }

  @Test func `can be written from many threads at once, and each batch stays together`() throws {
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    try onOwnThreads(8) { thread in
      for _ in 0..<25 { try log.append([AuditEvent(.start, app: "\(thread)"), AuditEvent(.stop, app: "\(thread)")]) }
    }
    let events = try AuditReader(path: folder.log).events(limit: 1000)
    #expect(events.count == 400)
    for pair in stride(from: 0, to: events.count - 1, by: 2) {
      #expect(events[pair].kind == .start && events[pair + 1].kind == .stop)
      #expect(events[pair].app == events[pair + 1].app)
    }
  }

  @Test func `keeps every entry when its writer is killed, and goes on with the next number`() async throws {
    let folder = try Folder()
    for round in Int64(0)..<3 {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.log as String, round = round as Int64] in
        let log = try AuditLog(path: path)
        for entry in 1...Int64(20) { #expect(try log.append([AuditEvent(.start)]) == round * 20 + entry) }
        kill(getpid(), SIGKILL)
      }
      #expect(try AuditReader(path: folder.log).verify() == (round + 1) * 20)
    }
  }

  @Test func `holds no text that ends it early, and none without bound`() throws {
    let folder = try Folder()
    let long = String(repeating: "日", count: 5000)
    try AuditLog(path: folder.log).append([
      AuditEvent(.refuse, app: "a\0b", reason: long, detail: ["caller": "x\0y"]), AuditEvent(.exit, app: "a\0b"),
    ])
    let reader = try AuditReader(path: folder.log)
    let events = try reader.events(limit: 10)
    #expect(events[0].app == "a\u{fffd}b")
    #expect(events[0].detail == ["caller": "x\u{fffd}y"])
    let reason = try #require(events[0].reason)
    #expect(reason.hasSuffix("日…") && reason.utf8.count <= 8192 + 3)
    #expect(long.hasPrefix(reason.dropLast()))
    #expect(try reader.events(matching: AuditQuery(app: "a\0b"), limit: 10).count == 2)
  }

  @Test func `is for its user's eyes only`() throws {
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    try log.append([AuditEvent(.launch)])
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(
      Set(files) == [
        "audit.journal", "audit.sqlite", "audit.sqlite-wal", "audit.sqlite-shm", "audit.head", "audit.end", "audit.key",
        "audit.pub",
      ])
    for file in files {
      var status = stat()
      #expect(unsafe stat("\(folder.path)/\(file)", &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600, "\(file)")
    }
  }
}
