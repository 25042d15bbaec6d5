import Foundation
import GRDB
import TestSupport
import Testing

@testable import Audit

#if canImport(Glibc)
  import Glibc
#endif

extension AuditLog {
  /// As the broker does: another file, with what is in force.
  fileprivate func rotate(carrying count: Int = 2) throws {
    try append([AuditEvent(.logRotated, detail: ["through": "\(anchor.sequence)"])])
    try append((0..<count).map { AuditEvent(.carried, app: "io.example.editor", grant: "g\($0)") })
    try append([AuditEvent(.carriedAll, detail: ["entries": "\(count)"])])
    try flush()
  }
}

extension Folder {
  var files: LogFiles { LogFiles(log) }

  /// What a process that is killed now leaves: a copy, without the end that a log in use comes to. The head first, as it
  /// promises no more than there is.
  fileprivate func killed() throws -> Folder {
    let copy = try Folder()
    let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasSuffix("-shm") }
    for name in names.sorted(by: { ($0.hasSuffix(".head") ? 0 : 1, $0) < ($1.hasSuffix(".head") ? 0 : 1, $1) }) {
      try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(copy.path)/\(name)")
    }
    return copy
  }

  fileprivate func verified(_ anchors: ChainMark...) throws -> AuditVerification {
    try AuditReader(path: log).verified(anchors: anchors)
  }
}

@Suite struct `A log of several files` {
  @Test(arguments: 0..<Rounds.few(1, of: 2))
  func `AUD-4: holds what was added and not removed, in one chain, whatever is done to it`(seed: Int) throws {
    try changeAtRandom(seed, steps: 60)
  }

  @Test func `a thread that comes after the log was closed does nothing`() throws {
    let folder = try Folder()
    var settings = AuditLog.Settings()
    settings.retention = .init(bytes: 1, span: nil)
    let log = try AuditLog(path: folder.log, settings: settings)
    try log.append([AuditEvent(.brokerStarted)])
    try log.finish()
    try log.flush()
    #expect(try log.removeOld(now: 0) == nil)
  }

  @Test func `every file begins with the entry that says so, and its end is signed and on the disk`() throws {
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    for number in 0..<3 {
      try log.append((0..<5).map { AuditEvent(.start, detail: ["count": "\(number)\($0)"]) })
      try log.rotate()
    }
    try log.finish()
    let reader = try AuditReader(path: folder.log)
    let segments = try reader.segments()
    #expect(segments.map(\.number) == [0, 1, 2, 3])
    #expect(segments.map(\.standsAlone) == [true, true, true, true])
    for (segment, next) in zip(segments, segments.dropFirst()) {
      #expect(next.first == segment.last + 1)
      let event = try #require(try reader.events(after: segment.last, limit: 1).first)
      #expect(event.kind == .logRotated && event.detail["through"] == "\(segment.last)")
      // Nobody writes it any more: it is one file, which can be read where nothing can be made beside it.
      #expect(unsafe access(segment.path + "-wal", F_OK) != 0)
    }
    #expect(try folder.verified().checkpoints >= 3)
  }

  @Test func `AUD-4: an entry that begins a file and was only in the journal begins it for whoever takes over`() throws
  {
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    try log.append([AuditEvent(.launch), AuditEvent(.exit)])
    try log.flush()
    try log.append([AuditEvent(.launch)])
    try log.append([AuditEvent(.logRotated)])
    try log.append([AuditEvent(.carriedAll)])
    let copy = try folder.killed()
    let next = try AuditLog(path: copy.log)
    #expect(next.takenOver == 3 && !next.lacksCarried)
    #expect(try AuditReader(path: copy.log).segments().map(\.first) == [1, 4])
    try next.append([AuditEvent(.exit)])
    try next.finish()
    #expect(try copy.verified().count == 6)
  }

