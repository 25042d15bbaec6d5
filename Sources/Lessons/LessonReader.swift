internal import Foundation
internal import Scenario

/// Reads a lesson, strictly, as scenarios are read.
package struct LessonReader {
  private var scenario: ScenarioReader
  private let file: String

  /// - Throws: ``ScenarioError``.
  package static func read(path: String) throws -> Lesson {
    var reader = LessonReader(scenario: ScenarioReader(file: path), file: path)
    reader.scenario.variables.formUnion(["container"])
    return try reader.lesson(try TOMLFile.read(path: path))
  }

  /// The lessons of a folder, in the order of their names.
  package static func all(in folder: String) throws -> [Lesson] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let files = names.filter { $0.hasSuffix(".toml") }.sorted()
    guard !files.isEmpty else { throw ScenarioError(file: folder, place: nil, message: "there is no lesson in it") }
    return try files.map { try read(path: "\(folder)/\($0)") }
  }

  private mutating func lesson(_ root: Node) throws -> Lesson {
    var fields = try Fields(root, file: file, what: "a lesson")
    func need(_ key: String) throws -> String {
      guard let text = try fields.string(key) else { throw fields.problem("a lesson needs `\(key)`") }
      return text
    }
    var lesson = Lesson(
      file: file, name: URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent, title: try need("title"),
      about: try need("about"), minutes: try fields.int("minutes") ?? 5, policy: try fields.string("policy") ?? "teach",
      setUp: try scenario.actions(&fields, "set_up"), steps: [], closing: try need("closing"))
    for step in try fields.tables("step", of: "a step") ?? [] { lesson.steps.append(try self.step(step)) }
    try fields.finish(
      known: ["title", "about", "minutes", "policy", "set_up", "step", "closing"], what: "a lesson")
    guard lesson.steps.contains(where: { $0.task != nil }) else {
      throw ScenarioError(file: file, place: nil, message: "no step has a `task`")
    }
    return lesson
  }

  private mutating func step(_ table: Fields) throws -> LessonStep {
    var fields = table
    guard let say = try fields.string("say") else { throw fields.problem("a step needs `say`: what the learner reads") }
    let task = try fields.string("task")
    var step = LessonStep(
      say: say, actions: try scenario.actions(&fields, "do"), isRelaunched: try fields.bool("relaunch") ?? false,
      task: task, done: fields.has("done") ? try scenario.events(&fields, "done") : [],
      checks: try scenario.actions(&fields, "check"), praise: try fields.string("praise") ?? "",
      hint: try fields.string("hint") ?? "", solution: try scenario.templates(&fields, "solution") ?? [],
      picks: try picks(&fields), wrongs: [], place: fields.place)
    for wrong in try fields.tables("wrong", of: "a wrong attempt") ?? [] { step.wrongs.append(try self.wrong(wrong)) }
    try fields.finish(
      known: ["say", "do", "relaunch", "task", "done", "check", "praise", "hint", "solution", "picks", "wrong"],
      what: "a step")
    if task != nil {
      if step.done.isEmpty, step.checks.isEmpty {
        throw fields.problem("a task needs `done`, the events that show it, or `check`", at: "task")
      }
      if step.hint.isEmpty { throw fields.problem("a task needs a `hint`", at: "task") }
      if step.solution.isEmpty { throw fields.problem("a task needs a `solution`: lines for the shell", at: "task") }
    }
    return step
  }

  /// `picks = ["a", ["b", "c"]]`: a document for each question, or several.
  private mutating func picks(_ fields: inout Fields) throws -> [[Template]] {
    (try scenario.templates(&fields, "picks") ?? []).map { [$0] }
  }

  private mutating func wrong(_ table: Fields) throws -> WrongAttempt {
    var fields = table
    guard let hint = try fields.string("hint") else { throw fields.problem("a wrong attempt needs its `hint`") }
    let attempt = try scenario.templates(&fields, "try") ?? []
    guard !attempt.isEmpty else { throw fields.problem("a wrong attempt needs `try`: lines for the shell") }
    var wrong = WrongAttempt(attempt: attempt, picks: try picks(&fields), hint: hint)
    if fields.has("event") { wrong.event = try scenario.events(&fields, "event").first }
    if let pattern = try fields.string("command") {
      do { _ = try Regex(pattern) } catch {
        throw fields.problem("`command` is not a regular expression: \(error)", at: "command")
      }
      wrong.command = pattern
    }
    guard wrong.event != nil || wrong.command != nil else {
      throw fields.problem("a wrong attempt is known by its `event` or by its `command`")
    }
    try fields.finish(known: ["try", "picks", "event", "command", "hint"], what: "a wrong attempt")
    return wrong
  }
}
