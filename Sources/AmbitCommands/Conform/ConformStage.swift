internal import Conformance
internal import Folders
internal import Foundation
internal import Launcher
internal import Scenario
internal import Terminal

#if AMBIT_MUTANTS
  internal import Kernel
#endif

#if canImport(Glibc)
  internal import Glibc
#endif

/// The programs of a run at a place where any user can run them, and the systems that it can be played under.
struct ConformStage {
  struct System {
    var name: String
    /// nil: Ambit.
    var adapter: String?
    /// The policy of a modelled column.
    var policy: String?
  }

  /// Rule profiles of Ambit's: the name of a column, and the policy that imitates that platform's rules.
  static let profiles = [
    "apple": "inherits = \"apple-identity\"\n",
    "android": "inherits = \"default\"\n[grants]\npersisted = \"android\"\n",
    "windows": "inherits = \"default\"\n[grants]\npersisted = \"windows\"\n",
  ]

  static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  private let folder: String
  private let suite: String
  private let users: [ConformCommand.User]
  private let ownAdapters: [String: String]
  private let isRoot = geteuid() == 0

  /// An ordinary user's number, far from those of people and services.
  private static let ordinary = "61234"

  init(_ places: ConformPlaces, user: ConformCommand.User) throws {
    suite = try places.suiteFolder()
    switch user {
    case .all: users = isRoot ? [.root, .ordinary] : [.ordinary]
    case .root:
      guard isRoot else { throw Failure("--user root: this is an ordinary user's process", status: 2) }
      users = [.root]
    case .ordinary: users = [.ordinary]
    }
    ownAdapters = try Dictionary(
      places.adapter.map { text in
        guard let mark = text.firstIndex(of: "=") else { throw Failure("--adapter takes NAME=PROGRAM", status: 2) }
        return (String(text[..<mark]), URL(fileURLWithPath: String(text[text.index(after: mark)...])).path)
      }, uniquingKeysWith: { $1 })
    var template = Array((FileManager.default.temporaryDirectory.path + "/ambit-conform-XXXXXX").utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Failure("no folder can be made for the run", status: 2) }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    _ = unsafe chmod(folder, 0o755)
    let ambit = places.ambit.map { URL(fileURLWithPath: $0).path } ?? Programs.ambit.path ?? "ambit"
    do { try copyPrograms(ambit) } catch {
      remove()
      if error is Failure { throw error }
      throw Failure("the programs cannot be copied to \(folder): \(error.localizedDescription)", status: 2)
    }
  }

  /// - Parameter ambit: the launcher to try; the programs beside it go with it.
  private func copyPrograms(_ ambit: String) throws {
    let built = URL(fileURLWithPath: ambit).deletingLastPathComponent().path
    for program in [Programs.ambit, .tools, .control, .agent, .plainAgent] {
      let name = program.rawValue
      let beside = "\(built)/\(name)"
      guard let path = FileManager.default.fileExists(atPath: beside) ? beside : program.path else {
        throw Failure("\(beside) is not there: build it first (swift build --product \(name))", status: 2)
      }
      if unsafe link(path, "\(folder)/\(name)") != 0 {
        try FileManager.default.copyItem(atPath: path, toPath: "\(folder)/\(name)")
      }
    }
    for (name, policy) in Self.profiles {
      try Data(policy.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).toml"))
    }
    // The C one alone needs nothing at all, not even /proc; conform-deps.sh builds it for the adapters.
    if let packages, unsafe access("\(packages)/plain-agent", X_OK) == 0 {
      try? FileManager.default.removeItem(atPath: "\(folder)/plain-agent")
      try FileManager.default.copyItem(atPath: "\(packages)/plain-agent", toPath: "\(folder)/plain-agent")
    }
    // The scenarios and adapters may lie where only their owner can read.
    try FileManager.default.copyItem(atPath: suite, toPath: "\(folder)/suite")
    let apps = ScenarioRunCommand.appsFolder(nil, beside: "\(built)/ambit")
    if FileManager.default.fileExists(atPath: apps) {
      let demos = "\(folder)/demos"
      do { try FileManager.default.linkItem(atPath: apps, toPath: demos) } catch {
        try? FileManager.default.removeItem(atPath: demos)
        try FileManager.default.copyItem(atPath: apps, toPath: demos)
      }
    }
    if isRoot, users.contains(.ordinary) { try copyAgents() }
  }

  private static let agents: [Programs] = [.agent, .plainAgent]
  private var ordinaryAgents: String { "\(folder)/ordinary" }

