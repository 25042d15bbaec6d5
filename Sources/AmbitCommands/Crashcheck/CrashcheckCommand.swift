internal import ArgumentParser
internal import CrashRecorder
internal import CrashStates
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import Scenario
internal import SystemPackage
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit crashcheck`: what a crash in the middle of a program's save may leave.
struct CrashcheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crashcheck",
    abstract: "Record a program that saves, and look at every state that a crash may leave.",
    discussion: """
      The program runs once, for real, and its system calls on the watched folders are recorded. Then the states that a crash \
      may leave are worked out: content that was not synced is there, in part or not at all, and the last changes of a \
      folder's names may be missing until the folder was synced. A state is harmful if the document is torn or missing, or if \
      a save is lost that the program had acknowledged. The exit status 0 acknowledges everything.

        ambit crashcheck --document letter.txt -- sed -i s/old/new/ letter.txt
        ambit crashcheck --watch repo --reopen 'git -C {} log --oneline' -- \\
          git -C repo commit -m second
        ambit crashcheck --kill --document letter.txt -- ./save letter.txt

      A program that saves several times acknowledges each save by a line that begins with “ambit:ack” on its standard \
      output, or by any line on the descriptor that AMBIT_CRASHCHECK_ACK names.

      Exit status: 0 no state is harmful, 1 some are, 2 wrong usage, 3 the check is incomplete; 125 it could not be done, \
      126 and 127 the program cannot be run.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable { case pretty, json }

  @Option(
    help: ArgumentHelp(
      "A folder that is recorded, with all in it; repeatable. By default that of the document.", valueName: "dir"))
  var watch: [String] = []
  @Option(help: ArgumentHelp("The file, or the package, that must be whole.", valueName: "file")) var document: String?
  @Option(
    help: ArgumentHelp(
      "Reads the document out of a state: its output counts, and it must end with 0. “{}” is the document there, or the folder.",
      valueName: "command"))
  var reopen: String?
  @Option(help: ArgumentHelp("How many states are looked at, at most.", valueName: "n")) var states = 20_000
  @Option(help: ArgumentHelp("Chooses the states if there are more.", valueName: "n")) var seed: UInt64 = 1
  @Option(help: ArgumentHelp("How many states are reopened at once.", valueName: "n")) var jobs: Int?
  @Option(help: "How to report: for people, or as JSON.") var format: Format = .pretty
  @Option(help: ArgumentHelp("Keep harmful states, up to 100, in this new folder.", valueName: "dir")) var keep: String?
  @Flag(
    help: ArgumentHelp(
      "Also run the program again and again, and kill it before each of its calls. The watched folders are put back each time."
    ))
  var kill = false
  @Argument(parsing: .postTerminator, help: "The program and its arguments, after “--”.") var program: [String] = []

  /// Wrong usage ends with 2, since 1 is a verdict.
  private func checkUsage() throws {
    func refuse(_ sentence: String) -> Failure { Failure(sentence, status: 2) }
    if program.isEmpty { throw refuse("a program is missing; write it after “--”") }
    if document == nil, reopen == nil { throw refuse("--document or --reopen has to say what must be whole") }
    if document == nil, watch.isEmpty { throw refuse("--watch is missing") }
    if !(1...10_000_000).contains(states) { throw refuse("--states takes 1 to 10000000") }
    if let jobs, !(1...64).contains(jobs) { throw refuse("--jobs takes 1 to 64") }
  }

  func run() throws {
    try checkUsage()
    do { try check() } catch let error as RecordingError { throw Failure(error.description) } catch let interruption
      as Interrupted
    { throw ExitCode(128 + interruption.signal) } catch let error as KernelError
      where error.call == "execve"
    {
      throw Failure("\(program[0]): \(error.errno.description)", status: ForegroundProcess.status(of: error))
    }
  }

  private func check() throws {
    let place = try document.map(DocumentPlace.init)
    let folders = try WatchedFolder.open(watch.isEmpty ? [place?.folder ?? "."] : watch)
    let path = try place?.path(in: folders)
    let kept = try keep.map(KeptStates.init)
    // ^C ends the program, and this one looks at what it did until then.
    signal(SIGINT, SIG_IGN)
    signal(SIGQUIT, SIG_IGN)
    let before = kill ? try FolderBackup(of: folders) : nil
    let recording = try Recorder.record(
      program, environment: ThisProcess.environment, watching: folders, Recorder.Options())
    let after = kill ? try FolderBackup(of: folders) : nil
    // From now on Ctrl-C ends this program, after it has put the folders back and removed its states.
    Interruption.listen()
    signal(SIGQUIT, SIG_DFL)
    let reader = try StateReader(
      document: path, command: reopen, folders: folders, jobs: jobs ?? ConformStage.processors,
      extent: recording.trace.initial.extent)
    var result = CrashcheckResult(recording, document: path, reader: reader)
    try result.judge(states: states, seed: seed, keep: kept)
    if let before, let after {
      defer { try? after.restore() }
      try result.kill(program, folders: folders, before: before, reader: reader)
    }
    let report = CrashcheckReport(result: result, program: program)
    switch format {
    case .pretty:
      try Output.standard.write(report.pretty(Style(for: 1), width: min(WindowSize.columns(of: 1) ?? 80, 100)))
    case .json: try Output.standard.write(json: report.json.text)
    }
    if result.isHarmful { throw ExitCode(1) }
    if result.isIncomplete { throw ExitCode(3) }
  }
}

/// Where the document lies, which may be still to be made.
struct DocumentPlace {
  /// Absolute, links resolved.
  let folder: String
  private let name: String

  init(_ path: String) throws {
    let absolute = path.isAbsolutePath ? path : ThisProcess.directory.path(of: path)
    name = absolute.lastPathName
    guard !name.isEmpty, name != "/", name != ".", name != ".." else {
      throw Failure("“\(path)” is no file's name", status: 2)
    }
    let parent = absolute.withoutTrailingSlashes.parentPath ?? "/"
    guard let open = try? Descriptor.open(parent, flags: [.path, .directory]), let real = open.currentPath else {
      throw Failure("\(parent): there is no such folder", status: 2)
    }
    folder = real
  }

  /// - Throws: where it is not watched.
  func path(in folders: [WatchedFolder]) throws -> TreePath {
    let full = folder.path(of: name)
    for watched in folders {
      if let rest = full.path(within: watched.path) { return TreePath(root: watched.name, rest.pathNames) }
    }
    throw Failure("\(full) does not lie in a watched folder; add --watch \(folder)", status: 2)
  }
}
