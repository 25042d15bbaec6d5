package import ArgumentParser
internal import Folders
import Foundation
import Scenario
import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit scenario`: stories that are checked while they are told.
package struct ScenarioCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "scenario",
    abstract: "Run scenarios: steps and expectations, carried out against real sandboxes.",
    subcommands: [
      ScenarioRunCommand.self, ScenarioCheckCommand.self, ScenarioFormatCommand.self, ScenarioRecordCommand.self,
      ScenarioWordsCommand.self,
    ])

  package init() {}
}

/// `ambit scenario run FILE…`
package struct ScenarioRunCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run scenario files, and say of each step whether it holds.",
    discussion: """
      Everything happens in a scratch folder with an AMBIT_HOME of its own; nothing of yours is touched.
      Exit status: 0 if every step held, 1 if one did not, 2 if a file is no scenario or cannot be run, \
      128+n if signal n ended the run.
      """)

  package enum Format: String, ExpressibleByArgument, CaseIterable, Sendable {
    case pretty, tap, junit
  }

  @Argument(help: ArgumentHelp("Scenario files (TOML).", valueName: "file"))
  package var files: [String]

  @Option(help: "How to report: for people, as TAP 13, or as JUnit XML.")
  package var format: Format = .pretty

  @Flag(help: "Answer the pickers yourself, where the scenario allows it. Needs a terminal.")
  package var interactive = false

  @Flag(help: "One action at a time: show what each has changed, and wait for Enter.")
  var step = false

  @Flag(help: "Keep the scratch folder, and say where it is.")
  package var keep = false

  @Option(help: ArgumentHelp("The ambit executable to drive, instead of this one.", valueName: "path"))
  package var ambit: String?

  @Option(
    help: ArgumentHelp(
      "Folder of the demo apps, ${apps} in a scenario. Default: where they were built or installed.", valueName: "dir"))
  package var apps: String?

  package init() {}

  package func validate() throws {
    if files.isEmpty { throw ValidationError("name at least one scenario file") }
    if interactive, format != .pretty { throw ValidationError("--interactive goes with --format pretty") }
  }

  package func run() throws {
    if interactive, Glibc.isatty(0) == 0 || Glibc.isatty(1) == 0 {
      throw ValidationError(
        "--interactive needs a terminal to show pickers on; run it without, and scripted picks are used")
    }
    let executable = try Self.executable(ambit)
    let scenarios: [Scenario]
    do {
      // All files are read first: a slip in the last one should not show after a minute of the first.
      scenarios = try files.map { try ScenarioReader.read(path: $0) }
    } catch let error as ScenarioError {
      try? Output.error.write("ambit: \(error)\n")
      throw ExitCode(2)
    }
    Interruption.listen()
    var options = ScenarioRunner.Options(
      ambit: executable, apps: Self.appsFolder(apps, beside: executable), agent: Self.agent(beside: executable),
      isInteractive: interactive, keepsScratch: keep)
    options.stepsThrough = step
    let reporter = makeReporter()
    var results: [ScenarioResult] = []
    do {
      for scenario in scenarios.flatMap(\.variants) {
        results.append(try ScenarioRunner(options: options, reporter: reporter).run(scenario))
      }
    } catch let interruption as Interrupted {
      try? Output.error.write("\nambit: interrupted; everything that the scenario started has been ended\n")
      throw ExitCode(128 + interruption.signal)
    } catch {
      try? Output.error.write("ambit: the scenario cannot be run: \(error)\n")
      throw ExitCode(2)
    }
    reporter.finished(results)
    if !results.allSatisfy(\.isPassed) { throw ExitCode(1) }
  }

  private func makeReporter() -> any ScenarioReporter {
    let write: (String) -> Void = { try? Output.standard.write($0) }
    switch format {
    case .tap: return TAPReporter(write: write)
    case .junit: return JUnitReporter(write: write)
    case .pretty:
      let columns = WindowSize.columns(of: 1)
      let isPlain = ProcessInfo.processInfo.environment["TERM"] == "dumb"
      return PrettyReporter(
        layout: PrettyReporter.Layout(
          style: Style(for: 1), width: columns ?? 100, showsProgress: columns != nil && !isPlain), write: write)
    }
  }

  /// The executable as an absolute path, since it is started from here and named to apps.
  static func executable(_ chosen: String?) throws -> String {
    guard let chosen else {
      guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
        throw ValidationError("/proc/self/exe cannot be read; name the executable with --ambit")
      }
      return own
    }
    let path = URL(fileURLWithPath: chosen).path
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw ValidationError("--ambit: \(chosen) is not an executable file")
    }
    return path
  }

  static func agent(beside executable: String) -> String {
    let beside = URL(fileURLWithPath: executable).deletingLastPathComponent().appendingPathComponent("ambit-agent").path
    return FileManager.default.fileExists(atPath: beside) ? beside : Programs.agent.path ?? beside
  }

  /// `--apps`, or the folder of demo apps that belongs to this executable: a build's or an installation's.
  static func appsFolder(_ chosen: String?, beside executable: String) -> String {
    if let chosen { return URL(fileURLWithPath: chosen).path }
    let folder = URL(fileURLWithPath: executable).deletingLastPathComponent()
    // Beside the build's folder, or beside the link to it; of both kinds of build, that of the executable first.
    let kinds = folder.lastPathComponent == "debug" ? ["demos-debug", "demos"] : ["demos", "demos-debug"]
    let candidates = [
      "demos", "../\(kinds[0])", "../../\(kinds[0])", "../share/ambit/demos", "../../share/ambit/demos",
      "../\(kinds[1])", "../../\(kinds[1])",
    ]
    .map { folder.appendingPathComponent($0).standardizedFileURL.path }
    return candidates.first { FileManager.default.fileExists(atPath: $0) }
      ?? URL(fileURLWithPath: ".build/demos").path
  }
}
