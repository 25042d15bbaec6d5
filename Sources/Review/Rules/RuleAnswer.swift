/// The answer of a log to a rule.
package struct RuleAnswer: Equatable, Sendable {
  package enum Verdict: String, Equatable, Sendable {
    case holds, violated
    /// Nothing violates it, and of something the log does not say enough.
    case unknown
  }

  /// An entry, and its relation to the rule, as a sentence.
  package struct Finding: Equatable, Sendable {
    package let sequence: Int64
    package let sentence: String
  }

  package let rule: LogRule
  /// How many entries, or scopes, it was about.
  package internal(set) var judged = 0
  /// The first ones that violate it, and how many there are.
  package internal(set) var violations: [Finding] = []
  package internal(set) var violationCount = 0
  /// The first ones that cannot be judged, and how many there are.
  package internal(set) var unknowns: [Finding] = []
  package internal(set) var unknownCount = 0

  package var verdict: Verdict { violationCount > 0 ? .violated : unknownCount > 0 ? .unknown : .holds }
}
