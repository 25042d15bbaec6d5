#if canImport(Glibc)
  internal import Glibc
#endif

/// The reason for which a reader may miss a log's newest entries.
///
/// A database that was copied alone is an earlier state of the log: its newest entries are in the journal and in SQLite's write-ahead
/// log. The database itself does not tell, even when its last entry says that a broker stopped: another one may have begun since.
/// So the files beside it are asked.
package struct LogGap: Equatable, Sendable, CustomStringConvertible {
  /// The finding, and what to copy or to name, as sentences.
  package let description: String

  init(_ files: LogFiles, _ finding: String) {
    description =
      "\(files.log) may lack its newest entries: \(finding). Copy the whole log: also \(files.head) and, where they exist, "
      + "\(files.journal), \(files.end), \(files.log)-wal and \(files.stem)-*."
  }

  /// - Parameter whole: the log that the file is a part of.
  init(_ files: LogFiles, isPartOf whole: LogFiles) {
    description = "\(files.log) is only a part of the log \(whole.log): name that one."
  }
}

extension AuditReader {
  /// Why entries may be missing, by the files beside the log: its head, the mark of its last entry, its journal. Nil when the log goes
  /// as far as they say.
  ///
  /// Nothing is verified: ``verified(key:anchors:isCopy:progress:)`` does that.
  ///
  /// - Throws: as any reading does.
  package func gap() throws(AuditLogError) -> LogGap? {
    let whole = LogFiles(anyOf: path)
    if whole != files { return LogGap(files, isPartOf: whole) }
    var found: LogGap?
    for _ in 0..<8 {
      // Before the log: they promise no more than there is.
      let head = head()
      let end = try? EndFile.read(files.end, key: nil)
      found = gap(head, end, last: try lastSequence())
      // Its writer may have closed it meanwhile, or begun to write it anew.
      if found == nil || self.head() == head { return found }
    }
    return found
  }

  private func head() -> Result<Statement?, AuditLogError> {
    Result { () throws(AuditLogError) in try HeadFile.read(files.head) }
  }

  private func gap(_ head: Result<Statement?, AuditLogError>, _ end: EndMark?, last: Int64) -> LogGap? {
    switch head {
    case .failure(let error):
      return LogGap(files, "\(error.file) says how far it goes, and \(error.finding)")
    case .success(nil):
      return LogGap(files, "there is no \(files.head) beside it, which says how far it goes")
    case .success(let head?):
      let marked = end?.mark.sequence ?? 0
      if max(head.mark.sequence, marked) > last {
        let (through, file) =
          head.mark.sequence >= marked ? (head.mark.sequence, files.head) : (marked, files.end)
        let missing = through == last + 1 ? "entry \(through) is" : "entries \(last + 1) to \(through) are"
        return LogGap(files, "\(missing) missing, by \(file)")
      }
      if head.kind == .head, unsafe access(files.journal, F_OK) != 0 {
        return LogGap(files, "a broker was writing it, and there is no \(files.journal) beside it, which has them")
      }
      return nil
    }
  }
}
