#if AMBIT_MUTANTS
  internal import Kernel
#endif

/// An event as it is recorded, with its place in the chain.
struct EncodedEvent: Equatable {
  let payload: [UInt8]
  let mark: ChainMark

  init(payload: [UInt8], mark: ChainMark) {
    self.payload = payload
    self.mark = mark
  }

  /// The entry after another one.
  init(_ event: AuditEvent, after previous: ChainMark) {
    #if AMBIT_MUTANTS
      let sequence = previous.sequence + (Mutant.gapInNumbers.isActive && event.kind == .stop ? 2 : 1)
    #else
      let sequence = previous.sequence + 1
    #endif
    payload = Payload.encode(event, sequence: sequence)
    mark = ChainMark(sequence: sequence, hash: EntryHash(after: previous.hash, payload))
  }

  /// - Throws: `AuditLogError` (damaged) when the bytes are no event's.
  func event(file: String, _ part: AuditLogError.Part = .database) throws(AuditLogError) -> AuditEvent {
    guard let payload = Payload(payload), payload.sequence == mark.sequence else {
      throw AuditLogError(.damaged, file, "entry \(mark.sequence) is no event", of: part)
    }
    return try payload.event(file: file)
  }
}
