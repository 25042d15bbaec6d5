internal import Foundation
internal import GRDB
internal import Paths

#if AMBIT_MUTANTS
  internal import Kernel
#endif

#if canImport(Glibc)
  internal import Glibc
#endif

/// The findings of `AuditReader.verified`: a log in order, and the evidence for each part of it.
package struct AuditVerification: Equatable, Sendable {
  /// The number of the first entry that there is, or that would be the first.
  package let first: Int64
  package let last: ChainMark
  /// The part of the beginning that was removed, by the broker's own word.
  package let begins: Statement?
  package let checkpoints: Int
  /// The number of the entry that the last of them is at; `nil`: there is none.
  package let lastCheckpoint: Int64?
  /// How far the log goes by its signed head.
  package let head: Statement
  package let key: AuditKey.Public
  /// Entries that were made after the last one, and are not there: a power failure took them, or an attacker has.
  package let lost: Int64
  /// Entries after the last one that was answered for: a broker was killed just then, or an attacker has added them.
  package fileprivate(set) var unanswered: Int64
  /// The checking process could read the key; without it the writer of the mark behind the signed head is unknown.
  package let isEndChecked: Bool
  /// Findings of brokers when they began to write it, for which they had no explanation.
  package let doubts: [Doubt]
  /// Such findings that no entry has yet; sentences without their full stop.
  package fileprivate(set) var unsaidDoubts: [String] = []

  /// An entry of the log itself that tells of a fault.
  package struct Doubt: Equatable, Sendable {
    package let sequence: Int64
    /// Microseconds since 1970.
    package let time: Int64
    /// A sentence without its full stop.
    package let words: String
  }

  package var count: Int64 { last.sequence - first + 1 }
  /// Entries after the signed head: of the last moments of a broker that runs, or was killed.
  package var unsigned: Int64 { last.sequence - head.mark.sequence }
}

extension AuditReader {
  /// Reads the whole log and checks it: SQLite's own structure, the chain from its first entry to its last, that it goes as far as
  /// its signed head, every signature, and that its index finds all entries.
  ///
  /// Takes time in proportion to the log.
  /// - Parameters:
  ///   - key: the key that signed it; nil: the key beside the log, which a process with all files and the key can have replaced.
  ///   - anchors: marks that were noted elsewhere. The only thing that shows a log which was signed anew as a whole.
  ///   - isCopy: it lies elsewhere than where it is written, without its private key. With `key` that is no finding. A log that is
  ///     still open is then known as far as its signed head (`isEndChecked`).
  ///   - progress: told the number of an entry now and then; false to stop.
  /// - Throws: problem `damaged` with the first entry that is concerned; `failed` if it was stopped.
  package func verified(
    key: AuditKey.Public? = nil, anchors: [ChainMark] = [], isCopy: Bool = false,
    progress: (Int64) -> Bool = { _ in true }
  ) throws(AuditLogError) -> AuditVerification {
    var attempts = 0
    while true {
      let head = try HeadFile.read(files.head)
      let end = try SmallFile.read(files.end)
      do throws(AuditLogError) { return try verified(key, anchors, isCopy, head, progress) } catch {
        attempts += 1
        // Its writer may have closed it meanwhile, begun to write it anew, or taken entries over from the journal between the looks at
        // the two. A writer that goes on signs it all the time, and tells of each entry.
        let isAnother = try HeadFile.read(files.head) != head
        let goesOn = try SmallFile.read(files.end) != end
        guard error.mayPass, attempts < 8, isAnother || goesOn else { throw error }
      }
    }
  }

