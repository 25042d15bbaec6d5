internal import ArgumentParser
internal import Cloud
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import SystemPackage
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit cloud`: a simulated cloud, and devices that keep their folders the same through it.
struct CloudCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cloud", abstract: "A simulated cloud for two or more devices, with the weather that you choose.",
    discussion: """
      The cloud is a process of its own. A device is an AMBIT_HOME with a folder; “sync” keeps the folder the same as the cloud. Apps \
      that have a document open save first, and hear of what comes. Two devices that change one document at the same time get a \
      conflict: the first to reach the cloud wins, and the other device keeps its own content as a version (ambit versions).

        ambit cloud serve /tmp/cloud.socket --store /tmp/cloud --latency 50 &
        AMBIT_HOME=~/laptop ambit cloud sync ~/Laptop \\
          --cloud /tmp/cloud.socket --device laptop &
        AMBIT_HOME=~/phone ambit cloud sync ~/Phone \\
          --cloud /tmp/cloud.socket --device phone &
        ambit cloud set /tmp/cloud.socket --offline
        ambit cloud show /tmp/cloud.socket
      """,
    subcommands: [
      CloudServeCommand.self, CloudSyncCommand.self, CloudStopCommand.self, CloudShowCommand.self, CloudSetCommand.self,
      CloudSimulateCommand.self,
    ])

  static func call<Reply: WireMessage>(
    _ socket: String, _ method: String, _ parameters: JSONObject = [:], as type: Reply.Type = Reply.self
  ) throws -> Reply {
    do {
      return try Reply(json: WireClient(address: "unix:\(path(socket))").call(method, parameters).parameters)
    } catch let error as WireError { throw failure(error, socket) }
  }

  static func failure(_ error: WireError, _ socket: String) -> Failure {
    guard case .kernel(let error) = error else { return Failure("\(error)") }
    return Failure(
      "no cloud serves at \(printable(socket)): \(error.errno). Start one: ambit cloud serve \(printable(socket))")
  }

  static func path(_ text: String) -> String { text.isAbsolutePath ? text : ThisProcess.directory.path(of: text) }

  /// The path of a folder, which is made if it is not there.
  static func folder(_ text: String) throws(Failure) -> String {
    let path = path(text)
    // Whatever stands in the way is in the answer to opening it.
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    do throws(KernelError) { _ = try Descriptor.open(path, flags: [.path, .directory]) } catch {
      if error.errno == .notDirectory { throw Failure("\(printable(path)) is no folder. Name a folder.") }
      throw Failure("the folder \(printable(path)) cannot be made or opened: \(error.errno). Name another folder.")
    }
    return path
  }
}

/// The weather, as options.
struct ConditionOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: "No device reaches the cloud.") var offline: Bool?
  @Option(help: "Milliseconds before each answer.") var latency: Double?
  @Option(help: "Bytes a second of each transfer; 0: no limit.") var bandwidth: Int?
  @Option(help: "Of 100 calls, so many get no answer; half of these have taken effect.") var faults: Double?
  @Option(help: "Bytes of all documents together; 0: no limit.") var quota: Int?

  func validate() throws {
    guard (0...3_600_000).contains(latency ?? 0) else { throw ValidationError("--latency is 0 to 3600000 ms.") }
    guard (0...100).contains(faults ?? 0) else { throw ValidationError("--faults is 0 to 100.") }
    guard (bandwidth ?? 0) >= 0, (quota ?? 0) >= 0 else { throw ValidationError("A limit is not below zero.") }
  }

  func applied(to former: CloudInterface.Conditions) -> CloudInterface.Conditions {
    var now = former
    if let offline { now.offline = offline }
    if let latency { now.latency = Int(latency * 1e6) }
    if let bandwidth { now.bandwidth = bandwidth == 0 ? nil : bandwidth }
    if let faults { now.faults = Int(faults * 10_000) }
    if let quota { now.quota = quota == 0 ? nil : quota }
    return now
  }
}

struct CloudServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Be the cloud, in the foreground, until Ctrl-C.",
    discussion:
      "What it has accepted is on the disk before it answers: it may be killed at any time, and goes on with the same store."
  )
  @Argument(help: "Where devices connect: the path of a Unix socket.") var socket: String
  @Option(help: "The folder that it keeps everything in.") var store: String
  @Option(help: "A word that devices have to sign in with.") var token: String?
  @Flag(help: "Go on in the background; “ambit cloud stop” ends it, and so do ten minutes without a device.")
  var detach = false
  @Option(help: ArgumentHelp("Write a line here when devices can connect.", visibility: .hidden))
  var readyDescriptor: Int32?
  @Option(help: "Leave after so many seconds without a device.") var idle: Int?
  @OptionGroup var conditions: ConditionOptions

  func validate() throws {
    guard idle.map({ (1...31_536_000).contains($0) }) ?? true else {
      throw ValidationError("--idle is a number of seconds, a year at most")
    }
  }

  func run() throws { if detach { try begin() } else { try serve() } }

  /// Starts the same command as a process of its own, and waits until it serves.
  private func begin() throws {
    guard (try? WireClient(address: "unix:\(CloudCommand.path(socket))")) == nil else {
      return try Output.standard.write("The cloud serves at \(printable(socket)) already.\n")
    }
    guard let program = Programs.ambit.path else { throw Failure("Ambit is not installed whole.") }
    let folder = try CloudCommand.folder(store)
    let log = try Descriptor.open("\(folder)/cloud.log", flags: [.write, .create, .append], mode: 0o600)
    let own = CommandLine.arguments.dropFirst().filter { $0 != "--detach" }
    let (reading, writing) = try Descriptor.pipe()
    var ready: Descriptor? = writing
    _ = try Service.start(
      program, arguments: ["ambit"] + own + ["--ready-descriptor", "3"] + (idle == nil ? ["--idle", "600"] : []),
      environment: ThisProcess.environment, log: log, ready: ready ?? log)
    ready = nil
    guard try !reading.readLine().isEmpty else {
      throw Failure("the cloud cannot serve; \(printable(folder))/cloud.log says why.")
    }
    try Output.standard.write("The cloud serves at \(printable(socket)).\n")
  }

  private func serve() throws {
    let ready = readyDescriptor.map { Descriptor(owning: $0) }
    let socket = socket
    let asked = conditions.applied(to: .init(offline: false, latency: 0, faults: 0))
    var weather = CloudConditions()
    (weather.isOffline, weather.latency) = (asked.offline, Int64(asked.latency))
    (weather.bandwidth, weather.faults, weather.quota) = (asked.bandwidth, asked.faults, asked.quota.map { Int64($0) })
    let folder = try CloudCommand.folder(store)
    do {
      try CloudServer.run(
        socket: CloudCommand.path(socket), folder: folder, token: token, weather,
        idleLimit: idle.map { .seconds($0) }
      ) {
        guard let ready else { return try Output.standard.write("The cloud serves at \(printable(socket)).\n") }
        try ready.writeAll(Array("serves\n".utf8))
      }
    } catch { throw Failure("the cloud cannot serve: \(error)") }
  }
}

struct CloudSyncCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Be a device: keep a folder the same as the cloud, until Ctrl-C.",
    discussion: """
      Hidden files are not taken to the cloud. The device's own state is in .ambit-cloud in the folder, so the folder stays the same \
      device's. With --once it ends as soon as both are the same. Exit status: 0; 1 with --once and --timeout, if they are not the same \
      by then; 125 it cannot run.
      """)
  @Argument(help: "The folder. It is made if it is not there.") var folder: String
  @Option(help: "The cloud's socket.") var cloud: String
  @Option(help: "The device's name, which no other device of this cloud has.") var device: String
  @Option(help: "The word to sign in with.") var token: String?
  @Flag(help: "End as soon as folder and cloud are the same.") var once = false
  @Option(help: "With --once: seconds.") var timeout: Double?
  @Flag(help: "Print what the engine is told, and what it does.") var trace = false
  @Flag(name: .shortAndLong, help: "Say nothing but failures.") var quiet = false

  func validate() throws {
    guard timeout.map({ (0...31_536_000).contains($0) }) ?? true else {
      throw ValidationError("--timeout is a number of seconds, a year at most")
    }
  }

  func run() throws {
    let signals = try SignalQueue([SIGINT, SIGTERM])
    let path = try HostPath.resolved(try CloudCommand.folder(folder))
    let due = timeout.map { Clock.monotonic() + Int64($0 * 1e9) }
    var isSame = false
    let quiet = quiet
    let device = try CloudDevice(
      device: device, folder: path, socket: CloudCommand.path(cloud), token: token, access: DeviceCoordination(device),
      isTraced: trace
    ) { news in
      if case .settled = news { isSame = true }
      Self.tell(news, quiet)
    }
    try device.run(once: once) {
      (try? signals.next()) == nil && due.map { Clock.monotonic() < $0 } ?? true
    }
    if once, !isSame { throw ExitCode(1) }
  }

  private static func tell(_ news: CloudDevice.News, _ quiet: Bool) {
    let style = Style(for: 1)
    let line: String? =
      switch news {
      case .started(let items): "\(items) items"
      case .connected: style.green("✓") + " the cloud can be reached again"
      case .lost(let reason): style.yellow("!") + " \(printable(reason))"
      case .came(let name): "↓ \(printable(name))"
      case .went(let name): name.isEmpty ? "× one item went" : "× \(printable(name))"
      case .conflict(let name):
        style.red("≠")
          + " \(printable(name)): another device was first; your content is a version (ambit versions list)"
      case .step(let step): style.dim("\(Double(Clock.monotonic()) / 1e9) \(printable(step))")
      case .settled: style.green("✓") + " the same as the cloud"
      }
    guard let line else { return }
    if case .lost = news {
      try? Output.error.write("\(line)\n")
    } else if !quiet {
      try? Output.standard.write("\(line)\n")
    }
  }
}

struct CloudStopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "End a cloud. What it has accepted stays in its store.")
  @Argument(help: "The cloud's socket.") var socket: String

  func run() throws {
    let client: WireClient
    do throws(WireError) { client = try WireClient(address: "unix:\(CloudCommand.path(socket))") } catch {
      throw CloudCommand.failure(error, socket)
    }
    let peer = try UnixSocket.peer(of: client.socket)
    try Descriptor.process(peer.pid).signalProcess(SIGTERM)
    // The end of the connection is the end of the process.
    while (try? client.receive(wait: true)) != nil {}
  }
}

struct CloudShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show a cloud: its items, devices and weather.")
  @Argument(help: "The cloud's socket.") var socket: String
  @Option(help: "table or json.") var format: OutputFormat = .table

  func run() throws {
    let shown: CloudInterface.ShowReply = try CloudCommand.call(socket, CloudInterface.show)
    guard format == .table else { return try Output.standard.write(json: shown.json.text) }
    let weather = shown.conditions
    let facts = [
      ("items", "\(shown.items), \(shown.used) bytes\(weather.quota.map { " of \($0)" } ?? "")"),
      ("revision", "\(shown.revision)"),
      ("devices", shown.devices.isEmpty ? "none yet" : shown.devices.map { printable($0) }.joined(separator: ", ")),
      ("weather", weather.offline ? "offline" : "online"),
      ("latency", "\(Double(weather.latency) / 1e6) ms"),
      ("bandwidth", weather.bandwidth.map { "\($0) bytes/s" } ?? "no limit"),
      ("faults", "\(Double(weather.faults) / 10_000) %"),
    ]
    for (name, value) in facts {
      try Output.standard.write("\(name.padding(toLength: 10, withPad: " ", startingAt: 0)) \(value)\n")
    }
  }
}

struct CloudSetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Change a cloud's weather.", discussion: "What is not named stays as it is.")
  @Argument(help: "The cloud's socket.") var socket: String
  @OptionGroup var conditions: ConditionOptions

  func run() throws {
    let shown: CloudInterface.ShowReply = try CloudCommand.call(socket, CloudInterface.show)
    _ = try WireClient(address: "unix:\(CloudCommand.path(socket))").call(
      CloudInterface.setConditions,
      CloudInterface.SetConditionsCall(conditions: conditions.applied(to: shown.conditions)).json)
  }
}
