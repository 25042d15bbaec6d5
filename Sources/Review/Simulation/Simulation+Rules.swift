internal import AppModel
internal import Audit
internal import Foundation
internal import Policy

/// What policies say, asked of one of the two.
extension Simulation {
  /// Why a policy refuses something.
  struct Verdict {
    let field: String
    let rule: String
    let reason: String
  }

  static func refusal(ofPicking kind: String?, named name: String, _ policy: Capabilities) -> Verdict? {
    refusal(ofAsking: .open, for: kind, policy) ?? refusal(of: kind, named: name, policy)
  }

  /// What stands against a question before anybody is asked it. Of a question for types that the policy does not have nothing does:
  /// the picker then shows none of them.
  static func refusal(ofAsking mode: PickerMode, for kind: String?, _ policy: Capabilities) -> Verdict? {
    if !policy.picker.modes.contains(mode) {
      return Verdict(
        field: "picker.modes", rule: "PCK-1", reason: "the policy does not let the picker \(mode.rawValue) documents")
    }
    return kind == "folder" ? refusal(of: kind, named: "", policy) : nil
  }

  static func refusal(of kind: String?, named name: String, _ policy: Capabilities) -> Verdict? {
    if kind == "folder" {
      return policy.picker.folders
        ? nil : Verdict(field: "picker.folders", rule: "PCK-10", reason: "the policy does not allow whole folders")
    }
    guard !policy.picker.types.allows(name) else { return nil }
    return Verdict(field: "picker.types", rule: "PCK-7", reason: "the policy does not allow documents of this type")
  }

  /// - Parameter decided: when the user decided on the grant last.
  static func refusal(
    ofUsing kind: String?, named name: String, decided: Date?, at time: Date, _ policy: Capabilities
  ) -> Verdict? {
    if let refusal = refusal(of: kind, named: name, policy) { return refusal }
    guard let seconds = policy.lifetime.seconds, let decided, decided.addingTimeInterval(Double(seconds)) <= time else {
      return nil
    }
    return Verdict(
      field: "grants.lifetime", rule: "AUD-1", reason: "the policy does not allow it so long after the user's decision")
  }

  /// - Parameter scope: as the entry has it: `app`, `implicit`, `document`, `container`.
  static func refusal(ofMakingBookmark scope: String?, _ policy: Capabilities) -> Verdict? {
    if !policy.bookmarks.create {
      return Verdict(field: "bookmarks.create", rule: "BMK-1", reason: "the policy does not allow bookmarks")
    }
    return refusal(ofBookmark: scope, policy)
  }

  static func refusal(ofBookmark scope: String?, _ policy: Capabilities) -> Verdict? {
    switch scope {
    case "app" where policy.missingBookmarks.contains(AppSandbox.appScope):
      Verdict(field: "bookmarks.create", rule: "BMK-1", reason: "the app's entitlements do not have it make bookmarks")
    case "document" where !policy.bookmarks.documentScoped:
      Verdict(
        field: "bookmarks.document_scoped", rule: "BMK-5", reason: "the policy does not allow document-scoped bookmarks"
      )
    case "implicit" where !policy.bookmarks.implicit:
      Verdict(field: "bookmarks.implicit", rule: "BMK-8", reason: "the policy does not allow implicit bookmarks")
    default: nil
    }
  }

  static func refusal(ofOpening scope: String?, made: Date?, at time: Date, _ policy: Capabilities) -> Verdict? {
    if let refusal = refusal(ofBookmark: scope, policy) { return refusal }
    guard let seconds = policy.bookmarks.lifetime, let made, made.addingTimeInterval(Double(seconds)) <= time else {
      return nil
    }
    return Verdict(field: "bookmarks.lifetime", rule: "BMK-3", reason: "the bookmark is older than the policy allows")
  }

  /// Of a question that both policies are asked, what only the other one answers.
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

  /// Notes that something would have been refused, and answers what follows from it.
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
