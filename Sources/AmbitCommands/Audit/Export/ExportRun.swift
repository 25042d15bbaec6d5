internal import Audit
internal import Kernel
internal import Launcher

/// One export from where the last one stopped to the log's end, or beyond it.
///
/// Events are read in pieces, so that memory does not grow with the log; a state covers only events that have settled.
struct ExportRun {
  let reader: AuditReader
  let encoder: ExportEncoder
  let query: AuditQuery
  let follows: Bool
  var destination: any ExportDestination
  let stateFile: StateFile?
  /// How many events are read at a time.
  var batch = 500
  /// Called with the progress, and with the reason of a wait.
  var progress: (Int64) -> Void = { _ in }
  var note: (String) -> Void = { _ in }
  /// Whether it is to stop after the current delivery.
  var isInterrupted: () -> Bool = { false }
  /// Waits so long; answers whether to go on.
  var rest: (Duration) throws -> Bool

  /// Number of the last event that was handed over, and of the last that has settled.
  private(set) var sent: Int64 = 0
  private(set) var settled: Int64 = 0
  private(set) var count = 0
  /// The number of entries removed from the log after the last delivered one: they are lost for the export.
  private(set) var missed: Int64 = 0
  /// The kind of its identity, for the state.
  var naming = ExportState.Naming.byKey
  private var noted: Int64 = 0
  private var last: AuditEvent?
  private var written: ExportState?
  private var nextWrite: Int64 = 0
  private var pause = Self.firstPause

  /// How long to wait for new events.
  static let newEvents = Duration.milliseconds(200)
  /// Between two states, while there is more: each costs two writes to the disk.
  private static let betweenStates: Int64 = 1_000_000_000
  /// After a consumer has gone: this long, then twice as long, up to the longest.
  private static let firstPause = Duration.milliseconds(200)
  private static let longestPause = Duration.seconds(30)

  init(
    reader: AuditReader, encoder: ExportEncoder, query: AuditQuery = AuditQuery(), follows: Bool = false,
    destination: any ExportDestination, stateFile: StateFile? = nil, rest: @escaping (Duration) throws -> Bool
  ) {
    self.reader = reader
    self.encoder = encoder
    self.query = query
    self.follows = follows
    self.destination = destination
    self.stateFile = stateFile
    self.rest = rest
  }

  /// Finds out where to begin: by the destination's content, else by the state, else after the given number.
  ///
  /// - Throws: when either is of another log, or of a log that has been changed.
  mutating func resume(after number: Int64 = 0) throws {
    let state = try stateFile?.read()
    if let state { try check(state) }
    switch try destination.position(of: encoder.source) {
    case .after(let event, let line):
      guard event.sequence <= (try reader.lastSequence()) else {
        throw Failure(
          "The destination has event \(event.sequence), and the log \(reader.path) ends before it: entries of it are gone. "
            + "Nothing was written.")
      }
      try check(event, line)
      try destination.discard()
      sent = event.sequence
    case .unknown, .empty:
      sent = state?.event.sequence ?? number
    case .torn(let bytes):
      sent = state?.event.sequence ?? number
      try discard(bytes)
    }
    settled = sent
    written = state
    noted = sent
    // Entries that the export never promised are reported, and not counted as missed.
    if sent == 0 { noted = number > 0 ? try reader.removedThrough() : 0 }
    try lookForRemoved(before: nil)
  }

  /// Removes a line without its end if it is the beginning of the line that would be written there now. Nothing else is removed.
  private mutating func discard(_ bytes: [UInt8]) throws {
    var line: [UInt8] = []
    if let event = try reader.events(matching: query, after: sent, limit: 1).first { encoder.append(event, to: &line) }
    guard line.starts(with: bytes) else {
      throw Failure(
        "The destination has something in it that is not an export of this log as \(encoder.format.rawValue). "
          + "Nothing was written. Export to another file, or move this one away.")
    }
    try destination.discard()
  }

