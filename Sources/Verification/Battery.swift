internal import Foundation
internal import Kernel
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Runs the battery: sets the stage, tries every entry inside a sandbox and outside of any, and compares.
package final class Battery {
  package struct Options: Sendable {
    package var launcher: TestedLauncher
    /// `ambit` itself, and the battery's program, as absolute paths.
    package var ambit: String
    package var program: String
    /// The property list of the tested app; nil: an app without entitlements.
    package var entitlements: String?
    /// Those of its entitlements that its user allows: no question is asked while they are tried.
    package var allowedEntitlements: [String]
    /// The user's own policies, which the stage's Ambit is to know as well.
    package var policies: String?
    /// How many scopes the policy lets an app have at a time.
    package var scopeLimit: Int
    package var allowances: Set<Allowance>
    /// The policy's limits; nil: it sets no limit. Bytes, bytes, files.
    package var limits: (memory: Int?, container: Int?, containerFiles: Int?)
    /// How long launches are raced against (B6).
    package var raceBudget: Duration

    package init(
      launcher: TestedLauncher, ambit: String, program: String, entitlements: String? = nil,
      allowing allowedEntitlements: [String] = [], policies: String? = nil, scopeLimit: Int = 256,
      allowances: Set<Allowance> = [],
      limits: (memory: Int?, container: Int?, containerFiles: Int?) = (nil, nil, nil),
      raceBudget: Duration = .seconds(5)
    ) {
      self.launcher = launcher
      self.ambit = ambit
      self.program = program
      self.entitlements = entitlements
      self.allowedEntitlements = allowedEntitlements
      self.policies = policies
      self.scopeLimit = scopeLimit
      self.allowances = allowances
      self.limits = limits
      self.raceBudget = raceBudget
    }
  }

  let options: Options
  let stage: Stage
  var inside: [Attempt] = []
  var controls: [Attempt] = []
  /// The facts that the stage's hand has reported about itself, for the probes.
  private var facts: [String: String] = [:]
  private let progress: (String) -> Void

  private init(_ options: Options, progress: @escaping (String) -> Void) throws {
    self.options = options
    self.progress = progress
    stage = try Stage(battery: options.program, entitlements: options.entitlements)
  }

  /// Runs everything, and takes everything away again.
  ///
  /// - Parameter progress: is told the present step, a few words at a time.
  /// - Throws: ``BatteryError`` and others when no sandbox could be tried at all; an attempt that one probe could not make is a
  ///   finding.
  package static func run(_ options: Options, progress: @escaping (String) -> Void = { _ in }) throws -> [Finding] {
    let battery = try Battery(options, progress: progress)
    defer { battery.stage.remove() }
    defer { battery.stopBroker() }
    try battery.play()
    return Entry.catalogue.map { entry in
      if let reason = entry.onlyAmbit, !options.launcher.isAmbit { return Finding(entry, .notApplicable, reason) }
      return Finding.evaluate(
        entry, inside: battery.inside, controls: battery.controls, allowances: options.allowances)
    }
  }

  private func play() throws {
    if let policies = options.policies, FileManager.default.fileExists(atPath: policies) {
      try FileManager.default.createDirectory(
        atPath: "\(stage.ambitHome)/config", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try FileManager.default.copyItem(atPath: policies, toPath: "\(stage.ambitHome)/config/policies")
    }
    let hand = try Program(
      [stage.program, "stagehand", "token=\(stage.token)", "folder=\(stage.folder)", "granted=\(stage.granted)"],
      environment: environment)
    // However this ends: only the hand can remove the files that it has made for all users to see.
    defer { hand.release() }
    guard let line = try hand.readLine() else {
      throw BatteryError("the stage cannot be set. \(hand.said)")
    }
    facts = Self.fields(line)
    // The sandbox first: if there is none, nothing else has to be tried.
    progress("inside the sandbox")
    try runInside()
    progress("outside, for control")
    try runControls()
    progress("on a terminal")
    try runOnTerminals()
    progress("limits")
    try runLimits()
    progress("launches")
    try runLaunches()
    if options.launcher.isAmbit {
      progress("documents")
      try runDocuments()
      progress("identities")
      try runIdentities()
      progress("floods")
      try runFlood()
      progress("after scopes")
      try runScopes()
      progress("streams")
      try runStreams()
      progress("under an observer")
      try runObserved()
      progress("at the picker")
      try runAtPicker()
    }
  }

  // MARK: Command lines

  /// The environment of launchers and controls: a user's environment, with a secret in it.
  var environment: [String: String] {
    var environment = ProcessInfo.processInfo.environment.filter {
      ["PATH", "LANG", "LC_ALL", "TMPDIR"].contains($0.key)
    }
    environment["HOME"] = stage.home
    environment["TERM"] = "xterm"
    environment["AMBIT_HOME"] = stage.ambitHome
    environment["AMBIT_BROKER_IDLE"] = "60"
    environment[Stage.secretName] = stage.token
    return environment
  }

  /// The command that runs the battery's program in the sandbox.
  /// - Parameters:
  ///   - picks: the user's answers, one for each of the app's requests. For Ambit only.
  ///   - more: options of Ambit's launcher.
  func command(
    _ arguments: [String], picks: [[String]] = [], bundle: String? = nil, more: [String] = []
  ) throws -> [String] {
    switch options.launcher {
    case .ambit(let policy):
      let answers = picks.isEmpty ? [] : ["--answers", try writeAnswers(picks)]
      let allowed = options.allowedEntitlements.flatMap { ["--allow-entitlement", $0] }
      return [options.ambit, "run", "--policy", policy] + allowed + more + answers + [bundle ?? stage.bundle]
        + arguments
    case .prefix(let words): return words.map(expand) + [stage.program] + arguments
    }
  }

  private func expand(_ word: String) -> String {
    let values = [
      "{program}": stage.program, "{container}": stage.container, "{granted}": stage.granted,
      "{document}": stage.document, "{planted}": stage.planted,
    ]
    return values.reduce(word) { $0.replacing($1.key, with: $1.value) }
  }

  private func writeAnswers(_ picks: [[String]]) throws -> String {
    let path = "\(stage.folder)/answers.toml"
    // Paths of the stage hold nothing that TOML would read otherwise.
    let text = picks.map { "[[answer]]\npick = [\($0.map { "\"\($0)\"" }.joined(separator: ", "))]\n" }.joined()
    try stage.write(text, path)
    return path
  }

  /// The facts about the stage for the program.
  func settings(isInside: Bool) -> [String] {
    var settings = facts
    settings["token"] = stage.token
    settings["folder"] = stage.folder
    settings["canary"] = stage.canary
    settings["ambithome"] = stage.ambitHome
    if isInside, options.launcher.isAmbit {
      settings["container"] = "/home/user"
      settings["broker"] = "1"
    } else {
      settings["container"] = stage.container
      settings["granted"] = stage.granted
      settings["readonly"] = stage.document
    }
    if !isInside { settings["control"] = "1" }
    return settings.map { "\($0.key)=\($0.value)" }.sorted()
  }

  /// The descriptors that a careless caller leaves open: a file, a folder, a namespace.
  func inherited() throws -> [Int32: Descriptor] {
    [
      7: try Descriptor.open(stage.canary, flags: .readWrite),
      8: try Descriptor.open("\(stage.folder)/inherited", flags: [.read, .directory]),
      9: try Namespaces.own("mnt"),
    ]
  }

  static func fields(_ line: String) -> [String: String] {
    var fields: [String: String] = [:]
    for field in line.split(separator: "\t") {
      let parts = field.split(separator: "=", maxSplits: 1)
      if parts.count == 2 { fields[String(parts[0])] = String(parts[1]) }
    }
    return fields
  }

  func launch(
    _ arguments: [String], picks: [[String]] = [], bundle: String? = nil, terminal: PseudoTerminal? = nil,
    inherited: [Int32: Descriptor] = [:], more: [String] = []
  ) throws -> Program {
    try Program(
      try command(arguments, picks: picks, bundle: bundle, more: more), environment: environment, terminal: terminal,
      inherited: inherited)
  }

  /// A program that runs unconfined, under a shell that has the launcher's place: a probe may find its secrets.
  func launchUnconfined(
    _ arguments: [String], terminal: PseudoTerminal? = nil, inherited: [Int32: Descriptor] = [:]
  ) throws -> Program {
    try Program(
      ["/bin/sh", "-c", "\"$0\" \"$@\"; exit $?", stage.program] + arguments, environment: environment,
      terminal: terminal, inherited: inherited)
  }

  private func stopBroker() {
    guard options.launcher.isAmbit,
      let stop = try? Program([options.ambit, "broker", "stop"], environment: environment)
    else { return }
    stop.release()
  }
}