  private func verified(
    _ key: AuditKey.Public?, _ anchors: [ChainMark], _ isCopy: Bool, _ head: Statement?,
    _ progress: (Int64) -> Bool
  ) throws(AuditLogError) -> AuditVerification {
    // Before the log: they promise no more than there is.
    let own = try AuditKey.beside(files)
    let end = try EndFile.read(files.end, key: own.key)
    let beside = try AuditKey.publicKey(of: files)
    var found = try read(wholeJournal: true) { view in
      // With each look: a broker may remove old segments meanwhile.
      let begins = try HeadFile.statement(SmallFile.read(files.begins), [.begins], files.begins)
      var verifier = try LogVerifier(
        files, key: key, beside: beside, own: own, head: head, end: end, begins: begins, anchors: anchors,
        needsKey: key == nil || !isCopy)
      return try verifier.check(view, progress)
    }
    // Those that an entry tells of meanwhile are told twice.
    found.unsaidDoubts = try OpenDoubts(files).words
    // Its present writer has written on since, and tells of each entry right after it.
    for _ in 0..<2 where found.unanswered > 0 {
      guard let later = try EndFile.read(files.end, key: own.key) else {
        found.unanswered = 0
        break
      }
      found.unanswered = max(0, found.last.sequence - later.mark.sequence)
      if found.unanswered > 0 { usleep(10_000) }
    }
    return found
  }

  /// The whole log, checked as ``verified(key:anchors:isCopy:progress:)`` does.
  ///
  /// - Returns: how many entries there are.
  package func verify() throws(AuditLogError) -> Int64 { try verified().count }
}

/// The rules that a log in order keeps, from its first entry to its last.
struct LogVerifier {
  let files: LogFiles
  let key: AuditKey.Public
  let head: Statement?
  let end: EndMark?
  let begins: Statement?
  private let own: AuditKey.Beside
  private let needsKey: Bool
  private var anchors: ArraySlice<ChainMark>
  private var base: ChainMark?
  private var last = ChainMark()
  private var checkpoint: Int64 = 0
  private var checkpoints = 0
  private var metCheckpoint = false
  private var unindexed: AuditLogError?
  private var doubts: [AuditVerification.Doubt] = []

  /// - Parameters:
  ///   - key: the key that signed it, by the caller's word.
  ///   - beside: the public key that lies beside the log.
  ///   - own: the key itself, which `end` was read with.
  ///   - needsKey: a log that nobody has closed must have it beside it.
  init(
    _ files: LogFiles, key: AuditKey.Public?, beside: AuditKey.Public?, own: AuditKey.Beside, head: Statement?,
    end: EndMark?, begins: Statement?, anchors: [ChainMark], needsKey: Bool = true
  ) throws(AuditLogError) {
    if let key, let beside, key != beside {
      throw AuditLogError(.damaged, files.publicKey, "it is another key than the one that was given", of: .signature)
    }
    guard let key = key ?? beside else {
      throw AuditLogError(
        .damaged, files.publicKey, "it is gone, and without a key nobody can say what is signed", of: .signature)
    }
    if let own = own.key, own.publicKey != key {
      throw AuditLogError(
        .damaged, files.key, "it is another key than the one that the log is signed with", of: .signature)
    }
    self.files = files
    self.key = key
    self.own = own
    self.needsKey = needsKey
    self.head = head
    self.end = end
    self.begins = begins
    self.anchors = anchors.sorted { $0.sequence < $1.sequence }[...]
  }

  mutating func check(_ view: LogView, _ progress: (Int64) -> Bool) throws -> AuditVerification {
    for segment in view.segments {
      try view.with(segment) { db in try check(db, file: segment.path, progress) }
    }
    for (before, segment) in zip(view.segments, view.segments.dropFirst()) where segment.number != before.number + 1 {
      throw AuditLogError(
        .damaged, segment.path, "it is called as if there were others between it and \(before.path.lastPathName)")
    }
    let verified = try conclude(view.waiting, journalBoot: view.journalBoot)
    if let unindexed { throw unindexed }
    return verified
  }

