internal import AppModel
internal import ArgumentParser
internal import Folders
internal import Kernel
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit open`: opening documents with an app.
struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Open documents with the app that they belong to, as a double click does.",
    discussion: """
      The app is the first that “ambit handlers” lists, or the one that you name. If it runs, it is told; otherwise it is launched. An app \
      that opens documents in place (LSSupportsOpeningDocumentsInPlace) gets the originals. Another one gets copies in its \
      Documents/Inbox, which it cannot write.

        ambit open notes.md
        ambit open --with org.example.Ed notes.md
        ambit open --with /usr/bin/less notes.md     a program, with the path

      A launch goes on in this terminal, and the exit status is the app's. Else: 0 the running app was told; 1 no app opens it, or it may \
      not have it.
      """)

  @Option(help: ArgumentHelp("A bundle, an identifier, an app's name, or a program.", valueName: "app"))
  var with: String?
  @Flag(name: .customLong("read-only"), help: "The app may not change them.") var readOnly = false
  @Option(name: .shortAndLong, help: "The policy for a launch.") var policy = "default"
  @OptionGroup var apps: AppFolders
  @Option(help: "How to print what a running app was handed: table or json.") var format: OutputFormat = .table
  @Argument(help: ArgumentHelp("Files.", valueName: "file")) var files: [String]

  func validate() throws {
    if files.isEmpty { throw ValidationError("say which documents") }
  }

  func run() throws {
    let opener = try Opener(apps)
    guard let app = try chosen(opener) else { return try launch(with ?? "", isProgram: true) }
    if let reply = try Opener.open(
      files, withRunning: app.identifier, isIdentifier: true, readOnly: readOnly)
    {
      return try Opener.tell(reply, files, app: app.name, format)
    }
    try launch(app.path, isProgram: false)
  }

  /// `nil`: a plain program.
  private func chosen(_ opener: Opener) throws -> KnownAppTypes? {
    if let with { return try opener.app(named: with) }
    guard let best = try opener.choices(for: files[0]).first else {
      throw Failure(
        "No app of \(opener.apps.count) opens \(printable(files[0])). Name one: ambit open --with APP \(printable(files[0])). "
          + "--apps DIR adds a folder of apps.", status: 1)
    }
    return best.app
  }

  private func launch(_ app: String, isProgram: Bool) throws {
    var request = try LaunchRequest(
      app: app, arguments: isProgram ? [DocumentPlaces.mark] : [], container: nil, policy: policy, answers: nil,
      trace: false, statusDescriptor: nil, seccomp: nil, limits: [], path: ThisProcess.environment["PATH"])
    let how: GivenDocument.How =
      isProgram ? (readOnly ? .giveRead : .give) : readOnly ? .openRead : .open
    try request.give(files.map { .init(how, $0) })
    guard let launcher = Programs.ambit.path else {
      throw Failure("\(Programs.ambit.rawValue) is not where this program is; install Ambit again, whole.")
    }
    throw Failure("\(try AmbitLauncher.become(launcher, request, app: app))")
  }
}
