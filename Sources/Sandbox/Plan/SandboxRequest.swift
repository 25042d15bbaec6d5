/// The program to run, and its rights: everything that a plan is made from, apart from the host's layout.
package struct SandboxRequest: Equatable, Sendable {
  package enum Program: Equatable, Sendable {
    /// A bundle's folder on the host, and its executable's name.
    case bundle(path: String, executable: String)
    /// A program on the host.
    case file(path: String)
  }

  package var program: Program
  package var arguments: [String]
  package var bundleIdentifier: String
  /// The app's container on the host.
  package var container: String
  /// Further host folders to show read-only at the same path.
  package var readOnlyPaths: [String]
  /// Whether programs in the container and in temporary folders may be executed.
  package var execute: Bool
  /// Whether programs in documents and folders that the user picked may be executed.
  package var executePicked: Bool
  package var network: NetworkReach
  /// Whether refusals to the app are seen and recorded.
  package var observe: Bool
  /// Whether Landlock repeats the mounts' rules for files.
  package var landlockFiles: Bool
  /// Variables of the launcher's environment that the policy lets through, and those that it sets.
  package var environment: [String: String]
  package var usage: UsageLimits
  /// Limits of each process, besides those that come of `usage`.
  package var limits: [ResourceLimit]
  /// The host id to run as when the launcher is privileged; `nil` is the launcher's own.
  package var hostID: UInt32?
  /// The in-sandbox command line, if there is one on this machine.
  package var controlProgram: String?
  /// The container has an Inbox: a folder of documents that the app may read and not write (`OIP-2`).
  package var inbox: Bool

  package init(
    program: Program, arguments: [String] = [], bundleIdentifier: String, container: String,
    readOnlyPaths: [String] = [], execute: Bool = false, executePicked: Bool = false, network: NetworkReach = .none,
    observe: Bool = false, landlockFiles: Bool = false, environment: [String: String] = [:],
    usage: UsageLimits = .init(),
    limits: [ResourceLimit] = [], hostID: UInt32? = nil,
    controlProgram: String? = nil, inbox: Bool = false
  ) {
    self.program = program
    self.arguments = arguments
    self.bundleIdentifier = bundleIdentifier
    self.container = container
    self.readOnlyPaths = readOnlyPaths
    self.execute = execute
    self.executePicked = executePicked
    self.network = network
    self.observe = observe
    self.landlockFiles = landlockFiles
    self.environment = environment
    self.usage = usage
    self.limits = limits
    self.hostID = hostID
    self.controlProgram = controlProgram
    self.inbox = inbox
  }
}

/// A limit of `setrlimit(2)`, soft and hard alike; but for processor time, of which the hard one is a second more, so that
/// `SIGXCPU` can be heard.
package struct ResourceLimit: Equatable, Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    case processes, openFiles, fileSize, core
    /// Private memory that a process may write (`RLIMIT_DATA`), in bytes.
    case data
    /// Seconds.
    case cpuTime
  }
  package var kind: Kind
  package var value: UInt64

  package init(_ kind: Kind, _ value: UInt64) {
    self.kind = kind
    self.value = value
  }
}
