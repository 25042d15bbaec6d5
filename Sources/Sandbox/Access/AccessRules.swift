internal import Kernel
internal import Paths

/// An app's rights at each path, by its sandbox's plan alone. The same rules explain a refusal that has happened and answer a
/// question that is asked beforehand.
///
/// They explain and do not permit: the kernel decides by the mounts. So they say "denied" only where it is certain from the path
/// that the sandbox, and not the file's owner, is the reason, and never look at the host's files there: an answer that depended on
/// them would tell an app which of its user's files exist.
package struct AccessRules: Sendable {
  let entries: [SandboxPlan.Entry]
  let network: NetworkReach
  private let places: [PathKey: SandboxPlan.Entry]

  package init(_ plan: SandboxPlan) {
    entries = plan.root
    network = plan.network
    places = Dictionary(plan.root.map { (PathKey($0.path), $0) }) { _, last in last }
  }

  /// The knowledge about the path's last existing part, from looking inside the sandbox.
  package enum Presence: Sendable {
    case present
    case missing
    /// It is missing, and the folder that it would be in is shown for writing.
    case makeable
    /// A granted document without a started scope stands there as a file without any permissions.
    case placeholder
  }

  /// Folders of the system in which programs look for optional files: a missing file there is no refusal.
  private static let systemFolders = [
    "/bin", "/dev", "/etc", "/lib", "/proc", "/run", "/sbin", "/sys", "/tmp", "/usr", "/var",
  ]

  /// - Parameter path: absolute, inside, with links resolved.
  /// - Returns: `nil` if the sandbox does not stand in the way.
  package func denial(of operation: AccessOperation, at path: String, _ presence: Presence) -> Denial? {
    if operation == .connect { return denial(ofConnectingAt: path, presence) }
    if presence == .placeholder {
      return Denial(
        code: .notPermitted, rule: "TOK-1", reason: "its security scope is not started",
        remedy: "startAccessingSecurityScopedResource(), or ambitctl start URL")
    }
    switch entry(of: path) {
    case .bind(InsidePath.home, _, _, _), .temporary, .processes, .terminals, .listener:
      return nil
    case .bind(_, _, _, let attributes):
      return attributes.contains(.readOnly) && operation.changes ? readOnly : nil
    case .masked:
      return presence == .missing || presence == .makeable ? nil : masked
    case .readOnly:
      return operation.changes ? readOnly : nil
    case .documents:
      // The documents shown there have their own rights, and so has the folder around them.
      return presence == .missing && operation.changes ? readOnly : nil
    case .file, .link:
      return operation.changes ? readOnly : nil
    case .directory, nil:
      if isHidden(path) { return hidden(path) }
      return operation.changes ? readOnly : nil
    }
  }

  /// The innermost entry that a path lies in. Asked at every open of an observed app: a few looks, and not one at each entry.
  func entry(of path: String) -> SandboxPlan.Entry? {
    var rest = path
    while true {
      if let entry = places[PathKey(rest)] { return entry }
      guard let parent = rest.parentPath, parent != "/" else { return nil }
      rest = parent
    }
  }

  /// A path with the plan's own links followed, such as `/bin`; links that an app or the system's folders have are not known.
  package func following(_ path: String) -> String {
    for case .link(let link, let target) in entries where path.lies(within: link) {
      let start = target.isAbsolutePath ? target : (link.parentPath ?? "/").path(of: target)
      return path.path(within: link).map { $0.isEmpty ? start : start.path(of: $0) } ?? path
    }
    return path
  }

  /// The innermost place of the plan that a path lies in, in words.
  package func place(of path: String) -> String {
    switch entry(of: path) {
    case .bind(let shown, let source, _, _): shown == source ? "\(shown) is shown" : "\(shown) is \(source)"
    case .temporary(let shown, _, _, _, _): "\(shown) is the app's own, in memory"
    case .processes(let shown), .terminals(let shown): "\(shown) is the sandbox's own"
    case .listener(let shown): "\(shown) is the broker's socket"
    case .masked(let shown): "\(shown) is hidden"
    case .readOnly(let shown): "\(shown) is shown read-only"
    case .documents(let shown): "\(shown) has what the user granted"
    case .file(let shown, _), .link(let shown, _), .directory(let shown): "\(shown) is made for the sandbox"
    case nil: "the sandbox's root"
    }
  }

  /// Whether a path leads to nothing that the sandbox has, and to nothing that a program may expect of a system.
  func isHidden(_ path: String) -> Bool {
    guard path != "/" else { return false }
    if leadsToPlace(path) { return false }
    return !Self.systemFolders.contains { path.lies(within: $0) }
  }

  /// A folder on the way to something that is shown is there.
  private func leadsToPlace(_ path: String) -> Bool {
    entries.contains { $0.path.lies(within: path) }
  }

  func hidden(_ path: String) -> Denial {
    outside("it is outside of the app's container and of what it was granted")
  }

  /// For questions asked beforehand: a file that a program looks for in vain, since its folder is made for the sandbox (`/etc`) and
  /// has only the plan's entries. While an app runs, that is no refusal (``systemFolders``).
  package func absence(of path: String) -> Denial? {
    switch entry(of: path) {
    case .directory(let folder) where !path.isSamePath(as: folder) && !leadsToPlace(path):
      outside("it is not shown: inside, \(folder) is made for the sandbox, and has no such file (ENOENT)")
    case nil where path != "/" && !leadsToPlace(path): hidden(path)
    default: nil
    }
  }

  /// Whether the app's file at a path is the machine's file at that path.
  package func isMachines(_ path: String) -> Bool {
    switch entry(of: path) {
    case .bind(let shown, let source, _, _): shown == source
    case .readOnly, .masked, .processes: true
    case .temporary, .terminals, .listener, .documents, .file, .link, .directory, nil: false
    }
  }

  private func outside(_ reason: String) -> Denial {
    Denial(
      code: .notPermitted, rule: "SBX-2", reason: reason,
      remedy: "the user picks it: DocumentPicker, or ambitctl pick. For a folder that every launch may read: "
        + "[system] read_only in the policy")
  }

  private var masked: Denial {
    Denial(
      code: .notPermitted, rule: "proc", reason: "it is the kernel's own, and hidden",
      remedy: "nothing: it is about the machine and not about the app")
  }

  private var readOnly: Denial {
    Denial(
      code: .notPermitted, rule: "SBX-1", reason: "the system is shown read-only",
      remedy: "write below \(InsidePath.home), or to a document that the user picks")
  }

  /// For a call that the filter denies.
  package static let filtered = Denial(
    code: .notPermitted, rule: "seccomp", reason: "the filter does not let this call through",
    remedy: "nothing: no program needs it in a sandbox")
}

extension AccessOperation {
  fileprivate var changes: Bool { self == .write || self == .create }
}
