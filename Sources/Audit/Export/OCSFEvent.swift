/// Events in the Open Cybersecurity Schema Framework, version 1.6.0, with its profiles “host” and “security control”.
///
/// Facts that have no attribute in a class are in `unmapped`, so that nothing of an event is lost on the way.
enum OCSFEvent {
  static let schema = "1.6.0"

  static func write(_ event: AuditEvent, _ source: ExportSource, to writer: inout JSONWriter) {
    let activity = OCSFActivity.of(event.kind)
    writer.object { line in
      line.member("activity_id", activity.id)
      line.member("activity_name", activity.name)
      line.member("category_uid", activity.of.category)
      line.member("category_name", activity.of.categoryName)
      line.member("class_uid", activity.of.uid)
      line.member("class_name", activity.of.name)
      line.member("type_uid", activity.type)
      line.member("type_name", "\(activity.of.name): \(activity.name)")
      line.member("time", milliseconds(Timestamp(event.time)))
      outcome(event, activity, &line)
      line.member("message", event.sentence)
      line.object("metadata") { metadata(event, source, &$0) }
      line.object("actor") { actor(event, &$0) }
      line.object("device") { device in
        device.member("hostname", source.host)
        device.member("type_id", 0)
      }
      if event.rule != nil || event.detail[AuditEvent.Fact.policy] != nil { authorization(event, &line) }
      let place = subject(event, activity.of, source, &line)
      unmapped(event, in: place, &line)
    }
  }

  /// Milliseconds since 1970, as OCSF's `timestamp_t` has them; `metadata.original_time` has the moment whole.
  static func milliseconds(_ time: Timestamp) -> Int64 {
    let (whole, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1000)
    return rest < 0 ? whole - 1 : whole
  }

  /// How it came out: severity, status, and of “security control” the action that was taken.
  private static func outcome(_ event: AuditEvent, _ activity: OCSFActivity, _ line: inout JSONWriter) {
    let severity = activity.alerts ? (3, "Medium") : event.result == .allowed ? (1, "Informational") : (2, "Low")
    line.member("severity_id", severity.0)
    line.member("severity", severity.1)
    line.member("status_id", event.result == .allowed ? 1 : 2)
    line.member("status", event.result == .allowed ? "Success" : "Failure")
    line.member("status_code", event.result.rawValue)
    line.member("status_detail", event.reason)
    let (action, disposition) =
      switch event.result {
      case .allowed: ((1, "Allowed"), (1, "Allowed"))
      case .refused: ((2, "Denied"), (2, "Blocked"))
      case .failed: ((1, "Allowed"), (16, "No Action"))
      }
    line.member("action_id", action.0)
    line.member("action", action.1)
    line.member("disposition_id", disposition.0)
    line.member("disposition", disposition.1)
    if activity.alerts { line.member("is_alert", true) }
  }

  private static func metadata(_ event: AuditEvent, _ source: ExportSource, _ metadata: inout JSONWriter) {
    metadata.member("version", schema)
    metadata.object("product") { product in
      product.member("name", "Ambit")
      product.member("vendor_name", "Ambit")
      product.member("version", source.version)
    }
    metadata.array("profiles") { profiles in
      profiles.string("host")
      profiles.string("security_control")
    }
    metadata.member("uid", source.identifier(event).description)
    metadata.member("sequence", event.sequence)
    metadata.member("event_code", event.kind.rawValue)
    metadata.member("log_name", source.log.description)
    metadata.member("original_time", Timestamp(event.time).text)
    // The events of one grant (given, started, stopped, taken back) are found by it.
    metadata.member("correlation_uid", event.grant)
  }

  private static func actor(_ event: AuditEvent, _ actor: inout JSONWriter) {
    actor.member("app_name", event.app ?? "Ambit")
    actor.member("app_uid", event.app)
    if event.pid != nil || event.instance != nil { actor.object("process") { process(event, &$0) } }
  }

  /// A process needs a number or an identifier; the instance is the identifier.
  private static func process(_ event: AuditEvent, _ process: inout JSONWriter) {
    process.member("name", event.app)
    process.member("pid", event.pid)
    process.member("uid", event.instance)
  }

