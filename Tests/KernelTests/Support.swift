import Foundation
import Kernel
import SystemPackage
import Testing

import class TestSupport.TemporaryFolder

/// A folder that everybody may use, and that is removed with everything in it when the last reference goes.
final class Folder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appendingPathComponent("ambit-kernel-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  @discardableResult
  func folder(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
    return "\(path)/\(name)"
  }

  @discardableResult
  func write(_ name: String, _ content: String = "text", mode: Int = 0o644) throws -> String {
    try Data(content.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(path)/\(name)")
    if mode & 0o111 != 0 { try TemporaryFolder.awaitWriters(of: "\(path)/\(name)") }
    return "\(path)/\(name)"
  }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
  }
}

/// A small sandbox around a program of the system, and everything that its init said.
struct Box {
  /// Who the program is on the host when root launches it.
  static let outsideID: UInt32 = 0x7000_7777

  var plan: LaunchPlan
  private let folder: Folder
  private let output: Descriptor

  /// - Parameter steps: further entries of the root.
  init(_ program: String, _ arguments: [String] = [], steps: [RootStep] = []) throws {
    folder = try Folder()
    output = try Descriptor.open("\(folder.path)/output", flags: [.readWrite, .create], mode: 0o666)
    let input = try Descriptor.open("/dev/null", flags: .read)
    var root: [RootStep] = []
    for name in ["usr", "bin", "sbin", "lib", "lib32", "lib64"] {
      guard let found = try? Descriptor.open("/\(name)", flags: [.path, .noFollow]) else { continue }
      if try found.status().kind == .symlink {
        root.append(.symlink(name, to: try found.linkText()))
      } else {
        root.append(try Self.bind("/\(name)", at: name, [.readOnly, .noSetuid]))
      }
    }
    root += [.directory("dev"), .terminals("dev/pts"), .processes("proc"), .directory("run")]
    root.append(try Self.bind("/dev/null", at: "dev/null", [.noSetuid], isDirectory: false))
    root += [.documents("documents"), .listener("run/broker")]
    root.append(.temporary("tmp", mode: 0o1777, size: "16m", inodes: "1k", [.noSetuid]))
    let privileged = geteuid() == 0
    plan = LaunchPlan(
      namespaces: [.user, .mount, .pid, .ipc, .uts, .cgroup, .network], insideID: 1000,
      outsideID: privileged ? Self.outsideID : getuid(), parentMaps: privileged, hostname: "box", title: "ambit-init",
      root: root + steps, standardStreams: [input, output, output], bringUpLoopback: true, limits: [], directory: "/",
      program: program, arguments: [program] + arguments, environment: ["PATH=/usr/bin:/bin"],
      filter: nil)
  }

  /// A shell's script.
  static func shell(_ script: String, _ arguments: [String] = [], steps: [RootStep] = []) throws -> Box {
    try Box("/bin/sh", ["-c", script, "sh"] + arguments, steps: steps)
  }

  static func bind(
    _ path: String, at inside: String, _ attributes: MountAttributes, isDirectory: Bool = true,
    identity: IdentityMap? = nil
  ) throws -> RootStep {
    let source = try Descriptor.open(path, flags: isDirectory ? [.path, .directory] : .path)
    let tree = try DetachedTree(cloning: source, recursive: false, path: path)
    try tree.restrict(attributes, recursive: false, identity: identity)
    return .tree(inside, tree, isDirectory: isDirectory)
  }

  struct Outcome {
    var started = false
    var failure: Failure?
    var status: Int32?
    var signal: Int32?
    var hasTerminal = false
    /// Why it has no session key ring of its own.
    var keyring: Errno?
    var stops: [Int32] = []
    var output = ""
    /// The output's lines.
    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  struct Failure: Equatable {
    let stage: LaunchStage
    let errno: Errno
    var step = 0
  }

  /// Lets it run to its end. Once only: the mounts of a plan are used up by a launch.
  ///
  /// - Parameters:
  ///   - ready: when the sandbox stands and the program has not been started yet.
  ///   - stopped: when the program was stopped.
  func run(
    ready: (_ mountNamespace: Descriptor, _ documents: Descriptor) throws -> Void = { _, _ in },
    stopped: (LaunchedInit) throws -> Void = { try $0.signal(SIGCONT, group: true) }
  ) throws -> Outcome {
    let launched = try plan.start()
    var outcome = Outcome()
    var kept: [Descriptor?] = []
    messages: while true {
      switch try launched.receive() {
      case .ready(let namespace, let documents, _, _, _, let terminal, let keyring):
        outcome.hasTerminal = terminal != nil
        outcome.keyring = keyring
        // A terminal whose other end is closed hangs up.
        kept.append(terminal)
        try ready(namespace, documents)
        try launched.go()
      case .started: outcome.started = true
      case .failed(let stage, let errno, let step): outcome.failure = Failure(stage: stage, errno: errno, step: step)
      case .stopped(let signal):
        outcome.stops.append(signal)
        try stopped(launched)
      case .exited(let status, let signal, _, _): (outcome.status, outcome.signal) = (status, signal)
      case .ended: break messages
      }
    }
    withExtendedLifetime(kept) {}
    try waitForEnd(launched.process)
    #expect(launched.reap())
    outcome.output = String(
      decoding: FileManager.default.contents(atPath: "\(folder.path)/output") ?? Data(), as: UTF8.self)
    return outcome
  }
}

/// Waits until the process of a pidfd has ended; there is no other way to know.
func waitForEnd(_ process: Descriptor) throws {
  var entries = [PollEntry(process, .read)]
  while try Poll.wait(&entries, timeout: .seconds(30)) == 0 {
    throw KernelError("poll", "a process that does not end", errno: .timedOut)
  }
}