  /// Each app of a scenario is a hard link to an agent. An ordinary user can link only files of their own (`protected_hardlinks`).
  private func copyAgents() throws {
    try FileManager.default.createDirectory(atPath: ordinaryAgents, withIntermediateDirectories: false)
    for name in Self.agents.map(\.rawValue) {
      let own = "\(ordinaryAgents)/\(name)"
      try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: own)
      guard let id = UInt32(Self.ordinary), unsafe chown(own, id, id) == 0 else {
        throw Failure("\(own) cannot be given to the ordinary user", status: 2)
      }
    }
  }

  /// Programs and packages that the adapters need, built by scripts/conform-deps.sh.
  private var packages: String? {
    let chosen = ProcessInfo.processInfo.environment["AMBIT_ADAPTERS"]
    let folder = chosen ?? URL(fileURLWithPath: "\(suite)/../.build/adapters").standardizedFileURL.path
    return FileManager.default.fileExists(atPath: folder) ? folder : nil
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }

  // MARK: - Systems

  func systems(_ names: [String]) throws -> [System] {
    let adapters = try shippedAdapters().merging(ownAdapters) { $1 }
    var systems: [System] = []
    for name in names.flatMap({ $0.split(separator: ",").map(String.init) }) {
      switch name {
      case "ambit": systems.append(System(name: name))
      case "all":
        systems.append(System(name: "ambit"))
        systems += adapters.keys.sorted().map { System(name: $0, adapter: adapters[$0]) }
        systems += Self.profiles.keys.sorted().map { System(name: $0, policy: Self.profiles[$0]) }
      default:
        if let policy = Self.profiles[name] {
          systems.append(System(name: name, policy: policy))
        } else if let program = adapters[name] {
          systems.append(System(name: name, adapter: program))
        } else {
          let known = ["ambit", "all"] + adapters.keys.sorted() + Self.profiles.keys.sorted()
          throw Failure("--under: there is no system \(name); known are \(known.joined(separator: ", "))", status: 2)
        }
      }
    }
    return systems
  }

  /// Programs in `Conformance/Adapters`; a file with an ending is a part of one.
  private func shippedAdapters() throws -> [String: String] {
    let folder = "\(self.folder)/suite/Adapters"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let programs = names.filter { !$0.contains(".") && FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
    return Dictionary(uniqueKeysWithValues: programs.map { ($0, "\(folder)/\($0)") })
  }

  // MARK: - Playing

  func play(_ items: [Suite.Item], _ system: System, jobs: Int, progress: ProgressLine) throws -> SystemRun {
    let clock = ContinuousClock()
    let start = clock.now
    let own = items.map { item in
      var item = item
      item.scenario.file = item.scenario.file.replacing(suite, with: "\(folder)/suite", maxReplacements: 1)
      return item
    }
    // Under another system a statement of Ambit's own language is shown once, by the user who runs this.
    let members = users.map { member($0, system) }
    var done = 0
    var failed = 0
    let crew = Crew(members: members, width: max(1, jobs * 2 / members.count)) { outcome, total in
      done += 1
      if outcome.verdict == .failed || outcome.verdict == .error { failed += 1 }
      progress.show("\(system.name)  \(done) of \(total)\(failed > 0 ? ", \(failed) failed" : "")  \(outcome.name)")
    }
    let (outcomes, version, absent) = try crew.play(own)
    return SystemRun(
      system: system.name, version: system.adapter == nil ? AmbitVersion.current : version,
      isModelled: system.policy != nil, absent: absent, outcomes: outcomes,
      seconds: start.duration(to: clock.now) / .seconds(1))
  }

  private func member(_ user: ConformCommand.User, _ system: System) -> Crew.Member {
    let agent: Programs = system.adapter == nil ? .agent : .plainAgent
    let agents = isRoot && user == .ordinary ? ordinaryAgents : folder
    var command = [
      "\(folder)/ambit", "conform-worker", "--ambit", "\(folder)/ambit", "--agent", "\(agents)/\(agent.rawValue)",
      "--user", user.rawValue, "--apps", "\(folder)/demos",
    ]
    if let adapter = system.adapter { command += ["--adapter", "\(system.name)=\(adapter)"] }
    if system.policy != nil { command += ["--policy", "\(folder)/\(system.name).toml"] }
    var environment = ProcessInfo.processInfo.environment
    environment["AMBIT_ADAPTERS"] = packages
    if isRoot, user == .ordinary {
      command = ["/usr/bin/setpriv", "--reuid", Self.ordinary, "--regid", Self.ordinary, "--clear-groups"] + command
      environment = environment.filter { ["PATH", "LANG", "TERM", "AMBIT_ADAPTERS"].contains($0.key) }
      #if AMBIT_MUTANTS
        environment[Mutant.variable] = ProcessInfo.processInfo.environment[Mutant.variable]
      #endif
      environment["HOME"] = "/tmp"
    }
    return Crew.Member(user: user.rawValue, command: command, environment: environment)
  }
}
