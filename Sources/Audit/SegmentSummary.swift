/// One file of a log, as people look at it.
package struct SegmentSummary: Equatable, Sendable {
  package let number: Int
  package let path: String
  /// Bytes.
  package let bytes: Int
  /// The numbers of its first entry and of its last; the last is before the first when it has none.
  package let first: Int64
  package let last: Int64
  /// The earliest time of an entry and the latest, in microseconds since 1970; nil when it has none.
  package let times: ClosedRange<Int64>?
  /// It has the state in force at its beginning: entries before it can be removed.
  package let standsAlone: Bool
}

extension AuditReader {
  /// The files of the log, the oldest first. Entries that are only in the journal are in none of them yet.
  package func segments() throws(AuditLogError) -> [SegmentSummary] {
    try read { view in
      try view.segments.map { segment in
        try view.with(segment) { db in
          let base = try SegmentReader.base(db, file: segment.path).sequence
          let last = try SegmentReader.last(db, file: segment.path).sequence
          let times = try SegmentReader.times(db)
          return SegmentSummary(
            number: segment.number, path: segment.path, bytes: try SegmentReader.size(db), first: base + 1,
            last: last,
            times: last > base && times.first <= times.last ? times.first...times.last : nil,
            standsAlone: try base == 0 || SegmentReader.hasAllCarried(db))
        }
      }
    }
  }
}
