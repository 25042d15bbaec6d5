internal import ArgumentParser
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Lessons
internal import Paths
internal import Scenario
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit lesson`: scoped access, learned in a real shell in a real sandbox.
struct LessonCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lesson",
    abstract: "Learn scoped access in a shell in a sandbox, step by step.",
    discussion: """
      A lesson explains something, gives you a task, and puts you into a shell in a sandbox. It watches the audit log for what \
      you do, helps when something else happens than was asked for, and goes on when the task is done. Nothing of yours is touched.

        ambit lesson            the lessons, and how far you are
        ambit lesson open 1     take the first one
        ambit lesson open       take the next one

      In the shell: hint, solution, task (again), next (skip the task), reset (begin anew); Ctrl-D leaves.
      """,
    subcommands: [
      LessonListCommand.self, LessonOpenCommand.self, LessonCheckCommand.self, LessonResetCommand.self,
      LessonNewCommand.self, LessonExportCommand.self,
    ], defaultSubcommand: LessonListCommand.self)
}

/// Where the lessons are, and which one is meant.
struct LessonPlaces: ParsableArguments {
  @Option(help: ArgumentHelp("Folder of the lessons. Default: where they were built or installed.", valueName: "dir"))
  var lessons: String?

  func all() throws -> [Lesson] {
    do {
      return try LessonReader.all(
        in: try lessons
          ?? ProgramFolders.beside("Lessons", installed: "share/ambit/lessons", option: "--lessons DIR"))
    } catch let error as ScenarioError {
      throw Failure("\(error)", status: 2)
    }
  }

  /// By number, by name, or by file.
  func lesson(_ word: String) throws -> Lesson {
    if word.hasSuffix(".toml") {
      do { return try LessonReader.read(path: word) } catch let error as ScenarioError {
        throw Failure("\(error)", status: 2)
      }
    }
    // No lesson's name has a slash.
    if word.hasSlash { throw Self.noLesson(word) }
    let all = try all()
    if let number = Int(word), all.indices.contains(number - 1) { return all[number - 1] }
    if let found = all.first(where: { $0.name == word || $0.name.hasSuffix("-\(word)") }) { return found }
    throw Self.noLesson(word)
  }

  private static func noLesson(_ named: String) -> Failure {
    let word = printable(named)
    let reason =
      switch HostPath.kind(named) {
      case .directory: "\(word) is a folder; name a lesson, or the folder with --lessons \(word)"
      case nil where named.hasSlash: "\(word) is not there; ambit lesson lists the lessons"
      case nil: "there is no lesson \(word); ambit lesson lists them"
      default: "\(word) is no lesson's file, whose name ends in .toml; ambit lesson lists the lessons"
      }
    return Failure(reason, status: 2)
  }

  static func options() throws -> ScenarioRunner.Options {
    guard let ambit = Programs.ambit.path, let agent = Programs.agent.path else {
      throw Failure("Ambit's programs are not where this one is; install Ambit again, whole", status: 2)
    }
    return ScenarioRunner.Options(ambit: ambit, apps: ScenarioRunCommand.appsFolder(nil, beside: ambit), agent: agent)
  }
}

struct LessonListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the lessons, with your progress.")

  @OptionGroup var places: LessonPlaces
  @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

  func run() throws {
    let lessons = try places.all()
    let progress = try LessonProgress.read()
    switch format {
    case .json:
      let rows = lessons.map { lesson in
        JSONValue.object([
          "name": .string(lesson.name), "title": .string(lesson.title), "about": .string(lesson.about),
          "minutes": JSONValue(lesson.minutes), "steps": JSONValue(lesson.steps.count),
          "done": .bool(progress.isDone(lesson)), "step": JSONValue(progress.step(of: lesson)),
        ])
      }
      let object: JSONObject = ["lessons": .array(rows)]
      try Output.standard.write(json: object.text)
    case .table:
      let table = Table(
        [
          Table.Column("", alignment: .trailing, minWidth: 2), Table.Column("LESSON", minWidth: 24),
          Table.Column("MIN", alignment: .trailing), Table.Column("YOU", minWidth: 6),
          Table.Column("ABOUT", keeping: .start),
        ], for: 1)
      let rows = lessons.enumerated().map { index, lesson -> [Table.Cell] in
        let done = progress.isDone(lesson)
        let step = progress.step(of: lesson)
        let you =
          done
          ? Table.Cell("✓ done", .green)
          : step > 0 ? Table.Cell("\(step) of \(lesson.steps.count)", .yellow) : Table.Cell("–", .dim)
        return [
          Table.Cell("\(index + 1)"), Table.Cell(lesson.title, .bold), Table.Cell("\(lesson.minutes)"), you,
          Table.Cell(lesson.about, .dim),
        ]
      }
      try Output.standard.write(table.render(rows))
      if let next = lessons.firstIndex(where: { !progress.isDone($0) }) {
        try Output.standard.write("\nambit lesson open \(next + 1)   begins “\(lessons[next].title)”.\n")
      } else {
        try Output.standard.write("\nYou have taken every lesson.\n")
      }
    }
  }
}

struct LessonOpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Take a lesson: by its number, its name or its file; without one, the next.")

  @OptionGroup var places: LessonPlaces
  @Argument(help: "The lesson.") var lesson: String?

  func run() throws {
    guard Glibc.isatty(0) == 1, Glibc.isatty(1) == 1 else {
      throw Failure("a lesson needs a terminal; ambit lesson export DIR writes all of them as pages", status: 2)
    }
    let lesson: Lesson
    if let word = self.lesson {
      lesson = try places.lesson(word)
    } else {
      let progress = try LessonProgress.read()
      guard let next = try places.all().first(where: { !progress.isDone($0) }) else {
        return try Output.standard.write("You have taken every lesson. ambit lesson reset forgets that.\n")
      }
      lesson = next
    }
    Interruption.listen()
    let text = LessonText(style: Style(for: 1), width: min(WindowSize.columns(of: 1) ?? 80, 88))
    while true {
      try Output.standard.write(text.opening(lesson))
      let player = LessonPlayer(options: try LessonPlaces.options(), render: text.render) { step in
        try? LessonProgress.note(lesson, step: step)
      }
      let ending: LessonPlayer.Ending
      do { ending = try player.take(lesson) } catch let error as ScenarioError {
        throw Failure("\(error)", status: 2)
      } catch let interruption as Interrupted {
        throw ExitCode(128 + interruption.signal)
      }
      switch ending {
      case .reset: continue
      case .finished:
        try LessonProgress.note(lesson, step: lesson.steps.count, isDone: true)
        return try Output.standard.write(text.ending(lesson))
      case .left(let step):
        return try Output.standard.write(
          "\nYou left at step \(step + 1) of \(lesson.steps.count). ambit lesson lists where you are.\n")
      }
    }
  }
}

struct LessonResetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Forget your progress: of one lesson, or of all.")

  @OptionGroup var places: LessonPlaces
  @Argument(help: "The lesson.") var lesson: String?

  func run() throws { try LessonProgress.forget(try lesson.map { try places.lesson($0) }) }
}

struct LessonCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract:
      "Prove lessons: each fails untouched, passes with its solution, and answers wrong attempts with their hints.",
    discussion: "Exit status: 0 every lesson is sound, 1 one is not, 2 a file is no lesson.")

  @OptionGroup var places: LessonPlaces
  @Argument(help: "Lessons; none: all of them.") var lessons: [String] = []

  func run() throws {
    let all = try lessons.isEmpty ? places.all() : lessons.map { try places.lesson($0) }
    Interruption.listen()
    let style = Style(for: 1)
    let check = LessonCheck(player: LessonPlayer(options: try LessonPlaces.options(), render: { _ in "" }))
    var isSound = true
    for lesson in all {
      let faults: [LessonCheck.Fault]
      do { faults = try check.faults(of: lesson) } catch let error as ScenarioError {
        throw Failure("\(error)", status: 2)
      } catch let interruption as Interrupted {
        throw ExitCode(128 + interruption.signal)
      }
      let wrongs = lesson.steps.reduce(0) { $0 + $1.wrongs.count }
      let mark = faults.isEmpty ? style.green("✓") : style.red("✘")
      try Output.standard.write(
        "\(mark) \(style.bold(lesson.name))  \(lesson.steps.count) steps, \(wrongs) wrong attempts\n")
      for fault in faults {
        isSound = false
        try Output.standard.write("  \(printable(lesson.file)):\(fault.place): \(printable(fault.message))\n")
      }
    }
    if !isSound { throw ExitCode(1) }
  }
}