  @Test
  func `AUD-4: a database that the power left behind its journal is whole, and is brought up with its checkpoint`()
    throws
  {
    let folder = try Folder()
    var settings = AuditLog.Settings()
    settings.checkpointEvery = 5
    let log = try AuditLog(path: folder.log, settings: settings)
    try log.append((0..<7).map { _ in AuditEvent(.start) })
    try log.flush()
    let behind = try folder.killed()
    try log.append((0..<6).map { _ in AuditEvent(.stop) })
    try log.flush()
    try log.core.syncNow()
    #expect(try HeadFile.read(folder.files.head)?.checkpoint == 13)
    let after = try folder.killed()
    // What had reached the disk: the journal and the head, and not what SQLite had written since.
    for name in ["audit.sqlite", "audit.sqlite-wal"] {
      try FileManager.default.removeItem(atPath: "\(after.path)/\(name)")
      try FileManager.default.copyItem(atPath: "\(behind.path)/\(name)", toPath: "\(after.path)/\(name)")
    }
    #expect(try after.verified().lastCheckpoint == 7)
    let next = try AuditLog(path: after.log, settings: settings)
    #expect(next.takenOver == 6)
    try next.append((0..<5).map { _ in AuditEvent(.start) })
    try next.flush()
    try next.finish()
    let found = try after.verified()
    #expect(found.count == 18 && found.checkpoints == 3 && found.lastCheckpoint == 18)
  }

  @Test func `a file whose writer died before all was carried into it lacks that, until it has it`() throws {
    let folder = try Folder()
    var log: AuditLog? = try AuditLog(path: folder.log)
    #expect(log?.lacksCarried == false)
    try log?.append([AuditEvent(.launch)])
    try log?.append([AuditEvent(.logRotated), AuditEvent(.carried, grant: "g")])
    log = nil
    var settings = AuditLog.Settings()
    settings.retention.span = 0
    log = try AuditLog(path: folder.log, settings: settings)
    #expect(log?.lacksCarried == true)
    #expect(try log?.removeOld(now: Disk.time() + 1) == nil, "what was in force would be gone")
    try log?.append([AuditEvent(.carriedAll)])
    try log?.flush()
    #expect(try log?.removeOld(now: Disk.time() + 1) == 1)
    log = nil
    #expect(try AuditLog(path: folder.log).lacksCarried == false)
  }

  @Test func `a file that cannot be made keeps nobody from adding, and is made later`() throws {
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    try log.append([AuditEvent(.launch)])
    try FileManager.default.createDirectory(atPath: folder.files.segment(1), withIntermediateDirectories: false)
    #expect(throws: AuditLogError.self) { try log.rotate() }
    try log.append([AuditEvent(.exit)])
    #expect(throws: AuditLogError.self) { try log.flush() }
    try FileManager.default.removeItem(atPath: folder.files.segment(1))
    try log.flush()
    try log.finish()
    #expect(try AuditReader(path: folder.log).segments().map(\.first) == [1, 2])
    #expect(try folder.verified().count == 6)
  }
}

