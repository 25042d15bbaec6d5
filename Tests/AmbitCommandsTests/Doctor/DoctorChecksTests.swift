import Foundation
import Kernel
import Terminal
import Testing

@testable import AmbitCommands

private func runtime(owner: UInt32 = 1000, mode: UInt32 = 0o700, existing: String = "/run/user/1000") -> Facts.Runtime {
  .session(
    .init(
      path: "/run/user/1000", existing: existing, isWritable: true, owner: owner, mode: mode, fileSystem: 0x0102_1994))
}

/// A machine on which nothing is lacking; the tests take things away.
private func healthy(_ change: (inout Facts) -> Void = { _ in }) -> Facts {
  var facts = Facts()
  facts.user = 1000
  facts.kernelRelease = "6.8.0-45-generic"
  facts.architecture = "x86_64"
  facts.namespaces = (["user"] + Facts.sandboxNamespaces).map { .init($0, .present(0)) }
  for path in [
    \Facts.sandbox, \.clone3, \.clonePidfd, \.pidfdOpen, \.pidfdGetfd, \.closeRange, \.seccompErrno, \.seccompKill,
    \.seccompNotify, \.seccompListener, \.seccompSyncWakeUp, \.openat2, \.openTree, \.moveMount, \.mountSetattr,
    \.idMappedMount,
    \.fileHandle, \.openByHandle, \.fuse, \.pseudoTerminal, \.lease,
  ] { facts[keyPath: path] = .present(0) }
  facts.birthTime = .present(1)
  facts.leaseBreakTime = 45
  facts.landlock = .present(6)
  facts.libseccomp = "2.5.5"
  facts.namespaceLimit = 15000
  facts.home = "/home/user"
  facts.state = .init(
    path: "/home/user/.local/state/ambit", existing: "/home/user", isWritable: true, owner: 1000, mode: 0o755,
    fileSystem: 0xEF53)
  facts.runtime = runtime()
  facts.controlGroups = .unified([.memory, .pids, .cpu])
  facts.bubblewrap = "/usr/bin/bwrap"
  facts.documentPortal = "/usr/libexec/xdg-document-portal"
  change(&facts)
  return facts
}

private struct Lack: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var check: String
  var status: Check.Status
  var isReady: Bool
  /// What the remedy has to speak of.
  var remedy: String
  var facts: Facts

  init(
    _ description: String, _ check: String, _ status: Check.Status, isReady: Bool, remedy: String,
    _ change: (inout Facts) -> Void
  ) {
    self.testDescription = description
    self.check = check
    self.status = status
    self.isReady = isReady
    self.remedy = remedy
    self.facts = healthy(change)
  }
}

private let refusedMount = Support.refused("mount tmpfs: Operation not permitted (EPERM)")