  /// A segment, in their order.
  private mutating func check(_ db: Database, file: String, _ progress: (Int64) -> Bool) throws {
    let found = try String.fetchAll(db, sql: "PRAGMA integrity_check(1)")
    guard found == ["ok"] else {
      throw AuditLogError(.damaged, file, "SQLite says \"\(found.joined(separator: "; "))\"")
    }
    let start = try SegmentReader.base(db, file: file)
    if base == nil { try begin(start, file) }
    guard start == last else {
      throw start.sequence > last.sequence
        ? AuditLogError(.damaged, file, "entries \(last.sequence + 1) to \(start.sequence) are missing before it")
        : AuditLogError(
          .damaged, file, "it does not go on where the segment before it ends, after entry \(last.sequence)")
    }
    var index = IndexCheck()
    var statements = try statements(db, file)[...]
    let rows = try Row.fetchCursor(db, sql: "SELECT sequence, payload, hash FROM entry ORDER BY sequence")
    while let row = try rows.next() {
      let next = last.sequence + 1
      #if AMBIT_MUTANTS
        if Mutant.chainUnchecked.isActive, let entry = SegmentReader.entry(row), entry.mark.sequence > next,
          let payload = Payload(entry.payload)
        {
          last = entry.mark
          try index.add(payload, db, file)
          continue
        }
      #endif
      guard let sequence = row[0] as? Int64, sequence == next else {
        throw AuditLogError(.damaged, file, "entry \(next) is missing")
      }
      guard let entry = SegmentReader.entry(row), let payload = Payload(entry.payload) else {
        throw AuditLogError(.damaged, file, "entry \(next) is not as it was written")
      }
      try take(entry, file)
      try note(payload, file)
      try index.add(payload, db, file)
      while let statement = statements.first, statement.mark.sequence <= next {
        try take(statement, file)
        statements.removeFirst()
      }
      if next % 16384 == 0, !progress(next) { throw AuditLogError(.failed, file, "the check was stopped") }
    }
    // Said only if nothing else is: the index still tells of entries that were cut off, and they are the missing ones.
    do { try index.conclude(db, file) { progress(last.sequence) } } catch let error as AuditLogError
      where error.problem == .damaged
    {
      if unindexed == nil { unindexed = error }
    }
    if let statement = statements.first {
      throw AuditLogError(
        .damaged, file, "entries \(last.sequence + 1) to \(statement.mark.sequence) are missing, which a checkpoint has"
      )
    }
  }

  private func statements(_ db: Database, _ file: String) throws -> [Statement] {
    try Row.fetchAll(db, sql: "SELECT sequence, statement FROM checkpoint ORDER BY sequence").map { row in
      guard let sequence = row[0] as? Int64, let line = row[1] as? String, let statement = Statement(line),
        statement.kind == .checkpoint, statement.mark.sequence == sequence, statement.isSigned(by: key)
      else {
        throw AuditLogError(
          .damaged, file, "the checkpoint \((row[0] as? Int64).map { "at entry \($0) " } ?? "")is not as it was signed")
      }
      return statement
    }
  }

  private mutating func begin(_ start: ChainMark, _ file: String) throws {
    base = start
    last = start
    if let begins {
      guard begins.isSigned(by: key) else {
        throw AuditLogError(.damaged, files.begins, "it is not signed by the log's key", of: .signature)
      }
      checkpoint = begins.checkpoint
      metCheckpoint = head.map { $0.checkpoint <= begins.mark.sequence } ?? false
    }
    // The removed part is known from a statement. If the broker died while it removed it, some of that is still there.
    guard start.sequence <= begins?.mark.sequence ?? 0 else {
      throw AuditLogError(
        .damaged, file,
        "entries \((begins?.mark.sequence ?? 0) + 1) to \(start.sequence) are missing, and nothing signed says that they "
          + "were removed")
    }
    try pass(start, file)
  }

  private mutating func take(_ entry: EncodedEvent, _ file: String) throws {
    let next = last.sequence + 1
    guard entry.mark.sequence == next, Payload.sequence(entry.payload[...]) == next,
      EntryHash(after: last.hash, entry.payload) == entry.mark.hash
    else { throw AuditLogError(.damaged, file, "entry \(next) is not as it was written") }
    last = entry.mark
    try pass(last, file)
  }