  /// Tells of entries that the log had removed before they were delivered.
  ///
  /// - Parameter next: the number of the entry that is delivered next.
  private mutating func lookForRemoved(before next: Int64?) throws {
    guard next.map({ $0 > max(noted, sent) + 1 }) ?? true else { return }
    let from = max(noted, sent)
    // An entry that has been removed since it was read is delivered all the same.
    let removed = min(try reader.removedThrough(), next.map { $0 - 1 } ?? .max)
    guard removed > from else { return }
    let entries = removed - from == 1 ? "1 entry" : "\(removed - from) entries"
    note(
      "\(entries) (\(from + 1) to \(removed)) cannot be delivered: the log has removed \(removed - from == 1 ? "it" : "them"), "
        + "because it keeps no more. The export goes on with \(removed + 1).")
    if sent > 0 { missed += removed - from }
    noted = removed
  }

  /// A log that was put back and has grown again has another event of that number.
  private func check(_ event: EventIdentifier, _ line: [UInt8]) throws {
    let entry = try reader.events(after: event.sequence - 1, limit: 1).first
    // Removed since, because it was old: it can no longer be compared.
    guard let entry, entry.sequence == event.sequence else { return }
    var bytes: [UInt8] = []
    encoder.append(entry, to: &bytes)
    guard encoder.format.time(inLine: bytes.dropLast()) == encoder.format.time(inLine: line) else {
      throw Failure(
        "The destination's last event, \(event.sequence), is another than the log \(reader.path) has under this number: the log "
          + "was changed, or is an older copy that went on. Nothing was written. Keep both for whoever looks into it.")
    }
  }

  private func check(_ state: ExportState) throws {
    let path = stateFile?.path ?? ""
    guard state.event.log == encoder.source.log else {
      throw Failure(
        "The log \(reader.path) is another one than the export's so far: \(path) is about log \(state.event.log), this one is "
          + "\(encoder.source.log). Nothing was delivered. Give this log a state of its own.")
    }
    let event = try reader.events(after: state.event.sequence - 1, limit: 1).first
    // Removed since, because it was old: it can no longer be compared.
    if let event, event.sequence > state.event.sequence { return }
    guard let event, event.sequence == state.event.sequence, try event.digest() == state.digest else {
      throw Failure(
        "Entry \(state.event.sequence) of the log \(reader.path) is not the one that was delivered (by \(path)): the log was "
          + "changed, or is an older copy. Nothing was delivered. Keep both for whoever looks into it.")
    }
  }

  /// Delivers until the log's end, or when following until `rest` says no.
  mutating func run() throws {
    while true {
      do {
        if try !deliver() { return }
        pause = Self.firstPause
      } catch let gone as ConsumerGone {
        guard follows, destination.canReturn else { throw gone }
        // Events that had not settled are delivered again.
        note("\(gone.sentence) Waiting for it; \(settled) is the last event that is delivered.")
        sent = settled
        if try !rest(gone.pause ?? pause) { return }
        pause = min(pause * 2, Self.longestPause)
        try? destination.reopen()
      }
    }
  }

  /// Delivers the present entries, and waits for more.
  ///
  /// - Returns: whether to go on.
  private mutating func deliver() throws -> Bool {
    let events = try reader.events(matching: query, after: sent, limit: batch)
    try lookForRemoved(before: events.first?.sequence)
    if let last = events.last, !isInterrupted() {
      try destination.send(events, encoder)
      (sent, self.last) = (last.sequence, last)
      count += events.count
      progress(sent)
      if Clock.monotonic() >= nextWrite, try destination.settles(within: .zero) { try settle() }
      return true
    }
    if !follows || isInterrupted() {
      try destination.finish()
      try settle()
      return false
    }
    if sent != settled, try destination.settles(within: .milliseconds(200)) { try settle() }
    return try rest(Self.newEvents)
  }

  /// Everything that was sent is in the other's hands: says so, on the disk.
  private mutating func settle() throws {
    settled = sent
    nextWrite = Clock.monotonic() + Self.betweenStates
    guard let stateFile, let last, last.sequence == sent else { return }
    let state = ExportState(
      naming: naming, event: EventIdentifier(log: encoder.source.log, sequence: last.sequence),
      digest: try last.digest())
    guard state != written else { return }
    try stateFile.write(state)
    written = state
  }
}