@Suite struct `A file of a log that a process died over while it changed it` {
  /// As it is left when SQLite was killed in the midst: with a journal of its own beside it, and pages that have to be taken back.
  private func cut(_ folder: Folder, _ name: String) throws -> Folder {
    let (work, image) = (try folder.killed(), try folder.killed())
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let queue = try DatabaseQueue(path: "\(work.path)/\(name)", configuration: configuration)
    try queue.unsafeReentrantWrite { db in
      try db.execute(sql: "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1")
      let many = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 300)"
      try db.execute(sql: "BEGIN IMMEDIATE; CREATE TABLE more AS \(many) SELECT zeroblob(900) FROM c")
      for ending in ["", "-journal"] {
        try? FileManager.default.removeItem(atPath: "\(image.path)/\(name)\(ending)")
        try FileManager.default.copyItem(
          atPath: "\(work.path)/\(name)\(ending)", toPath: "\(image.path)/\(name)\(ending)")
      }
      try db.execute(sql: "ROLLBACK")
    }
    try queue.close()
    for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: "\(image.path)/\(name)\(ending)") }
    return image
  }

  private func made(_ folder: Folder) throws -> [AuditEvent] {
    let log = try AuditLog(path: folder.log)
    for number in 0..<3 {
      if number > 0 { try log.rotate() }
      for _ in 0..<20 { try log.append((0..<10).map { AuditEvent(.start, app: "io.example.app\($0)") }) }
      try log.flush()
    }
    try log.finish()
    return try AuditReader(path: folder.log).latest(.max)
  }

  @Test(arguments: [0, 1, 2])
  func `AUD-10: is as it was before, whoever opens it first`(number: Int) throws {
    let folder = try Folder()
    let events = try made(folder)
    let name = (folder.files.segment(number) as NSString).lastPathComponent
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.files.segment(number)))
    for isReader in [true, false] {
      let image = try cut(folder, name)
      #expect(try image.contents()[name] != before, "nothing of it had reached the file")
      #expect(try image.contents()["\(name)-journal"]?.isEmpty == false)
      if !isReader { try AuditLog(path: image.log).finish() }
      #expect(try AuditReader(path: image.log).latest(.max) == events)
      #expect(try image.verified().last.sequence == events.last?.sequence)
      #expect(try image.contents()["\(name)-journal"] == nil)
    }
  }

  /// Whoever takes such a one back deletes what it names.
  @Test func `AUD-8: a journal that names another file is not touched, and that file stays`() throws {
    let folder = try Folder()
    _ = try made(folder)
    let name = (folder.files.segment(1) as NSString).lastPathComponent
    let image = try cut(folder, name)
    let victim = "\(image.path)/victim"
    try Data("text".utf8).write(to: URL(fileURLWithPath: victim))
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    let path = Array(victim.utf8)
    let record =
      number(0x4000_0000 / 4096 + 1) + path + number(path.count) + number(path.reduce(0) { $0 + Int($1) })
      + [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    var journal = try #require(try image.contents()["\(name)-journal"])
    journal += record
    try journal.write(to: URL(fileURLWithPath: "\(image.path)/\(name)-journal"))
    let before = try image.contents()
    #expect(throws: AuditLogError.self) { _ = try AuditReader(path: image.log).latest(.max) }
    for file in [name, "\(name)-journal", "victim"] { #expect(try image.contents()[file] == before[file], "\(file)") }
  }

  @Test func `AUD-8: a journal beside what is no log of Ambit's is left alone`() throws {
    let folder = try Folder()
    try sql("CREATE TABLE entry (payload BLOB); INSERT INTO entry VALUES (zeroblob(90000))", on: folder.log)
    let image = try cut(folder, "audit.sqlite")
    let before = try image.contents()
    #expect(throws: AuditLogError.self) { try AuditReader(path: image.log) }
    #expect(throws: AuditLogError.self) { try AuditLog(path: image.log) }
    for name in before.keys { #expect(try image.contents()[name] == before[name], "\(name)") }
  }
}

@Suite struct `What is kept of a log` {
  /// Five files, of which the newest has three entries besides what is carried.
  private func log(_ folder: Folder, _ retention: AuditLog.Retention) throws -> AuditLog {
    var settings = AuditLog.Settings()
    settings.retention = retention
    let log = try AuditLog(path: folder.log, settings: settings)
    for number in 0..<5 {
      if number > 0 { try log.rotate() }
      let time = Timestamp(microseconds: 1_700_000_000_000_000 + Int64(number) * 1_000_000).date
      try log.append((0..<3).map { _ in AuditEvent(.start, time: time, app: "io.example.app\(number)") })
      try log.flush()
    }
    return log
  }

  @Test func `the oldest files go when there is too much, and the newest never`() throws {
    let folder = try Folder()
    let log = try log(folder, .init(bytes: 1))
    let last = try #require(try log.removeOld(now: 0))
    let reader = try AuditReader(path: folder.log)
    #expect(try reader.segments().map(\.number) == [4])
    #expect(try reader.removedThrough() == last)
    try log.flush()
    let event = try #require(try reader.latest(1).first)
    #expect(event.kind == .logRemoved && event.detail["through"] == "\(last)" && event.detail["entries"] == "\(last)")
    #expect(event.sentence.contains("up to entry \(last)"))
    #expect(try log.removeOld(now: 0) == nil, "once")
    try log.finish()
    let found = try folder.verified()
    #expect(found.begins?.mark.sequence == last && found.first == last + 1)
  }

  @Test func `files of which every entry is old enough go, and others stay`() throws {
    let folder = try Folder()
    // What is carried has today's time: of what was before a rotation only the first file has old entries alone.
    let log = try log(folder, .init(span: 3600_000_000))
    #expect(try log.removeOld(now: Disk.time()) == 3)
    #expect(try AuditReader(path: folder.log).segments().map(\.number) == [1, 2, 3, 4])
    try log.finish()
    #expect(try folder.verified().first == 4)
    #expect(try AuditReader(path: folder.log).events(limit: 1).first?.kind == .logRotated)
  }

  @Test func `what a process that died had said it removes goes when the next one looks`() throws {
    let folder = try Folder()
    var log: AuditLog? = try log(folder, .init(bytes: 1))
    let before = try folder.killed()
    try log?.removeOld(now: 0)
    try log?.finish()
    log = nil
    // Said and signed, and of the files only the oldest is gone.
    for number in 1..<4 {
      try FileManager.default.copyItem(atPath: before.files.segment(number), toPath: folder.files.segment(number))
    }
    #expect(try folder.verified().first == 4)
    try AuditLog(path: folder.log).removeOld(now: 0)
    #expect(try AuditReader(path: folder.log).segments().map(\.number) == [4])
    _ = try folder.verified()
  }

  @Test func `AUD-4: files that are gone without a word, exchanged, or not those that were signed for are found`()
    throws
  {
    let folder = try Folder()
    let log = try log(folder, .init())
    let anchor = log.anchor
    try log.finish()
    let files = folder.files
    let key = try AuditKey.load(files, isNew: false)
    let manager = FileManager.default
    func finding(_ change: (LogFiles) throws -> Void) throws -> String {
      let copy = try folder.killed()
      try change(copy.files)
      do { return "whole, from \(try copy.verified(anchor).first)" } catch { return "\(error)" }
    }
    func swap(_ one: String, _ other: String) throws {
      try manager.moveItem(atPath: one, toPath: one + ".x")
      try manager.moveItem(atPath: other, toPath: one)
      try manager.moveItem(atPath: one + ".x", toPath: other)
    }
    #expect(try finding { _ in } == "whole, from 1")
    #expect(try finding { try manager.removeItem(atPath: $0.segment(0)) }.contains("nothing signed says"))
    #expect(try finding { try manager.removeItem(atPath: $0.segment(2)) }.contains("are missing before it"))
    #expect(try finding { try manager.removeItem(atPath: $0.segment(4)) }.contains("which its signed head has"))
    #expect(try finding { try swap($0.segment(1), $0.segment(2)) }.contains("missing"))
    #expect(
      try finding { files in
        try manager.removeItem(atPath: files.segment(2))
        try manager.copyItem(atPath: files.segment(1), toPath: files.segment(2))
      }.contains("does not go on where"))
    // A word of one's own, signed by another key.
    let mark = try AuditReader(path: folder.log).segments()[0].last
    let hash = try #require(
      try AuditFile.openForReading(files.segment(0), of: files).read { try SegmentReader.hash($0, of: mark) })
    let begins = ChainMark(sequence: mark, hash: hash)
    let other = try Folder()
    try AuditLog(path: other.log).finish()
    for (signer, result) in [
      (try AuditKey.load(other.files, isNew: true), "is not signed"), (key, "whole, from \(mark + 1)"),
    ] {
      let found = try finding { files in
        let line = Statement(.begins, begins, time: 1, checkpoint: mark, key: signer).line
        try Data(line.utf8).write(to: URL(filePath: files.begins))
        try manager.removeItem(atPath: files.segment(0))
      }
      #expect(found.contains(result), "\(found)")
    }
    // More is gone than was said.
    #expect(
      try finding { files in
        try Data(Statement(.begins, begins, time: 1, checkpoint: mark, key: key).line.utf8)
          .write(to: URL(filePath: files.begins))
        for number in 0..<2 { try manager.removeItem(atPath: files.segment(number)) }
      }.contains("nothing signed says"))
  }

  @Test func `whoever reads meanwhile has every entry once and in order`() throws {
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    let batches = 400
    let writer = Thread {
      for number in 1...batches {
        _ = try? log.append([AuditEvent(.start), AuditEvent(.stop)])
        if number % 9 == 0 { try? log.flush() }
        if number % 40 == 0 { try? log.rotate() }
      }
      try? log.finish()
    }
    let total = Int64(batches * 2 + batches / 40 * 4)
    let reader = try AuditReader(path: folder.log)
    writer.start()
    var last: Int64 = 0
    while last < total {
      let events = try reader.events(after: last, limit: 64)
      #expect(events.map(\.sequence) == events.indices.map { last + 1 + Int64($0) })
      last = events.last?.sequence ?? last
      let latest = try reader.latest(5).map(\.sequence)
      #expect(latest == Array((latest.first ?? 1)..<(latest.first ?? 1) + Int64(latest.count)))
      if events.isEmpty { usleep(500) }
    }
    while !writer.isFinished { usleep(500) }
    #expect(try folder.verified().count == total)
  }

  @Test func `AUD-4: whoever opens the log while files of it go can read it`() throws {
    try readWhileFilesGo(60)
  }

  fileprivate func readWhileFilesGo(_ count: Int) throws {
    let folder = try Folder()
    let log = try log(folder, .init(bytes: 1))
    let writer = Thread {
      for _ in 0..<count {
        try? log.rotate()
        _ = try? log.removeOld(now: 0)
      }
    }
    writer.start()
    defer { while !writer.isFinished { usleep(500) } }
    var (looks, seen) = (0, Int64(0))
    while !writer.isFinished {
      let reader = try AuditReader(path: folder.log)
      let latest = try reader.latest(3).map(\.sequence)
      #expect(latest.last ?? 0 >= seen && latest == latest.sorted())
      seen = latest.last ?? seen
      _ = try reader.segments()
      looks += 1
    }
    #expect(looks > count / 12 && seen > 0)
    #expect(try #require(folder.files.segments().first) > count * 4 / 5)
  }

  @Test func `what is left beside a file that was removed goes, and beside one that is gone without a word stays`()
    throws
  {
    let folder = try Folder()
    let log = try log(folder, .init(bytes: 1))
    try log.removeOld(now: 0)
    let left = ["audit.sqlite-shm", "audit.sqlite-wal", "audit-000002.sqlite-wal", "audit-000003.sqlite-shm"]
    let others = ["audit-000009.sqlite-shm", "audit-2.sqlite-shm", "audit-x.sqlite-wal"]
    for name in left + others { try Data([1]).write(to: URL(filePath: "\(folder.path)/\(name)")) }
    try log.removeOld(now: 0)
    let names = try Set(folder.contents().keys)
    #expect(names.isDisjoint(with: left) && names.isSuperset(of: others))
    // The next file is taken away, and nothing says so.
    try log.rotate()
    for name in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.files.segment(4) + name) }
    try Data([1]).write(to: URL(filePath: folder.files.segment(4) + "-wal"))
    try log.removeOld(now: 0)
    #expect(try folder.contents()["audit-000004.sqlite-wal"] == Data([1]))
  }
}

