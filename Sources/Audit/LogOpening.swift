internal import GRDB

/// Opening a log for writing: what is there is looked at first, and only then anything is changed.
struct LogOpening {
  let core: LogCore
  let takenOver: Int
  let tornBytes: Int
  let missing: String?

  init(_ files: LogFiles, _ settings: AuditLog.Settings) throws {
    let number = files.segments().last ?? 0
    let path = files.segment(number)
    let queue = try AuditFile.openForWriting(path, of: files)
    let found = try JournalFile.open(files.journal)
    let bytes = found?.1 ?? []
    let (before, checkpoint) = try queue.writeWithoutTransaction { db in
      // Whoever keeps the database locked must not hold up those who wait for the broker: the journal has room.
      try db.execute(sql: "PRAGMA busy_timeout = 200")
      return (try SegmentReader.last(db, file: path), try SegmentReader.lastCheckpoint(db))
    }
    var journal: Journal?
    var entries: [EncodedEvent] = []
    if let first = try FirstFormat.journal(bytes, file: files.journal) {
      entries = try Self.chained(first, after: before, queue, files)
    } else if found != nil {
      let read = try Journal(bytes, file: files.journal)
      if read.end > 0 {
        try queue.read { db in try read.check(against: db, last: before, file: files.journal) }
        entries = read.events(after: before.sequence)
      }
      journal = read
    }
    let last = entries.last?.mark ?? before
    let wasSigned = try AuditKey.publicKey(of: files) != nil
    // From here on it is the log that it was, and changed.
    let key = try AuditKey.load(files)
    let head = try Self.head(files, key, queue, entries, last: last)
    missing =
      head == nil && wasSigned && last.sequence > 0
      ? "\(files.head), which says how far the log goes, was gone" : nil
    try queue.writeWithoutTransaction { db in
      try SegmentReader.add(entries, to: db, file: files.journal, checkpoint: nil, durably: false)
    }
    takenOver = Int(last.sequence - before.sequence)
    tornBytes = journal?.torn ?? 0
    // A journal whose header never reached the disk holds nothing; one of an older format is not written on.
    var (file, tail): (JournalFile, JournalFile.Tail)
    if let journal, journal.end > 0, let found {
      (file, tail) = (found.0, JournalFile.Tail(end: journal.end, hasRemains: journal.torn > 0))
      try file.takeBackRemains(&tail)
    } else {
      // What the old one held has to be on the disk before it goes.
      try queue.writeWithoutTransaction { db in
        try SegmentReader.add([], to: db, file: path, checkpoint: nil, durably: true)
      }
      (file, tail) = try JournalFile.make(files.journal, after: last, size: settings.journalSize)
      try file.take(replacing: found != nil)
    }
    var state = LogCore.State(
      journal: file, tail: tail, last: last, checkpoint: max(checkpoint, head?.checkpoint ?? 0),
      unsynced: Array(try file.prefix(tail.end).dropFirst(Journal.headerSize)))
    // What a process that died had written may not be on the disk. It is not waited for here: a launch waits for this.
    state.synced = head?.mark ?? ChainMark()
    if last != state.synced { state.dirtySince = Disk.now() }
    core = try LogCore(files, settings, key, state, LogCore.Store(queue: queue, segment: number))
    if head == nil { try core.sign(ChainMark()) }
  }

  /// What the signed head beside the log promises is there.
  private static func head(
    _ files: LogFiles, _ key: AuditKey, _ queue: DatabaseQueue, _ entries: [EncodedEvent], last: ChainMark
  ) throws -> Statement? {
    guard let head = try HeadFile.read(files.head) else { return nil }
    guard head.isSigned(by: key.publicKey) else {
      throw AuditLogError(.damaged, files.head, "it is not signed by the key in \(files.key)", of: .signature)
    }
    guard head.mark.sequence <= last.sequence else {
      throw AuditLogError(
        .damaged, files.log,
        "entries \(last.sequence + 1) to \(head.mark.sequence) are missing, which its signed head has (\(files.head))")
    }
    let hash =
      try entries.first { $0.mark.sequence == head.mark.sequence }?.mark.hash
      ?? queue.read { db in try SegmentReader.hash(db, of: head.mark.sequence) }
    // One before the newest segment is for `audit verify`.
    guard hash == nil || hash == head.mark.hash else {
      throw AuditLogError(.damaged, files.log, "entry \(head.mark.sequence) is another than its signed head has")
    }
    return head
  }

  /// A journal of the first format: its events, chained on.
  private static func chained(
    _ journal: (base: Int64, events: [AuditEvent]), after last: ChainMark, _ queue: DatabaseQueue, _ files: LogFiles
  ) throws -> [EncodedEvent] {
    guard journal.base <= last.sequence, journal.base + Int64(journal.events.count) >= last.sequence else {
      throw AuditLogError(
        .damaged, files.journal, "it goes on from entry \(journal.base), and the log ends with entry \(last.sequence)",
        of: .journal)
    }
    var entries: [EncodedEvent] = []
    var mark = last
    for event in journal.events {
      guard event.sequence <= last.sequence else {
        entries.append(EncodedEvent(event, after: mark))
        mark = entries[entries.count - 1].mark
        continue
      }
      let stored = try queue.read { db in
        try Row.fetchOne(
          db, sql: "SELECT sequence, payload, hash FROM entry WHERE sequence = ?", arguments: [event.sequence])
      }
      guard let stored = stored.flatMap(SegmentReader.entry), try stored.event(file: files.log) == event else {
        throw AuditLogError(
          .foreign, files.journal, "its entry \(event.sequence) is another than the log's", of: .journal)
      }
    }
    return entries
  }
}
