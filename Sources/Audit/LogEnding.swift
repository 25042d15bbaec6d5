/// How a log ends, by the files beside it: the rules that checking it and going on with it have in common (`AUD-4`).
///
/// They go by signed records, and by `audit.end`, which only the key can have written. Any process can write a journal's header;
/// and after a restart of the machine it is unknown how much of the last moments the power took.
struct LogEnding {
  let files: LogFiles
  let head: Statement
  let end: EndMark?
  /// Which time since a start of the machine the journal was begun in: empty when it holds nothing yet, nil when there is none.
  let journalBoot: [UInt8]?

  static let boot = Journal.padded(JournalFile.boot)

  /// Its head was signed in this time since the machine's start. For one that an older version signed it is unknown.
  var isOfThisBoot: Bool { head.boot == Self.boot }

  func isClosed(_ last: ChainMark) -> Bool { head.kind == .closed && head.mark == last }

  /// A process writes it now, or was killed while it did.
  func isOpen(_ last: ChainMark) -> Bool { journalBoot == Self.boot || (isOfThisBoot && !isClosed(last)) }

  /// Entries after the last one that was answered for: their writer was killed just then, or an attacker has added them.
  func unanswered(_ last: ChainMark) -> Int64 {
    guard let end, end.boot == Self.boot else { return 0 }
    return max(0, last.sequence - end.mark.sequence)
  }

  /// Entries that were made after the last one before the machine stopped, and are not there.
  func lost(_ last: ChainMark) -> Int64 { max(0, (end?.mark.sequence ?? 0) - last.sequence) }

  /// - Parameter goesOn: a broker is about to write it. After the machine was started anew one has to: it
  ///   says which entries it lacks.
  /// - Throws: when a part of the log's end is missing, or is there and should not be.
  func check(_ last: ChainMark, goesOn: Bool = false) throws(AuditLogError) {
    guard head.mark.sequence <= last.sequence else {
      throw AuditLogError(
        .damaged, files.log,
        "entries \(last.sequence + 1) to \(head.mark.sequence) are missing at its end, which its signed head has "
          + "(\(files.head))")
    }
    // The power may have left an empty one, and rarely none.
    let hasJournal = journalBoot.map { !$0.isEmpty || !isOfThisBoot } ?? (goesOn && !isOfThisBoot)
    guard hasJournal || isClosed(last) else {
      throw AuditLogError(
        .damaged, files.journal,
        "it is gone, which has the newest entries of a log that nobody has closed, and what was in it alone with it",
        of: .journal)
    }
    guard isClosed(last) || head.kind == .head || !isOfThisBoot else {
      throw AuditLogError(
        .damaged, files.journal,
        "entries \(head.mark.sequence + 1) to \(last.sequence) come after the log was closed, and no broker has written them",
        of: .journal)
    }
    if let end, end.boot == Self.boot, end.mark.sequence > last.sequence {
      throw AuditLogError(
        .damaged, files.log,
        "entries \(last.sequence + 1) to \(end.mark.sequence) are missing at its end, which were there when it was written to "
          + "last (\(files.end))", mayPass: true)
    }
    if end == nil, isOfThisBoot, head.kind == .head {
      throw AuditLogError(
        .damaged, files.end,
        "it is gone, and without it nobody can say whether entries after the signed head are missing", of: .signature)
    }
  }

  /// A log that has entries has a head: it is signed, and on the disk, before there is the first one.
  static func isWithoutHead(_ files: LogFiles) -> AuditLogError {
    AuditLogError(
      .damaged, files.head, "it is gone, and without it nobody can say whether entries at the end are missing",
      of: .signature)
  }
}
