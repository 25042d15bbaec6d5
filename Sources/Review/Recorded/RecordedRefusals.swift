package import Audit
package import Foundation

/// Refusals, counted by app, kind and rule.
package struct RecordedRefusals: Equatable, Sendable {
  package struct Key: Hashable, Sendable {
    package let app: String?
    package let kind: AuditEvent.Kind
    package let rule: String?
  }

  package struct Entry: Equatable, Sendable {
    /// With those that the log only counts.
    package internal(set) var count = 0
    package internal(set) var first: Date
    package internal(set) var last: Date
    package internal(set) var lastReason: String?
    package internal(set) var lastSequence: Int64
  }

  package private(set) var entries: [Key: Entry] = [:]
  /// Those of more apps and rules than are kept apart.
  package private(set) var others = 0

  private static let most = 4096

  mutating func add(_ event: AuditEvent) {
    let key = Key(app: event.app, kind: event.kind, rule: event.rule)
    let count = event.occurrences
    // An entry that stands for many was written after them.
    let first = event.detail[AuditEvent.Fact.first].flatMap { Timestamp($0)?.date } ?? event.time
    let last = event.detail[AuditEvent.Fact.last].flatMap { Timestamp($0)?.date } ?? event.time
    guard entries[key] != nil || entries.count < Self.most else {
      others += count
      return
    }
    var entry =
      entries[key] ?? Entry(first: first, last: last, lastSequence: event.sequence)
    entry.count += count
    entry.last = last
    entry.lastReason = event.reason ?? event.detail[AuditEvent.Fact.operation]
    entry.lastSequence = event.sequence
    entries[key] = entry
  }
}
