import Foundation
import Synchronization
import Testing

@testable import Audit

#if canImport(Glibc)
  import Glibc
#endif

/// Adds an entry to a log now and then, in a thread of its own.
private final class Writer: Sendable {
  private let hasEnough = Atomic(false)
  private let hasEnded = Atomic(false)

  init(_ log: AuditLog) {
    Thread.detachNewThread { [self] in
      while !hasEnough.load(ordering: .relaxed) {
        for _ in 0..<4 { _ = try? log.append([AuditEvent(.start)]) }
        usleep(300)
      }
      hasEnded.store(true, ordering: .relaxed)
    }
  }

  func end() {
    hasEnough.store(true, ordering: .relaxed)
    while !hasEnded.load(ordering: .relaxed) { usleep(500) }
  }
}

/// What tells of entries behind the signed head, which is never signed here.
@Suite struct `AUD-4: the end of a log` {
  /// A log of a broker that was killed: two entries are signed for, three more are written.
  ///
  /// - Parameter moved: those two are in the database as well.
  private func killed(moved: Bool = false) throws -> Folder {
    let folder = try Folder()
    var settings = AuditLog.Settings()
    settings.syncAfter = .max / 2
    let log = try AuditLog(path: folder.log, settings: settings)
    try log.append([AuditEvent(.launch), AuditEvent(.grant)])
    try log.core.syncNow()
    if moved { try log.flush() }
    for kind in [AuditEvent.Kind.start, .stop, .exit] { try log.append([AuditEvent(kind)]) }
    let copy = try folder.asIfKilled()
    withExtendedLifetime(log) {}
    return copy
  }

  /// Takes the last entries out of the journal.
  private func cut(_ folder: Folder, to count: Int) throws {
    let url = URL(filePath: folder.journal)
    var bytes = Array(try Data(contentsOf: url))
    let end = try Journal(bytes, boot: JournalFile.boot).records[count - 1].payload.upperBound
    for place in end..<bytes.count { bytes[place] = 0 }
    try Data(bytes).write(to: url)
  }

  private func end(_ folder: Folder) -> URL { URL(filePath: LogFiles(folder.log).end) }

  private func finding(_ folder: Folder) -> String? {
    do {
      _ = try AuditReader(path: folder.log).verified()
      return nil
    } catch { return error.description }
  }

  @Test func `tells of entries whose mark was put off as soon as it is written`() throws {
    let folder = try Folder()
    let log = try AuditLog(path: folder.log, settings: AuditLog.Settings())
    let path = LogFiles(folder.log).end
    func marked() throws -> Int64? { try EndFile.read(path, key: nil)?.mark.sequence }
    try log.append([AuditEvent(.launch)])
    try log.append([AuditEvent(.grant), AuditEvent(.start)], isMarked: false)
    #expect(try marked() == 1)
    log.mark()
    #expect(try marked() == 3)
    // An entry that is marked at once has those before it marked as well.
    try log.append([AuditEvent(.stop)], isMarked: false)
    try log.append([AuditEvent(.exit)])
    #expect(try marked() == 5)
  }

  @Test(arguments: 2...4)
  func `tells which entries were cut off behind the head, and no broker goes on with it`(count: Int) throws {
    let folder = try killed()
    #expect(try AuditReader(path: folder.log).verified().unsigned == 3)
    try cut(folder, to: count)
    let missing = "entries \(count + 1) to 5 are missing at its end"
    #expect(finding(folder)?.contains(missing) == true)
    let before = try folder.contents()
    let error = #expect(throws: AuditLogError.self) { try AuditLog(path: folder.log) }
    #expect(error?.problem == .damaged && error?.description.contains(missing) == true)
    #expect(try folder.contents()[LogFiles(folder.log).end] == before[LogFiles(folder.log).end])
  }

  @Test func `goes on with what was written whole and not answered yet`() throws {
    let folder = try killed()
    let key = try #require(AuditKey.beside(LogFiles(folder.log)).key)
    let mark = try #require(try AuditReader(path: folder.log).events(limit: 9).last.map(\.sequence))
    #expect(mark == 5)
    // Killed between the entry and this; or an entry was added.
    let all = Array(try Data(contentsOf: URL(filePath: folder.journal)))
    let before = try Journal(all, boot: JournalFile.boot).records[3].mark
    try Data(EndMark(before, boot: JournalFile.boot, key: key).bytes).write(to: end(folder))
    #expect(try AuditReader(path: folder.log).verified().unanswered == 1)
    let log = try AuditLog(path: folder.log)
    #expect(log.doubts.count == 1 && log.doubts.first?.contains("the last 1 of 5 entries") == true)
    #expect(try log.append([AuditEvent(.launch)]) == 6)
    #expect(try AuditReader(path: folder.log).verified().unanswered == 0)
    #expect(finding(folder) == nil)
    try log.finish()
    #expect(!FileManager.default.fileExists(atPath: end(folder).path))
    #expect(finding(folder) == nil)
  }

