internal import Foundation
internal import Paths
package import Scenario

/// Takes a learner through a lesson, or a script, for `ambit lesson check`.
package struct LessonPlayer {
  package var options: ScenarioRunner.Options
  /// How a reply looks on the learner's terminal.
  package var render: (LessonSession.Reply) -> String
  /// Told of each step that was reached.
  package var progress: (Int) -> Void

  package init(
    options: ScenarioRunner.Options, render: @escaping (LessonSession.Reply) -> String,
    progress: @escaping (Int) -> Void = { _ in }
  ) {
    (self.options, self.render, self.progress) = (options, render, progress)
  }

  package enum Ending: Equatable, Sendable {
    case finished
    /// The learner left the shell at this step.
    case left(step: Int)
    case reset
  }

  private final class Silent: ScenarioReporter {}

  /// A folder that no sandbox shows, so that a refusal there is the sandbox's and is logged. An app has a `/tmp` of its own.
  private static func base() throws -> String {
    let environment = ProcessInfo.processInfo.environment
    let cache = [environment["XDG_CACHE_HOME"], environment["HOME"].map { "\($0)/.cache" }].compactMap { $0 }
    let manager = FileManager.default
    for folder in cache + ["/srv", "/opt", "/mnt"] where folder.isAbsolutePath && folder.pathNames.first != "tmp" {
      try? manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
      if manager.isWritableFile(atPath: folder) { return folder }
    }
    throw ScenarioError(
      file: "lesson", place: nil,
      message: "there is no folder outside of /tmp that you can write; set XDG_CACHE_HOME to one")
  }

  private func withSession<Value>(
    _ lesson: Lesson, _ body: (LessonSession, LessonShell) throws -> Value
  ) throws -> Value {
    Interruption.ignoreBrokenPipes()
    let stage = try Stage(in: try Self.base())
    let scenario = Scenario(
      file: lesson.file, title: lesson.title, about: nil, policy: Template(text: lesson.policy), timeout: 10, steps: [])
    let play = Play(scenario: scenario, stage: stage, options: options, adapter: nil, reporter: Silent())
    defer { _ = play.cleanUp() }
    let shell = try LessonShell(lesson.name, policy: lesson.policy, in: play)
    defer { shell.end() }
    play.variables["container"] = shell.container
    let session = LessonSession(lesson, play: play)
    try session.setUp()
    return try body(session, shell)
  }

  /// With a learner at the terminal.
  ///
  /// - Throws: ``Interrupted``, ``ScenarioError``.
  package func take(_ lesson: Lesson) throws -> Ending {
    try withSession(lesson) { session, shell in
      repeat {
        try shell.launch(picks: nil)
        while let message = try shell.wait(limit: nil) {
          if message == .word("reset") {
            shell.reply("", leaves: true)
            _ = try shell.wait(limit: 5)
            return .reset
          }
          let reply = try answer(message, session)
          shell.reply(render(reply), leaves: reply.leaves)
          progress(session.position)
        }
        shell.end()
        if !session.isRelaunching, !session.isOver { return .left(step: session.position) }
      } while !session.isOver
      return .finished
    }
  }

  private func answer(_ message: LessonShell.Message, _ session: LessonSession) throws -> LessonSession.Reply {
    switch message {
    case .begin: try session.begin()
    case .turn(let command): try session.turn(command)
    case .word(let word): try session.word(word)
    }
  }

  /// What a script did: the replies after each of its lines, and how far it came.
  package struct Transcript: Equatable, Sendable {
    package var replies: [LessonSession.Reply] = []
    /// The last wrong attempt that was recognised after each script's lines, by the script's place.
    package var wrongs: [Int: Int] = [:]
    package var position = 0
    package var isOver = false
  }

  /// Types lines for the learner.
  ///
  /// - Parameter script: lines by step; the lines of a step are typed while the lesson is at it.
  package func play(_ lesson: Lesson, _ script: [Script]) throws -> Transcript {
    try withSession(lesson) { session, shell in
      var transcript = Transcript()
      var script = script[...]
      repeat {
        // Everything that is picked before the next launch.
        let upTo =
          script.indices.first {
            script[$0].step != script.first?.step && lesson.steps.indices.contains(script[$0].step)
              && lesson.steps[script[$0].step].isRelaunched
          } ?? script.endIndex
        let picks = try script[..<upTo].flatMap(\.picks).map { try $0.map { try session.play.variables.expand($0) } }
        try shell.launch(picks: picks)
        var lines: [Template] = []
        var current: Int?
        while let message = try shell.wait(limit: 20) {
          let reply = try answer(message, session)
          transcript.replies.append(reply)
          if let current, let wrong = reply.wrong { transcript.wrongs[current] = wrong }
          shell.reply("", leaves: reply.leaves)
          if reply.leaves { continue }
          if lines.isEmpty, let next = script.first, next.step == session.position {
            lines = next.lines
            current = script.startIndex
            script = script.dropFirst()
          }
          guard !lines.isEmpty else { break }
          shell.type(try session.play.variables.expand(lines.removeFirst()))
        }
        shell.end()
      } while session.isRelaunching && !session.isOver
      transcript.position = session.position
      transcript.isOver = session.isOver
      return transcript
    }
  }

  /// Lines for one step.
  package struct Script: Equatable, Sendable {
    package var step: Int
    package var lines: [Template]
    package var picks: [[Template]]

    package init(step: Int, lines: [Template], picks: [[Template]]) {
      (self.step, self.lines, self.picks) = (step, lines, picks)
    }
  }
}
