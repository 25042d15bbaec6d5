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
  /// The catalogue entry that a conformance scenario shows.
  package var entry: Entry?
  /// Parts of scoped access that it needs besides those that its actions need anyway.
  package var needs: Set<Capability> = []
  /// Features of the machine, by the name that `ambit doctor` gives them or as a file system (`fs:ext4`).
  package var features: [String] = []
  /// Users that it is played as; empty: every user.
  package var users: [User] = []
  /// Policies that it is played under, one after the other; empty: ``policy``.
  package var policies: [String] = []
  /// Variables with their values, in order.
  package var variables: [Variable] = []
  /// Begins and ends every run: also a run that failed has its `tear_down`.
  package var setUp: [Action] = []
  package var steps: [Step]
  package var tearDown: [Action] = []

  package static let defaultTimeout = 10.0

  package init(
    file: String, title: String, about: String? = nil, policy: Template? = nil, timeout: Double = defaultTimeout,
    steps: [Step] = []
  ) {
    (self.file, self.title, self.about, self.policy) = (file, title, about, policy)
    (self.timeout, self.steps) = (timeout, steps)
  }

  package struct Variable: Equatable, Sendable {
    package var name: String
    package var value: Template
  }

  package enum User: String, Equatable, Sendable, CaseIterable { case root, ordinary }

  /// A statement of the catalogue, as the scenario quotes it.
  package struct Entry: Equatable, Sendable {
    package var id: String
    package var statement: String
    package var source: String
    /// A stated by Apple, B stated by another implementation, C observed, D Ambit's decision.
    package var strength: String
  }

  /// Every action, in order.
  package var actions: [Action] { setUp + steps.flatMap(\.actions) + tearDown }

  /// What a system needs to have to play this.
  package var neededCapabilities: Set<Capability> { actions.reduce(into: needs) { $0.formUnion($1.verb.needs) } }
}

/// One statement, and the actions that show it. A step without actions is narration only.
package struct Step: Equatable, Sendable {
  /// The lesson for a person.
  package var say: String
  /// Catalogue identifiers that the step shows, for example `TOK-1`.
  package var rules: [String]
  /// The actions are carried out once for each value of this variable.
  package var loop: Loop?
  package var actions: [Action]
  package var place: Place
}

extension Step {
  package struct Loop: Equatable, Sendable {
    package var variable: String
    package var values: [Template]
  }
}

/// One act or question, with its required result.
package struct Action: Equatable, Sendable {
  package var verb: Verb
  package var place: Place
  /// Seconds; nil: the scenario's.
  package var timeout: Double?
  /// Repeats the question until it holds, for so many seconds at most.
  package var within: Double?
}

/// The vocabulary. One case a word of the language; `Docs` of each word are in ``ScenarioReader``.
package enum Verb: Equatable, Sendable {
  case write(paths: [Template], content: Template)
  case read(path: Template, expect: TextExpectation)
  case move(from: Template, to: Template)
  case remove(paths: [Template])
  case present(paths: [Template])
  case absent(paths: [Template])
  case replace(path: Template, content: Template)
  case append(path: Template, content: Template)
  case copy(from: Template, to: Template)
  case trash(path: Template)
  case link(path: Template, target: Template)
  case makeFolder(paths: [Template])
  case mode(path: Template, bits: UInt32)
  case policy(name: String, content: Template)
  case launch(Launch)
  case give(Give)
  case revoke(document: String, app: String)
  case act(Act)
  case pause(seconds: Double)
  case tell(Tell)
  /// Keys by their names in tmux (`Down`, `Enter`, `C-c`), or text.
  case keys([Template], instance: String, isText: Bool)
  case screen(instance: String, expect: TextExpectation)
  /// By a command of `ambit` about a running app.
  case suspend(instance: String, by: String)
  case kill(instance: String)
  case close(instance: String, outcome: Outcome)
  case wait(instance: String, outcome: Outcome)
  case run(Command)
  case audit(events: [EventPattern], count: Int?)
  case never(events: [EventPattern])
}

/// Starts an app (or any program) under the system and leaves it running.
package struct Launch: Equatable, Sendable {
  /// nil: the agent, the app that carries acts out.
  package var program: Template?
  package var arguments: [Template]
  /// The name of this instance for later actions.
  package var name: String
  package var policy: Template?
  package var container: String?
  /// For an agent: the name of the app that it is an instance of; nil: ``name``.
  package var app: String?
  /// For an agent: keys of its Info.plist and of its entitlements.
  package var manifest: [Property] = []
  package var entitlements: [Property] = []
  /// In a terminal of its own, which is looked at and typed into; it needs tmux.
  package var terminal: TerminalSize?
  /// Further arguments of `ambit run`.
  package var options: [Template] = []
  /// Entitlements that the user allows beforehand, by name.
  package var allowEntitlements: [String] = []
  /// The user's answers when the app asks, one for each question.
  package var user: [UserAnswer]
  /// Whether a person may answer instead, when the scenario is run interactively.
  package var interactive: Bool
  /// The first line that the app prints, when the launch waits for one.
  package var expect: TextExpectation?
}

/// Columns and rows.
package struct TerminalSize: Equatable, Sendable {
  package var columns: Int
  package var rows: Int
}

/// A key of a property list.
package struct Property: Equatable, Sendable {
  package enum Value: Equatable, Sendable {
    case bool(Bool)
    case integer(Int)
    case string(String)
    case strings([String])
    case dictionaries([[Property]])
  }

  package var key: String
  package var value: Value
}

package enum UserAnswer: Equatable, Sendable {
  case pick([Template])
  case cancel
  /// A new document in this folder; `nil`: in none.
  case create(Template?)
  /// An action of the app's own browser, on these.
  case act(Template, [Template])
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

  package init(file: String, place: Place?, message: String) {
    (self.file, self.place, self.message) = (file, place, message)
  }

  package var description: String {
    if let place { "\(file):\(place): \(message)" } else { "\(file): \(message)" }
  }
}
