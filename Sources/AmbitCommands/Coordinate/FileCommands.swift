internal import ArgumentParser
internal import Kernel
internal import Launcher
internal import Paths
internal import Terminal
internal import Wire

/// `ambit cp`: the system's `cp`, in its turn.
struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cp", abstract: "Copy files as cp(1) does, after apps have saved and let go of them.",
    discussion: FileProgram.help(
      """
      The sources are read: apps that present them save first, also those that present something in a copied folder. The \
      targets are written.

        ambit cp -a report.txt backup/
      """))

  @Argument(parsing: .captureForPassthrough, help: "The arguments of cp.") var arguments: [String] = []

  func run() throws { try FileProgram(.cp, arguments).run() }
}

/// `ambit mv`: the system's `mv`, in its turn.
struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mv", abstract: "Move files as mv(1) does, after apps have let go of them; they follow the move.",
    discussion: FileProgram.help(
      """
      Apps that present the files, or something in a moved folder, are told the new place. Apps that present a file that is \
      replaced prepare for its end first.

        ambit mv draft.txt final.txt
      """))

  @Argument(parsing: .captureForPassthrough, help: "The arguments of mv.") var arguments: [String] = []

  func run() throws { try FileProgram(.mv, arguments).run() }
}

/// `ambit rm`: the system's `rm`, in its turn.
struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Remove files as rm(1) does, after apps have prepared for it.",
    discussion: FileProgram.help(
      """
      Apps that present the files, or something in a removed folder, prepare for their end first.

        ambit rm -r old/
      """))

  @Argument(parsing: .captureForPassthrough, help: "The arguments of rm.") var arguments: [String] = []

  func run() throws { try FileProgram(.rm, arguments).run() }
}

/// One run of a system program within a coordinated access.
struct FileProgram {
  static func help(_ beginning: String) -> String {
    beginning + "\n\n" + """
      The arguments are those of the system's program, which is found in PATH and gets them as they are. A word that begins with a \
      dash is an option, until “--”; -t, -S and their long forms take a value. All other words are files.

      All the files are taken together or none is, and nothing is done to any of them before. Where a file was moved while it \
      was waited for, nothing is done, and a line says its new place.

      Exit status: the program's own; 125 if the access is refused, with a sentence that says who was waited for.
      """
  }

  private let arguments: [String]
  private let files: FileArguments

  init(_ program: FileArguments.Program, _ arguments: [String]) {
    // The parser hands over the “--” that ends its own options; the program may want it.
    self.arguments = arguments
    files = FileArguments(program, arguments) { HostPath.kind($0) == .directory }
  }

  func run() throws {
    let name = files.program.rawValue
    let command = [name] + arguments
    // Without files the program says what is missing, or its help.
    guard !files.steps.isEmpty else { throw ExitCode(try Foreground.run(command)) }
    let terms = CoordinatedAccess.Terms("ambit \(name)")
    let plan = try FilePlan(files)
    let prepared =
      try plan.folders.isEmpty
      ? nil : CoordinatedAccess(plan.folders, terms, prepares: true)
    let access = try CoordinatedAccess(plan.intents, terms, within: prepared)
    for (asked, now) in zip(plan.intents.map(\.path), access.paths) where !now.isSamePath(as: asked) {
      throw Failure("\(printable(asked)) was moved to \(printable(now)) while it was waited for; nothing was done.")
    }
    let status = try Foreground.run(command, purpose: terms.purpose)
    for move in plan.moves where move.hasHappened { try? access.moved(from: move.from, to: move.to) }
    access.done()
    prepared?.done()
    throw ExitCode(status)
  }
}

/// What is coordinated for a program's files.
struct FilePlan {
  struct Move: Equatable {
    let from: String
    let to: String

    /// A program may leave a file where it was: it was asked not to replace another one, or the user was asked.
    var hasHappened: Bool {
      HostPath.kind(from, followsLink: false) == nil && HostPath.kind(to, followsLink: false) != nil
    }
  }

  private(set) var intents: [CoordinatedAccess.Intent] = []
  /// Copied with their contents, whose presenters save first.
  private(set) var folders: [CoordinatedAccess.Intent] = []
  private(set) var moves: [Move] = []

  init(_ files: FileArguments) throws(Failure) {
    for step in files.steps {
      // A link is moved and removed as such, and copied from its target.
      let source = try HostPath.resolved(step.source, followsLink: files.program == .cp)
      switch files.program {
      case .rm: add(source, .write, "forDeleting")
      case .cp:
        add(source, .read)
        if HostPath.kind(source) == .directory { folders.append(.init(path: source, use: .read, options: [])) }
        let target = try HostPath.resolved(step.target ?? "")
        // A file that is there keeps its identity: `cp` writes into it.
        if HostPath.kind(target) == nil { add(target, .write, "forReplacing") } else { add(target, .write) }
      case .mv:
        let target = try HostPath.resolved(step.target ?? "", followsLink: false)
        add(source, .write, "forMoving")
        add(target, .write, "forReplacing")
        moves.append(Move(from: source, to: target))
      }
    }
  }

  private mutating func add(_ path: String, _ use: CoordinationInterface.Intent.Use, _ option: String? = nil) {
    let intent = CoordinatedAccess.Intent(path: path, use: use, options: option.map { [$0] } ?? [])
    if !intents.contains(intent) { intents.append(intent) }
  }
}
