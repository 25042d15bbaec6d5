internal import GRDB

/// Opening a log for writing: what is there is looked at first, and only then anything is changed.
struct LogOpening {
  let core: LogCore
  let takenOver: Int
  let tornBytes: Int
  let missing: String?
  let lacksCarried: Bool

  init(_ files: LogFiles, _ settings: AuditLog.Settings) throws {
    var store = try SegmentStore(files, number: files.segments().last ?? 0)
    let (path, queue) = (store.path, store.queue)
    let found = try JournalFile.open(files.journal)
    let bytes = found?.1 ?? []
    let (before, checkpoint) = try queue.read { db in
      (try SegmentReader.last(db, file: path), try SegmentReader.lastCheckpoint(db))
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
    let gone = [
      head == nil && wasSigned && last.sequence > 0 ? files.head : nil,
      try Self.lacksEnd(files, key, journal, last: last) ? files.end : nil,
    ].compactMap(\.self)
    var words: [String] = []
    if !gone.isEmpty { words.append("\(gone.joined(separator: " and ")), which says how far the log goes, was gone") }
    if found == nil || journal?.end == 0, head?.kind == .head {
      words.append("\(files.journal), which has the newest entries of a log that nobody has closed, was gone")
    }
    missing = words.isEmpty ? nil : words.joined(separator: "; ")
    let rest = try store.split(entries, at: entries.filter(\.beginsSegment).map(\.mark.sequence)) { events, store in
      try store.add(events, durably: true)
    }
    let known = checkpoint > 0 ? checkpoint : try Self.checkpoint(before: store.number, files)
    // One that the head has, and that went with the power along with the entries up to it: they are in the journal.
    let lost = entries.first { $0.mark.sequence == head?.checkpoint && $0.mark.sequence > max(known, store.base) }?.mark
    let again = try lost.map { try Statement(.checkpoint, $0, time: Disk.time(), checkpoint: known, key: key) }
    try store.add(rest, checkpoint: again, durably: false)
    lacksCarried = try store.number > 0 && !store.queue.read { try SegmentReader.hasAllCarried($0) }
    takenOver = Int(last.sequence - before.sequence)
    tornBytes = journal?.torn ?? 0
    // A journal whose header never reached the disk holds nothing; one of an older format is not written on.
    var (file, tail): (JournalFile, JournalFile.Tail)
    if let journal, journal.end > 0, journal.last == last, let found {
      (file, tail) = (found.0, JournalFile.Tail(end: journal.end, hasRemains: journal.torn > 0))
      try file.takeBackRemains(&tail)
    } else {
      // What the old one held has to be on the disk before it goes.
      try store.add([], durably: true)
      (file, tail) = try JournalFile.make(files.journal, after: last, size: settings.journalSize)
      try file.take(replacing: found != nil)
    }
    var state = LogCore.State(
      journal: file, tail: tail, last: last,
      checkpoint: again?.mark.sequence ?? known,
      unsynced: Array(try file.prefix(tail.end).dropFirst(Journal.headerSize)), segment: (store.base, store.size()))
    // What a process that died had written may not be on the disk. It is not waited for here: a launch waits for this.
    state.synced = head?.mark ?? ChainMark()
    if last != state.synced { state.dirtySince = Disk.now() }
    core = try LogCore(files, settings, key, state, store)
    // From the first entry on it is not closed any more.
    if head?.kind != .head { try core.sign(head?.mark ?? ChainMark()) }
  }

  /// Holds the log against how far it went when it was written to last.
  ///
  /// - Returns: whether there is nothing that says so, and should be.
  private static func lacksEnd(
    _ files: LogFiles, _ key: AuditKey, _ journal: Journal?, last: ChainMark
  ) throws(AuditLogError) -> Bool {
    let boot = Journal.padded(JournalFile.boot)
    guard let end = try EndFile.read(files.end, key: key) else { return journal?.boot == boot }
    if end.boot == boot { try LogVerifier.check(end, last, files) }
    return false
  }

  /// The last checkpoint of the segments before one that has none; the head may be older, and not know of it.
  private static func checkpoint(before number: Int, _ files: LogFiles) throws -> Int64 {
    for number in files.segments().reversed().drop(while: { $0 >= number }) {
      let queue = try AuditFile.openForReading(files.segment(number), of: files)
      defer { try? queue.close() }
      let found = try queue.read { db in try SegmentReader.lastCheckpoint(db) }
      if found > 0 { return found }
    }
    return try HeadFile.statement(SmallFile.read(files.begins), [.begins], files.begins)?.checkpoint ?? 0
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
