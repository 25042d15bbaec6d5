package import Scenario

/// Proves a lesson: it does not pass untouched, it passes with its solution, and each wrong attempt gets its hint.
package struct LessonCheck {
  package struct Fault: Equatable, Sendable {
    package var place: Place
    package var message: String
  }

  package let player: LessonPlayer

  package init(player: LessonPlayer) { self.player = player }

  /// - Returns: the faults; none: the lesson is sound.
  package func faults(of lesson: Lesson) throws -> [Fault] {
    var faults: [Fault] = []
    let first = lesson.steps.first { $0.task != nil }?.place ?? Place(line: 1, column: 1)
    if try player.play(lesson, []).isOver {
      faults.append(Fault(place: first, message: "it is over without a learner's doing anything"))
    }
    // Commands that any learner tries first must not do a task.
    let idle = [
      LessonPlayer.Script(step: firstTask(lesson), lines: ["true", "ls", "pwd"].map { Template(text: $0) }, picks: [])
    ]
    if try player.play(lesson, idle).position > firstTask(lesson) {
      faults.append(Fault(place: first, message: "ls and pwd are enough to do the first task"))
    }
    let solution = script(of: lesson, upTo: lesson.steps.count)
    let transcript = try player.play(lesson, solution)
    if !transcript.isOver {
      let place = lesson.steps[min(transcript.position, lesson.steps.count - 1)].place
      faults.append(Fault(place: place, message: "its solution does not do this task"))
      return faults
    }
    let missed = try missedTogether(lesson)
    for (index, step) in lesson.steps.enumerated() {
      for (number, wrong) in step.wrongs.enumerated() where missed[index]?.contains(number) ?? true {
        let attempt = LessonPlayer.Script(step: index, lines: wrong.attempt, picks: wrong.picks)
        let transcript = try player.play(lesson, script(of: lesson, upTo: index) + [attempt])
        let last = transcript.replies.last { !$0.parts.isEmpty }
        if transcript.position > index {
          faults.append(Fault(place: step.place, message: "a wrong attempt does the task: \(Self.words(wrong))"))
        } else if last?.wrong != number {
          let other = last?.wrong.map { "the hint of the wrong attempt \(Self.words(step.wrongs[$0])) came" }
          faults.append(
            Fault(place: step.place, message: "after \(Self.words(wrong)) \(other ?? "no hint came")"))
        }
      }
    }
    let wrongs = lesson.steps.reduce(0) { $0 + $1.wrongs.count }
    if wrongs < 2 {
      faults.append(Fault(place: first, message: "it knows \(wrongs) wrong attempts; two are the least"))
    }
    return faults
  }

  /// One play in which each task is first done wrongly, in every known way, and then rightly.
  ///
  /// - Returns: by step, the wrong attempts that did not get their hint. They may only have met what an earlier one left behind, and
  ///   are tried again by themselves.
  private func missedTogether(_ lesson: Lesson) throws -> [Int: [Int]] {
    var scripts: [LessonPlayer.Script] = []
    var attempts: [(place: Int, step: Int, number: Int)] = []
    for (index, step) in lesson.steps.enumerated() where step.task != nil {
      for (number, wrong) in step.wrongs.enumerated() {
        attempts.append((scripts.count, index, number))
        scripts.append(LessonPlayer.Script(step: index, lines: wrong.attempt, picks: wrong.picks))
      }
      scripts.append(LessonPlayer.Script(step: index, lines: step.solution, picks: step.picks))
    }
    let transcript = try player.play(lesson, scripts)
    var missed: [Int: [Int]] = [:]
    for attempt in attempts {
      missed[attempt.step, default: []] += transcript.wrongs[attempt.place] == attempt.number ? [] : [attempt.number]
    }
    return missed
  }

  private func firstTask(_ lesson: Lesson) -> Int { lesson.steps.firstIndex { $0.task != nil } ?? 0 }

  private func script(of lesson: Lesson, upTo end: Int) -> [LessonPlayer.Script] {
    lesson.steps.prefix(end).enumerated().filter { $0.element.task != nil }
      .map { LessonPlayer.Script(step: $0.offset, lines: $0.element.solution, picks: $0.element.picks) }
  }

  private static func words(_ wrong: WrongAttempt) -> String {
    wrong.attempt.map { template in
      template.expanded { "${\($0)}" }
    }.joined(separator: "; ")
  }
}
