internal import GRDB

/// Opening a log for writing: the present files are looked at first, and only then anything is changed.
struct LogOpening {
  let core: LogCore
  let takenOver: Int
  let tornBytes: Int
  let doubts: [String]
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
    if found != nil {
      let read = try Journal(bytes, file: files.journal)
      if read.end > 0 {
        try queue.read { db in try read.check(against: db, last: before, file: files.journal) }
        entries = read.events(after: before.sequence)
      }
      journal = read
    }
    let last = entries.last?.mark ?? before
    let head = try Self.head(files, queue, entries, last: last)
    guard head != nil || last.sequence == 0 else { throw LogEnding.isWithoutHead(files) }
    let key = try AuditKey.load(files, isNew: head == nil)
    var open = try OpenDoubts(files)
    try open.add(Self.doubts(files, key, head, last, found == nil ? nil : journal?.boot ?? []))
    doubts = open.words
    // From here on it is the log that it was, and changed.
    let rest = try store.split(entries, at: entries.filter(\.beginsSegment).map(\.mark.sequence)) { events, store in
      try store.add(events, durably: true)
    }
    let known = checkpoint > 0 ? checkpoint : try Self.checkpoint(before: store.number, files)
    // One that the head has, and that went with the power along with the entries up to it: they are in the journal.
    let lost = entries.first { $0.mark.sequence == head?.checkpoint && $0.mark.sequence > max(known, store.base) }?.mark
    let again = lost.map { Statement(.checkpoint, $0, time: Disk.time(), checkpoint: known, key: key) }
    try store.add(rest, checkpoint: again, durably: false)
    lacksCarried = try store.number > 0 && !store.queue.read { try SegmentReader.hasAllCarried($0) }
    takenOver = Int(last.sequence - before.sequence)
    tornBytes = journal?.torn ?? 0
    // A journal whose header never reached the disk holds nothing.
    var (file, tail): (JournalFile, JournalFile.Tail)
    if let journal, journal.end > 0, journal.last == last, let found {
      (file, tail) = (
        found.0, JournalFile.Tail(end: journal.end, hasRemains: journal.torn > 0, length: found.0.length())
      )
      try file.takeBackRemains(&tail)
    } else {
      // The old one's entries have to be on the disk before it goes.
      try store.add([], durably: true)
      (file, tail) = try JournalFile.make(files.journal, after: last, size: settings.journalLength)
      try file.take(replacing: found != nil)
    }
    var state = LogCore.State(
      journal: file, tail: tail, last: last,
      checkpoint: again?.mark.sequence ?? known,
      unsynced: Array(try file.prefix(tail.end).dropFirst(Journal.headerSize)), segment: (store.base, store.size()))
    // The entries of a dead process may not be on the disk. This does not wait for it: a launch waits for this.
    state.synced = head?.mark ?? ChainMark()
    if last != state.synced { state.dirtySince = Disk.now() }
    core = try LogCore(files, settings, key, state, store)
    // From the first entry on it is not closed any more.
    if head?.kind != .head { try core.sign(head?.mark ?? ChainMark()) }
  }

  /// Holds the log against how far it went when it was written to last.
  ///
  /// - Throws: when that tells that something was taken away or added.
  /// - Returns: the questions that are open because the machine stopped meanwhile; sentences without their full stop.
  private static func doubts(
    _ files: LogFiles, _ key: AuditKey, _ head: Statement?, _ last: ChainMark, _ journalBoot: [UInt8]?
  ) throws(AuditLogError) -> [String] {
    let isOpen = AuditKey.close(files)
    var doubts =
      isOpen
      ? ["others than the user could read \(files.key), which the log is signed with, and may have signed in its name"]
      : []
    guard let head else { return doubts }
    guard head.isSigned(by: key.publicKey) else {
      throw AuditLogError(.damaged, files.head, "it is not signed by the key in \(files.key)", of: .signature)
    }
    let end = try EndFile.read(files.end, key: key)
    let ending = LogEnding(files: files, head: head, end: end, journalBoot: journalBoot)
    try ending.check(last, goesOn: true)
    if journalBoot?.isEmpty ?? true, head.kind == .head {
      doubts.append("\(files.journal), which has the newest entries of a log that nobody has closed, was gone")
    }
    if ending.lost(last) > 0 {
      doubts.append(
        "\(ending.lost(last)) entries after entry \(last.sequence) were gone: the machine stopped before they were on the disk, "
          + "or somebody has taken them away")
    }
    if ending.unanswered(last) > 0 {
      doubts.append(
        "the last \(ending.unanswered(last)) of \(last.sequence) entries were answered to nobody: their broker was killed "
          + "just then, or somebody has added them")
    }
    return doubts
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

  /// The head beside the log. Entries that it promises, and that are nowhere, are found by ``LogEnding``.
  private static func head(
    _ files: LogFiles, _ queue: DatabaseQueue, _ entries: [EncodedEvent], last: ChainMark
  ) throws -> Statement? {
    guard let head = try HeadFile.read(files.head) else { return nil }
    let hash =
      try entries.first { $0.mark.sequence == head.mark.sequence }?.mark.hash
      ?? queue.read { db in try SegmentReader.hash(db, of: head.mark.sequence) }
    // One before the newest segment is for `audit verify`.
    guard hash == nil || hash == head.mark.hash else {
      throw AuditLogError(.damaged, files.log, "entry \(head.mark.sequence) is another than its signed head has")
    }
    return head
  }
}
