/// An event as `AuditEvent.jsonLine()` has it, with the member `log` besides: the log that the number counts in.
enum JSONLine {
  static func write(_ event: AuditEvent, _ source: ExportSource, to writer: inout JSONWriter) {
    write(event, log: source.log, to: &writer)
  }

  /// Members in the order of their names.
  static func write(_ event: AuditEvent, log: LogIdentity?, to writer: inout JSONWriter) {
    writer.object { line in
      line.member("app", event.app)
      if !event.detail.isEmpty { line.object("detail") { write(event.detail, to: &$0) } }
      if let document = event.document { line.object("document") { write(document, to: &$0) } }
      line.member("grant", event.grant)
      line.member("how", event.how)
      line.member("instance", event.instance)
      line.member("kind", event.kind.rawValue)
      line.member("log", log?.description)
      line.member("pid", event.pid)
      line.member("reason", event.reason)
      line.member("result", event.result.rawValue)
      line.member("rule", event.rule)
      line.member("sequence", event.sequence)
      line.member("time", Timestamp(event.time).text)
    }
  }

  /// The members of `document`.
  static func write(_ document: AuditEvent.Document, to writer: inout JSONWriter) {
    writer.member("birth", document.birth.map { Timestamp($0).text })
    writer.member("inode", document.inode)
    writer.member("path", document.path)
    writer.member("volume", document.volume)
  }

  /// The members of `detail`.
  static func write(_ detail: [String: String], to writer: inout JSONWriter) {
    for (name, value) in detail.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
  }
}
