/// The outcome of a scenario. Values, for reports.
package struct ScenarioResult: Equatable, Sendable {
  package var scenario: Scenario
  package var steps: [StepResult]
  /// Remarks that are no failures, for example a scratch folder that was kept.
  package var notes: [String]
  package var seconds: Double
  /// The reason why the system cannot play it; nil: it was played.
  package var notApplicable: String?

  package var isPassed: Bool {
    notApplicable == nil && steps.allSatisfy { $0.verdict != .failed && $0.verdict != .skipped }
  }

  /// Whether the system did not do its part, so that nothing was shown.
  package var isFault: Bool { steps.contains { $0.checks.contains { $0.failure?.isFault == true } } }
}

package struct StepResult: Equatable, Sendable {
  package enum Verdict: Equatable, Sendable {
    case passed
    case failed
    /// A step before it failed, or the run was interrupted.
    case skipped
    /// Says something and does nothing.
    case narrated
  }

  package var step: Step
  /// From 1.
  package var number: Int
  package var verdict: Verdict
  package var checks: [Check]
  package var seconds: Double
}

/// One action that was carried out: its words, and the evidence.
package struct Check: Equatable, Sendable {
  package var what: String
  /// One line each; the first is the one that counts.
  package var evidence: [String]
  /// nil: it held.
  package var failure: CheckFailure?
  package var place: Place
}

/// An expectation that did not hold. Also thrown inside the runner.
package struct CheckFailure: Error, Equatable, Sendable {
  package var expected: String
  package var seen: String
  /// Other facts that help to see the reason: a program's output on standard error, for example.
  package var context: [String]
  /// The system under test did not do its part; the statement was not tried.
  package var isFault: Bool

  package init(expected: String, seen: String, context: [String] = [], isFault: Bool = false) {
    self.expected = expected
    self.seen = seen
    self.context = context
    self.isFault = isFault
  }
}

/// Told the events while they happen. All of it optional. A class, because the runner and the play inside it tell the same one.
package protocol ScenarioReporter: AnyObject {
  func began(_ scenario: Scenario)
  func began(_ step: Step, number: Int)
  func checked(_ check: Check)
  /// Now and then during a wait.
  func waiting(for what: String, seconds: Double)
  /// What an action has changed: one line each.
  func changed(_ lines: [String])
  /// Something that the person at the terminal has to do now.
  func asks(_ what: String)
  func ended(_ step: StepResult)
  func ended(_ result: ScenarioResult)
  /// After the last scenario.
  func finished(_ results: [ScenarioResult])
}

extension ScenarioReporter {
  package func began(_ scenario: Scenario) {}
  package func began(_ step: Step, number: Int) {}
  package func checked(_ check: Check) {}
  package func waiting(for what: String, seconds: Double) {}
  package func changed(_ lines: [String]) {}
  package func asks(_ what: String) {}
  package func ended(_ step: StepResult) {}
  package func ended(_ result: ScenarioResult) {}
  package func finished(_ results: [ScenarioResult]) {}
}
