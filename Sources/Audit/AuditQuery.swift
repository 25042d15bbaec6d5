package import Foundation

/// Which events are asked for: those that fit everything that is given. An empty query fits all.
package struct AuditQuery: Equatable, Sendable {
  package var app: String?
  package var instance: String?
  package var kind: AuditEvent.Kind?
  package var grant: String?
  package var result: AuditEvent.Result?
  /// Where a document was at the time, the whole path.
  package var document: String?
  /// The earliest time of an event that fits, and the latest. Times are those of the system's clock, which may be set;
  /// the order is that of the numbers.
  package var since: Date?
  package var until: Date?

  package init(
    app: String? = nil, instance: String? = nil, kind: AuditEvent.Kind? = nil, grant: String? = nil,
    result: AuditEvent.Result? = nil, document: String? = nil, since: Date? = nil, until: Date? = nil
  ) {
    self.app = app
    self.instance = instance
    self.kind = kind
    self.grant = grant
    self.result = result
    self.document = document
    self.since = since
    self.until = until
  }

  /// The moment that a person means: a time as RFC 3339 writes it, or how long ago: `90s`, `10m`, `1h`, `2d`.
  /// Nil when it is neither.
  package static func moment(_ text: String, before now: Date) -> Date? {
    if let timestamp = Timestamp(text) { return timestamp.date }
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
    guard let last = text.last, let unit = units[last] else { return nil }
    let digits = text.dropLast()
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Double(digits) else {
      return nil
    }
    return Timestamp(now.addingTimeInterval(-count * unit)).date
  }
}
