import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import Audit

#if canImport(Glibc)
  import Glibc
#endif

extension Folder {
  var journal: String { LogFiles(log).journal }

  /// The log's files as they are now, in a folder of their own: what a process that is killed now would leave.
  func asIfKilled() throws -> Folder {
    let copy = try Folder()
    for (name, bytes) in try contents() where !name.hasSuffix("-shm") {
      try bytes.write(to: URL(filePath: "\(copy.path)/\(name)"))
      #expect(unsafe chmod("\(copy.path)/\(name)", 0o600) == 0)
    }
    return copy
  }
}

@Suite struct `The journal and the database` {
  @Test(arguments: 0..<Rounds.few(1, of: 2))
  func `AUD-4: hold together what was appended, whatever dies and when`(seed: Int) throws {
    try endAtRandom(seed, steps: 60)
  }

  @Test(arguments: 20..<(20 + Rounds.few(2, of: 4)))
  func `a query answers the same wherever its events are`(seed: Int) throws {
    let folder = try Folder()
    var generator = Seeded(seed: UInt64(seed))
    let log = try AuditLog(path: folder.log)
    // One letter in two spellings, which are the same text for Swift and not for SQLite.
    var events = generator.events(60) + ["Gru\u{308}n", "Gr\u{fc}n"].map { AuditEvent(.start, app: $0, grant: "g1") }
    events.shuffle(using: &generator)
    for event in events { try log.append([event]) }
    let reader = try AuditReader(path: folder.log)
    let texts: [String?] = [nil, nil, "io.example.editor", "Gru\u{308}n", "Gr\u{fc}n"]
    let queries = (0..<60).map { _ in
      let sample = events.randomElement(using: &generator)
      return (
        AuditQuery(
          app: texts.randomElement(using: &generator) ?? nil,
          kind: Bool.random(using: &generator) ? sample?.kind : nil,
          grant: Bool.random(using: &generator) ? sample?.grant : nil,
          result: Bool.random(using: &generator) ? sample?.result : nil,
          since: Bool.random(using: &generator) ? sample?.time : nil),
        Int64.random(in: 0..<70, using: &generator), Int.random(in: 1..<70, using: &generator)
      )
    }
    func answers() throws -> [[AuditEvent]] {
      try queries.flatMap { query, after, limit in
        [try reader.events(matching: query, after: after, limit: limit), try reader.latest(limit, matching: query)]
      }
    }
    let before = try answers()
    #expect(Set(before.map(\.count)).count > 5)
    try log.flush()
    #expect(try answers() == before)
  }

  @Test func `a reader misses nothing and sees nothing twice while entries move`() throws {
    try readWhileEntriesMove(300)
  }

