internal import Broker
internal import Folders
internal import Foundation
internal import Kernel
internal import Paths
internal import Seccomp

#if canImport(Glibc)
  internal import Glibc
#endif

extension Facts {
  /// The namespaces that a sandbox is made of, besides the user namespace itself.
  static let sandboxNamespaces = ["mnt", "pid", "ipc", "uts", "net", "cgroup"]

  /// Looks at this machine. Takes some milliseconds: it makes a dozen short-lived processes.
  ///
  /// - Parameter documents: folders with documents; none: the home folder.
  package static func gather(
    environment: [String: String] = ProcessInfo.processInfo.environment, documents: [String] = []
  ) -> Facts {
    var facts = Facts()
    facts.user = geteuid()
    facts.kernelRelease = setting("kernel/osrelease") ?? "unknown"
    facts.architecture = machine()

    facts.namespaces =
      [Namespace("user", Probe.sandbox([]))]
      + sandboxNamespaces.map { Namespace($0, Probe.sandbox([$0])) }
    facts.sandbox = Probe.sandbox(sandboxNamespaces)
    facts.unprivilegedNamespaces = setting("kernel/unprivileged_userns_clone").flatMap { Int($0) }
    facts.apparmorRestriction = setting("kernel/apparmor_restrict_unprivileged_userns").flatMap { Int($0) }
    facts.namespaceLimit = setting("user/max_user_namespaces").flatMap { Int($0) }

    facts.clone3 = Probe.clone3()
    facts.clonePidfd = Probe.clonePidfd()
    facts.pidfdOpen = Probe.pidfdOpen()
    facts.pidfdGetfd = Probe.pidfdGetfd()
    facts.closeRange = Probe.closeRange()

    facts.seccompErrno = Probe.seccompErrno()
    facts.seccompKill = Probe.seccompKill()
    facts.seccompNotify = Probe.seccompNotify()
    facts.seccompListener = Probe.seccompListener()
    facts.seccompSyncWakeUp = Probe.seccompSyncWakeUp()
    facts.libseccomp = SeccompProgram.compilerVersion
    facts.landlock = Probe.landlock()

    facts.openat2 = Probe.openat2()
    facts.openTree = Probe.openTree()
    facts.moveMount = Probe.moveMount()
    facts.mountSetattr = Probe.mountSetattr()

    facts.home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? "/"
    facts.idMappedMount = Probe.idMappedMount(at: facts.home)
    facts.documents = (documents.isEmpty ? [facts.home] : documents).map(DocumentFolder.init)
    facts.fileHandle = Probe.fileHandle(of: facts.home)
    facts.openByHandle = Probe.openByHandle(facts.home)
    facts.birthTime = Probe.birthTime(of: facts.home)

    let folders = AmbitFolders.located(environment: environment)
    facts.state = folder(folders.state)
    facts.runtime = runtime(folders, environment: environment)
    facts.controlGroups = controlGroups()
    facts.fuse = Probe.open("/dev/fuse")
    facts.lease = Probe.lease()
    facts.leasesOfOthers = FileLease.coversOtherOwners
    facts.leaseBreakTime = FileLease.breakTime
    facts.pseudoTerminal = Probe.pseudoTerminal()

    let path = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map(String.init)
    facts.bubblewrap = first(["bwrap"], in: path)
    facts.documentPortal = first(["xdg-document-portal"], in: ["/usr/libexec", "/usr/lib"] + path)
    return facts
  }

  /// The session's folder when Ambit's sockets go into it; otherwise they are beside the state, and judged with it.
  static func runtime(_ folders: AmbitFolders, environment: [String: String]) -> Runtime {
    guard let session = environment["XDG_RUNTIME_DIR"], folders.runtime.lies(below: session) else {
      return environment["AMBIT_HOME"] == nil ? .unset : .elsewhere(folders.runtime)
    }
    return folder(session).map(Runtime.session) ?? .unset
  }

  /// Makes nothing: a folder that does not exist yet is judged by the one it would be made in.
  static func folder(_ path: String) -> Folder? {
    var existing = path
    var status = stat()
    while unsafe stat(existing, &status) != 0 {
      guard let parent = existing.withoutTrailingSlashes.parentPath, existing != "/" else { return nil }
      existing = parent
    }
    let isWritable = unsafe faccessat(AT_FDCWD, existing, W_OK | X_OK, AT_EACCESS) == 0
    return Folder(
      path: path, existing: existing, isWritable: isWritable && status.st_mode & S_IFMT == S_IFDIR,
      owner: status.st_uid, mode: status.st_mode & 0o7777,
      fileSystem: Probe.fileSystem(of: existing) ?? 0)
  }

  private static func setting(_ name: String) -> String? {
    (try? String(contentsOfFile: "/proc/sys/\(name)", encoding: .utf8))?
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static func machine() -> String {
    #if arch(x86_64)
      "x86_64"
    #elseif arch(arm64)
      "aarch64"
    #else
      "other"
    #endif
  }

  private static func controlGroups() -> Groups {
    let found = ControlGroups()
    let controllers = Set(found.places.map(\.controller))
    return switch found.state {
    case .delegated, .notDelegated: .unified(controllers)
    case .legacy, .legacyForOthers: .legacy(controllers)
    case .none: .none
    }
  }

  private static func first(_ names: [String], in folders: [String]) -> String? {
    for folder in folders {
      for name in names where unsafe access("\(folder)/\(name)", X_OK) == 0 { return "\(folder)/\(name)" }
    }
    return nil
  }
}
