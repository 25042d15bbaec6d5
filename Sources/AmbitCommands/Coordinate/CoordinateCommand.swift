internal import ArgumentParser
internal import Kernel
internal import Launcher
internal import Wire

/// `ambit coordinate`: a command of the user's that takes its turn.
struct CoordinateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coordinate",
    abstract: "Run a command while its files are coordinated: apps let go of them first, and wait until it is over.",
    discussion: """
      Apps that use the files are waited for, and those that present them are asked to save and to let go. All the files are \
      taken together or none is. While the command runs, apps that ask for the files wait. The access is over when the \
      command has ended, also if this program is killed before.

        ambit coordinate read notes.txt -- wc -l
        ambit coordinate write notes.txt -- sh -c 'sort -o {} {}'
        ambit coordinate write a.txt --also b.txt -- git checkout

      “{}” in the command stands for the file's real path; with several files, “{}” alone stands for all of them. Without \
      one they are appended. Commands in it that coordinate as well, such as “ambit cp”, do not wait for it.

      After a second of waiting a line says who is waited for. “ambit coordination” shows all of it.

      Exit status: the command's own; 125 if the access is refused, with a sentence that says who was waited for; 126 if the \
      command cannot be run, 127 if there is no such command.
      """)

  enum Use: String, ExpressibleByArgument, CaseIterable {
    case read, write, move, delete

    var intent: (use: CoordinationInterface.Intent.Use, options: [String]) {
      switch self {
      case .read: (.read, [])
      case .write: (.write, [])
      case .move: (.write, ["forMoving"])
      case .delete: (.write, ["forDeleting"])
      }
    }
  }

  @Argument(help: "The use of the files: read, write, move or delete.") var use: Use
  @Argument(help: "The file. Of one that is still to be made, the folder has to be there.") var file: String
  @Option(
    name: .customLong("also"),
    help: ArgumentHelp("A further file, taken together with it; repeatable.", valueName: "file"))
  var others: [String] = []
  @Argument(parsing: .postTerminator, help: "The command, after “--”.") var command: [String]
  @Option(
    help: ArgumentHelp(
      "How long to wait: 30 by default; 0 takes the files only if they are free.", valueName: "seconds"))
  var timeout: Double?
  @Option(help: ArgumentHelp("Commands of the same purpose do not wait for each other.", valueName: "name"))
  var purpose: String?

  var files: [String] { [file] + others }

  func validate() throws {
    if command.isEmpty { throw ValidationError("a command is missing; write it after “--”") }
    if let timeout, !(0...86400).contains(timeout) { throw ValidationError("--timeout takes 0 to 86400 seconds") }
    if files.count > 1, let word = command.first(where: { $0 != "{}" && $0.contains("{}") }) {
      throw ValidationError("“\(word)” has room for one path, and there are \(files.count) files; let “{}” stand alone")
    }
  }

  func run() throws {
    // Moving and deleting are about a link itself.
    let follows = use == .read || use == .write
    let intents = try files.map { file in
      CoordinationInterface.Intent(
        path: try HostPath.resolved(file, followsLink: follows), use: use.intent.use, options: use.intent.options)
    }
    let terms = CoordinatedAccess.Terms("ambit coordinate", purpose: purpose, timeout: timeout)
    let access = try CoordinatedAccess(intents, terms)
    try access.share()
    let status = try Foreground.run(Self.arguments(command, paths: access.paths), purpose: terms.purpose)
    access.done()
    throw ExitCode(status)
  }

  /// The command with the paths in it.
  static func arguments(_ command: [String], paths: [String]) -> [String] {
    guard command.contains(where: { $0.contains("{}") }) else { return command + paths }
    return command.flatMap { word in
      word == "{}" ? paths : [word.replacing("{}", with: paths.count == 1 ? paths[0] : "{}")]
    }
  }
}

/// Commands in the foreground, within a coordinated access.
enum Foreground {
  /// - Returns: the exit status, also where the command cannot be started; that is said.
  static func run(_ arguments: [String], purpose: String? = nil) throws -> Int32 {
    // From here on a signal ends the command, and not this process before it.
    let child = try ForegroundProcess.holdingSignals()
    defer { child.releaseSignals() }
    do throws(KernelError) {
      return try child.run(arguments, environment: purpose.map { [CoordinatedAccess.Terms.variable: $0] } ?? [:])
    } catch {
      Failure.say("\(arguments[0]): \(error.errno) (\(error.errno.symbol))")
      return ForegroundProcess.status(of: error)
    }
  }
}
