internal import AppModel
package import ArgumentParser
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Policy
internal import Sandbox
internal import Scenario
internal import Terminal
internal import Verification

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit verify`: the escape battery.
package struct VerifyCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Try to escape from the sandbox that a policy makes on this machine, in every known way.",
    discussion: """
      Each entry of the escape catalogue is a small probe. It runs in a real sandbox, and once more without one: that it \
      works there is what makes “contained” mean something. Where no control is possible for you, the entry says why. \
      A refused call is named with the kernel's answer, as in “clone3 ENOSYS”.

      Everything happens on a stage of its own, a made-up user with files, sockets and processes in a temporary folder; \
      nothing of yours is touched, and nothing stays behind. It takes less than a minute. Limits on memory and on the \
      container are tried with numbers that are lower than the policy's, where it has any.

        ambit verify                          the default policy
        ambit verify --policy teach --app Editor.app
                                              what this app would get under it
        ambit verify --format tap             for a test harness
        ambit verify --launcher 'bwrap --ro-bind / / --unshare-all --'
                                              the same probes under another launcher

      In a launcher's command line these stand for paths of the stage:
      \(TestedLauncher.placeholders.map { "  \($0.name)  \($0.meaning)" }.joined(separator: "\n"))

      Exit status: 0 if nothing escaped, 1 if something did, 125 if the battery could not be run, 128+n if signal n \
      ended it.
      """)

  package enum Format: String, ExpressibleByArgument, CaseIterable, Sendable {
    case table, json, tap
  }

  @Option(name: .shortAndLong, help: "A policy's name, or a file (see “Policies”).")
  package var policy = "default"

  @Option(help: ArgumentHelp("Try what this app gets at most: its entitlements count as allowed.", valueName: "app"))
  package var app: String?

  @Option(
    help: ArgumentHelp("Try another launcher: the command that stands before a program.", valueName: "command"))
  package var launcher: String?

  @Option(help: "How to write it: a table for people, JSON lines, or TAP 13 for programs.")
  package var format: Format = .table

  @Option(help: ArgumentHelp("Seconds of launches that are raced against (B6).", valueName: "seconds"))
  package var race = 5

  package init() {}

  package func validate() throws {
    if launcher != nil, app != nil {
      throw ValidationError("--app goes with Ambit's own sandbox, not with --launcher.")
    }
    if race < 1 || race > 3600 { throw ValidationError("--race takes 1 to 3600 seconds.") }
  }

  package func run() throws {
    let report: BatteryReport
    do {
      let options = try batteryOptions()
      Interruption.listen()
      report = BatteryReport(
        try Battery.run(options, progress: showProgress), subject: try subject)
      clearProgress()
    } catch let interruption as Interrupted {
      clearProgress()
      throw ExitCode(128 + interruption.signal)
    } catch let failure as Launcher.Failure {
      throw failure
    } catch {
      clearProgress()
      throw Launcher.Failure("the battery cannot be run: \(error)")
    }
    switch format {
    case .table:
      try Output.standard.write(
        report.table(style: Style(for: STDOUT_FILENO), width: WindowSize.columns(of: STDOUT_FILENO)))
    case .json: try Output.standard.write(json: try report.json())
    case .tap: try Output.standard.write(report.tap())
    }
    if report.hasEscapes { throw ExitCode(1) }
  }

  // MARK: The attempts

  private var subject: String {
    get throws { try launcher.map { try TestedLauncher.words($0)[0] } ?? "the policy \(policy)" }
  }

  private func batteryOptions() throws -> Battery.Options {
    let own = try Self.installed(.ambit)
    let program = try Self.installed(.battery)
    if let launcher {
      return Battery.Options(
        launcher: .prefix(try TestedLauncher.words(launcher)), ambit: own, program: program, raceBudget: .seconds(race))
    }
    let folders = try AmbitFolders.current(environment: ThisProcess.environment)
    let planned = try PlannedLaunch(
      app: app ?? own, arguments: [], policy: policy, container: nil, seccomp: nil,
      allowing: WideningEntitlement.allCases)
    let capabilities = planned.capabilities
    var allowances: Set<Allowance> = []
    if capabilities.network == .host { allowances.insert(.network) }
    if capabilities.network == .loopback { allowances.insert(.loopback) }
    if capabilities.execute { allowances.insert(.execution) }
    if capabilities.executesPicked { allowances.insert(.pickedExecution) }
    return Battery.Options(
      launcher: .ambit(policy: planned.request.policy), ambit: own, program: program, entitlements: entitlements,
      allowing: planned.ruling.given.widening.map(\.key), policies: folders.policies,
      scopeLimit: capabilities.scopeLimit, allowances: allowances,
      limits: (planned.plan.usage.memory, planned.plan.usage.container, planned.plan.usage.containerFiles),
      raceBudget: .seconds(race))
  }

  private var entitlements: String? {
    guard let app, AppBundle.isBundlePath(app) else { return nil }
    let path = "\(URL(fileURLWithPath: app).path)/Entitlements.plist"
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }

  private static func installed(_ program: Programs) throws -> String {
    guard let path = program.path else {
      throw Launcher.Failure("\(program.rawValue) is not where this program is; build or install Ambit again, whole.")
    }
    return path
  }

  // MARK: Progress

  private var showsProgress: Bool {
    format == .table && isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  private func showProgress(_ what: String) {
    if showsProgress { try? Output.error.write("\r\u{1b}[2Kverifying: \(what) …") }
  }

  private func clearProgress() {
    if showsProgress { try? Output.error.write("\r\u{1b}[2K") }
  }
}
