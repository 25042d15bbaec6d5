import Foundation
internal import Wire

/// One scenario while it runs: its variables, its instances, and the folder it plays in.
package final class Play {
  let scenario: Scenario
  package let stage: Stage
  package let options: ScenarioRunner.Options
  let display: Display
  package let environment: [String: String]
  let reporter: any ScenarioReporter
  package var variables: Variables
  /// Everything started with `launch`, by the name that the scenario gave it; a name used again is a new instance.
  var instances: [String: Child] = [:]
  /// Every process started, in order.
  var children: [Child] = []
  /// The system under test; nil: Ambit.
  let adapter: Adapter?
  /// Every action in the order of the play, with the values of its loop's variable.
  let plan: [(action: Action, values: [String: Template])]
  /// The action that is carried out now.
  var position = 0
  /// Places on the host of documents that were given, by their names.
  var hostPaths: [String: String] = [:]
  // Under an adapter: apps that are to be launched, apps that run, and the grants of each.
  var waitingLaunches: Set<String> = []
  var running: Set<String> = []
  var grantsGiven: [String: [JSONObject]] = [:]
  /// The text of the last act that was done.
  var lastText: String?
  /// Files and events as they were after the action before, for ``showChanges()``.
  var lastSeen = Seen()
  /// The terminals of programs that were launched in one.
  var terminals: Terminals?

  package init(
    scenario: Scenario, stage: Stage, options: ScenarioRunner.Options, adapter: Adapter?,
    reporter: any ScenarioReporter
  ) {
    self.adapter = adapter
    plan = Self.plan(of: scenario)
    self.scenario = scenario
    self.stage = stage
    self.options = options
    self.reporter = reporter
    display = Display(
      home: stage.home, apps: options.apps, scratch: stage.folder, containers: stage.containers)
    environment = stage.environment(from: ProcessInfo.processInfo.environment)
    let here = URL(fileURLWithPath: scenario.file).deletingLastPathComponent().path
    variables = Variables(
      home: stage.home, here: here, apps: options.apps, scratch: stage.folder, ambit: options.ambit,
      agent: options.agent, containers: stage.containers)
  }

  private static func plan(of scenario: Scenario) -> [(action: Action, values: [String: Template])] {
    func once(_ actions: [Action]) -> [(action: Action, values: [String: Template])] { actions.map { ($0, [:]) } }
    let steps = scenario.steps.flatMap { step in
      guard let loop = step.loop else { return once(step.actions) }
      return loop.values.flatMap { value in step.actions.map { ($0, [loop.variable: value]) } }
    }
    return once(scenario.setUp) + steps + once(scenario.tearDown)
  }

  /// The work of one action, for its check.
  struct Report {
    var what: String
    var evidence: [String]
  }

  /// Carries an action out. A failed expectation is an answer; only an interruption is thrown.
  package func check(_ action: Action) throws -> Check {
    lastText = nil
    var what = ""
    do {
      // The app's places are known only once it has been launched.
      if case .act(let act) = action.verb { try begin(act.app, limit: scenario.timeout) }
      what = display.line(try summary(of: action.verb), width: 72)
      let evidence = try insist(action)
      return Check(what: what, evidence: evidence, failure: nil, place: action.place)
    } catch let error as Interrupted {
      throw error
    } catch let error as NotApplicable {
      throw error
    } catch {
      var failure: CheckFailure
      switch error {
      case let error as CheckFailure: failure = error
      case let error as TextExpectation.Mismatch: failure = CheckFailure(expected: error.expected, seen: error.seen)
      default: failure = CheckFailure(expected: "to get that far", seen: "\(error)")
      }
      failure.expected = display.clean(failure.expected)
      failure.seen = display.tail(failure.seen).joined(separator: "\n")
      failure.context = failure.context.map(display.clean)
      return Check(what: what, evidence: [], failure: failure, place: action.place)
    }
  }

  /// `AMBIT_TEST_PATIENCE`: how many times slower than usual this machine is.
  private static let slowness = ProcessInfo.processInfo.environment["AMBIT_TEST_PATIENCE"].flatMap(Double.init) ?? 1

  /// Carries an action out, and again while it does not hold and has time.
  private func insist(_ action: Action) throws -> [String] {
    let limit = action.timeout ?? scenario.timeout
    guard let within = action.within.map({ $0 * Self.slowness }) else { return try perform(action.verb, limit: limit) }
    let clock = ContinuousClock()
    let start = clock.now
    while true {
      do { return try perform(action.verb, limit: limit) } catch {
        if error is Interrupted || error is NotApplicable || start.duration(to: clock.now) / .seconds(1) > within {
          throw error
        }
      }
      let _: Bool? = try wait(for: "it to hold", limit: 0.05) { nil }
    }
  }

  private func perform(_ verb: Verb, limit: Double) throws -> [String] {
    switch verb {
    case .write, .read, .move, .remove, .present, .absent, .replace, .append, .copy, .trash, .link, .makeFolder, .mode:
      try performOnHost(verb)
    case .policy(let name, let content): try writePolicy(name, content)
    case .give(let give): try perform(give, limit: limit)
    case .revoke(let document, let app): try revoke(document, from: app, limit: limit)
    case .act(let act): try perform(act, limit: limit)
    case .pause(let seconds): try pause(seconds)
    case .launch(let launch): try perform(launch, limit: limit)
    case .tell(let tell): try perform(tell, limit: limit)
    case .keys(let keys, let name, let isText): try press(keys, in: name, isText: isText)
    case .screen(let name, let expect): try look(at: name, expect)
    case .suspend(let name, let command): try suspend(name, by: command, limit: limit)
    case .kill(let name): try killInstance(name, limit: limit)
    case .close(let name, let outcome): try end(name, closing: true, outcome, limit: limit)
    case .wait(let name, let outcome): try end(name, closing: false, outcome, limit: limit)
    case .run(let command): try perform(command, limit: limit)
    case .audit(let events, let count): try expectEvents(events, count: count, limit: limit)
    case .never(let events): try expectNone(of: events, limit: limit)
    }
  }

  private func summary(of verb: Verb) throws -> String {
    func all(_ templates: [Template]) throws -> String {
      if templates.count > 3 { return "\(try variables.expand(templates[0])) and \(templates.count - 1) more" }
      return try templates.map { try variables.expand($0) }.joined(separator: ", ")
    }
    switch verb {
    case .write(let paths, _): return "write \(try all(paths))"
    case .read(let path, _): return "read \(try variables.expand(path))"
    case .move(let from, let to): return "move \(try variables.expand(from)) to \(try variables.expand(to))"
    case .remove(let paths): return "remove \(try all(paths))"
    case .present(let paths): return "\(try all(paths)) exists"
    case .absent(let paths): return "\(try all(paths)) does not exist"
    case .replace(let path, _): return "save \(try variables.expand(path)) anew"
    case .append(let path, _): return "append to \(try variables.expand(path))"
    case .copy(let from, let to): return "copy \(try variables.expand(from)) to \(try variables.expand(to))"
    case .trash(let path): return "move \(try variables.expand(path)) to the trash"
    case .link(let path, let target):
      return "link \(try variables.expand(path)) to \(try variables.expand(target))"
    case .makeFolder(let paths): return "make \(try all(paths))"
    case .mode(let path, let bits): return "mode of \(try variables.expand(path)): \(String(bits, radix: 8))"
    case .policy(let name, _): return "write the policy \(name)"
    case .give(let give): return "give \(give.app) \(try variables.expand(give.path))"
    case .revoke(let document, let app): return "revoke \(document) from \(app)"
    case .pause(let seconds): return "wait \(self.seconds(seconds))"
    case .act(let act):
      let subject: String =
        switch act.subject {
        case .text(let text): try variables.expand(text)
        case .texts(let texts): try all(texts)
        case .number(let number): String(number)
        case .none, .flag: ""
        }
      let words = act.word.word.replacing("_", with: " ")
      return "\(act.app)\(act.process.map { " (\($0))" } ?? ""): \(words) \(subject)"
    case .launch(let launch):
      return "launch \(try launch.program.map { try variables.expand($0) } ?? "the agent") as \(launch.name)"
    case .tell(let tell): return "\(tell.instance): \(try all(tell.lines))"
    case .keys(let keys, let name, _): return "\(name): press \(try all(keys))"
    case .screen(let name, _): return "the screen of \(name)"
    case .suspend(let name, let command): return "\(command) \(name)"
    case .kill(let name): return "kill \(name)"
    case .close(let name, _): return "close \(name)"
    case .wait(let name, _): return "wait for \(name) to end"
    case .run(let command):
      return "ambit " + (try command.arguments.map { try variables.expand($0) }.joined(separator: " "))
    case .audit(let events, _):
      return events.count == 1 ? "audit log" : "audit log: \(events.count) events in this order"
    case .never: return "audit log: none such"
    }
  }

  /// Waits while every child's output is read.
  func wait<Value>(for what: String, limit: Double?, _ check: () throws -> Value?) throws -> Value? {
    let waiting = Waiting { [self] what, seconds in reporter.waiting(for: what, seconds: seconds) }
    return try waiting.wait(for: what, limit: limit, children: children, check)
  }

  /// Ends what still runs, the last started first; stops the broker; removes the folder.
  ///
  /// - Returns: remarks.
  package func cleanUp() -> [String] {
    terminals?.end()
    var notes = endChildren()
    if let adapter {
      do { try adapter.tearDown() } catch { notes.append("\(adapter.name) could not be torn down: \(error)") }
    } else {
      if let note = stopBroker() { notes.append(note) }
      notes += endChildren()
    }
    if options.keepsScratch {
      notes.append("kept: \(stage.folder) (AMBIT_HOME=\(stage.ambitHome))")
    } else if let note = stage.remove() {
      notes.append(note)
    }
    return notes
  }

  private func endChildren() -> [String] {
    let waiting = Waiting { _, _ in }
    func allEnded() -> Bool? { children.allSatisfy { $0.ending != nil } ? true : nil }
    for child in children { child.closeInput() }
    for signal in [SignalName.number(of: "TERM"), SignalName.number(of: "KILL")].compactMap({ $0 }) {
      for child in children.reversed() { child.signal(signal) }
      let ended = try? waiting.wait(
        for: "processes to end", limit: 3, children: children, isInterruptible: false, allEnded)
      if ended != nil { return [] }
    }
    return children.filter { $0.ending == nil }.map { "\($0.name) (process \($0.pid)) could not be ended" }
  }

  private func stopBroker() -> String? {
    var outcome = "it could not be started"
    if let child = try? Child(
      name: "ambit broker stop", executable: options.ambit, arguments: ["broker", "stop"], environment: environment,
      directory: stage.home)
    {
      children.append(child)
      let waiting = Waiting { _, _ in }
      _ = try? waiting.wait(for: child.name, limit: 5, children: children, isInterruptible: false) { child.ending }
      if child.ending == .exit(0) { return nil }
      outcome = child.ending.map(\.description) ?? "no end within 5 s"
    }
    return "`ambit broker stop` did not work (\(outcome)); the scenario's broker ends by itself when it is idle"
  }
}