  @Test func `says nothing against entries that are written while it is looked at`() throws {
    try verifyWhileWritten(times: 15)
  }

  fileprivate func verifyWhileWritten(times: Int) throws {
    let folder = try Folder()
    let log = try AuditLog(path: folder.log)
    try log.append([AuditEvent(.launch)])
    let writer = Writer(log)
    defer { writer.end() }
    let reader = try AuditReader(path: folder.log)
    for _ in 0..<times {
      let found = try reader.verified()
      #expect(found.unanswered == 0 && found.lost == 0 && found.doubts.isEmpty)
    }
    #expect(try reader.lastSequence() > 60)
  }

  @Test func `a journal that is taken away from who writes it is found, although the head is signed all the time`()
    throws
  {
    let folder = try Folder()
    var settings = AuditLog.Settings()
    settings.syncAfter = 0
    let log = try AuditLog(path: folder.log, settings: settings)
    try log.append([AuditEvent(.launch)])
    try FileManager.default.removeItem(atPath: folder.journal)
    let writer = Writer(log)
    defer { writer.end() }
    let found = finding(folder)
    #expect(
      found?.contains("audit.journal") == true || found?.contains("are missing at its end") == true, "\(found ?? "")")
  }

  @Test func `can be neither taken away nor written by who has not the key`() throws {
    let folder = try killed()
    let whole = Array(try Data(contentsOf: end(folder)))
    try FileManager.default.removeItem(at: end(folder))
    #expect(finding(folder)?.contains("audit.end is damaged: it is gone") == true, "\(finding(folder) ?? "")")
    for place in whole.indices {
      var bytes = whole
      bytes[place] ^= 4
      try Data(bytes).write(to: end(folder))
      #expect(finding(folder)?.contains("is not as it was written") == true, "byte \(place)")
    }
    try cut(folder, to: 3)
    let all = Array(try Data(contentsOf: URL(filePath: folder.journal)))
    let mark = try Journal(all, boot: JournalFile.boot).last
    try Data(EndMark(mark, boot: JournalFile.boot, key: AuditKey()).bytes).write(to: end(folder))
    #expect(finding(folder)?.contains("is not as it was written") == true)
    try FileManager.default.removeItem(at: end(folder))
    #expect(try refusal(folder)?.contains("audit.end is damaged: it is gone") == true)
  }

  /// What a broker says that is to go on with it; it changes nothing then.
  private func refusal(_ folder: Folder) throws -> String? {
    let before = try folder.contents()
    do {
      let log = try AuditLog(path: folder.log)
      try log.finish()
      return nil
    } catch {
      let after = try folder.contents()
      // SQLite moves what it has beside the log into it, whoever opens it.
      func isOurs(_ name: String) -> Bool { !name.hasPrefix("audit.sqlite") }
      #expect(before.filter { isOurs($0.key) } == after.filter { isOurs($0.key) })
      return error.description
    }
  }

  /// Has its head signed at another time since a start of the machine, or as an older version did.
  private func sign(_ folder: Folder, boot: [UInt8]?) throws {
    let files = LogFiles(folder.log)
    let key = try #require(AuditKey.beside(files).key)
    let head = try #require(try HeadFile.read(files.head))
    let other = Statement(
      head.kind, head.mark, time: head.time, checkpoint: head.checkpoint, boot: boot, key: key)
    try FileManager.default.removeItem(atPath: files.head)
    try HeadFile(files.head).write(other)
  }

  @Test func `a log that has entries has its head, its key and no others' eyes on it`() throws {
    for removed in [
      ["head"], ["head", "key", "pub"], ["key", "pub"], ["key"], ["head", "journal", "end", "key", "pub"],
    ] {
      let folder = try killed(moved: true)
      for ending in removed { try FileManager.default.removeItem(atPath: "\(LogFiles(folder.log).stem).\(ending)") }
      let words = removed.first == "head" ? "audit.head is damaged: it is gone" : "audit.key is damaged"
      #expect(try refusal(folder)?.contains(words) == true, "\(removed)")
      #expect(finding(folder)?.contains("is damaged: it is gone") == true, "\(removed)")
    }
    let folder = try killed()
    let files = LogFiles(folder.log)
    #expect(unsafe chmod(files.key, 0o644) == 0)
    let log = try AuditLog(path: folder.log)
    #expect(log.doubts.count == 1 && log.doubts.first?.contains("audit.key") == true)
    var status = stat()
    #expect(unsafe stat(files.key, &status) == 0 && status.st_mode & 0o777 == 0o600)
    var event = AuditEvent(.brokerStarted)
    event.detail[AuditEvent.Fact.doubt] = log.doubts.joined(separator: "; ")
    try log.append([event])
    #expect(try AuditReader(path: folder.log).verified().doubts.map(\.sequence) == [6])
    try log.finish()
    #expect(try AuditReader(path: folder.log).verified().doubts.map(\.words) == log.doubts)
  }

  @Test func `a log that nobody has closed has its journal, whatever else is gone`() throws {
    for removed in [["journal"], ["journal", "end"], ["journal", "end", "key"]] {
      let folder = try killed(moved: true)
      let files = LogFiles(folder.log)
      for ending in removed { try FileManager.default.removeItem(atPath: "\(files.stem).\(ending)") }
      #expect(finding(folder)?.contains("audit.journal") == true, "\(finding(folder) ?? "")")
      #expect(try refusal(folder)?.contains("audit.journal") == true || removed.contains("key"))
      guard removed == ["journal", "end"] else { continue }
      // After the machine was started anew a broker goes on with what is there, and says so; and closes it.
      for boot in [Array("another boot".utf8), nil] {
        let folder = try folder.asIfKilled()
        let files = LogFiles(folder.log)
        try sign(folder, boot: boot)
        #expect(finding(folder)?.contains("audit.journal") == true, "\(finding(folder) ?? "")")
        let log = try AuditLog(path: folder.log)
        #expect(log.doubts.first?.contains("audit.journal") == true)
        var event = AuditEvent(.brokerStarted)
        event.detail[AuditEvent.Fact.doubt] = log.doubts.joined(separator: "; ")
        try log.append([event])
        #expect(finding(folder) == nil)
        try log.finish()
        #expect(try HeadFile.read(files.head)?.kind == .closed)
        #expect(finding(folder) == nil)
        let next = try AuditLog(path: folder.log)
        #expect(try next.doubts.isEmpty && HeadFile.read(files.head)?.kind == .head)
        #expect(finding(folder) == nil)
        try next.finish()
      }
    }
  }

  @Test func `an empty journal is none, and after a log was closed nothing comes`() throws {
    let folder = try killed(moved: true)
    let files = LogFiles(folder.log)
    for bytes in [[], [UInt8](repeating: 0, count: 4096)] as [[UInt8]] {
      try Data(bytes).write(to: URL(filePath: files.journal))
      try? FileManager.default.removeItem(atPath: files.end + ".kept")
      try FileManager.default.moveItem(atPath: files.end, toPath: files.end + ".kept")
      #expect(finding(folder)?.contains("audit.journal") == true, "\(finding(folder) ?? "")")
      try FileManager.default.moveItem(atPath: files.end + ".kept", toPath: files.end)
    }
    try FileManager.default.removeItem(atPath: files.end)
    try sign(folder, boot: nil)
    let log = try AuditLog(path: folder.log)
    #expect(log.doubts.first?.contains("audit.journal") == true)
    try log.finish()
    let mark = try #require(try HeadFile.read(files.head)).mark
    do {
      // Its lock goes with it.
      var (journal, tail) = try JournalFile.make(files.journal, after: mark, size: 65_536)
      var bytes: [UInt8] = []
      Journal.append(EncodedEvent(AuditEvent(.grant), after: mark), rest: 0, synced: mark.sequence, to: &bytes)
      try journal.append(bytes, &tail)
      try journal.take(replacing: false)
    }
    #expect(finding(folder)?.contains("come after the log was closed") == true, "\(finding(folder) ?? "")")
    #expect(try refusal(folder)?.contains("come after the log was closed") == true)
  }

  @Test func `without the key nobody believes what only the key can have written`() throws {
    let folder = try killed()
    let files = LogFiles(folder.log)
    let key = try #require(try SmallFile.read(files.key))
    #expect(try AuditReader(path: folder.log).verified().isEndChecked)
    try cut(folder, to: 3)
    let all = Array(try Data(contentsOf: URL(filePath: folder.journal)))
    let mark = try Journal(all, boot: JournalFile.boot).last
    try Data(EndMark(mark, boot: JournalFile.boot, key: AuditKey()).bytes).write(to: end(folder))
    try FileManager.default.removeItem(atPath: files.key)
    #expect(finding(folder)?.contains("audit.key is damaged: it is gone") == true, "\(finding(folder) ?? "")")
    try Data(key.dropLast()).write(to: URL(filePath: files.key))
    #expect(finding(folder)?.contains("it is no key of 32 bytes") == true)
    try Data(key.map { $0 ^ 1 }).write(to: URL(filePath: files.key))
    try FileManager.default.removeItem(at: end(folder))
    #expect(finding(folder)?.contains("another key than the one that the log is signed with") == true)
  }

  @Test(arguments: ["head", "end", "key", "pub", "begins"])
  func `a pipe, a folder or a link in the place of a small file is a finding, and keeps nobody waiting`(
    ending: String
  ) throws {
    for what in ["pipe", "folder", "link"] {
      let folder = try killed()
      let path = "\(LogFiles(folder.log).stem).\(ending)"
      unsafe unlink(path)
      switch what {
      case "pipe": #expect(unsafe mkfifo(path, 0o600) == 0)
      case "folder": #expect(unsafe mkdir(path, 0o700) == 0)
      default: #expect(unsafe symlink("/dev/null", path) == 0)
      }
      let words = what == "link" ? "it is a symbolic link" : "it is no regular file"
      #expect(finding(folder)?.contains(words) == true, "\(what): \(finding(folder) ?? "")")
    }
  }

  @Test func `a link in the place of the log is refused`() throws {
    let folder = try killed()
    try FileManager.default.moveItem(atPath: folder.log, toPath: "\(folder.path)/other.sqlite")
    #expect(unsafe symlink("other.sqlite", folder.log) == 0)
    #expect(finding(folder)?.contains("it is a symbolic link") == true)
    #expect(throws: AuditLogError.self) { try AuditLog(path: folder.log) }
  }

  @Test func `promises nothing after a power failure, and verify says how many it knows of`() throws {
    let folder = try killed()
    let key = try #require(AuditKey.beside(LogFiles(folder.log)).key)
    let found = try #require(EndMark(Array(try Data(contentsOf: end(folder)))))
    try Data(EndMark(found.mark, boot: Array("another boot".utf8), key: key).bytes).write(to: end(folder))
    try cut(folder, to: 3)
    #expect(try AuditReader(path: folder.log).verified().lost == 2)
    let log = try AuditLog(path: folder.log)
    #expect(log.doubts.count == 1 && log.doubts.first?.hasPrefix("2 entries after entry 3 were gone") == true)
    #expect(try log.append([AuditEvent(.launch)]) == 4)
    #expect(try AuditReader(path: folder.log).verified().lost == 0)
    try log.finish()
  }

  @Test func `what an opening found is told until an entry on the disk has it`() throws {
    let folder = try killed()
    let files = LogFiles(folder.log)
    let key = try #require(AuditKey.beside(files).key)
    let found = try #require(EndMark(Array(try Data(contentsOf: end(folder)))))
    try Data(EndMark(found.mark, boot: Array("another boot".utf8), key: key).bytes).write(to: end(folder))
    try cut(folder, to: 3)
    var settings = AuditLog.Settings()
    settings.syncAfter = .max / 2
    // The first one's process has no entry; the second one's is killed before its entry is on the disk, which then goes with the power.
    let first = try AuditLog(path: folder.log, settings: settings)
    let words = first.doubts
    #expect(words.count == 1 && words.first?.hasPrefix("2 entries after entry 3 were gone") == true)
    #expect(try AuditReader(path: folder.log).verified().unsaidDoubts == words)
    try first.finish()
    #expect(try AuditReader(path: folder.log).verified().unsaidDoubts == words)
    let second = try AuditLog(path: folder.log, settings: settings)
    #expect(second.doubts == words)
    var event = AuditEvent(.brokerStarted)
    event.detail[AuditEvent.Fact.doubt] = second.doubts.joined(separator: "; ")
    try second.append([event])
    #expect(FileManager.default.fileExists(atPath: files.doubts))
    // An entry without them does not count.
    try second.append([AuditEvent(.launch)])
    try second.core.syncNow()
    #expect(!FileManager.default.fileExists(atPath: files.doubts))
    let after = try AuditReader(path: folder.log).verified()
    #expect(after.unsaidDoubts.isEmpty && after.doubts.map(\.words) == words)
    try second.finish()
    #expect(try AuditLog(path: folder.log).doubts.isEmpty)
  }
}

/// The same while the log grows further.
@Suite struct EndFileRaceTests {
  @Test func `AUD-4: the end of a log says nothing against entries that are written while it is looked at`() throws {
    try `AUD-4: the end of a log`().verifyWhileWritten(times: 60)
  }
}
