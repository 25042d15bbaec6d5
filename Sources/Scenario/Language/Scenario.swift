/// A scenario: a story in steps, each of which says something and shows that it is so, against real sandboxes.
///
/// Read from TOML by ``ScenarioReader``, carried out by ``ScenarioRunner``. Everything in it is a plain value.
package struct Scenario: Equatable, Sendable {
  /// The file it was read from, as messages name it.
  package var file: String
  package var title: String
  /// A sentence or two below the title.
  package var about: String?
  /// Policy of each launch that names none; nil: `ambit run`'s own default.
  package var policy: Template?
  /// How long each wait may take that does not say otherwise, in seconds.
  package var timeout: Double
  package var steps: [Step]

  package static let defaultTimeout = 10.0
}

/// One statement, and the actions that show it. A step without actions is narration only.
package struct Step: Equatable, Sendable {
  /// The lesson for a person.
  package var say: String
  /// Catalogue identifiers that the step shows, for example `TOK-1`.
  package var rules: [String]
  package var actions: [Action]
  package var place: Place
}

/// One act or question, with its required result.
package struct Action: Equatable, Sendable {
  package var verb: Verb
  package var place: Place
  /// Seconds; nil: the scenario's.
  package var timeout: Double?
}

/// The vocabulary. One case a word of the language; `Docs` of each word are in ``ScenarioReader``.
package enum Verb: Equatable, Sendable {
  case write(paths: [Template], content: Template)
  case read(path: Template, expect: TextExpectation)
  case move(from: Template, to: Template)
  case remove(paths: [Template])
  case present(paths: [Template])
  case absent(paths: [Template])
  case launch(Launch)
  case tell(Tell)
  case kill(instance: String)
  case close(instance: String, outcome: Outcome)
  case wait(instance: String, outcome: Outcome)
  case run(Command)
  case audit(events: [EventPattern])
  case never(events: [EventPattern])
}

/// Starts an app (or any program) under `ambit run` and leaves it running.
package struct Launch: Equatable, Sendable {
  package var program: Template
  package var arguments: [Template]
  /// The name of this instance for later actions.
  package var name: String
  package var policy: Template?
  package var container: String?
  /// Entitlements that the user allows beforehand, by name.
  package var allowEntitlements: [String] = []
  /// The user's answers when the app asks, one for each question.
  package var user: [UserAnswer]
  /// Whether a person may answer instead, when the scenario is run interactively.
  package var interactive: Bool
  /// The first line that the app prints, when the launch waits for one.
  package var expect: TextExpectation?
}

package enum UserAnswer: Equatable, Sendable {
  case pick([Template])
  case cancel
}

/// Sends lines to a running instance; each is answered by one line, `ok …` or `error SYMBOL …`.
package struct Tell: Equatable, Sendable {
  package var instance: String
  package var lines: [Template]
  package var answer: Answer
  /// Variable that the (last) answer is kept in.
  package var save: String?

  package enum Answer: Equatable, Sendable {
    /// `ok`, and the text after it.
    case ok(TextExpectation)
    /// `error` with one of these symbols, and the text after it.
    case error([String], TextExpectation)
    /// The whole line, for programs that do not speak this way.
    case line(TextExpectation)
  }
}

/// How a process must end, and the output that it must have printed by then.
package struct Outcome: Equatable, Sendable {
  package var ending: Ending
  /// On the output that no earlier action has taken.
  package var expect: TextExpectation
  package var errors: TextExpectation
  package var save: String?
}

/// An `ambit` command that is run to its end.
package struct Command: Equatable, Sendable {
  package var arguments: [Template]
  package var outcome: Outcome
}

/// How a process ended.
package enum Ending: Equatable, Sendable, CustomStringConvertible {
  case exit(Int32)
  case signal(Int32)

  package var description: String {
    switch self {
    case .exit(let status): "exit \(status)"
    case .signal(let number): "ended by \(SignalName.name(of: number))"
    }
  }
}

/// The required fields of an audit event: each field, by its name in `ambit audit log --format json`.
package struct EventPattern: Equatable, Sendable {
  package var fields: [Field]

  package struct Field: Equatable, Sendable {
    package var name: String
    package var expect: TextExpectation
  }
}

/// A place in a scenario file; both count from 1.
package struct Place: Equatable, Hashable, Sendable, CustomStringConvertible {
  package var line: Int
  package var column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package var description: String { "\(line):\(column)" }
}

/// Why a scenario file cannot be used: the place, the error, the text to write instead.
package struct ScenarioError: Error, Equatable, Sendable, CustomStringConvertible {
  package var file: String
  package var place: Place?
  package var message: String

  package var description: String {
    if let place { "\(file):\(place): \(message)" } else { "\(file): \(message)" }
  }
}