/// The same for more random sequences.
@Suite struct SegmentRaceTests {
  @Test(arguments: 2..<6)
  func `AUD-4: a log of several files holds what was added and not removed, whatever is done to it`(seed: Int) throws {
    try changeAtRandom(seed, steps: 90)
  }

  @Test func `AUD-4: whoever opens the log while many files of it go can read it`() throws {
    try `What is kept of a log`().readWhileFilesGo(250)
  }
}

/// Random batches, rotations, removals, restarts and deaths, against an array.
private func changeAtRandom(_ seed: Int, steps: Int) throws {
  var generator = Seeded(seed: UInt64(40 + seed))
  var folder = try Folder()
  var settings = AuditLog.Settings()
  settings.journalSize = 1 << 14
  settings.checkpointEvery = 7
  settings.retention.bytes = 200_000
  var log: AuditLog? = try AuditLog(path: folder.log, settings: settings)
  var added: Int64 = 0
  var model: [Int64: AuditEvent] = [:]
  var (rotations, removals, deaths) = (0, 0, 0)
  for _ in 0..<steps {
    let open = try log ?? AuditLog(path: folder.log, settings: settings)
    log = open
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<11:
      let batch = generator.events(Int.random(in: 1..<9, using: &generator))
      for event in batch {
        added += 1
        var event = event
        event.sequence = added
        model[added] = event
      }
      #expect(try open.append(batch) == added)
    case 11..<13: try open.flush()
    case 13..<17:
      try open.rotate(carrying: Int.random(in: 0..<4, using: &generator))
      added = open.anchor.sequence
      rotations += 1
    case 17:
      if try open.removeOld(now: Disk.time()) != nil {
        removals += 1
        added += 1
      }
      #expect(open.anchor.sequence == added)
    case 18: log = nil
    default:
      folder = try folder.killed()
      log = nil
      deaths += 1
    }
    let reader = try AuditReader(path: folder.log)
    let removed = try reader.removedThrough()
    let all = try reader.events(limit: 10_000)
    #expect(all.map(\.sequence) == Array(removed + 1..<added + 1))
    for event in all { if let known = model[event.sequence] { #expect(event == known) } }
    let query = AuditQuery(app: "io.example.editor")
    let fitting = all.filter { $0.app == query.app }
    #expect(try reader.events(matching: query, limit: 10_000) == fitting)
    #expect(try reader.latest(7, matching: query) == fitting.suffix(7))
    #expect(try reader.events(after: removed + 9, limit: 30) == Array(all.dropFirst(9).prefix(30)))
  }
  log = nil
  let found = try folder.verified()
  #expect(found.last.sequence == added && found.first == (found.begins?.mark.sequence ?? 0) + 1)
  #expect(rotations > 5 && removals > 0 && deaths > 0, "\((rotations, removals, deaths))")
}
