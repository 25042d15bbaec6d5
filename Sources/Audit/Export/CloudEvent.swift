/// CloudEvents 1.0 in the structured mode of its JSON format: context attributes, and the event as `data`.
///
/// Type system: an attribute's text has no control character, no surrogate and no noncharacter (spec 1.0.2, “Type System”).
enum CloudEvent {
  /// `type` is this and the event's kind: a receiver can subscribe by it.
  static let typePrefix = "io.ambit.audit."

  static func write(_ event: AuditEvent, _ source: ExportSource, to writer: inout JSONWriter) {
    writer.object { line in
      line.member("specversion", "1.0")
      // Unique together with `source`; unique also without it.
      line.member("id", source.identifier(event).description)
      line.member("source", "urn:uuid:\(source.log)")
      line.member("type", typePrefix + attribute(event.kind.rawValue))
      if let app = event.app, !app.isEmpty { line.member("subject", attribute(app)) }
      line.member("time", Timestamp(event.time).text)
      line.member("datacontenttype", "application/json")
      // The extension “Sequence”, whose values have to sort as texts.
      line.member("sequence", padded(event.sequence))
      line.key("data")
      JSONLine.write(event, log: nil, to: &line)
    }
  }

  /// A number as twenty digits.
  static func padded(_ number: Int64) -> String {
    let digits = String(max(0, number))
    return String(repeating: "0", count: 20 - digits.utf8.count) + digits
  }

  /// A text as an attribute may be: with U+FFFD for characters that none may have.
  static func attribute(_ text: String) -> String {
    guard !text.unicodeScalars.allSatisfy(isAllowed) else { return text }
    var allowed = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { allowed.append(isAllowed(scalar) ? scalar : "\u{FFFD}") }
    return String(allowed)
  }

  static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0x20, 0x7F...0x9F, 0xFDD0...0xFDEF: false
    default: scalar.value & 0xFFFE != 0xFFFE
    }
  }
}
