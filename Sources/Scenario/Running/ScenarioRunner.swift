import Foundation

/// Carries out scenarios: drives the real `ambit` executable, and checks its results.
///
/// Everything happens on the caller's thread. On any outcome, every process that was started is ended (by its own number), Ambit's
/// broker for the scenario is asked to stop, and the scratch folder is removed.
package struct ScenarioRunner {
  package struct Options: Equatable, Sendable {
    /// Path of the `ambit` executable.
    package var ambit: String
    /// Folder of the demo apps, `${apps}`.
    package var apps: String
    /// Launches that allow it leave the picker to a person at the terminal.
    package var isInteractive: Bool
    /// Leaves the scratch folder where it is, for a look.
    package var keepsScratch: Bool

    package init(ambit: String, apps: String, isInteractive: Bool = false, keepsScratch: Bool = false) {
      self.ambit = ambit
      self.apps = apps
      self.isInteractive = isInteractive
      self.keepsScratch = keepsScratch
    }
  }

  package let options: Options
  package let reporter: any ScenarioReporter

  package init(options: Options, reporter: any ScenarioReporter) {
    self.options = options
    self.reporter = reporter
  }

  /// Runs one scenario to its end or to its first failing step.
  ///
  /// - Throws: ``Interrupted``; an error when the scratch folder cannot be made. Everything is cleaned up.
  package func run(_ scenario: Scenario) throws -> ScenarioResult {
    Interruption.ignoreBrokenPipes()
    let clock = ContinuousClock()
    let start = clock.now
    let stage = try Stage()
    let play = Play(scenario: scenario, stage: stage, options: options, reporter: reporter)
    reporter.began(scenario)
    var result = ScenarioResult(scenario: scenario, steps: [], notes: [], seconds: 0)
    do {
      for (index, step) in scenario.steps.enumerated() {
        result.steps.append(try run(step, number: index + 1, of: play, after: result.steps.last))
      }
    } catch {
      _ = play.cleanUp()
      throw error
    }
    result.notes = play.cleanUp()
    result.seconds = start.duration(to: clock.now) / .seconds(1)
    reporter.ended(result)
    return result
  }

  private func run(_ step: Step, number: Int, of play: Play, after last: StepResult?) throws -> StepResult {
    let clock = ContinuousClock()
    let start = clock.now
    var result = StepResult(
      step: step, number: number, verdict: step.actions.isEmpty ? .narrated : .passed, checks: [], seconds: 0)
    if last?.verdict == .failed || last?.verdict == .skipped {
      result.verdict = .skipped
    } else {
      reporter.began(step, number: number)
      for action in step.actions {
        let check = try play.check(action)
        result.checks.append(check)
        reporter.checked(check)
        if check.failure != nil {
          result.verdict = .failed
          break
        }
      }
    }
    result.seconds = start.duration(to: clock.now) / .seconds(1)
    reporter.ended(result)
    return result
  }
}
