internal import ArgumentParser
internal import Folders
internal import Kernel
internal import Launcher
internal import PickerUI
internal import Policy
internal import Sandbox

/// `ambit run`.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run an app, or any program, in a sandbox.",
    discussion: """
      The program gets a container of its own as its home folder, and sees nothing of yours. A bundle (Name.app) says \
      in its Info.plist what to run; anything else is a program, and what follows it are its arguments.

        ambit run Editor.app
        ambit run --policy teach --pick notes.txt Editor.app
        ambit run /bin/sh -c 'id; ls -la ~'

      When the app asks for a document, a picker appears in your terminal, which the app can neither see nor type \
      into. --pick and --answers answer it beforehand; the audit log then says “scripted”.

      Where a policy requires layers ([require] layers), a launch in which one of them does not hold in full is refused; \
      “ambit plan” says how far each goes. --allow-degraded lets it be less, once for each layer, says so, and puts it \
      into the audit log.

      Exit status: the app's own, or

        124    its time was over (wall_time)
        125    Ambit itself failed, with a sentence that says why
        126    the program cannot be run
        127    there is no such program
        128+n  signal n ended it: 137 (SIGKILL) also if it went beyond a limit on memory, processor time or its \
      container, with a sentence that says which; 152 (SIGXCPU) if it let its processor time end it
      """)

  @Option(name: .shortAndLong, help: "A policy's name, or a file (see “Policies”).")
  var policy = "default"

  @Option(help: ArgumentHelp("The container to use, instead of the app's own.", valueName: "id"))
  var container: String?

  @Option(
    help: ArgumentHelp(
      "Answer the picker from a TOML file: [[answer]] with pick = [\"path\"] or cancel = true.", valueName: "file"))
  var answers: String?

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp("Answer the picker with this document. Once for each time the app asks.", valueName: "path"))
  var pick: [String] = []

  @Option(
    help: ArgumentHelp(
      "Hold the app to a seccomp profile of containers (OCI, Docker, Podman) as well, or to “standard”: none.",
      valueName: "file"))
  var seccomp: String?

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp(
      "Set a limit in place of the policy's, as in memory=512MiB or wall_time=10m. As often as you like.",
      valueName: "key=value"))
  var limit: [String] = []

  @Flag(help: "Show what the app is refused, as it happens, and what would have granted it.")
  var trace = false

  @Option(
    name: .customLong("json-status-fd"),
    help: ArgumentHelp(
      "Write what happens to this open descriptor, one JSON object a line: started, granted, denied, exited…",
      valueName: "number"))
  var statusDescriptor: Int32?

  @OptionGroup var degradation: DegradationOptions

  @Argument(help: ArgumentHelp("An app bundle or a program.", valueName: "app"))
  var app: String

  @Argument(parsing: .captureForPassthrough, help: "What is passed to it.")
  var arguments: [String] = []

  func validate() throws {
    if answers != nil, !pick.isEmpty { throw ValidationError("Use either --pick or --answers.") }
  }

  /// Reads what the launcher cannot (a bundle, a script of answers, words that are not plain) and becomes the launcher.
  func run() throws {
    let request: LaunchRequest
    do {
      request = try LaunchRequest(
        app: app, arguments: arguments, container: container, policy: policy, answers: try scriptedAnswers(),
        trace: trace, statusDescriptor: statusDescriptor, seccomp: seccomp, limits: limit,
        allowDegraded: degradation.allowDegraded, path: ThisProcess.environment["PATH"])
    } catch let error as SourceError {
      throw Failure("\(error)")
    }
    guard let launcher = Programs.ambit.path else {
      throw Failure("\(Programs.ambit.rawValue) is not where this program is; install Ambit again, whole.")
    }
    throw Failure("\(try AmbitLauncher.become(launcher, request, app: app))")
  }

  /// `nil`: the user answers.
  private func scriptedAnswers() throws -> [ScriptedPicker.Answer]? {
    if let answers { return try AnswersFile.read(answers) }
    return pick.isEmpty ? nil : pick.map { .pick([$0]) }
  }
}
