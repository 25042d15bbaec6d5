package import Foundation
internal import GRDB

/// Which events are asked for: those that fit everything that is given. An empty query fits all.
package struct AuditQuery: Equatable, Sendable {
  package var app: String?
  package var instance: String?
  package var kind: AuditEvent.Kind?
  package var grant: String?
  package var result: AuditEvent.Result?
  /// The earliest time of an event that fits.
  package var since: Date?

  package init(
    app: String? = nil, instance: String? = nil, kind: AuditEvent.Kind? = nil, grant: String? = nil,
    result: AuditEvent.Result? = nil, since: Date? = nil
  ) {
    self.app = app
    self.instance = instance
    self.kind = kind
    self.grant = grant
    self.result = result
    self.since = since
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

  var isEmpty: Bool { self == AuditQuery() }

  /// Whether an event as it is recorded fits: what `conditions` are for rows. Texts are equal when their bytes are, as
  /// SQLite has it; Swift takes two spellings of one letter for the same.
  func fits(_ event: AuditEvent) -> Bool {
    func agrees(_ wanted: String?, _ text: String?) -> Bool {
      guard let wanted = wanted.map(EventRow.storable) else { return true }
      return text.map { $0.utf8.elementsEqual(wanted.utf8) } ?? false
    }
    return agrees(app, event.app) && agrees(instance, event.instance) && agrees(kind?.rawValue, event.kind.rawValue)
      && agrees(grant, event.grant) && (result == nil || result == event.result)
      && (since.map { Timestamp(event.time) >= Timestamp($0) } ?? true)
  }

  /// The query as SQL's conditions, with the values for their question marks.
  var conditions: (sql: [String], arguments: StatementArguments) {
    var sql: [String] = []
    var arguments: StatementArguments = []
    func require(_ condition: String, _ value: (some DatabaseValueConvertible)?) {
      guard let value else { return }
      sql.append(condition)
      arguments += [value]
    }
    require("app = ?", app.map(EventRow.storable))
    require("instance = ?", instance.map(EventRow.storable))
    require("kind = ?", (kind?.rawValue).map(EventRow.storable))
    require("\"grant\" = ?", grant.map(EventRow.storable))
    require("result = ?", result?.rawValue)
    require("time >= ?", since.map { Timestamp($0).microseconds })
    return (sql, arguments)
  }
}
