package import Kernel

/// A sandbox, decided and not yet built: a value that can be compared, printed and tested without a kernel.
package struct SandboxPlan: Equatable, Sendable {
  /// One entry of the root. Paths are absolute inside; a folder comes before its contents.
  package enum Entry: Equatable, Sendable {
    case directory(String)
    case link(String, to: String)
    case file(String, content: String)
    /// A host file or folder, shown at `path`.
    case bind(String, from: String, isDirectory: Bool, attributes: MountAttributes)
    case temporary(String, mode: UInt32, size: String, inodes: String, attributes: MountAttributes)
    case documents(String)
    case processes(String)
    case terminals(String)
    case listener(String)
    /// Something of `/proc` that is hidden, where the kernel has it.
    case masked(String)
    /// Something of `/proc` that may only be read.
    case readOnly(String)

    package var path: String {
      switch self {
      case .directory(let path), .link(let path, _), .file(let path, _), .bind(let path, _, _, _),
        .temporary(let path, _, _, _, _), .documents(let path), .processes(let path), .terminals(let path),
        .listener(let path), .masked(let path), .readOnly(let path):
        path
      }
    }
  }

  package var root: [Entry]
  package var namespaces: NamespaceKinds
  package var network: NetworkReach
  /// The one user and group id that exist inside.
  package var insideID: UInt32
  /// The host id behind it; `nil` is the launcher's own.
  package var hostID: UInt32?
  package var hostname: String
  package var environment: [String: String]
  package var limits: [ResourceLimit]
  /// The limits of the sandbox as a whole.
  package var usage: UsageLimits
  package var directory: String
  package var program: String
  package var arguments: [String]
  /// The second wall: where the mounts should fail to hold, this denies the same once more.
  /// `nil`: Landlock is not used.
  package var landlock: LandlockRules?
  /// Refusals to the app are seen and recorded.
  package var observe: Bool
}

/// Where things are inside every sandbox.
package enum InsidePath {
  package static let home = "/home/user"
  package static let inbox = "/home/user/Documents/Inbox"
  package static let applications = "/Applications"
  package static let documents = "/documents"
  package static let brokerSocket = "/run/ambit/broker"
  package static let tools = "/run/ambit/bin"
  /// User and group id inside; the user's real name and number are none of the app's business.
  package static let identity: UInt32 = 1000
  package static let userName = "user"
  package static let hostname = "ambit"
}
