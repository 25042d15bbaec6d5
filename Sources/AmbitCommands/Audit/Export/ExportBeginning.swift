internal import Audit

/// Which log this is, for the names of its events.
///
/// The log's first entry says it. A log whose oldest entries were removed, because it keeps them for so long and no longer,
/// is the one that the state or the file says, if what they have of it is what it has; else it is named by what is left.
enum ExportBeginning {
  /// - Parameters:
  ///   - first: the first entry that there is.
  ///   - line: the last event in the file that is gone on with, and its line.
  ///   - entry: the log's entry of a number, if it has one.
  static func identity(
    first: AuditEvent, state: ExportState?, line: (event: EventIdentifier, bytes: [UInt8])?,
    encoder: (LogIdentity) -> ExportEncoder, entry: (Int64) throws -> AuditEvent?
  ) throws -> LogIdentity {
    let own = try LogIdentity(first: first)
    guard first.sequence > 1 else { return own }
    if let state {
      // What was delivered and has been removed since, nobody can compare.
      guard let known = try entry(state.event.sequence) else {
        return state.event.sequence < first.sequence ? state.event.log : own
      }
      return try known.digest() == state.digest ? state.event.log : own
    }
    if let line, let known = try entry(line.event.sequence) {
      var bytes: [UInt8] = []
      encoder(line.event.log).append(known, to: &bytes)
      if bytes.dropLast().elementsEqual(line.bytes) { return line.event.log }
    }
    return own
  }
}
