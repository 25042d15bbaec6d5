internal import ArgumentParser
internal import Folders
internal import Kernel
internal import Launcher
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit stop`: ending a running app from outside.
struct StopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop",
    abstract: "End a running app: it is asked to, and after a while it is made to.",
    discussion: """
      The app gets SIGTERM, as by kill(1), and has some seconds to save. Then the sandbox is ended with everything in it.

        ambit stop org.example.Ed          all instances of an app
        ambit stop bzs2ezx3sb              one instance; ambit ps has their names
        ambit stop --kill org.example.Ed   at once

      Exit status: 0 it has ended; 1 no such app runs.
      """)

  @Argument(help: ArgumentHelp("Bundle identifier, name, or instance.", valueName: "app")) var app: String
  @Flag(help: "Do not ask first.") var kill = false
  @Option(help: ArgumentHelp("Seconds that the app has after it was asked.", valueName: "seconds")) var timeout = 5.0
  @Option(help: "table, for people; json, one object, for programs.") var format: OutputFormat = .table

  func validate() throws {
    guard (0...3600).contains(timeout) else { throw ValidationError("--timeout: between 0 and 3600 seconds") }
  }

  func run() throws {
    let folders = try UserSide.folders
    let meant = try BrokerConnection.running(folders).instances.filter {
      [$0.instance, $0.bundleIdentifier, $0.name].contains(app)
    }
    guard !meant.isEmpty else { throw Failure("No app called \(printable(app)) runs.", status: 1) }
    let records = LauncherRecords(folders).all()
    var stopped: [(instance: LauncherInterface.Instance, isAsked: Bool)] = []
    for instance in meant {
      guard let record = records.first(where: { $0.instance == instance.instance }) else { continue }
      var hasEnded = false
      if !kill {
        // The launcher passes it on; a suspended app, which could not answer, it ends.
        signal(record.launcher, SIGTERM)
        hasEnded = waitForEnd(of: record.initProcess)
      }
      if !hasEnded {
        signal(record.initProcess, SIGKILL)
        _ = waitForEnd(of: record.initProcess)
      }
      stopped.append((instance, hasEnded))
    }
    try tell(stopped)
  }

  private func tell(_ stopped: [(instance: LauncherInterface.Instance, isAsked: Bool)]) throws {
    switch format {
    case .json:
      let list = stopped.map { each -> JSONValue in
        .object([
          "instance": .string(each.instance.instance), "bundleIdentifier": .string(each.instance.bundleIdentifier),
          "killed": .bool(!each.isAsked),
        ])
      }
      try Output.standard.write(json: (["instances": .array(list)] as JSONObject).text)
    case .table:
      let style = Style(for: 1)
      for (instance, isAsked) in stopped {
        try Output.standard.write(
          "\(style.green("✓")) \(style.cyan(printable(instance.name))) "
            + "\(style.dim("(instance \(printable(instance.instance)))")) \(isAsked ? "has ended" : "was made to end")\n"
        )
      }
    }
  }

  private func signal(_ process: ProcessMark, _ number: Int32) {
    try? process.signal(number)
  }

  private func waitForEnd(of process: ProcessMark) -> Bool {
    let due = Clock.monotonic() + Int64(timeout * 1e9)
    while !process.hasEnded {
      guard Clock.monotonic() < due else { return false }
      usleep(10_000)
    }
    return true
  }
}
