internal import ArgumentParser
internal import Folders
internal import Kernel
internal import Launcher
internal import PickerUI
internal import Policy
internal import Sandbox

extension Trust: ExpressibleByArgument {}

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

      --give hands an unmodified program a document, as a path. It is there before the program runs, and the program's \
      saves reach the original. The right ends with the launch.

        ambit run --give notes.txt -- vim {}
        ambit run --give-read a.txt --give-read b.txt -- diff -u {} {}

      An app is the one that its identifier belongs to as long as its manifest, entitlements and program are the same, or \
      have changed in their place. Another bundle of the same identifier is not run before you have said what it is: a \
      new app, with a container and documents of its own, or the other one's replacement. --trust says so beforehand; \
      where there is no terminal to ask on, it has to. A program is known by its path, a script by its own.

      Entitlements of a bundle that give it more than other apps have (the network, passing documents on, running picked \
      programs) are asked about at its first launch, and your answer is remembered. Without a terminal the app runs \
      without them. --allow-entitlement answers beforehand; so does a policy ([entitlements] trust).

      What follows the app's name is passed to it. If that reads like an option of Ambit's, a line says so; “--” before \
      the app's name or its arguments silences it.

      Where a policy requires layers ([require] layers), a launch in which one of them does not hold in full is refused; \
      “ambit plan” says how far each goes. --allow-degraded lets it be less, once for each layer, says so, and puts it \
      into the audit log.

      Exit status: the app's own, or

        124    its time was over (wall_time)
        125    Ambit itself failed, with a sentence that says why
        126    the program cannot be run
        127    there is no such program
        128+n  signal n ended it

      137 (SIGKILL) is also the status of an app that went beyond a limit on memory, processor time or its container, with a \
      sentence that says which; 152 (SIGXCPU) that of one that let its processor time end it.
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

  @Flag(help: "Let the picker be numbered lines, for screen readers. TERM=dumb and AMBIT_PICKER=plain do the same.")
  var plain = false

  @Flag(help: "Let the picker be a page in your web browser. AMBIT_PICKER=web does the same.")
  var web = false

  @Option(
    name: .customLong("json-status-fd"),
    help: ArgumentHelp(
      "Write what happens to this open descriptor, one JSON object a line: started, granted, denied, exited…",
      valueName: "number"))
  var statusDescriptor: Int32?

  @Option(
    help: ArgumentHelp(
      "Answer beforehand if this is not the app that its identifier belongs to: run it as a “new” app, or let it “replace” "
        + "the other one.", valueName: "new|replace"))
  var trust: Trust?

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp(
      "Give the app this document, to read and write; {} in its arguments stands for it. As often as you like.",
      valueName: "file"))
  var give: [String] = []

  @Option(
    name: .customLong("give-read"), parsing: .singleValue,
    help: ArgumentHelp("The same, to read.", valueName: "file"))
  var giveRead: [String] = []

  @Option(
    name: .customLong("give-folder"), parsing: .singleValue,
    help: ArgumentHelp("The same with a folder and everything in it, to read and write.", valueName: "dir"))
  var giveFolder: [String] = []

  @Option(
    name: .customLong("give-folder-read"), parsing: .singleValue,
    help: ArgumentHelp("The same, to read.", valueName: "dir"))
  var giveFolderRead: [String] = []

  @Option(
    name: .customLong("open"), parsing: .singleValue,
    help: ArgumentHelp(
      "Open this document with the app, as “ambit open” does: in place if the app says so, else as a copy.",
      valueName: "file"))
  var open: [String] = []

  @Option(
    name: .customLong("open-read"), parsing: .singleValue,
    help: ArgumentHelp("The same, to read.", valueName: "file"))
  var openRead: [String] = []

  @OptionGroup var degradation: DegradationOptions

  @OptionGroup var entitlements: EntitlementOptions

  @Argument(help: ArgumentHelp("An app bundle or a program.", valueName: "app"))
  var app: String

  @Argument(parsing: .captureForPassthrough, help: "What is passed to it.")
  var arguments: [String] = []

  func validate() throws {
    if answers != nil, !pick.isEmpty { throw ValidationError("Use either --pick or --answers.") }
  }

  /// Reads the inputs that the launcher cannot read (a bundle, a script of answers, words that are not plain) and becomes the
  /// launcher.
  func run() throws {
    let words = Array(ThisProcess.arguments.dropFirst(2))
    if let warning = OwnOption.warning(words, arguments: arguments.count) { Failure.say(warning) }
    var request: LaunchRequest
    do {
      request = try LaunchRequest(
        app: app, arguments: arguments, container: container, policy: policy, answers: try scriptedAnswers(),
        trace: trace, statusDescriptor: statusDescriptor, seccomp: seccomp, limits: limit,
        allowDegraded: degradation.allowDegraded, trust: trust, allowEntitlements: entitlements.allowEntitlements,
        path: ThisProcess.environment["PATH"])
      request.face = web ? .web : plain ? .plain : nil
      try request.give(GivenDocument.inOrder(words, options: given))
    } catch let error as SourceError {
      throw Failure("\(error)")
    }
    guard let launcher = Programs.ambit.path else {
      throw Failure("\(Programs.ambit.rawValue) is not where this program is; install Ambit again, whole.")
    }
    throw Failure("\(try AmbitLauncher.become(launcher, request, app: app))")
  }

  private var given: [GivenDocument] {
    func all(_ how: GivenDocument.How, _ paths: [String]) -> [GivenDocument] { paths.map { .init(how, $0) } }
    return all(.give, give) + all(.giveRead, giveRead) + all(.giveFolder, giveFolder)
      + all(.giveFolderRead, giveFolderRead) + all(.open, open)
      + all(.openRead, openRead)
  }

  /// `nil`: the user answers.
  private func scriptedAnswers() throws -> [ScriptedPicker.Answer]? {
    if let answers { return try AnswersFile.read(answers) }
    return pick.isEmpty ? nil : pick.map { .pick([$0]) }
  }
}
