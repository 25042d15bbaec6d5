/// Log records of OpenTelemetry, as OTLP has them in JSON (opentelemetry-proto 1.x): names in lowerCamelCase, 64-bit
/// numbers as texts.
enum LogRecord {
  /// An `ExportLogsServiceRequest`.
  static func write(_ events: some Collection<AuditEvent>, _ source: ExportSource, to writer: inout JSONWriter) {
    writer.object { request in
      request.array("resourceLogs") { resources in
        resources.object { resource in
          resource.object("resource") { described in
            described.array("attributes") { attributes in
              text("service.name", "ambit", &attributes)
              text("service.version", source.version, &attributes)
              text("host.name", source.host, &attributes)
              text("ambit.log", source.log.description, &attributes)
            }
          }
          resource.array("scopeLogs") { scopes in
            scopes.object { scope in
              scope.object("scope") { $0.member("name", "ambit.audit") }
              scope.array("logRecords") { records in
                for event in events { records.object { write(event, source, to: &$0) } }
              }
            }
          }
        }
      }
    }
  }

  /// `SeverityNumber`: INFO; WARN for an act that a rule forbade, ERROR for one that could not be done.
  static func severity(_ result: AuditEvent.Result) -> (number: Int, text: String) {
    switch result {
    case .allowed: (9, "INFO")
    case .refused: (13, "WARN")
    case .failed: (17, "ERROR")
    }
  }

  private static func write(_ event: AuditEvent, _ source: ExportSource, to record: inout JSONWriter) {
    let nanoseconds = nanoseconds(Timestamp(event.time))
    record.member("timeUnixNano", nanoseconds)
    record.member("observedTimeUnixNano", nanoseconds)
    let severity = severity(event.result)
    record.member("severityNumber", severity.number)
    record.member("severityText", severity.text)
    record.member("eventName", CloudEvent.typePrefix + event.kind.rawValue)
    record.object("body") { $0.member("stringValue", event.sentence) }
    record.array("attributes") { attributes in
      text("log.record.uid", source.identifier(event).description, &attributes)
      integer("ambit.sequence", event.sequence, &attributes)
      text("ambit.time", Timestamp(event.time).text, &attributes)
      text("ambit.kind", event.kind.rawValue, &attributes)
      text("ambit.result", event.result.rawValue, &attributes)
      text("ambit.app", event.app, &attributes)
      text("ambit.instance", event.instance, &attributes)
      if let pid = event.pid { integer("process.pid", Int64(pid), &attributes) }
      text("ambit.grant", event.grant, &attributes)
      if let document = event.document {
        text("file.path", document.path, &attributes)
        text("file.name", document.name, &attributes)
        // A text in the semantic conventions; a number of OTLP's could not hold all of them.
        text("file.inode", document.inode.map { String($0) }, &attributes)
        text("file.created", document.birth.map { Timestamp($0).text }, &attributes)
        text("ambit.volume", document.volume, &attributes)
      }
      text("ambit.how", event.how, &attributes)
      text("ambit.rule", event.rule, &attributes)
      text("ambit.reason", event.reason, &attributes)
      for (name, value) in event.detail.sorted(by: { $0.key < $1.key }) {
        text("ambit.detail.\(name)", value, &attributes)
      }
    }
  }

  /// Nanoseconds since 1970 as a `fixed64`: 0, which OTLP has for “not known”, for a moment that it cannot write.
  static func nanoseconds(_ time: Timestamp) -> String {
    let (nanoseconds, overflows) = UInt64(max(0, time.microseconds)).multipliedReportingOverflow(by: 1000)
    return String(overflows ? 0 : nanoseconds)
  }

  private static func text(_ name: String, _ value: String?, _ attributes: inout JSONWriter) {
    guard let value else { return }
    attributes.object { pair in
      pair.member("key", name)
      pair.object("value") { $0.member("stringValue", value) }
    }
  }

  private static func integer(_ name: String, _ value: Int64, _ attributes: inout JSONWriter) {
    attributes.object { pair in
      pair.member("key", name)
      pair.object("value") { $0.member("intValue", String(value)) }
    }
  }
}
