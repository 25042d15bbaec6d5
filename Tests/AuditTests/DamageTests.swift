import Foundation
import GRDB
import TestSupport
import Testing

@testable import Audit

@Suite struct `AUD-8: a log that is not as it should be` {
  /// What opening for writing and for reading say, each after the file was put back as it was.
  func refusals(_ folder: Folder) throws -> [AuditLogError] {
    let before = try folder.contents()
    let writing = #expect(throws: AuditLogError.self) { _ = try AuditLog(path: folder.log) }
    let reading = #expect(throws: AuditLogError.self) { _ = try AuditReader(path: folder.log) }
    var after = try folder.contents()
    // SQLite's shared memory, which holds nothing of the log, may come to stand beside a log that is looked at.
    for name in ["audit.sqlite-shm", "audit.sqlite-wal"] where before[name] == nil && after[name]?.isEmpty != false {
      after[name] = nil
    }
    after["audit.sqlite-shm"] = before["audit.sqlite-shm"]
    #expect(before == after, "a refused log stays as it was")
    return [writing, reading].compactMap(\.self)
  }

  func expect(_ problem: AuditLogError.Problem, in folder: Folder, saying words: String) throws {
    for error in try refusals(folder) {
      #expect(error.problem == problem)
      #expect(error.description.contains(folder.log))
      #expect(error.description.contains(words))
      #expect(
        error.description.contains("move everything that is named after this one (\(LogFiles(folder.log).stem).*"))
    }
  }

  @Test(arguments: [0, 1, 15, 16, 99, 100, 512, 5000])
  func `is refused when it is bytes of no database`(count: Int) throws {
    let folder = try Folder()
    var generator = Seeded(seed: UInt64(count))
    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    try Data(bytes).write(to: URL(filePath: folder.log))
    try expect(.foreign, in: folder, saying: "is not an audit log of Ambit")
  }

  @Test func `is refused when it is another program's database`() throws {
    let folder = try Folder()
    try sql("CREATE TABLE event (x); INSERT INTO event VALUES (1); PRAGMA application_id = 1", on: folder.log)
    try expect(.foreign, in: folder, saying: "database of another program")
  }

  @Test func `is refused when it is another program's database in WAL mode that is in use`() throws {
    let folder = try Folder()
    let other = try DatabaseQueue(path: folder.log)
    try other.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE event (x); INSERT INTO event VALUES (1)")
    }
    try expect(.foreign, in: folder, saying: "database of another program")
    #expect(try other.read { try Int.fetchOne($0, sql: "SELECT x FROM event") } == 1)
  }

  @Test func `is refused when a newer version wrote it`() throws {
    let folder = try Folder()
    _ = try AuditLog(path: folder.log)
    try sql("INSERT INTO grdb_migrations VALUES ('99: something later')", on: folder.log)
    try expect(.newer, in: folder, saying: "99: something later")
  }

  @Test(arguments: ["entry_update", "entry_delete", "checkpoint_delete"])
  func `is refused when its protection was taken away`(trigger: String) throws {
    let folder = try Folder()
    _ = try AuditLog(path: folder.log)
    try sql("DROP TRIGGER \(trigger)", on: folder.log)
    try expect(.damaged, in: folder, saying: trigger)
  }

  @Test(arguments: [
    ("CREATE TRIGGER later AFTER INSERT ON entry BEGIN DELETE FROM block; END", "later"),
    ("CREATE TRIGGER grdb_migrations BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END", "grdb_migrations"),
    (
      """
      PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES ('trigger', 'sqlite_t', 'entry', 0,
        'CREATE TRIGGER sqlite_t BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END')
      """, "sqlite_t"
    ),
    ("CREATE VIEW more AS SELECT * FROM entry", "more"), ("CREATE TABLE another (x)", "another"),
    ("DROP TABLE block", "its table block was taken away"), ("DROP TABLE newest", "its table newest was taken away"),
    ("ALTER TABLE place ADD COLUMN x INTEGER", "its table place is not as it was made"),
    ("DELETE FROM grdb_migrations", "that no log has"), ("DROP TABLE grdb_migrations", "that no log has"),
  ])
  func `is refused when it has something else in it, or lacks something`(change: String, words: String) throws {
    let folder = try Folder()
    _ = try AuditLog(path: folder.log)
    try sql(change, on: folder.log)
    try expect(.damaged, in: folder, saying: words)
  }

  @Test func `is refused when only its write-ahead log is left`() throws {
    let folder = try Folder()
    try Data([1, 2, 3]).write(to: URL(filePath: folder.log + "-wal"))
    try expect(.damaged, in: folder, saying: "\(folder.log)-wal")
  }

  @Test(arguments: [
    ("UPDATE entry SET payload = x'0102' WHERE sequence = 2", "entry 2 is not as it was written"),
    (
      "UPDATE entry SET payload = (SELECT payload FROM entry WHERE sequence = 2) WHERE sequence = 3",
      "entry 3 is not as it was written"
    ),
    (
      "UPDATE entry SET hash = (SELECT hash FROM entry WHERE sequence = 3) WHERE sequence = 2",
      "is not as it was written"
    ),
    ("DELETE FROM entry WHERE sequence = 2", "entry 2 is missing"),
    ("DELETE FROM entry WHERE sequence = 1", "1"),
  ])
  func `shows that an entry was changed or taken out`(statement: String, words: String) throws {
    let folder = try Folder()
    try AuditLog(path: folder.log).append((0..<4).map { AuditEvent(.start, reason: "\($0)") })
    try sql("DROP TRIGGER entry_update; DROP TRIGGER entry_delete; \(statement)", on: folder.log)
    for name in ["entry_update", "entry_delete"] {
      try sql(try #require(AuditSchema.triggers[name]), on: folder.log)
    }
    for read: (AuditReader) throws -> Void in [
      { _ = try $0.events(limit: 9) }, { _ = try $0.latest(9) }, { _ = try $0.verify() },
    ] {
      let error = #expect(throws: AuditLogError.self) { try read(AuditReader(path: folder.log)) }
      #expect(error?.problem == .damaged)
      #expect(error?.description.contains(words) == true)
    }
  }

  /// Bytes overwritten, zeroed or cut off, at random places of a log of some pages.
  @Test(arguments: 0..<3)
  func `gives an error or exactly what was written, never a crash or something else`(seed: Int) throws {
    try damage(seed, times: 25)
  }

  fileprivate func damage(_ seed: Int, times: Int) throws {
    let folder = try Folder()
    var generator = Seeded(seed: UInt64(seed))
    let written = numbered(generator.events(150))
    do {
      let log = try AuditLog(path: folder.log)
      for event in written { try log.append([event]) }
    }
    let url = URL(filePath: folder.log)
    let whole = try Data(contentsOf: url)
    #expect(whole.count >= 10 * 4096, "the last connection moved everything into the one file")
    var refused = 0
    for _ in 0..<times {
      var bytes = whole
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        bytes = bytes.prefix(Int.random(in: 0..<whole.count, using: &generator))
      case 1:
        let start = Int.random(in: 0..<whole.count, using: &generator)
        for index in start..<min(whole.count, start + Int.random(in: 1..<5000, using: &generator)) { bytes[index] = 0 }
      default:
        for _ in 0..<Int.random(in: 1..<40, using: &generator) {
          let index = Int.random(in: 0..<whole.count, using: &generator)
          bytes[index] = UInt8.random(in: 0...255, using: &generator)
        }
      }
      for name in try folder.contents().keys { try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)") }
      try bytes.write(to: url)
      do throws(AuditLogError) {
        #expect(try AuditReader(path: folder.log).events(limit: 1000) == written)
      } catch {
        refused += 1
        #expect(error.description.contains(folder.log))
      }
      // Entries that a filter finds are genuine; that none is hidden is what `verify` is for.
      do throws(AuditLogError) {
        let reader = try AuditReader(path: folder.log)
        let found = try reader.events(matching: AuditQuery(app: "io.example.notes"), limit: 1000)
        #expect(found.allSatisfy { written.contains($0) })
        #expect(try reader.verify() == Int64(written.count))
        #expect(found == written.filter { $0.app == "io.example.notes" })
      } catch {}
      // Writing to it fails, or adds one and changes none.
      let before = try Data(contentsOf: url)
      do throws(AuditLogError) {
        let log = try AuditLog(path: folder.log)
        if try log.append([AuditEvent(.exit)]) == Int64(written.count) + 1 {
          do throws(AuditLogError) {
            let events = try AuditReader(path: folder.log).events(limit: 1000)
            #expect(Array(events.dropLast()) == written && events.last?.kind == .exit)
          } catch {}
        }
      } catch {
        let isRefused = error.problem == .foreign || error.problem == .newer
        #expect(try !isRefused || Data(contentsOf: url) == before)
      }
    }
    #expect(refused > times / 5)
  }

  /// A write-ahead log that ends early or has a bad frame is what a power failure leaves: what is before it counts.
  @Test func `gives the entries before the damage when its write-ahead log is damaged`() throws {
    try damageWriteAheadLog(times: 15)
  }

  fileprivate func damageWriteAheadLog(times: Int) throws {
    let folder = try Folder()
    var generator = Seeded(seed: 77)
    let written = numbered(generator.events(60))
    let log = try AuditLog(path: folder.log)
    for event in written {
      try log.append([event])
      try log.flush()
    }
    let (main, journal) = (
      try Data(contentsOf: URL(filePath: folder.log)), try Data(contentsOf: URL(filePath: folder.log + "-wal"))
    )
    let waiting = try Data(contentsOf: URL(filePath: LogFiles(folder.log).journal))
    // What says how far it went is of before the power failure.
    func copy() throws -> Folder {
      let copy = try Folder()
      let key = try AuditKey.load(copy.files, isNew: true)
      let boot = Array("another boot".utf8)
      try HeadFile(copy.files.head).write(Statement(.head, ChainMark(), time: 0, checkpoint: 0, boot: boot, key: key))
      return copy
    }
    var lengths: Set<Int> = []
    for _ in 0..<times {
      let alone = try copy()
      var damaged = journal
      let place = Int.random(in: 0..<journal.count, using: &generator)
      if Bool.random(using: &generator) { damaged = damaged.prefix(place) } else { damaged[place] ^= 0x55 }
      try main.write(to: URL(filePath: alone.log))
      try damaged.write(to: URL(filePath: alone.log + "-wal"))
      let events = try AuditReader(path: alone.log).events(limit: 1000)
      #expect(Array(written.prefix(events.count)) == events)
      lengths.insert(events.count)
      #expect(try AuditLog(path: alone.log).append([AuditEvent(.exit)]) == Int64(events.count) + 1)
      // With the journal that stood beside it nothing is missing at all.
      let pair = try copy()
      try main.write(to: URL(filePath: pair.log))
      try damaged.write(to: URL(filePath: pair.log + "-wal"))
      try waiting.write(to: URL(filePath: LogFiles(pair.log).journal))
      #expect(try AuditReader(path: pair.log).events(limit: 1000) == written)
      #expect(try AuditLog(path: pair.log).takenOver == written.count - events.count)
      #expect(try AuditReader(path: pair.log).events(limit: 1000) == written)
    }
    #expect(lengths.count > times / 6)
    withExtendedLifetime(log) {}
  }
}

/// The same more often.
@Suite struct DamageRaceTests {
  @Test(arguments: 0..<3)
  func `AUD-8: a damaged log gives an error or exactly what was written`(seed: Int) throws {
    try `AUD-8: a log that is not as it should be`().damage(seed, times: 80)
  }

  @Test func `AUD-8: a log gives the entries before the damage when its write-ahead log is damaged`() throws {
    try `AUD-8: a log that is not as it should be`().damageWriteAheadLog(times: 60)
  }
}
