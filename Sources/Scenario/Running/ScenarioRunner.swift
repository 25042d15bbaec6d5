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
    /// The program of the agent, the app that carries acts out.
    package var agent: String
    /// An app's home as the app sees it.
    package var appHome = "/home/user"
    /// Launches that allow it leave the picker to a person at the terminal.
    package var isInteractive: Bool
    /// After each action: shows its changes, and waits for Enter.
    package var stepsThrough = false
    /// Leaves the scratch folder where it is, for a look.
    package var keepsScratch: Bool

    package init(
      ambit: String, apps: String, agent: String = "", isInteractive: Bool = false, keepsScratch: Bool = false
    ) {
      self.ambit = ambit
      self.apps = apps
      self.agent = agent
      self.isInteractive = isInteractive
      self.keepsScratch = keepsScratch
    }
  }

  package let options: Options
  package let reporter: any ScenarioReporter

  /// The system under test; nil: Ambit.
  package let adapter: Adapter?

  package init(options: Options, adapter: Adapter? = nil, reporter: any ScenarioReporter) {
    self.options = options
    self.adapter = adapter
    self.reporter = reporter
  }

  /// Runs one scenario to its end or to its first failing step.
  ///
  /// - Throws: ``Interrupted``; an error when the scratch folder cannot be made. Everything is cleaned up.
  package func run(_ scenario: Scenario) throws -> ScenarioResult {
    Interruption.ignoreBrokenPipes()
    let clock = ContinuousClock()
    let start = clock.now
    var result = ScenarioResult(scenario: scenario, steps: [], notes: [], seconds: 0)
    if let missing = missingCapability(for: scenario) {
      result.notApplicable = missing
      reporter.ended(result)
      return result
    }
    let stage = try Stage()
    let play = Play(scenario: scenario, stage: stage, options: options, adapter: adapter, reporter: reporter)
    reporter.began(scenario)
    do {
      try adapter?.setUp(folder: stage.folder + "/system", home: stage.home, agent: options.agent)
      try run(scenario, play, &result)
    } catch let error as NotApplicable {
      result.notApplicable = error.reason
    } catch {
      _ = play.cleanUp()
      throw error
    }
    result.notes = play.cleanUp()
    result.seconds = start.duration(to: clock.now) / .seconds(1)
    reporter.ended(result)
    return result
  }

  private func missingCapability(for scenario: Scenario) -> String? {
    guard let adapter else { return nil }
    let missing = scenario.neededCapabilities.subtracting(adapter.capabilities)
    return Capability.allCases.first { missing.contains($0) }.map { "\(adapter.name) has no \($0.words)" }
  }

  private func run(_ scenario: Scenario, _ play: Play, _ result: inout ScenarioResult) throws {
    for variable in scenario.variables { play.variables[variable.name] = try play.variables.expand(variable.value) }
    if !scenario.setUp.isEmpty {
      let step = Step(say: "Set-up", rules: [], actions: scenario.setUp, place: scenario.setUp[0].place)
      result.steps.append(try run(step, number: 0, of: play, after: nil))
    }
    for (index, step) in scenario.steps.enumerated() {
      result.steps.append(try run(step, number: index + 1, of: play, after: result.steps.last))
    }
    if !scenario.tearDown.isEmpty {
      let step = Step(say: "Tear-down", rules: [], actions: scenario.tearDown, place: scenario.tearDown[0].place)
      play.position = play.plan.count - scenario.tearDown.count
      result.steps.append(try run(step, number: scenario.steps.count + 1, of: play, after: nil))
    }
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
      try run(step, of: play, &result)
    }
    result.seconds = start.duration(to: clock.now) / .seconds(1)
    reporter.ended(result)
    return result
  }

  private func run(_ step: Step, of play: Play, _ result: inout StepResult) throws {
    for value in step.loop?.values.map(Optional.some) ?? [nil] {
      if let loop = step.loop, let value { play.variables[loop.variable] = try play.variables.expand(value) }
      for action in step.actions {
        let check = try play.check(action)
        play.position += 1
        result.checks.append(check)
        reporter.checked(check)
        if options.stepsThrough { try play.showChanges() }
        if check.failure != nil {
          result.verdict = .failed
          return
        }
      }
    }
  }
}