  private static func authorization(_ event: AuditEvent, _ line: inout JSONWriter) {
    line.array("authorizations") { all in
      all.object { one in
        one.member("decision", event.result.rawValue)
        one.object("policy") { policy in
          policy.member("uid", event.rule)
          policy.member("name", event.detail[AuditEvent.Fact.policy])
        }
      }
    }
  }

  /// How much of a document a class's own attributes hold.
  private enum DocumentPlace { case none, rounded, whole }

  /// The object of the act, which each class has in a place of its own.
  ///
  /// - Returns: how much of the document is in it, if the event has one.
  private static func subject(
    _ event: AuditEvent, _ kind: OCSFClass, _ source: ExportSource, _ line: inout JSONWriter
  ) -> DocumentPlace {
    switch kind {
    case .file:
      line.object("file") { file(event, &$0) }
      return .rounded
    case .process:
      line.object("process") { told in
        process(event, &told)
        // A launch that was refused has neither: its log entry identifies it.
        if event.pid == nil, event.instance == nil { told.member("uid", source.identifier(event).description) }
      }
      if event.kind == .exit, let status = event.detail[AuditEvent.Fact.status].flatMap(Int32.init) {
        line.member("exit_code", status)
      }
      return .none
    case .access:
      line.object("user") { user in
        user.member("name", event.app ?? "unknown")
        user.member("uid", event.app)
        user.member("type_id", 99)
        user.member("type", "App")
      }
      line.array("privileges") { $0.string(event.detail[AuditEvent.Fact.access] ?? "unknown") }
      line.array("resources") { resources in resources.object { resource(event, &$0) } }
      return .whole
    case .entity:
      line.object("entity") { resource(event, &$0) }
      return .whole
    case .lifecycle:
      line.object("app") { app in
        app.member("name", event.app ?? "Ambit broker")
        app.member("vendor_name", event.app == nil ? "Ambit" : "unknown")
        app.member("uid", event.app)
      }
      return .none
    case .api:
      line.object("api") { api in
        api.member("operation", event.detail[AuditEvent.Fact.operation] ?? event.kind.rawValue)
        api.object("service") { $0.member("name", "Ambit broker") }
      }
      line.object("src_endpoint") { $0.member("hostname", source.host) }
      line.array("resources") { resources in resources.object { resource(event, &$0) } }
      return .whole
    case .log:
      line.member("log_name", source.log.description)
      line.member("log_provider", "Ambit")
      return .none
    default:
      return .none
    }
  }

  /// A file needs a name and a type, and an event of one need not say which it is.
  private static func file(_ event: AuditEvent, _ file: inout JSONWriter) {
    file.member("name", event.document?.name ?? "unknown")
    file.member("path", event.document?.path)
    // Not known from the log: a document can be a folder.
    file.member("type_id", 0)
    if let document = event.document, document.volume != nil || document.inode != nil {
      let parts = [document.volume, document.inode.map { String($0) }].map { $0 ?? "" }
      file.member("uid", parts.joined(separator: "/"))
    }
    file.member("created_time", event.document?.birth.map { milliseconds(Timestamp($0)) })
  }

  /// A resource's or an entity's details.
  private static func resource(_ event: AuditEvent, _ resource: inout JSONWriter) {
    resource.member("name", event.document?.name ?? event.grant ?? event.app ?? event.kind.rawValue)
    resource.member("uid", event.grant)
    resource.member("type", event.document == nil ? event.kind.rawValue : "document")
    if let document = event.document { resource.object("data") { JSONLine.write(document, to: &$0) } }
  }

  /// Facts without an attribute: `how`, all facts, and of a document those that its place in the class
  /// does not hold as they were.
  private static func unmapped(_ event: AuditEvent, in place: DocumentPlace, _ line: inout JSONWriter) {
    let document = place == .whole ? nil : event.document
    guard event.how != nil || !event.detail.isEmpty || document != nil else { return }
    line.object("unmapped") { rest in
      rest.member("how", event.how)
      if !event.detail.isEmpty { rest.object("detail") { JSONLine.write(event.detail, to: &$0) } }
      guard let document else { return }
      // A file of OCSF's has one text for its identity, and milliseconds for its birth.
      rest.object("document") { JSONLine.write(document, to: &$0) }
    }
  }
}