private let lacks: [Lack] = [
  Lack("an old kernel", "kernel", .missing, isReady: false, remedy: "newer kernel") { $0.kernelRelease = "5.10.0-30" },
  Lack("a rare processor", "architecture", .partial, isReady: true, remedy: "x86_64") { $0.architecture = "other" },
  Lack("Ubuntu's restriction", "user-namespaces", .missing, isReady: false, remedy: "apparmor_parser") {
    $0.apparmorRestriction = 1
    $0.sandbox = refusedMount
  },
  Lack("Ubuntu's restriction by itself", "apparmor", .missing, isReady: false, remedy: "apparmor_restrict") {
    $0.apparmorRestriction = 1
    $0.sandbox = refusedMount
  },
  Lack("Debian's switch", "user-namespaces", .missing, isReady: false, remedy: "unprivileged_userns_clone=1") {
    $0.unprivilegedNamespaces = 0
    $0.namespaces[0].support = .refused("clone: Operation not permitted (EPERM)")
    $0.sandbox = $0.namespaces[0].support
  },
  Lack("no user namespaces allowed", "namespace-limit", .missing, isReady: false, remedy: "max_user_namespaces=") {
    $0.namespaceLimit = 0
  },
  Lack("few user namespaces allowed", "namespace-limit", .partial, isReady: true, remedy: "max_user_namespaces=") {
    $0.namespaceLimit = 5
  },
  Lack("a container that masks /proc", "user-namespaces", .missing, isReady: false, remedy: "systempaths=unconfined") {
    $0.sandbox = .refused("mount proc: Operation not permitted (EPERM)")
  },
  Lack("a kernel without net namespaces", "user-namespaces", .missing, isReady: false, remedy: "without these") {
    $0.namespaces[5].support = .absent("clone: Invalid argument (EINVAL)")
    $0.sandbox = $0.namespaces[5].support
  },
  Lack("no clone3", "clone3", .missing, isReady: false, remedy: "5.12") { $0.clone3 = .absent("clone3 (ENOSYS)") },
  Lack("clone3 forbidden", "clone3", .missing, isReady: false, remedy: "seccomp=unconfined") {
    $0.clone3 = .refused("clone3 (EPERM)")
  },
  Lack("no pidfds", "pidfd", .missing, isReady: false, remedy: "5.12") {
    $0.pidfdOpen = .absent("pidfd_open (ENOSYS)")
  },
  Lack("no close_range", "close-range", .missing, isReady: false, remedy: "5.12") {
    $0.closeRange = .absent("close_range (ENOSYS)")
  },
  Lack("no filters", "seccomp", .missing, isReady: false, remedy: "CONFIG_SECCOMP_FILTER") {
    $0.seccompErrno = .absent("seccomp (EINVAL)")
  },
  Lack("no notification", "seccomp-notify", .missing, isReady: false, remedy: "5.5") {
    $0.seccompListener = .refused("seccomp NEW_LISTENER (EBUSY)")
  },
  Lack("other processes' sockets out of reach", "pidfd-getfd", .missing, isReady: true, remedy: "ptrace_scope") {
    $0.pidfdGetfd = .refused("pidfd_getfd (EPERM)")
  },
  Lack("slow notification", "seccomp-sync", .partial, isReady: true, remedy: "6.6") {
    $0.seccompSyncWakeUp = .absent("ioctl (EINVAL)")
  },
  Lack("an old libseccomp", "libseccomp", .partial, isReady: true, remedy: "2.5") { $0.libseccomp = "2.4.4" },
  Lack("no Landlock", "landlock", .missing, isReady: true, remedy: "CONFIG_SECURITY_LANDLOCK") {
    $0.landlock = .absent("landlock_create_ruleset (ENOSYS)")
  },
  Lack("Landlock switched off", "landlock", .missing, isReady: true, remedy: "lsm=") {
    $0.landlock = .refused("landlock_create_ruleset: Operation not supported (EOPNOTSUPP)")
  },
  Lack("the first Landlock", "landlock", .partial, isReady: true, remedy: "6.12") { $0.landlock = .present(1) },
  Lack("Landlock without scopes", "landlock", .partial, isReady: true, remedy: "6.12") { $0.landlock = .present(5) },
  Lack("no openat2", "mount-api", .missing, isReady: false, remedy: "5.12") {
    $0.openat2 = .absent("openat2 (ENOSYS)")
  },
  Lack("root without id-mapped mounts", "idmapped-mounts", .partial, isReady: true, remedy: "ordinary user") {
    $0.user = 0
    $0.runtime = runtime(owner: 0)
    $0.idMappedMount = .absent("mount_setattr MOUNT_ATTR_IDMAP (EINVAL)")
  },
  Lack("no file handles", "file-handles", .missing, isReady: true, remedy: "ext4") {
    $0.fileHandle = .absent("name_to_handle_at (EOPNOTSUPP)")
  },
  Lack("handles that may not be opened", "open-by-handle", .partial, isReady: true, remedy: "Nothing needs") {
    $0.openByHandle = .refused("open_by_handle_at (EPERM)")
  },
  Lack("no birth time", "birth-time", .partial, isReady: true, remedy: "ext4") { $0.birthTime = .present(0) },
  Lack("a read-only state folder", "state-folder", .missing, isReady: false, remedy: "/home/user writable") {
    $0.state?.isWritable = false
  },
  Lack("state on NFS", "state-folder", .partial, isReady: true, remedy: "local disk") { $0.state?.fileSystem = 0x6969 },
  Lack("no runtime folder", "runtime-folder", .partial, isReady: true, remedy: "XDG_RUNTIME_DIR") {
    $0.runtime = .unset
  },
  Lack("an open runtime folder", "runtime-folder", .missing, isReady: false, remedy: "chmod 700 /run/user/1000") {
    $0.runtime = runtime(mode: 0o755)
  },
  Lack("another's runtime folder", "runtime-folder", .missing, isReady: false, remedy: "mkdir") {
    $0.runtime = runtime(owner: 1001)
  },
  Lack("a runtime folder that is gone", "runtime-folder", .missing, isReady: false, remedy: "mkdir") {
    $0.runtime = runtime(existing: "/run/user")
  },
  Lack("no terminals", "pty", .missing, isReady: false, remedy: "devpts") {
    $0.pseudoTerminal = .absent("open /dev/ptmx (ENOENT)")
  },
  Lack("groups not delegated", "cgroups", .partial, isReady: true, remedy: "Delegate=yes") {
    $0.controlGroups = .unified([])
  },
  Lack("legacy groups", "cgroups", .partial, isReady: true, remedy: "unified_cgroup_hierarchy") {
    $0.controlGroups = .legacy([.memory, .pids, .cpu])
  },
  Lack("groups without a controller", "cgroups", .partial, isReady: true, remedy: "user@.service") {
    $0.controlGroups = .unified([.memory, .pids])
  },
  Lack("legacy groups for others", "cgroups", .partial, isReady: true, remedy: "as root") {
    $0.controlGroups = .legacy([])
  },
  Lack("no groups", "cgroups", .missing, isReady: true, remedy: "mount -t cgroup2") { $0.controlGroups = .none },
  Lack("a kernel without leases", "leases", .missing, isReady: true, remedy: "CONFIG_FILE_LOCKING") {
    $0.lease = .absent("fcntl F_SETLEASE: Invalid argument (EINVAL)")
  },
  Lack("fuse for root alone", "fuse", .partial, isReady: true, remedy: "chmod") {
    $0.fuse = .refused("open /dev/fuse (EACCES)")
  },
  Lack("no bubblewrap", "bubblewrap", .partial, isReady: true, remedy: "apt-get") { $0.bubblewrap = nil },
]

