internal import Audit

/// Which log this is, for the names of its events.
///
/// The log's key says it. Exports that were begun by earlier versions, which named a log by its first entry, go on under that name
/// if their entries equal the log's.
enum ExportBeginning {
  /// - Parameters:
  ///   - own: by its key; nil when it has none.
  ///   - first: the first entry that there is.
  ///   - line: the last event in the file that is continued, and its line.
  ///   - entry: the log's entry of a number, if it has one.
  static func identity(
    own: LogIdentity?, first: AuditEvent, state: ExportState?, line: (event: EventIdentifier, bytes: [UInt8])?,
    encoder: (LogIdentity) -> ExportEncoder, entry: (Int64) throws -> AuditEvent?
  ) throws -> LogIdentity {
    let byFirst = try LogIdentity(first: first)
    let usual = own ?? byFirst
    if let state {
      // A name by the key is the log's, or another log's.
      guard state.naming == .byFirst, state.event.log != usual else { return usual }
      if first.sequence == 1 { return state.event.log == byFirst ? byFirst : usual }
      // Entries that were delivered and have been removed since cannot be compared.
      guard let known = try entry(state.event.sequence) else {
        return state.event.sequence < first.sequence ? state.event.log : usual
      }
      return try known.digest() == state.digest ? state.event.log : usual
    }
    if let line, line.event.log != usual, let known = try entry(line.event.sequence) {
      var bytes: [UInt8] = []
      encoder(line.event.log).append(known, to: &bytes)
      if bytes.dropLast().elementsEqual(line.bytes) { return line.event.log }
    }
    return usual
  }
}
