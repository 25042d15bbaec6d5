internal import Audit
internal import Decisions
internal import Foundation
internal import Policy

/// Asks one of the two policies.
extension Simulation {
  typealias Verdict = Refusal

  static func refusal(ofPicking kind: String?, named name: String, _ policy: Capabilities) -> Verdict? {
    refusal(ofAsking: .open, for: kind, policy) ?? refusal(of: kind, named: name, policy)
  }

  /// What stands against a question before the user is asked it. Of a question for types that the policy does not have nothing does:
  /// the picker then shows none of them.
  static func refusal(ofAsking mode: PickerMode, for kind: String?, _ policy: Capabilities) -> Verdict? {
    DocumentRules(policy).refusal(ofAsking: mode.rawValue, folder: kind == "folder")
  }

  static func refusal(of kind: String?, named name: String, _ policy: Capabilities) -> Verdict? {
    DocumentRules(policy).refusal(ofFolder: kind == "folder", named: name)
  }

  /// - Parameter decided: when the user decided on the grant last.
  static func refusal(
    ofUsing kind: String?, named name: String, decided: Date?, at time: Date, _ policy: Capabilities
  ) -> Verdict? {
    DocumentRules(policy).refusal(
      ofUsingFolder: kind == "folder", named: name, decided: decided.map(nanoseconds), isOfThisLaunch: true,
      now: nanoseconds(time))
  }

  /// - Parameter scope: as the entry has it: `app`, `implicit`, `document`, `container`.
  static func refusal(ofMakingBookmark scope: String?, _ policy: Capabilities) -> Verdict? {
    DocumentRules(policy).refusal(ofMaking: Self.scope(scope))
  }

  static func refusal(ofOpening scope: String?, made: Date?, at time: Date, _ policy: Capabilities) -> Verdict? {
    DocumentRules(policy).refusal(
      ofOpening: Self.scope(scope), made: made.map(nanoseconds), now: nanoseconds(time))
  }

  private static func scope(_ word: String?) -> DocumentRules.BookmarkScope {
    switch word {
    case "document": .document
    case "implicit": .implicit
    default: .app
    }
  }

  private static func nanoseconds(_ date: Date) -> Int64 {
    Int64(clamping: Int((date.timeIntervalSince1970 * 1e9).rounded()))
  }

  /// The difference between the answers of the two policies to one question.
  enum Change {
    case none
    case refuses(Verdict)
    /// Only the policy of then refused.
    case allows(Verdict)
  }

  func change(_ instance: String?, _ ask: (Capabilities) -> Verdict?) -> Change {
    guard let rules = instance.flatMap({ self.rules[$0] }) else { return .none }
    switch (ask(rules.then), ask(rules.now)) {
    case (nil, let now?): return .refuses(now)
    case (let then?, nil): return .allows(then)
    default: return .none
    }
  }

  /// Notes that something would have been refused, and answers the cause for later differences.
  mutating func refuse(_ event: AuditEvent, _ verdict: Verdict) -> Cause {
    differ(event, .refused, field: verdict.field, rule: verdict.rule, verdict.reason)
    return Cause(sequence: event.sequence, field: verdict.field, rule: verdict.rule, reason: verdict.reason)
  }

  mutating func allow(_ event: AuditEvent, _ verdict: Verdict) {
    differ(event, .allowed, field: verdict.field, rule: verdict.rule, "not refused any more: \(verdict.reason)")
  }

  /// Only reading is allowed now, and writing was then.
  func isNarrowed(_ instance: String?) -> Bool {
    guard let rules = instance.flatMap({ self.rules[$0] }) else { return false }
    return rules.now.access == .readOnly && rules.then.access == .readWrite
  }

  /// Writing is allowed now, and only reading was then.
  func isWidened(_ instance: String?) -> Bool {
    guard let rules = instance.flatMap({ self.rules[$0] }) else { return false }
    return rules.now.access == .readWrite && rules.then.access == .readOnly
  }
}

extension Simulation.Cause {
  init(_ event: AuditEvent, _ field: String, _ rule: String?, _ reason: String) {
    self.init(sequence: event.sequence, field: field, rule: rule, reason: reason)
  }
}

extension AuditEvent {
  var documentName: String { document?.name ?? "" }
  var process: Int32? { detail[AuditEvent.Fact.process].flatMap { Int32($0) } }
  func number(_ fact: String) -> Int? { detail[fact].flatMap { Int($0) } }
}
