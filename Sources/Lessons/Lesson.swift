package import Scenario

/// A lesson: a scenario with prose, of which the learner does the acts, in a real shell in a real sandbox.
package struct Lesson: Equatable, Sendable {
  package var file: String
  /// `03-start-and-stop`: the file's name without its ending.
  package var name: String
  package var title: String
  /// A sentence for the list.
  package var about: String
  /// How long it takes.
  package var minutes: Int
  package var policy: String
  package var setUp: [Action]
  package var steps: [LessonStep]
  /// The last paragraph.
  package var closing: String
}

/// A paragraph, and a task whose doing the audit log shows.
package struct LessonStep: Equatable, Sendable {
  /// Paragraphs, apart by an empty line.
  package var say: String
  /// What happens outside the sandbox before the task: the host's side of the story.
  package var actions: [Action]
  /// The app is launched anew before the task.
  package var isRelaunched: Bool
  /// nil: the step is for reading alone.
  package var task: String?
  /// Events that the log has once the task is done, in this order.
  package var done: [EventPattern]
  /// Questions that hold once it is done.
  package var checks: [Action]
  /// Said when it is done.
  package var praise: String
  package var hint: String
  /// Lines for the shell that do the task.
  package var solution: [Template]
  /// Documents that the user picks meanwhile, in this order.
  package var picks: [[Template]]
  package var wrongs: [WrongAttempt]
  package var place: Place
}

/// Something that learners try instead, and the hint that fits it.
package struct WrongAttempt: Equatable, Sendable {
  /// Lines for the shell, for `ambit lesson check`.
  package var attempt: [Template]
  package var picks: [[Template]]
  /// An event that shows it.
  package var event: EventPattern?
  /// A regular expression that the typed command matches.
  package var command: String?
  package var hint: String
}