  /// The broker's findings about the log when it began to write it; of many, the last ones.
  private mutating func note(_ payload: Payload, _ file: String) throws {
    guard payload.text(.kind)?.elementsEqual(AuditEvent.Kind.brokerStarted.rawValue.utf8) ?? false,
      let words = try payload.event(file: file).detail[AuditEvent.Fact.doubt]
    else { return }
    doubts.append(AuditVerification.Doubt(sequence: payload.sequence, time: payload.time, words: words))
    if doubts.count > Self.mostDoubts { doubts.removeFirst() }
  }

  private static let mostDoubts = 20

  /// Checks that every statement about a mark is true of it.
  private mutating func pass(_ mark: ChainMark, _ file: String) throws {
    if let end, end.mark.sequence == mark.sequence, end.mark.hash != mark.hash {
      throw AuditLogError(
        .damaged, file, "entry \(mark.sequence) or one before it is another than when it was written (\(files.end))")
    }
    for statement in [begins, head].compactMap(\.self)
    where statement.mark.sequence == mark.sequence && statement.mark.hash != mark.hash {
      throw AuditLogError(
        .damaged, file,
        "entry \(mark.sequence) or one before it is another than its signed \(statement.kind.rawValue) has")
    }
    while let anchor = anchors.first, anchor.sequence <= mark.sequence {
      guard anchor.sequence < mark.sequence || anchor.hash == mark.hash else {
        throw AuditLogError(
          .damaged, file, "entry \(mark.sequence) or one before it is another than when its hash was noted")
      }
      guard anchor.sequence == mark.sequence else {
        throw AuditLogError(.failed, file, "entry \(anchor.sequence), whose hash was noted, was removed since")
      }
      anchors.removeFirst()
    }
  }

  private mutating func take(_ statement: Statement, _ file: String) throws {
    guard statement.mark == last else {
      throw AuditLogError(
        .damaged, file, "entry \(statement.mark.sequence) or one before it is another than its checkpoint has")
    }
    // Some that the first one follows may have been removed with their segment.
    let isFirst = checkpoints == 0 && (begins.map { statement.mark.sequence <= $0.mark.sequence } ?? false)
    guard isFirst || statement.checkpoint == checkpoint else {
      throw AuditLogError(
        .damaged, file,
        "a checkpoint is missing between the entries \(min(checkpoint, statement.checkpoint)) and \(statement.mark.sequence)"
      )
    }
    checkpoint = statement.mark.sequence
    checkpoints += 1
    if head?.checkpoint == checkpoint { metCheckpoint = true }
  }

  /// - Parameters:
  ///   - waiting: entries that are only in the journal.
  ///   - journalBoot: when the journal was begun, if there is one.
  private mutating func conclude(_ waiting: [EncodedEvent], journalBoot: [UInt8]?) throws -> AuditVerification {
    for entry in waiting {
      try take(entry, files.journal)
      if let payload = Payload(entry.payload) { try note(payload, files.journal) }
    }
    guard let head else { throw LogEnding.isWithoutHead(files) }
    guard head.isSigned(by: key) else {
      throw AuditLogError(.damaged, files.head, "it is not signed by the log's key", of: .signature)
    }
    let ending = LogEnding(files: files, head: head, end: end, journalBoot: journalBoot)
    try ending.check(last)
    if case .gone = own, needsKey, ending.isOpen(last) {
      throw AuditLogError(
        .damaged, files.key,
        "it is gone, and without it nobody can say whether entries after the signed head are missing", of: .signature)
    }
    // The power may have taken it with the entries up to it, which are then in the journal alone: so nothing was taken out.
    let isWaiting = waiting.contains { $0.mark.sequence == head.checkpoint }
    guard head.checkpoint == 0 || metCheckpoint || isWaiting else {
      throw AuditLogError(.damaged, files.log, "the checkpoint at entry \(head.checkpoint) is missing")
    }
    if let anchor = anchors.first {
      throw AuditLogError(
        .damaged, files.log,
        "entries \(last.sequence + 1) to \(anchor.sequence) are missing at its end: the last one's hash was noted")
    }
    return AuditVerification(
      first: (base?.sequence ?? 0) + 1, last: last, begins: begins, checkpoints: checkpoints,
      lastCheckpoint: checkpoints > 0 ? checkpoint : nil, head: head, key: key,
      lost: ending.lost(last), unanswered: ending.unanswered(last), isEndChecked: end == nil || own.key != nil,
      doubts: doubts)
  }
}