  @Test func `what the database does not take stays in the journal, for every reader to see`() throws {
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    try log.append([AuditEvent(.launch)])
    try log.flush()
    #expect(log.flushDeadline == nil)
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: folder.log, configuration: configuration)
    try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
    #expect(try log.append([AuditEvent(.start), AuditEvent(.stop)]) == 3)
    let first = try #require(log.flushDeadline)
    #expect(throws: AuditLogError.self) { try log.flush() }
    #expect(try #require(log.flushDeadline) > first, "it is not tried again at once")
    #expect(try AuditReader(path: folder.log).events(limit: 9).map(\.kind) == [.launch, .start, .stop])
    // Not for ever: some hundreds of entries on, nothing is decided any more.
    let error = #expect(throws: AuditLogError.self) {
      for _ in 0..<20_000 { try log.append([AuditEvent(.exit)]) }
    }
    #expect(error?.problem == .busy)
    let recorded = try AuditReader(path: folder.log).lastSequence()
    #expect(recorded > 1024 && recorded < 20_000)
    try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
    #expect(try log.append([AuditEvent(.exit)]) == recorded + 1)
    try log.flush()
    #expect(try AuditReader(path: folder.log).verify() == recorded + 1)
  }

  // MARK: Journals that are not as they should be

  @Test(
    "AUD-8: a journal that is not the log's, or not whole, is refused and stays as it is",
    arguments: ["text", "folder", "link", "pipe", "newer", "middle", "other log", "log set back", "log gone"])
  func refusal(what: String) throws {
    let folder = try Folder()
    do { try AuditLog(path: folder.log).append((0..<2).map { AuditEvent(.start, reason: "\($0)") }) }
    let early = try Data(contentsOf: URL(filePath: folder.log))
    do { try AuditLog(path: folder.log).append((0..<4).map { AuditEvent(.start, reason: "\($0)") }) }
    let journal = URL(filePath: folder.journal)
    let killed: Folder
    do {
      let log = try AuditLog(path: folder.log)
      for number in 0..<4 { try log.append([AuditEvent(.stop, reason: "\(number)")]) }
      killed = try folder.asIfKilled()
    }
    var bytes = try Data(contentsOf: URL(filePath: killed.journal))
    var (problem, words) = (AuditLogError.Problem.foreign, "it is no regular file")
    switch what {
    case "text":
      bytes = Data("a note of mine\n".utf8)
      words = "it does not begin as one"
    case "folder": try FileManager.default.createDirectory(at: journal, withIntermediateDirectories: false)
    case "link":
      try bytes.write(to: URL(filePath: killed.path + "/elsewhere"))
      #expect(unsafe symlink(killed.path + "/elsewhere", folder.journal) == 0)
      words = "it is a symbolic link"
    case "pipe": #expect(unsafe mkfifo(folder.journal, 0o600) == 0)
    case "newer":
      bytes[6] = UInt8(ascii: "3")
      (problem, words) = (.newer, "its format is \"3\"")
    case "middle":
      // With a database that has none of it.
      try sql("PRAGMA wal_checkpoint(TRUNCATE)", on: killed.log)
      try Data(contentsOf: URL(filePath: killed.log)).write(to: URL(filePath: folder.log))
      bytes[Journal.headerSize + Journal.frameSize + 20] ^= 1
      (problem, words) = (.damaged, "is not as it was written")
    case "other log":
      let other = try Folder()
      let log = try AuditLog(path: other.log)
      for number in 0..<12 { try log.append([AuditEvent(.exit, reason: "\(number)")]) }
      bytes = try Data(contentsOf: URL(filePath: other.journal))
      words = "is another than the log's"
    case "log set back":
      // The database of an earlier day, and the journal that goes on from a later one.
      try early.write(to: URL(filePath: folder.log))
      (problem, words) = (.damaged, "it goes on from entry 6, and the log ends with entry 2")
    default:
      try FileManager.default.removeItem(atPath: folder.log)
      (problem, words) = (.damaged, "\(folder.journal) of it is still there")
    }
    if !["folder", "link", "pipe"].contains(what) { try bytes.write(to: journal) }
    func state() throws -> [String: Data] {
      try what == "folder" || what == "pipe"
        ? [:] : folder.contents().filter { !$0.key.hasSuffix("-shm") && !$0.value.isEmpty }
    }
    let before = try state()
    for open: () throws -> Void in [
      { _ = try AuditLog(path: folder.log) }, { _ = try AuditReader(path: folder.log).events(limit: 99) },
      { _ = try AuditReader(path: folder.log).lastSequence() },
    ] {
      let error = #expect(throws: AuditLogError.self, performing: open)
      #expect(error?.problem == problem)
      #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
      #expect(error?.description.contains("\(folder.journal)") == true)
    }
    #expect(try state() == before)
    // Moved away, as the sentence says, it is in nobody's way.
    if what == "log gone" { try early.write(to: URL(filePath: folder.log)) }
    #expect(unsafe rename(folder.journal, folder.path + "/aside") == 0)
    if what.hasPrefix("log ") || what == "middle" {
      // But what the signed head has is still missing.
      for open: () throws -> Void in [
        { _ = try AuditReader(path: folder.log).verify() }, { _ = try AuditLog(path: folder.log) },
      ] {
        let error = #expect(throws: AuditLogError.self, performing: open)
        #expect(error?.description.contains("to 10 are missing") == true, "\(error?.description ?? "")")
      }
      return
    }
    let count = try AuditReader(path: folder.log).verify()
    #expect(try AuditLog(path: folder.log).append([AuditEvent(.exit)]) == count + 1)
  }

  @Test(arguments: [0, 5, 32, 4096])
  func `a journal whose first bytes never reached the disk holds nothing`(zeros: Int) throws {
    let folder = try Folder()
    do { try AuditLog(path: folder.log).append([AuditEvent(.launch)]) }
    try Data(repeating: 0, count: zeros).write(to: URL(filePath: folder.journal))
    #expect(try AuditReader(path: folder.log).events(limit: 9).count == 1)
    let log = try AuditLog(path: folder.log)
    #expect(log.tornBytes == 0)
    #expect(try log.append([AuditEvent(.exit)]) == 2)
    #expect(try AuditReader(path: folder.log).verify() == 2)
  }

  @Test func `a journal that may not be read is an error for a reader, not a shorter log`() async {
    await #expect(processExitsWith: .success) { try readForbiddenJournal() }
  }
}

/// The last number that an append has returned.
private final class Answered: Sendable {
  let number = Atomic<Int64>(0)
}

private func readForbiddenJournal() throws {
  let folder = try Folder()
  try asOrdinaryUser(owning: folder.path) {
    let log = try AuditLog(path: folder.log)
    try log.append([AuditEvent(.launch)])
    #expect(unsafe chmod(folder.journal, 0) == 0)
    let error = #expect(throws: AuditLogError.self) { try AuditReader(path: folder.log).events(limit: 9) }
    #expect(error?.problem == .inaccessible)
    #expect(error?.description.contains(folder.journal) == true)
  }
}

/// The same for more random sequences.
@Suite struct JournalFileRaceTests {
  @Test(arguments: 2..<6)
  func `AUD-4: the journal and the database hold together what was appended, whatever dies and when`(seed: Int) throws {
    try endAtRandom(seed, steps: 80)
  }

