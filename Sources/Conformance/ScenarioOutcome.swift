package import Scenario
package import Wire

/// The result of one scenario under one system, as one user.
package struct ScenarioOutcome: Equatable, Sendable {
  package enum Verdict: String, Equatable, Sendable, CaseIterable {
    case passed
    case failed
    /// The system did not do its part, so nothing was shown.
    case error
    /// The system has no notion of it, or this machine lacks a feature.
    case notApplicable = "not applicable"
  }

  package var name: String
  package var id: String
  package var user: String
  package var verdict: Verdict
  /// The failure, the fault, or why it is not applicable.
  package var reason: String
  package var seconds: Double
  package var steps: [Step]

  package struct Step: Equatable, Sendable {
    package var say: String
    package var checks: [Check]

    package init(say: String, checks: [Check]) { (self.say, self.checks) = (say, checks) }
  }

  package struct Check: Equatable, Sendable {
    package var what: String
    package var evidence: String
    package var isHeld: Bool

    package init(what: String, evidence: String, isHeld: Bool) {
      (self.what, self.evidence, self.isHeld) = (what, evidence, isHeld)
    }
  }

  /// - Parameter results: of one scenario, one for each policy that it is played under.
  package init(_ item: Suite.Item, user: String, results: [ScenarioResult]) {
    name = item.name
    id = item.entry.id
    self.user = user
    let decisive = results.first { $0.notApplicable != nil } ?? results.first { !$0.isPassed } ?? results.first
    verdict = decisive.map(Self.verdict) ?? .notApplicable
    reason = decisive.map(Self.reason) ?? ""
    seconds = results.reduce(0) { $0 + $1.seconds }
    steps = (decisive?.steps ?? []).map { step in
      Step(
        say: step.step.say,
        checks: step.checks.map { check in
          let failure = check.failure.map { "expected \($0.expected); seen \($0.seen)" }
          return Check(
            what: check.what, evidence: failure ?? check.evidence.joined(separator: "; "), isHeld: check.failure == nil)
        })
    }
  }

  private static func verdict(_ result: ScenarioResult) -> Verdict {
    if result.notApplicable != nil { return .notApplicable }
    if result.isFault { return .error }
    return result.isPassed ? .passed : .failed
  }

  private static func reason(_ result: ScenarioResult) -> String {
    if let reason = result.notApplicable { return reason }
    for step in result.steps {
      for check in step.checks {
        guard let failure = check.failure else { continue }
        let context = failure.context.filter { !$0.isEmpty }.map { "; \($0)" }.joined()
        return "line \(check.place.line): \(check.what): expected \(failure.expected); seen \(failure.seen)\(context)"
      }
    }
    return ""
  }

  package init(notApplicable item: Suite.Item, user: String, _ reason: String) {
    (name, id, self.user, verdict) = (item.name, item.entry.id, user, .notApplicable)
    (self.reason, seconds, steps) = (reason, 0, [])
  }

  package init(fault item: Suite.Item, user: String, _ reason: String) {
    (name, id, self.user, verdict) = (item.name, item.entry.id, user, .error)
    (self.reason, seconds, steps) = (reason, 0, [])
  }
}

extension ScenarioOutcome {
  package var json: JSONObject {
    [
      "scenario": .string(name), "statement": .string(id), "user": .string(user), "verdict": .string(verdict.rawValue),
      "reason": .string(reason), "seconds": .double((seconds * 1000).rounded() / 1000),
      "steps": .array(
        steps.map { step in
          [
            "say": .string(step.say),
            "checks": .array(
              step.checks.map {
                ["what": .string($0.what), "evidence": .string($0.evidence), "held": .bool($0.isHeld)]
              }),
          ]
        }),
    ]
  }

  /// nil: not an outcome.
  package init?(_ json: JSONValue) {
    guard let name = json[path: "scenario"]?.plainText, let id = json[path: "statement"]?.plainText,
      let user = json[path: "user"]?.plainText,
      let verdict = json[path: "verdict"].flatMap({ Verdict(rawValue: $0.plainText) })
    else { return nil }
    (self.name, self.id, self.user, self.verdict) = (name, id, user, verdict)
    reason = json[path: "reason"]?.plainText ?? ""
    seconds = Double(json[path: "seconds"]?.plainText ?? "") ?? 0
    steps = Self.elements(json[path: "steps"]).map { step in
      Step(
        say: step[path: "say"]?.plainText ?? "",
        checks: Self.elements(step[path: "checks"]).map { check in
          Check(
            what: check[path: "what"]?.plainText ?? "", evidence: check[path: "evidence"]?.plainText ?? "",
            isHeld: check[path: "held"] == .bool(true))
        })
    }
  }

  private static func elements(_ value: JSONValue?) -> [JSONValue] {
    guard case .array(let elements)? = value else { return [] }
    return elements
  }
}

/// Everything that a run of the suite found out about one system.
package struct SystemRun: Equatable, Sendable {
  /// `ambit`, an adapter's name, or a rule profile of Ambit's.
  package var system: String
  package var version: String
  /// A rule profile of Ambit's, and not another system.
  package var isModelled: Bool
  /// Why the system could not be run here; then there are no outcomes.
  package var absent: String?
  package var outcomes: [ScenarioOutcome]
  package var seconds: Double

  package init(
    system: String, version: String, isModelled: Bool, absent: String?, outcomes: [ScenarioOutcome], seconds: Double
  ) {
    (self.system, self.version, self.isModelled, self.absent) = (system, version, isModelled, absent)
    (self.outcomes, self.seconds) = (outcomes, seconds)
  }

  /// nil: not a system's results.
  package init?(_ json: JSONValue) {
    guard let system = json[path: "system"]?.plainText, case .array(let outcomes)? = json[path: "outcomes"] else {
      return nil
    }
    self.init(
      system: system, version: json[path: "version"]?.plainText ?? "",
      isModelled: json[path: "modelled"] == .bool(true),
      absent: json[path: "absent"].flatMap { $0 == .null ? nil : $0.plainText },
      outcomes: outcomes.compactMap(ScenarioOutcome.init), seconds: 0)
  }

  package func count(_ verdict: ScenarioOutcome.Verdict) -> Int { outcomes.count { $0.verdict == verdict } }
  package var isPassed: Bool { outcomes.allSatisfy { $0.verdict == .passed || $0.verdict == .notApplicable } }
}
