internal import ArgumentParser
internal import Kernel
internal import Launcher
internal import Terminal
internal import Wire

/// `ambit suspend`: stopping all processes of an app.
struct SuspendCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "suspend",
    abstract: "Stop a running app: none of its processes runs until it is resumed.",
    discussion: """
      A suspended app uses no processor time, reads nothing and writes nothing. The app is not told. Its memory, its files and its \
      connections stay as they are. Started documents keep their slots, and “ambit ps” lists them. You can withdraw grants \
      meanwhile; the documents are then gone from the sandbox.

        ambit suspend org.example.Ed   all running instances of an app
        ambit suspend bzs2ezx3sb       one instance; ambit ps has their names
        ambit resume org.example.Ed    lets it go on

      In its terminal Ctrl-C ends a suspended app, since it could not answer, and Ctrl-Z gives the shell back. Limits hold: an app \
      whose wall_time is over is ended. A new broker finds it suspended.

      Processes of an app with a control group of version 2 are frozen as a whole. Others are stopped by signals until none runs.

      Exit status: 0 suspended, also if it was before; 1 no such app runs; 125 it could not be suspended, and goes on.
      """)

  @Argument(help: ArgumentHelp("Bundle identifier, name, or instance.", valueName: "app")) var app: String
  @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

  func run() throws {
    try Suspensions.awaitHandover()
    let reply = try UserSide.call(
      LauncherInterface.suspend, LauncherInterface.SuspendCall(app: app), answer: LauncherInterface.SuspendReply.self)
    try Suspensions.tell(reply.instances, reply.json, format, done: "is suspended", before: "was suspended already")
  }
}

/// `ambit resume`: letting a suspended app go on.
struct ResumeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Let a suspended app go on where it was stopped.",
    discussion: """
      Its processes run again with everything that they had. As after a long pause, timers are due, connections may be closed, and \
      documents may have been changed or withdrawn.

        ambit resume org.example.Ed    all running instances of an app
        ambit resume bzs2ezx3sb        one instance; ambit ps has their names

      An app that was stopped by Ctrl-Z before it was suspended goes on as well.

      Exit status: 0 resumed, also if it was not suspended; 1 no such app runs; 125 it could not be resumed.
      """)

  @Argument(help: ArgumentHelp("Bundle identifier, name, or instance.", valueName: "app")) var app: String
  @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

  func run() throws {
    try Suspensions.awaitHandover()
    let reply = try UserSide.call(
      LauncherInterface.resume, LauncherInterface.ResumeCall(app: app), answer: LauncherInterface.ResumeReply.self)
    try Suspensions.tell(reply.instances, reply.json, format, done: "runs again", before: "was not suspended")
  }
}

/// The outcomes for each instance, in sentences.
private enum Suspensions {
  /// Launchers hand their apps over to a new broker at once; for a moment it does not know all of them.
  static func awaitHandover() throws { _ = try BrokerConnection.running(UserSide.folders) }

  static func tell(
    _ outcomes: [LauncherInterface.Suspension], _ json: JSONObject, _ format: OutputFormat, done: String, before: String
  ) throws {
    switch format {
    case .json: try Output.standard.write(json: json.text)
    case .table:
      let style = Style(for: 1)
      for outcome in outcomes where outcome.failure == nil {
        let app = style.cyan(printable(outcome.bundleIdentifier))
        let count = outcome.processes.map { style.dim($0 == 1 ? ", 1 process" : ", \($0) processes") } ?? ""
        let instance = style.dim(" (instance \(printable(outcome.instance))") + count + style.dim(")")
        try Output.standard.write("\(style.green("✓")) \(app)\(instance) \(outcome.changed ? done : before)\n")
      }
    }
    let failures = outcomes.compactMap(\.failure)
    for failure in failures.dropLast() { Failure.say(failure) }
    if let last = failures.last { throw Failure(last) }
  }
}
