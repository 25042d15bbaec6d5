internal import ArgumentParser
internal import Folders
internal import Kernel
internal import Launcher
internal import Policy
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit learn`: runs an app with the observer, and writes the policy that it would have needed.
struct LearnCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "learn",
    abstract: "Run an app, see what it is refused, and write the smallest policy that it would have needed.",
    discussion: """
      The app runs as with “ambit run --trace”; use it as you mean to use it. When it has ended, a policy is written with a \
      line for each thing that it was refused and that a policy can grant. Lines that hand out a user's own files or the \
      network are marked RISKY; what only its user can grant, by picking a document, stands there as a comment. An app that \
      stops at its first refusal shows the next ones only when it is run again under what was learned.

        ambit learn --output editor.toml Editor.app
        ambit learn --policy editor.toml Editor.app   and what is still missing then
      """)

  @OptionGroup var options: PlannedOptions

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Write the policy here, instead of to standard output.", valueName: "file"))
  var output: String?

  @Option(
    name: .long, parsing: .singleValue, help: ArgumentHelp("Answer the picker with this document.", valueName: "path"))
  var pick: [String] = []

  @Argument(help: "An app bundle or a program.")
  var app: String

  @Argument(parsing: .captureForPassthrough, help: "What is passed to it.")
  var arguments: [String] = []

  func run() throws {
    // An app that cannot be launched is reported before anything is run.
    let planned = try options.planned(app, arguments)
    let events = try MemoryFile.make("ambit-status")
    try runApp(events)
    let lines = try MemoryFile.content(of: events).split(separator: UInt8(ascii: "\n"))
    let refusals = lines.compactMap { line -> LearnedPolicy.Refusal? in
      guard case .object(let event)? = try? JSONValue(parsing: Array(line)) else { return nil }
      return LearnedPolicy.Refusal(event)
    }
    let text = LearnedPolicy(
      app: app, base: options.policy, shown: planned.capabilities.readOnlyPaths, refusals: refusals
    ).text { path in
      (try? Descriptor.open(path, flags: .path)) != nil
    }
    guard let output else { return try Output.standard.write(text) }
    let file = try Descriptor.open(output, flags: [.write, .create, .truncate, .noFollow], mode: 0o644)
    try file.writeAll(Array(text.utf8))
  }

  /// The launcher as a child, in the same job: it has the terminal, and the user's input is for the app.
  private func runApp(_ events: Descriptor) throws {
    guard let launcher = Programs.ambit.path else {
      throw Launcher.Failure("\(Programs.ambit.rawValue) is not where this program is; install Ambit again, whole.")
    }
    var words = [
      "ambit", "run", "--trace", "--json-status-fd", "\(try events.inheritable())", "--policy", options.policy,
    ]
    if let container = options.container { words += ["--container", container] }
    words += options.entitlements.names.flatMap { ["--allow-entitlement", $0] }
    words += options.limit.flatMap { ["--limit", $0] } + pick.flatMap { ["--pick", $0] } + [app] + arguments
    let child = try ThisProcess.start(launcher, words)
    // The keys that end a job are for the app; this process still has to write.
    let ignored = [SIGINT, SIGQUIT].map { signal($0, SIG_IGN) }
    withExtendedLifetime(ignored) {}
    _ = ThisProcess.wait(child)
  }
}
