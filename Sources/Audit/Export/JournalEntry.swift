/// An entry of systemd's journal: fields and values, written in the Journal Export Format or as one datagram of the
/// native protocol. Both write a value with a newline in it as its length and its bytes.
package struct JournalEntry: Equatable, Sendable {
  package let fields: [(name: String, value: String)]
  private let time: Timestamp

  /// `MESSAGE_ID` of Ambit's events.
  package static let messageID = "97671ed038904f3dbf12788ab25540e8"

  package init(_ event: AuditEvent, _ source: ExportSource) {
    time = Timestamp(event.time)
    var fields: [(name: String, value: String)] = [
      ("MESSAGE", [event.app, event.sentence].compactMap(\.self).joined(separator: " ")),
      ("MESSAGE_ID", Self.messageID),
      ("PRIORITY", Self.priority(event.result)),
      ("SYSLOG_IDENTIFIER", "ambit"),
      ("AMBIT_EVENT", source.identifier(event).description),
      ("AMBIT_LOG", source.log.description),
      ("AMBIT_SEQUENCE", String(event.sequence)),
      ("AMBIT_TIME", time.text),
      ("AMBIT_KIND", event.kind.rawValue),
      ("AMBIT_RESULT", event.result.rawValue),
    ]
    func add(_ name: String, _ value: String?) {
      if let value { fields.append((name, value)) }
    }
    add("AMBIT_APP", event.app)
    add("AMBIT_INSTANCE", event.instance)
    add("AMBIT_PID", event.pid.map { String($0) })
    add("AMBIT_GRANT", event.grant)
    add("AMBIT_DOCUMENT", event.document?.path)
    add("AMBIT_VOLUME", event.document?.volume)
    add("AMBIT_INODE", event.document?.inode.map { String($0) })
    add("AMBIT_BIRTH", event.document?.birth.map { Timestamp($0).text })
    add("AMBIT_HOW", event.how)
    add("AMBIT_RULE", event.rule)
    add("AMBIT_REASON", event.reason)
    // A field's name is capital letters, digits and underscores; a fact's may be anything. So a field has them all.
    if !event.detail.isEmpty { add("AMBIT_DETAIL", JSONText.object(event.detail)) }
    self.fields = fields
  }

  /// syslog's levels (`syslog(3)`): info, warning, err.
  static func priority(_ result: AuditEvent.Result) -> String {
    switch result {
    case .allowed: "6"
    case .refused: "4"
    case .failed: "3"
    }
  }

  /// Adds the entry in the Journal Export Format, with its moment and the blank line that ends it.
  package func append(to bytes: inout [UInt8]) {
    bytes.append(contentsOf: "__REALTIME_TIMESTAMP=\(max(0, time.microseconds))\n".utf8)
    appendFields(to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// The entry as journald's socket takes it. Its moment there is that of its arrival.
  package var datagram: [UInt8] {
    var bytes: [UInt8] = []
    appendFields(to: &bytes)
    return bytes
  }

  private func appendFields(to bytes: inout [UInt8]) {
    for (name, value) in fields {
      bytes.append(contentsOf: name.utf8)
      if value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 }) {
        bytes.append(UInt8(ascii: "\n"))
        let count = UInt64(value.utf8.count)
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
      } else {
        bytes.append(UInt8(ascii: "="))
      }
      bytes.append(contentsOf: value.utf8)
      bytes.append(UInt8(ascii: "\n"))
    }
  }

  package static func == (left: Self, right: Self) -> Bool { left.datagram == right.datagram }
}
