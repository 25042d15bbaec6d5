/// The battery's result for one entry of the catalogue.
package struct Finding: Equatable, Sendable {
  package enum Verdict: String, Equatable, Sendable, CaseIterable {
    case contained
    case escaped
    case notApplicable = "not applicable"
  }

  package let entry: Entry
  package let verdict: Verdict
  /// The observation inside, or the reason why there was none.
  package let evidence: String
  /// The observation of the same attempts outside; nil where there was no control.
  package let control: String?

  package init(_ entry: Entry, _ verdict: Verdict, _ evidence: String, control: String? = nil) {
    self.entry = entry
    self.verdict = verdict
    self.evidence = evidence
    self.control = control
  }
}

/// An access that a policy gives an app on purpose. An attempt that does no more than use it is no escape.
package enum Allowance: String, Hashable, Sendable, CaseIterable {
  case network
  case loopback
  case execution
  /// Of programs in documents that the user picked.
  case pickedExecution

  /// Whether the attempt only uses a permitted access.
  func covers(_ attempt: Attempt) -> Bool {
    switch self {
    // Of a network of its own, it may have sockets.
    case .loopback: attempt.entry == "F5" && attempt.name == "inet6"
    case .network: attempt.entry == "F5" && attempt.name.hasPrefix("inet")
    case .execution: attempt.entry == "B16"
    case .pickedExecution: attempt.entry == "G10" && attempt.name.hasPrefix("tool")
    }
  }
}

extension Finding {
  /// The rules, in this order:
  ///
  /// 1. attempts that the policy allows are not looked at;
  /// 2. one attempt that reached its aim inside is an escape, regardless of the others;
  /// 3. refused attempts are a containment, a proven one if one of them was seen to work elsewhere;
  /// 4. an attempt that could not be made says nothing: not applicable.
  ///
  /// - Parameters:
  ///   - inside: all attempts that ran in the sandbox.
  ///   - controls: all attempts that ran unconfined.
  package static func evaluate(
    _ entry: Entry, inside: [Attempt], controls: [Attempt], allowances: Set<Allowance> = []
  ) -> Finding {
    let all = inside.filter { $0.entry == entry.id }
    let allowed = all.filter { attempt in allowances.contains { $0.covers(attempt) } }
    let own = all.filter { attempt in !allowances.contains { $0.covers(attempt) } }
    let outside = controls.filter { $0.entry == entry.id }
    let remark = allowed.isEmpty ? "" : "; allowed by the policy: \(list(allowed.map(\.name)))"

    let reached = own.filter { $0.outcome == .reached }
    let refused = own.filter { $0.outcome == .refused }
    let proven = Set((outside.filter { $0.outcome == .reached } + all.filter { $0.outcome == .control }).map(\.name))
    let control = proof(of: reached + refused, proven: proven, outside: outside)
    if !reached.isEmpty {
      return Finding(entry, .escaped, list(reached.map(\.sentence)) + remark, control: control)
    }
    if !refused.isEmpty {
      let isProven = refused.contains { proven.contains($0.name) || $0.name == "probe" }
      let doubt = isProven ? "" : " (control not possible: \(list(outside.map(\.sentence), ifNone: "it was not run")))"
      return Finding(entry, .contained, list(refused.map(\.sentence)) + doubt + remark, control: control)
    }
    if !allowed.isEmpty { return Finding(entry, .notApplicable, "allowed by the policy: \(list(allowed.map(\.name)))") }
    let reason = list(own.filter { $0.outcome == .unable }.map(\.text), ifNone: "the probe did not run")
    return Finding(entry, .notApplicable, reason, control: control)
  }

  private static func proof(of attempts: [Attempt], proven: Set<String>, outside: [Attempt]) -> String? {
    let names = attempts.map(\.name).filter(proven.contains)
    if names.isEmpty { return nil }
    let all = Set(attempts.map(\.name)).count
    let count = Set(names).count
    return count == all ? "works outside" : "\(count) of \(all) work outside"
  }

  /// Without repetitions: several attempts often fail for one reason.
  private static func list(_ parts: [String], ifNone none: String = "") -> String {
    var seen: Set<String> = []
    let different = parts.filter { seen.insert($0).inserted }
    return different.isEmpty ? none : different.joined(separator: ", ")
  }
}

extension Attempt {
  /// In a list of evidence: `clone3 ENOSYS`, or what was seen.
  var sentence: String {
    switch outcome {
    case .refused: error.map { "\(name) \($0)" } ?? "\(name): \(text)"
    case .reached, .unable, .control: "\(name): \(text)"
    }
  }
}
