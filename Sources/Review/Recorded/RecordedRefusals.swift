package import Audit
package import Foundation

/// What was refused, counted by app, kind and rule.
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
    let count = 1 + max(0, event.detail["suppressed"].flatMap(Int.init) ?? 0)
    guard entries[key] != nil || entries.count < Self.most else {
      others += count
      return
    }
    var entry =
      entries[key] ?? Entry(first: event.time, last: event.time, lastSequence: event.sequence)
    entry.count += count
    entry.last = event.time
    entry.lastReason = event.reason ?? event.detail[AuditEvent.Fact.operation]
    entry.lastSequence = event.sequence
    entries[key] = entry
  }
}