@Suite struct DoctorChecksTests {
  @Test func `A machine that lacks nothing passes every check in full and is ready`() {
    let checks = healthy().checks
    #expect(checks.filter { $0.status != .full } == [])
    #expect(DoctorReport(checks).isReady)
  }

  @Test func `Names are unique and fit the words "needs NAME"`() {
    let names = healthy().checks.map(\.name)
    #expect(Set(names).count == names.count)
    for name in names { #expect(name.wholeMatch(of: /[a-z0-9-]+/) != nil) }
  }

  @Test(arguments: lacks)
  private func `Each lack is found, priced, and comes with a remedy`(lack: Lack) throws {
    let checks = lack.facts.checks
    let check = try #require(checks.first { $0.name == lack.check })
    #expect(check.status == lack.status)
    #expect(check.cost?.hasSuffix(".") == true)
    #expect(check.remedy?.contains(lack.remedy) == true, "the remedy is: \(check.remedy ?? "none")")
    #expect(DoctorReport(checks).isReady == lack.isReady)
  }

  @Test func `Root is not told of what binds ordinary users alone`() throws {
    let facts = healthy {
      $0.user = 0
      $0.runtime = runtime(owner: 0)
      $0.apparmorRestriction = 1
      $0.unprivilegedNamespaces = 0
    }
    #expect(DoctorReport(facts.checks).isReady)
    #expect(facts.checks.first { $0.name == "apparmor" }?.status == .full)
  }

  @Test func `An ordinary user does not need id-mapped mounts`() {
    let facts = healthy { $0.idMappedMount = .refused("open_tree (EPERM)") }
    #expect(facts.idMappedMountCheck.status == .full)
  }

  @Test func `Leases are told with their owners, their time and their limits`() throws {
    let own = healthy().leasesCheck
    #expect(own.status == .full && own.found == "your own files; an opener waits up to 45 s")
    for limit in ["rename", "stat", "O_NONBLOCK", "has the document open"] {
      #expect(own.limits?.contains(limit) == true, "\(limit)")
    }
    let all = healthy {
      $0.leasesOfOthers = true
      $0.leaseBreakTime = nil
    }.leasesCheck
    #expect(all.found == "files of all owners (CAP_LEASE); an opener waits without end")
    let table = DoctorReport([own]).table(style: Style(isEnabled: false), width: 60)
    #expect(table.contains("limits A rename"))
  }

  @Test func `JSON is one object a line with stable keys`() throws {
    let checks = healthy { $0.landlock = .absent("landlock_create_ruleset (ENOSYS)") }.checks
    let lines = try DoctorReport(checks).json().split(separator: "\n")
    #expect(lines.count == checks.count)
    for (line, check) in zip(lines, checks) {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(object["name"] as? String == check.name)
      #expect(object["status"] as? String == check.status.rawValue)
      #expect(object["required"] as? Bool == check.required)
      #expect(object["remedy"] as? String == check.remedy)
    }
  }

  @Test func `The table marks each row, says cost and remedy under it, and wraps them`() {
    let checks = healthy {
      $0.landlock = .absent("landlock_create_ruleset (ENOSYS)")
      $0.clone3 = .absent("clone3 (ENOSYS)")
    }.checks
    let report = DoctorReport(checks).table(style: Style(isEnabled: false), width: 60)
    let lines = report.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("✗") && $0.contains("clone3") })
    #expect(lines.contains { $0.contains("costs  There is no second wall") })
    #expect(lines.filter { $0.contains("mend ") }.count == 2)
    #expect(lines.allSatisfy { displayWidth(String($0)) <= 60 })
    #expect(report.contains("Ambit cannot run apps here: clone3."))
    #expect(!report.contains("\u{1b}"))
  }

  @Test(arguments: [
    ("", 10, []), ("one", 10, ["one"]), ("one two three", 7, ["one two", "three"]),
    ("a word-that-is-too-long b", 6, ["a", "word-that-is-too-long", "b"]),
  ])
  func `Words are wrapped, never broken`(text: String, width: Int, lines: [String]) {
    #expect(wrapped(text, to: width) == lines)
  }
}