/// That the index finds all entries, and nothing else.
private struct IndexCheck {
  private var block: Int64 = -1
  private var times: (earliest: Int64, latest: Int64) = (.max, .min)
  private var terms: Set<Int64> = []
  private var blocks = 0
  /// The terms of blocks that are only noted.
  private var noted: [Int64: Set<Int64>] = [:]
  /// How many places there have to be, and a sum over them. Looking each up would take longer than all else: they are read in their
  /// own order and summed as well. Without the key it is impossible to make other places of the same sum.
  private var places = 0
  private var sum: UInt64 = 0
  private let key = UInt64.random(in: .min ... .max)

  mutating func add(_ payload: Payload, _ db: Database, _ file: String) throws {
    let own = SegmentWriter.block(payload.sequence)
    if own != block {
      try finish(db, file)
      block = own
    }
    times = (min(times.earliest, payload.time), max(times.latest, payload.time))
    terms.formUnion(BlockIndex.terms(payload))
  }

  /// - Parameter goesOn: asked now and then.
  mutating func conclude(_ db: Database, _ file: String, goesOn: () -> Bool) throws {
    try finish(db, file)
    let stored = try (
      Int.fetchOne(db, sql: "SELECT count(*) FROM block"), Int.fetchOne(db, sql: "SELECT count(*) FROM newest")
    )
    let more = AuditLogError(.damaged, file, "its index has entries that are not in the log")
    guard stored == (blocks, noted.count) else { throw more }
    var found: (places: Int, sum: UInt64) = (0, 0)
    let rows = try Row.fetchCursor(db, sql: "SELECT term, block FROM place")
    while let row = try rows.next() {
      guard let term = row[0] as? Int64, let block = row[1] as? Int64 else { throw more }
      if let own = noted[block] {
        guard own.contains(term) else { throw more }
        continue
      }
      found = (found.places + 1, found.sum &+ mark(term, block))
      if found.places % 65536 == 0, !goesOn() { throw AuditLogError(.failed, file, "the check was stopped") }
    }
    guard found.places <= places else { throw more }
    guard found == (places, sum) else {
      throw AuditLogError(.damaged, file, "its index does not find all entries")
    }
  }

  private func mark(_ term: Int64, _ block: Int64) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(key)
    hasher.combine(term)
    hasher.combine(block)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  private mutating func finish(_ db: Database, _ file: String) throws {
    guard block >= 0 else { return }
    let damaged = AuditLogError(
      .damaged, file, "its index does not find all entries from \((block << SegmentWriter.blockBits) + 1) on")
    let statement = try db.cachedStatement(sql: "SELECT earliest, latest FROM block WHERE number = ?")
    let row = try Row.fetchOne(statement, arguments: [block])
    guard row?[0] == times.earliest, row?[1] == times.latest else { throw damaged }
    if let note = try BlockIndex.newest(block, db) {
      guard note == BlockIndex.note(terms) else { throw damaged }
      noted[block] = terms
    } else {
      for term in terms { sum &+= mark(term, block) }
      places += terms.count
    }
    blocks += 1
    terms.removeAll(keepingCapacity: true)
    times = (.max, .min)
  }
}
