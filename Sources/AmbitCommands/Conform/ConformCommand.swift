internal import ArgumentParser
internal import Conformance
internal import Foundation
internal import Launcher
internal import Scenario
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit conform`: the catalogue as scenarios, played under Ambit or another system.
struct ConformCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conform",
    abstract: "Play the conformance suite, under Ambit or another system.",
    discussion: """
      Each scenario shows one statement of the catalogue (ambit rule). They run in scratch folders of their own, several at \
      once; as root, for root and for an ordinary user.

        ambit conform                          the whole suite, under Ambit
        ambit conform --area TOK               only start and stop
        ambit conform --filter TOK-3           only what has this in its name
        ambit conform --under bubblewrap       the same, under another system
        ambit conform --under all --site DIR   every system here, as web pages

      A statement that a system has no notion of is “not applicable”, and never “failed”.

      Exit status: 0 every scenario passed or was not applicable, 1 one failed, 2 the suite cannot be played, \
      128+n signal n ended it.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable, Sendable { case pretty, tap, junit, json }
  enum User: String, ExpressibleByArgument, CaseIterable, Sendable { case root, ordinary, all }

  @Option(help: ArgumentHelp("Only statements of these areas, for example TOK.", valueName: "area")) var area:
    [String] = []
  @Option(help: ArgumentHelp("Only scenarios with this in their name.", valueName: "text")) var filter: [String] = []
  @Option(
    help: ArgumentHelp(
      "The system to play it under: ambit, an adapter's name, a rule profile (apple, android, windows), or all.",
      valueName: "system"))
  var under: [String] = ["ambit"]
  @Option(help: "As whom.") var user: User = .all
  @Option(help: "How to report: for people, as TAP 13, as JUnit XML, or as JSON.") var format: Format = .pretty
  @Option(help: ArgumentHelp("Write pages to read in a browser into this folder.", valueName: "dir")) var site: String?
  @Option(
    help: ArgumentHelp(
      "Compare with the results of an earlier run (--format json, or DIR/results.json).", valueName: "file"))
  var since: String?
  @Option(help: ArgumentHelp("How many scenarios play at once.", valueName: "n")) var jobs: Int?
  @Flag(help: "List the scenarios and play none.") var list = false
  @OptionGroup var places: ConformPlaces

  func run() throws {
    let suite: Suite
    do { suite = try Suite.read(folder: try places.suiteFolder()) } catch let error as ScenarioError {
      throw Failure("\(error)", status: 2)
    }
    let items = suite.items.filter { item in
      (area.isEmpty || area.contains { $0.uppercased() == item.area })
        && (filter.isEmpty || filter.contains { item.name.lowercased().contains($0.lowercased()) })
    }
    guard !items.isEmpty else {
      throw Failure("no scenario is left by --area and --filter; ambit conform --list has all of them", status: 2)
    }
    if list {
      return try Output.standard.write(ConformReport.list(items, Style(for: 1), width: WindowSize.columns(of: 1)))
    }
    Interruption.listen()
    let stage = try ConformStage(places, user: user)
    defer { stage.remove() }
    let systems = try stage.systems(under)
    let progress = ProgressLine()
    var runs: [SystemRun] = []
    do {
      for system in systems {
        runs.append(try stage.play(items, system, jobs: jobs ?? ConformStage.processors, progress: progress))
        progress.clear()
        if format == .pretty, systems.count > 1 {
          try Output.standard.write(ConformReport.line(runs[runs.count - 1], Style(for: 1)))
        }
      }
    } catch let interruption as Interrupted {
      progress.clear()
      try? Output.error.write("ambit: interrupted; everything that was started has been ended\n")
      throw ExitCode(128 + interruption.signal)
    }
    let report = ConformReport(suite: suite, items: items, runs: runs, isWhole: area.isEmpty && filter.isEmpty)
    switch format {
    case .pretty: try Output.standard.write(report.pretty(Style(for: 1), width: WindowSize.columns(of: 1) ?? 100))
    case .tap: try Output.standard.write(report.tap)
    case .junit: try Output.standard.write(report.junit)
    case .json: try Output.standard.write(json: report.json.text)
    }
    if let site {
      let earlier = try since.map { try ConformReport.Earlier(path: $0) }
      try ConformSite(report: report, earlier: earlier).write(to: site)
      if format == .pretty { try Output.standard.write("\nThe pages are in \(printable(site)): open index.html.\n") }
    }
    if !runs.filter({ !$0.isModelled && $0.system == "ambit" || systems.count == 1 }).allSatisfy(\.isPassed) {
      throw ExitCode(1)
    }
    if systems.count == 1, let absent = runs.first?.absent { throw Failure("\(systems[0].name): \(absent)", status: 2) }
  }
}

/// Where the suite, the agent and the adapters are.
struct ConformPlaces: ParsableArguments {
  @Option(help: ArgumentHelp("Folder of the suite. Default: where it was built or installed.", valueName: "dir"))
  var suite: String?
  @Option(help: ArgumentHelp("An adapter that is not among the suite's: NAME=PROGRAM.", valueName: "name=path"))
  var adapter: [String] = []
  @Option(help: ArgumentHelp("The ambit executable to try, instead of this one.", valueName: "path")) var ambit: String?

  func suiteFolder() throws -> String {
    if let suite { return URL(fileURLWithPath: suite).path }
    return try ProgramFolders.beside("Conformance", installed: "share/ambit/conformance", option: "--suite DIR")
  }
}

/// Folders that belong to this executable, a build's or an installation's.
enum ProgramFolders {
  /// - Parameters:
  ///   - name: at the top of a checkout.
  ///   - installed: below the prefix.
  ///   - option: names another folder.
  static func beside(_ name: String, installed: String, option: String) throws -> String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    var folder = URL(fileURLWithPath: own).deletingLastPathComponent()
    var candidates: [String] = []
    // PREFIX/libexec/ambit; .build/debug, .build/TRIPLE/release
    for _ in 0..<4 {
      folder.deleteLastPathComponent()
      candidates += [folder.appendingPathComponent(installed).path, folder.appendingPathComponent(name).path]
    }
    guard let found = candidates.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
      throw Failure("the folder \(name) is not beside this program; name it with \(option)", status: 2)
    }
    return found
  }
}

/// `ambit conform-worker`: plays scenarios that it is told, for `ambit conform` itself.
struct ConformWorkerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conform-worker", abstract: "Play scenarios named on standard input.", shouldDisplay: false)

  @Option var ambit: String
  @Option var agent: String
  @Option var user: String
  @Option var apps: String
  @Option var adapter: String?
  @Option var policy: String?

  func run() throws {
    Interruption.listen()
    var worker = Worker(options: ScenarioRunner.Options(ambit: ambit, apps: apps, agent: agent), user: user)
    worker.policy = policy
    if let adapter, let mark = adapter.firstIndex(of: "=") {
      worker.adapter = (String(adapter[..<mark]), String(adapter[adapter.index(after: mark)...]))
    }
    do { try worker.run { try? Output.standard.write($0.text + "\n") } } catch let interruption as Interrupted {
      throw ExitCode(128 + interruption.signal)
    }
  }
}
