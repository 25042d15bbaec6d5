internal import Foundation
internal import GRDB
internal import Kernel
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// A segment that is no longer written, as far as it matters for whether it is kept.
private struct OldSegment {
  let number: Int
  let path: String
  let bytes: Int
  let base: Int64
  let last: ChainMark
  let times: (first: Int64, last: Int64)
  /// The last checkpoint that it has; 0: none.
  let checkpoint: Int64
  let hasAllCarried: Bool

  init(_ files: LogFiles, _ number: Int) throws {
    self.number = number
    let path = files.segment(number)
    self.path = path
    let queue = try AuditFile.openForReading(path, of: files)
    defer { try? queue.close() }
    (bytes, base, last, times, checkpoint, hasAllCarried) = try queue.read { db in
      (
        try SegmentReader.size(db), try SegmentReader.base(db, file: path).sequence,
        try SegmentReader.last(db, file: path),
        try SegmentReader.times(db), try SegmentReader.lastCheckpoint(db), try SegmentReader.hasAllCarried(db)
      )
    }
  }
}

extension LogCore {
  func removeOld(now: Int64) throws(AuditLogError) -> Int64? {
    try removal.withLock { _ throws(AuditLogError) in
      do {
        let begins = try HeadFile.statement(SmallFile.read(files.begins), [.begins], files.begins)
        // The segments that a broker had said it removes, before it died in the midst of this.
        try removeFiles(through: begins?.mark.sequence ?? 0)
        let retention = settings.retention
        guard retention.bytes != nil || retention.span != nil else { return nil }
        let found = try store.withLock { store in
          // A thread of a broker that has ended may come here late.
          state.withLock(\.isFinished)
            ? nil
            : (
              number: store.number, bytes: store.size(),
              hasAllCarried: try store.queue.read(SegmentReader.hasAllCarried)
            )
        }
        guard let newest = found else { return nil }
        let numbers = files.segments().filter { $0 < newest.number }
        let old = try numbers.map { try OldSegment(files, $0) }
        var bytes = old.map(\.bytes).reduce(newest.bytes, +)
        var gone: [OldSegment] = []
        var count = 0
        for (index, segment) in old.enumerated() {
          let isTooMuch = retention.bytes.map { bytes > $0 } ?? false
          let isTooOld = retention.span.map { segment.times.last < now - $0 } ?? false
          guard isTooMuch || isTooOld else { break }
          bytes -= segment.bytes
          gone.append(segment)
          // The file after the last one is the newest.
          if index + 1 < old.count ? old[index + 1].hasAllCarried : newest.hasAllCarried { count = gone.count }
        }
        guard let last = gone.prefix(count).last else { return nil }
        try remove(Array(gone.prefix(count)), through: last, after: begins)
        return last.last.sequence
      } catch {
        throw AuditLogError(error, file: files.log)
      }
    }
  }

  private func remove(_ segments: [OldSegment], through last: OldSegment, after begins: Statement?) throws {
    let checkpoint = segments.map(\.checkpoint).max().map { max($0, begins?.checkpoint ?? 0) } ?? 0
    // First of all said in the log itself, in a place that stays.
    _ = try append([try event(segments)])
    try syncNow()
    FaultPoint.removalSaid.pass()
    let statement = Statement(.begins, last.last, time: Disk.time(), checkpoint: checkpoint, key: key)
    try SmallFile.make(files.begins, Array(statement.line.utf8), mode: 0o600)
    FaultPoint.removalSigned.pass()
    try removeFiles(through: last.last.sequence)
  }

  /// The oldest first: so the rest is one piece at every moment.
  private func removeFiles(through sequence: Int64) throws {
    guard sequence > 0 else { return }
    let newest = store.withLock { (number: $0.number, base: $0.base) }
    var oldest = newest
    for number in files.segments() where number < newest.number {
      let path = files.segment(number)
      let queue = try AuditFile.openForReading(path, of: files)
      let (base, last) = try queue.read { db in
        (try SegmentReader.base(db, file: path).sequence, try SegmentReader.last(db, file: path).sequence)
      }
      try queue.close()
      guard last <= sequence else {
        oldest = (number, base)
        break
      }
      // Its name first: a segment without SQLite's files beside it may lack the last entries.
      for ending in ["", "-wal", "-shm"] { try Self.remove(path + ending) }
    }
    // A process that opened one just then, or died while it removed one, left files beside it.
    // All before was said to go.
    for ending in ["-wal", "-shm"] where oldest.base == sequence {
      for number in files.segments(ending) where number < oldest.number {
        try Self.remove(files.segment(number) + ending)
      }
    }
    SmallFile.syncFolder(of: files.log)
  }

  private static func remove(_ path: String) throws(AuditLogError) {
    guard unsafe unlink(path) != 0, errno != ENOENT else { return }
    throw AuditFile.inaccessible(path, errno)
  }

  private func event(_ segments: [OldSegment]) throws -> AuditEvent {
    guard let first = segments.first, let last = segments.last else { return AuditEvent(.logRemoved) }
    var apps: [String: Int] = [:]
    for segment in segments {
      let queue = try AuditFile.openForReading(segment.path, of: files)
      defer { try? queue.close() }
      try queue.read { db in
        let rows = try Data.fetchCursor(db, sql: "SELECT payload FROM entry")
        while let payload = try rows.next() {
          guard let app = Payload(Array(payload))?.text(.app) else { continue }
          apps[String(decoding: app, as: UTF8.self), default: 0] += 1
        }
      }
    }
    var detail = [
      AuditEvent.Fact.through: "\(last.last.sequence)",
      AuditEvent.Fact.entries: "\(last.last.sequence - first.base)",
      AuditEvent.Fact.first: Timestamp(microseconds: first.times.first).text,
      AuditEvent.Fact.last: Timestamp(microseconds: last.times.last).text,
    ]
    if let most = apps.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) {
      detail[AuditEvent.Fact.mostly] = most.key
      detail[AuditEvent.Fact.mostlyEntries] = "\(most.value)"
    }
    return AuditEvent(.logRemoved, how: "retention", detail: detail)
  }
}
