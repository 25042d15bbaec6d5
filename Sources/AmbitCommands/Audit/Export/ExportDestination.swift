internal import Audit
internal import Kernel

/// Where an export goes.
protocol ExportDestination {
  /// Where to begin when the destination itself knows: the last event that is really there, `nil` when none is.
  ///
  /// Only a file does; others answer `.unknown`.
  mutating func position(of source: ExportSource) throws -> ExportPosition
  /// Hands these events over, as far as it goes without waiting for ever.
  ///
  /// - Throws: `ConsumerGone` when the consumer has gone, or is not there yet: events that have not settled count as not delivered.
  mutating func send(_ events: [AuditEvent], _ encoder: ExportEncoder) throws
  /// Whether everything that was sent is in the other's hands; waits for it at most so long.
  mutating func settles(within patience: Duration) throws -> Bool
  /// Everything has been sent: waits until it is in the other's hands.
  mutating func finish() throws
  /// Removes the incomplete line at the end of the destination, which has turned out to be this export's own.
  mutating func discard() throws
  /// Makes a new connection after the old one was lost.
  mutating func reopen() throws
  /// Whether a consumer that has gone may come back.
  var canReturn: Bool { get }
}

/// A destination's statement about its content.
enum ExportPosition: Equatable {
  /// It cannot tell: the state decides.
  case unknown
  /// It has nothing: the state decides.
  case empty
  /// Its last event, and the line that has it.
  case after(EventIdentifier, line: [UInt8])
  /// It has the beginning of a line, and no whole one: as when an export died over its first, or as any other file.
  case torn([UInt8])
}

/// The consumer of the events has gone, is not there, or does not want any now.
struct ConsumerGone: Error {
  let sentence: String
  /// When it asks to be tried again.
  var pause: Duration?
}

extension ExportDestination {
  func position(of source: ExportSource) throws -> ExportPosition { .unknown }
  func discard() {}

  func encoded(_ events: [AuditEvent], _ encoder: ExportEncoder) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(768 * events.count)
    for event in events { encoder.append(event, to: &bytes) }
    return bytes
  }
}
