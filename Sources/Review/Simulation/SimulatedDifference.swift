package import Audit
package import Foundation

/// A decision of a log that would have come out differently under another policy.
package struct SimulatedDifference: Equatable, Sendable {
  package enum Outcome: String, CaseIterable, Equatable, Sendable {
    /// It was refused, and would have been allowed.
    case allowed
    /// It was allowed, and would have been refused, or not even been asked for.
    case refused
    /// It was allowed for writing, and would have been for reading only.
    case narrowed
    /// It went on, and would have been ended.
    case ended
    /// It was ended, and would have gone on.
    case kept
  }

  /// The entry, its time, and its subjects. A grant that would have ended by itself has the entry before its end.
  package let sequence: Int64
  package let time: Date
  package let kind: AuditEvent.Kind
  package let app: String?
  package let instance: String?
  package let grant: String?
  package let document: AuditEvent.Document?
  /// The operation that a sandbox refused, with its object.
  package let operation: String?
  package let outcome: Outcome
  /// The field of the policy that decides, such as `scopes.limit`.
  package let field: String
  /// The rule of the catalogue.
  package let rule: String?
  package let reason: String
  /// The entry of the difference that this one follows from; nil: it is by the policy itself.
  package let because: Int64?
}

/// The things that a simulation cannot judge, by name.
package struct SimulationGaps: Equatable, Sendable {
  /// Fields of the policy that differ, and that a log says too little of; each with how many launches it is about.
  package internal(set) var fields: [String: Int] = [:]
  /// Launches of which the log does not hold the policy; their decisions are taken as recorded.
  package internal(set) var launches = 0
  /// Decisions that may have been others, by the missing fact.
  package internal(set) var decisions: [String: Int] = [:]
  /// The log's beginning is gone.
  package internal(set) var isCut = false

  package var isEmpty: Bool { fields.isEmpty && launches == 0 && decisions.isEmpty && !isCut }
}