  @Test func `a reader misses nothing and sees nothing twice while very many entries move`() throws {
    try readWhileEntriesMove(1000)
  }
}

/// Appends, moves, ends in every way, and what a dying process can leave, against an array.
private func endAtRandom(_ seed: Int, steps: Int) throws {
  var generator = Seeded(seed: UInt64(seed))
  var folder = try Folder()
  var model: [AuditEvent] = []
  var log: AuditLog? = try AuditLog(path: folder.log)
  var takenOver = 0
  for _ in 0..<steps {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<4:
      model += generator.events(Int.random(in: 0..<6, using: &generator))
      #expect(try log?.append(Array(model.dropFirst(Int(log?.append([]) ?? 0)))) == Int64(model.count))
    case 5, 6: try log?.flush()
    case 7:
      log = nil
      #expect(unsafe access(folder.journal, F_OK) != 0, "an end that was in order leaves no journal")
      log = try AuditLog(path: folder.log)
      #expect(log?.takenOver == 0)
    default:
      let killed = try folder.asIfKilled()
      if Bool.random(using: &generator) {
        // It died after the commit and before the journal's end.
        let journal = try Data(contentsOf: URL(filePath: folder.journal))
        try log?.flush()
        log = nil
        for name in try killed.contents().keys where name.contains("sqlite") || name.contains("journal") {
          try FileManager.default.removeItem(atPath: "\(killed.path)/\(name)")
        }
        try FileManager.default.copyItem(atPath: folder.log, toPath: killed.log)
        try journal.write(to: URL(filePath: killed.journal))
      } else {
        log = nil
      }
      let isTorn = Bool.random(using: &generator)
      if isTorn {
        var record: [UInt8] = []
        let bytes = Array(try Data(contentsOf: URL(filePath: killed.journal)))
        let journal = try Journal(bytes, boot: JournalFile.boot)
        let event = EncodedEvent(generator.event(), after: journal.last)
        Journal.append(event, rest: Int.random(in: 0..<3, using: &generator), to: &record)
        if record[4] == 0 { record.removeLast(Int.random(in: 1..<record.count, using: &generator)) }
        let file = try #require(FileHandle(forWritingAtPath: killed.journal))
        try file.seek(toOffset: UInt64(journal.end))
        try file.write(contentsOf: Data(record))
        try file.close()
      }
      folder = killed
      #expect(try AuditReader(path: folder.log).events(limit: 1000) == numbered(model), "before the next writer")
      log = try AuditLog(path: folder.log)
      #expect((log?.tornBytes ?? 0 > 0) == isTorn)
      takenOver += log?.takenOver ?? 0
    }
    let reader = try AuditReader(path: folder.log)
    #expect(try reader.events(limit: 1000) == numbered(model))
    #expect(try reader.lastSequence() == Int64(model.count))
    #expect(try reader.verify() == Int64(model.count))
    let few = Int.random(in: 0..<8, using: &generator)
    #expect(try reader.latest(few) == numbered(model).suffix(few))
  }
  #expect(takenOver > 0)
}

/// Entries that are moved to the database while two read them.
private func readWhileEntriesMove(_ total: Int64) throws {
  let folder = try Folder()
  let path = folder.log
  let answered = Answered()
  // A new journal takes the old one's place at every move.
  var small = AuditLog.Settings()
  small.journalSize = 0
  let log = try AuditLog(path: path, settings: small)
  let writer = OwnThread {
    for number in 1...total {
      try #require(try log.append([AuditEvent(.start, reason: "\(number)")]) == number)
      answered.number.store(number, ordering: .sequentiallyConsistent)
      if number % 2 == 0 { try log.flush() }
    }
  }
  let calls = try onOwnThreads(2) { _ in
    let reader = try AuditReader(path: path)
    var seen: Int64 = 0
    var calls = 0
    while seen < total {
      if writer.isOver { try writer.value() }
      let known = answered.number.load(ordering: .sequentiallyConsistent)
      let events = try reader.events(after: seen, limit: 10_000)
      try #require(events.map(\.sequence) == Array(seen..<seen + Int64(events.count)).map { $0 + 1 })
      seen += Int64(events.count)
      try #require(seen >= known, "what was answered before the call is seen by it")
      // Many more looks than moves: what could go wrong between two reads goes wrong in one of them.
      for _ in 0..<20 {
        let again = answered.number.load(ordering: .sequentiallyConsistent)
        try #require(try reader.lastSequence() >= again)
      }
      calls += 1
    }
    return calls
  }
  try writer.value()
  #expect(calls.allSatisfy { $0 > 3 })
  #expect(
    try ChainMark()
      != Journal(Array(Data(contentsOf: URL(filePath: folder.journal))), boot: JournalFile.boot).base,
    "the journal was begun anew")
  #expect(try AuditReader(path: path).verify() == total)
}
