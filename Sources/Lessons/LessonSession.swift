internal import Foundation
internal import Scenario
internal import Wire

/// A lesson while it is taken: which step, what the log says of it, what is said to the learner.
package final class LessonSession {
  package struct Reply: Equatable, Sendable {
    package enum Part: Equatable, Sendable {
      case paragraph(String)
      case task(String)
      case praise(String)
      case hint(String)
      case solution([String])
      case note(String)
    }

    package var parts: [Part] = []
    /// The wrong attempt that the hint is for, of those of the step.
    package var wrong: Int?
    /// The shell ends after it: the app is launched anew, or the lesson is over.
    package var leaves = false
  }

  package let lesson: Lesson
  let play: Play
  /// Index of the step; the count of steps: the lesson is over.
  package private(set) var position = 0
  /// Events that were in the log when the step, and when the last turn, began.
  private var stepStart = 0
  private var turnStart = 0
  private var praise: String?
  private var mustRelaunch = false
  package var isOver: Bool { position >= lesson.steps.count }
  package var isRelaunching: Bool { mustRelaunch }

  init(_ lesson: Lesson, play: Play) {
    self.lesson = lesson
    self.play = play
  }

  /// Carries out the set-up.
  ///
  /// - Throws: ``ScenarioError`` for an action that failed: the lesson's mistake.
  func setUp() throws {
    for action in lesson.setUp { try perform(action) }
  }

  private func perform(_ action: Action) throws {
    if let failure = try play.check(action).failure {
      throw ScenarioError(
        file: lesson.file, place: action.place, message: "expected \(failure.expected); seen \(failure.seen)")
    }
  }

  /// The shell is up: the prose up to the next task.
  func begin() throws -> Reply {
    mustRelaunch = false
    var reply = Reply()
    try enter(&reply)
    return reply
  }

  /// Steps for reading alone follow each other without a pause.
  private func enter(_ reply: inout Reply) throws {
    while position < lesson.steps.count {
      let step = lesson.steps[position]
      for action in step.actions { try perform(action) }
      reply.parts.append(.paragraph(try text(step.say)))
      stepStart = try log().count
      turnStart = stepStart
      if let task = step.task {
        reply.parts.append(.task(try text(task)))
        return
      }
      position += 1
      if position < lesson.steps.count, lesson.steps[position].isRelaunched { break }
    }
    guard position < lesson.steps.count else {
      reply.parts.append(.paragraph(try text(lesson.closing)))
      reply.leaves = true
      return
    }
    relaunch(&reply)
  }

  private func relaunch(_ reply: inout Reply) {
    mustRelaunch = true
    reply.leaves = true
  }

  /// A command has ended: the log says whether the task is done.
  func turn(_ command: String) throws -> Reply {
    guard !isOver else { return Reply() }
    let step = lesson.steps[position]
    let events = try log()
    defer { turnStart = events.count }
    if try isDone(step, events) { return try advance(praise: step.praise) }
    for (index, wrong) in step.wrongs.enumerated() {
      let isEvent = wrong.event.map { event in events.dropFirst(turnStart).contains { play.matches($0, event) } }
      let isCommand = try wrong.command.map { try Regex($0).firstMatch(in: command) != nil }
      if isEvent ?? true, isCommand ?? true { return Reply(parts: [.hint(try text(wrong.hint))], wrong: index) }
    }
    return Reply()
  }

  private func isDone(_ step: LessonStep, _ events: [JSONValue]) throws -> Bool {
    if !step.done.isEmpty {
      guard case .matched = play.match(step.done, in: Array(events.dropFirst(stepStart))) else { return false }
    }
    return try step.checks.allSatisfy { try play.check($0).failure == nil }
  }

  private func advance(praise: String) throws -> Reply {
    var reply = Reply()
    if !praise.isEmpty { reply.parts.append(.praise(try text(praise))) }
    position += 1
    if position < lesson.steps.count, lesson.steps[position].isRelaunched {
      relaunch(&reply)
    } else {
      try enter(&reply)
    }
    return reply
  }

  /// A word to the lesson itself.
  func word(_ word: String) throws -> Reply {
    guard !isOver else { return Reply() }
    let step = lesson.steps[position]
    switch word {
    case "hint": return Reply(parts: [.hint(try text(step.hint))])
    case "solution":
      var parts: [Reply.Part] = [.solution(try step.solution.map { try play.variables.expand($0) })]
      for pick in step.picks {
        let names = try pick.map { URL(fileURLWithPath: try play.variables.expand($0)).lastPathComponent }
        parts.append(.note("In the picker, choose \(names.joined(separator: ", "))."))
      }
      return Reply(parts: parts)
    case "next":
      var reply = try advance(praise: "")
      reply.parts.insert(
        .note("Skipped. A later step may need what this one does; reset begins the lesson anew."), at: 0)
      return reply
    case "task": return Reply(parts: [.task(try text(step.task ?? ""))])
    default: return Reply()
    }
  }

  private func log() throws -> [JSONValue] { try play.readLog(limit: 10) }

  private func text(_ source: String) throws -> String {
    guard source.contains("${") else { return source }
    return try play.variables.expand(try Template(parsing: source))
  }
}
