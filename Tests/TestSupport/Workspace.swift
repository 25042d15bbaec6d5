internal import Foundation
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// A user's world in a folder: a home with documents, app bundles, and an `AMBIT_HOME` of its own with a broker of its
/// own. Everything in it goes away with it, also when a test fails.
package final class Workspace {
  package let user: TestUser
  package let folder: String
  /// The user's home folder on the host.
  package let home: String
  package let ambitHome: String
  private let ambitProgram: String
  private var processes: [ChildProcess] = []

  /// Makes a world, does something in it, and takes it away again.
  ///
  /// - Parameter place: where Ambit's own things lie, if not beside the home folder.
  package static func with<Result>(
    _ user: TestUser, ambitIn place: String? = nil, _ body: (Workspace) throws -> Result
  ) throws -> Result {
    let workspace = try Workspace(user, ambitIn: place)
    let result = Swift.Result { try body(workspace) }
      .mapError { HarnessError("\($0)\n\(workspace.evidence)") }
    let left = workspace.close()
    if case .success = result, !left.isEmpty { throw HarnessError("left running: \(left)") }
    return try result.get()
  }

  /// What the programs that run and the broker have said, for who reads why a test could not go on.
  private var evidence: String {
    let running = processes.filter { !$0.hasEnded }.map { "\($0.seen("still running"))" }
    let log = (try? read("\(ambitHome)/state/broker.log")) ?? ""
    return (running + ["broker's log: \(log)"]).joined(separator: "\n")
  }

  private init(_ user: TestUser, ambitIn place: String?) throws {
    self.user = user
    ambitProgram = try Products.path("ambit")
    var template = Array("/tmp/ambit-test-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw HarnessError("mkdtemp: errno \(errno)") }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    home = "\(folder)/home"
    ambitHome = place.map { [folder] in "\($0)/\((folder as NSString).lastPathComponent)" } ?? "\(folder)/ambit"
    _ = unsafe chmod(folder, 0o755)
    for (path, mode) in [(home, 0o755), ("\(home)/Papers", 0o755), (ambitHome, 0o700)] as [(String, mode_t)] {
      guard unsafe mkdir(path, mode) == 0, unsafe chmod(path, mode) == 0 else { throw HarnessError("mkdir \(path)") }
      try user.own(path)
    }
    guard unsafe mkdir("\(folder)/Applications", 0o755) == 0 else { throw HarnessError("mkdir \(folder)/Applications") }
  }

  // MARK: Files

  /// Writes a document of the user's and answers its path: in `Papers`, unless the name says where below the home
  /// folder.
  @discardableResult
  package func document(_ name: String, _ content: String = "") throws -> String {
    let path = name.contains("/") ? "\(home)/\(name)" : "\(home)/Papers/\(name)"
    try makeFolder((path as NSString).deletingLastPathComponent)
    try write(content, to: path)
    return path
  }

  /// Makes a folder of the user's, with those above it.
  package func makeFolder(_ path: String) throws {
    if unsafe access(path, F_OK) == 0 { return }
    try makeFolder((path as NSString).deletingLastPathComponent)
    guard unsafe mkdir(path, 0o755) == 0 else { throw HarnessError("mkdir \(path): errno \(errno)") }
    try user.own(path)
  }

  /// Writes a file of the user's.
  package func write(_ content: String, to path: String) throws {
    try ChildProcess.whileNothingStarts { try Data(content.utf8).write(to: URL(fileURLWithPath: path)) }
    try user.own(path)
  }

  package func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  package func rename(_ path: String, to other: String) throws {
    guard unsafe Glibc.rename(path, other) == 0 else {
      throw HarnessError("rename \(path) to \(other): errno \(errno)")
    }
  }

  package func container(_ app: String) -> String { "\(ambitHome)/data/containers/\(app)" }

  /// Makes `Name.app` around the probe, or around a script.
  @discardableResult
  package func bundle(
    _ name: String, identifier: String, script: String? = nil, entitlements: String? = nil, manifest: String = "",
    version: String = "1"
  ) throws -> String {
    let path = "\(folder)/Applications/\(name).app"
    if unsafe access(path, F_OK) == 0 { return path }
    guard unsafe mkdir(path, 0o755) == 0 else { throw HarnessError("mkdir \(path): errno \(errno)") }
    let plist = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict>
        <key>CFBundleIdentifier</key><string>\(identifier)</string>
        <key>CFBundleExecutable</key><string>main</string>
        <key>CFBundleName</key><string>\(name)</string>
        <key>CFBundleVersion</key><string>\(version)</string>
        \(manifest)
      </dict></plist>

      """
    try Data(plist.utf8).write(to: URL(fileURLWithPath: "\(path)/Info.plist"))
    if let entitlements { try Data(entitlements.utf8).write(to: URL(fileURLWithPath: "\(path)/Entitlements.plist")) }
    let probe = try Products.path("probe")
    try ChildProcess.whileNothingStarts {
      let main = script ?? "#!/bin/sh\nexec \"${0%/*}/probe\" \"$@\"\n"
      try Data(main.utf8).write(to: URL(fileURLWithPath: "\(path)/main"))
      // Its digest is the app's identity, and each new link to the probe would have it computed anew for every app.
      if script == nil, unsafe link(probe, "\(path)/probe") != 0 {
        try FileManager.default.copyItem(atPath: probe, toPath: "\(path)/probe")
      }
    }
    _ = unsafe chmod("\(path)/main", 0o755)
    // Programs are started in other ways as well.
    try TemporaryFolder.awaitWriters(of: "\(path)/main")
    return path
  }

  // MARK: Programs

  package var environment: [String: String] {
    [
      "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "AMBIT_HOME": ambitHome, "LANG": "C.UTF-8", "TERM": "xterm",
      "AMBIT_BROKER_IDLE": "\(120 * Deadline.factor)",
    ]
  }

  /// Starts a program as the user; it is ended with this workspace at the latest.
  package func start(
    _ arguments: [String], environment more: [String: String] = [:], directory: String? = nil,
    streams: ChildProcess.Streams = .pipes
  ) throws -> ChildProcess {
    let process = try ChildProcess(
      arguments, user: user, environment: environment.merging(more) { _, more in more }, directory: directory ?? home,
      streams: streams)
    processes.append(process)
    return process
  }

  /// Runs a program to its end.
  package func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:], patience: Duration = .seconds(30)
  ) throws -> Outcome {
    let process = try start(arguments, environment: environment)
    if !input.isEmpty { try process.send(input) }
    process.closeInput()
    let exit = try process.waitForExit(patience: patience)
    return Outcome(exit: exit, output: process.allOutput, errors: process.allErrors)
  }

  /// Runs `ambit` to its end.
  package func ambit(
    _ arguments: String..., input: String = "", environment: [String: String] = [:], patience: Duration = .seconds(30)
  ) throws -> Outcome {
    try run([ambitProgram] + arguments, input: input, environment: environment, patience: patience)
  }

  /// Runs a shell script as the user in a mount namespace of its own, after another script has mounted there what it
  /// likes. What is mounted goes away with the last process that sees it.
  package func run(script: String, afterMounting setup: String) throws -> Outcome {
    // An ordinary user may mount as the root of a user namespace; the script is then its ordinary user again.
    let outer = ["/usr/bin/unshare", "--mount"] + (user == .root ? [] : ["--user", "--map-root-user"])
    let inner = user == .root ? "" : "unshare --user --map-user=\(user.id) --map-group=\(user.id) "
    return try run(
      outer + ["/bin/sh", "-c", "\(setup) && exec \(inner)/bin/sh -c \"$SCRIPT\""], environment: ["SCRIPT": script])
  }

  /// Starts `ambit run`.
  package func launch(
    _ program: [String], options: [String] = [], environment: [String: String] = [:], directory: String? = nil
  ) throws -> AppRun {
    AppRun(
      try start([ambitProgram, "run"] + options + program, environment: environment, directory: directory))
  }

  /// Starts the probe as an app. What `picks` has is chosen, one for each time that it asks.
  package func probe(
    _ name: String = "Probe", picks: [String] = [], options: [String] = [], arguments: [String] = [],
    environment: [String: String] = [:]
  ) throws -> AppRun {
    let path = try bundle(name, identifier: Self.identifier(name))
    return try launch(
      [path] + arguments, options: options + picks.flatMap { ["--pick", $0] }, environment: environment)
  }

  /// The bundle identifier that `probe(_:)` gives.
  package static func identifier(_ name: String) -> String { "io.ambit.tests.\(name.lowercased())" }

  /// Starts a program on a terminal of its own.
  package func terminal(_ arguments: [String]) throws -> TerminalRun {
    try TerminalRun(arguments, in: self)
  }

  /// The broker's process, if one is running: the one that listens, as the kernel has it.
  package func brokerProcess() throws -> Int32? {
    guard let folder = try? Descriptor.open("\(ambitHome)/run", flags: [.read, .directory]),
      let socket = try? UnixSocket.connect(in: folder, name: "user")
    else { return nil }
    return try UnixSocket.peer(of: socket).pid
  }

  // MARK: The end

  /// - Returns: sandboxes that went on although their launchers had ended. They are ended now.
  private func close() -> String {
    for process in processes where !process.hasEnded { process.kill() }
    let broker = (try? brokerProcess()) ?? nil
    _ = try? ambit("broker", "stop", patience: .seconds(10))
    if let broker, ProcessTable.isAlive(broker), ProcessTable.commandLine(broker).contains("broker") {
      _ = Glibc.kill(broker, SIGKILL)
    }
    // The folder's name is in their mount tables, and in nobody else's.
    let name = (folder as NSString).lastPathComponent
    try? Deadline.wait(.seconds(3), for: "sandboxes to end") { ProcessTable.sandboxes(showing: name).isEmpty }
    let left = ProcessTable.sandboxes(showing: name)
    let description = ProcessTable.describe(left)
    for process in left { _ = Glibc.kill(process.pid, SIGKILL) }
    // As the user: what an app or a test made unreadable for its owner is still the owner's to change.
    _ = try? run(["/bin/chmod", "-R", "u+rwX", folder])
    for path in [ambitHome, folder] { try? FileManager.default.removeItem(atPath: path) }
    return description
  }
}
