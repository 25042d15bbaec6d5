/// A form in which events leave Ambit for another program.
package enum ExportFormat: String, CaseIterable, Sendable {
  /// One object a line: the event as `ambit audit log --format json` has it, and the log that it is of.
  case jsonl
  /// CloudEvents 1.0, structured mode, one a line.
  case cloudevents
  /// OCSF 1.6.0, one event a line.
  case ocsf
  /// OTLP 1.x: an `ExportLogsServiceRequest` as JSON, one a line.
  case otlp
  /// systemd's Journal Export Format.
  case journal
}

/// Facts that an event does not state and a receiver of many machines' events has to know.
package struct ExportSource: Equatable, Sendable {
  package let log: LogIdentity
  /// This machine's name.
  package let host: String
  /// Ambit's version.
  package let version: String

  package init(log: LogIdentity, host: String, version: String) {
    self.log = log
    self.host = host
    self.version = version
  }

  func identifier(_ event: AuditEvent) -> EventIdentifier {
    EventIdentifier(log: log, sequence: event.sequence)
  }
}

/// Writes events in one format. The same event always becomes the same bytes.
package struct ExportEncoder: Sendable {
  package let format: ExportFormat
  package let source: ExportSource

  package init(_ format: ExportFormat, _ source: ExportSource) {
    self.format = format
    self.source = source
  }

  /// Adds one event at the end of the output: a line with its newline, or for `journal` an entry with its blank line.
  package func append(_ event: AuditEvent, to bytes: inout [UInt8]) {
    if format == .journal { return JournalEntry(event, source).append(to: &bytes) }
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    // One owner at any time, or each event would copy all that stands before it.
    var writer = JSONWriter(after: consume taken)
    switch format {
    case .jsonl: JSONLine.write(event, source, to: &writer)
    case .cloudevents: CloudEvent.write(event, source, to: &writer)
    case .ocsf: OCSFEvent.write(event, source, to: &writer)
    case .otlp: LogRecord.write([event], source, to: &writer)
    case .journal: break
    }
    writer.endLine()
    bytes = writer.take()
  }

  /// One request to an OTLP receiver with all of these.
  package func request(_ events: some Collection<AuditEvent>) -> [UInt8] {
    var writer = JSONWriter()
    LogRecord.write(events, source, to: &writer)
    return writer.bytes
  }
}
