internal import Kernel
internal import Paths

extension SandboxPlan {
  /// Plans the sandbox for a request on a system laid out like this.
  package init(_ request: SandboxRequest, on layout: SystemLayout) {
    let hardened: MountAttributes = [.readOnly, .noSetuid, .noDevices]
    var writable: MountAttributes = [.noSetuid, .noDevices]
    if !request.execute { writable.insert(.noExecute) }

    var tree = RootBuilder()
    for (path, entry) in layout.entries {
      switch entry {
      case .directory:
        // Settings are read and not run; the targets of /etc/alternatives lie elsewhere.
        let attributes = path.lies(below: "/etc") ? hardened.union(.noExecute) : hardened
        tree.add(.bind(path, from: path, isDirectory: true, attributes: attributes))
      case .file: tree.add(.bind(path, from: path, isDirectory: false, attributes: hardened.union(.noExecute)))
      case .link(let target): tree.add(.link(path, to: target))
      }
    }
    for (name, content) in Self.identityFiles { tree.add(.file("/etc/\(name)", content: content)) }

    tree.add(.processes("/proc"))
    for name in ProcessFiles.masked { tree.add(.masked("/proc/\(name)")) }
    for name in ProcessFiles.readOnly { tree.add(.readOnly("/proc/\(name)")) }
    for device in DeviceNode.allCases {
      tree.add(.bind(device.path, from: device.path, isDirectory: false, attributes: [.noSetuid, .noExecute]))
    }
    tree.add(.terminals("/dev/pts"))
    tree.add(.link("/dev/ptmx", to: "pts/ptmx"))
    tree.add(.link("/dev/fd", to: "/proc/self/fd"))
    for (number, name) in ["stdin", "stdout", "stderr"].enumerated() {
      tree.add(.link("/dev/\(name)", to: "/proc/self/fd/\(number)"))
    }
    tree.add(.temporary("/dev/shm", mode: 0o1777, size: "64m", inodes: "4k", attributes: writable))
    tree.add(.temporary("/tmp", mode: 0o1777, size: "256m", inodes: "64k", attributes: writable))
    tree.add(.directory("/var"))
    tree.add(.link("/var/tmp", to: "/tmp"))
    // After the temporary folders, which would cover paths that are shown in them.
    for path in request.readOnlyPaths where !tree.covers(path) {
      tree.add(.bind(path, from: path, isDirectory: true, attributes: hardened))
    }

    #if AMBIT_MUTANTS
      if Mutant.homeShown.isActive, let home = ThisProcess.environment["HOME"] {
        tree.add(.bind(home, from: home, isDirectory: true, attributes: hardened))
      }
    #endif
    tree.add(.bind(InsidePath.home, from: request.container, isDirectory: true, attributes: writable))
    if request.inbox {
      tree.addWithin(
        .bind(
          InsidePath.inbox, from: request.container.path(of: "Documents/Inbox"), isDirectory: true,
          attributes: hardened.union(.noExecute)))
    }
    tree.add(.documents(InsidePath.documents))
    tree.add(.listener(InsidePath.brokerSocket))
    if let control = request.controlProgram {
      tree.add(.bind("\(InsidePath.tools)/ambitctl", from: control, isDirectory: false, attributes: hardened))
    }

    switch request.program {
    case .bundle(let path, let executable):
      let inside = "\(InsidePath.applications)/\(path.lastPathName)"
      tree.add(.bind(inside, from: path, isDirectory: true, attributes: hardened))
      program = "\(inside)/\(executable)"
    case .file(let path) where tree.covers(path):
      program = path
    case .file(let path):
      program = "\(InsidePath.applications)/\(path.lastPathName)"
      tree.add(.bind(program, from: path, isDirectory: false, attributes: hardened))
    }

    root = tree.entries
    var kinds: NamespaceKinds = [.user, .mount, .pid, .ipc, .uts, .cgroup]
    if request.network != .host { kinds.insert(.network) }
    namespaces = kinds
    network = request.network
    insideID = InsidePath.identity
    hostID = request.hostID
    hostname = InsidePath.hostname
    environment = Self.environment(request)
    limits = request.limits + request.usage.ofEachProcess
    usage = request.usage
    directory = InsidePath.home
    arguments = [program] + request.arguments
    landlock = Self.landlock(
      for: tree.entries, network: request.network.hasSockets, execute: request.execute,
      executePicked: request.executePicked)
    if request.landlockFiles { landlock?.denied = .all }
    observe = request.observe
  }

  private static func environment(_ request: SandboxRequest) -> [String: String] {
    let fixed = [
      "HOME": InsidePath.home,
      "TMPDIR": "\(InsidePath.home)/tmp",
      "USER": InsidePath.userName,
      "LOGNAME": InsidePath.userName,
      "SHELL": "/bin/sh",
      "PATH": "/usr/local/bin:/usr/bin:/bin:\(InsidePath.tools)",
      "AMBIT_ADDRESS": "unix:\(InsidePath.brokerSocket)",
      "AMBIT_APP": request.bundleIdentifier,
    ]
    // The sandbox's own needs come before the policy's settings.
    #if AMBIT_MUTANTS
      let passed = ThisProcess.environment.filter { $0.key == Mutant.variable }
      return request.environment.merging(fixed) { _, fixed in fixed }.merging(passed) { known, _ in known }
    #else
      return request.environment.merging(fixed) { _, fixed in fixed }
    #endif
  }

  /// Names for the ids that exist inside, and for those that show through.
  private static let identityFiles: [(String, String)] = [
    (
      "passwd",
      """
      \(InsidePath.userName):x:\(InsidePath.identity):\(InsidePath.identity):User:\(InsidePath.home):/bin/sh
      nobody:x:65534:65534:Everyone else:/:/bin/false

      """
    ),
    ("group", "\(InsidePath.userName):x:\(InsidePath.identity):\nnogroup:x:65534:\n"),
    ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    ("hosts", "127.0.0.1 localhost \(InsidePath.hostname)\n::1 localhost\n"),
    ("hostname", "\(InsidePath.hostname)\n"),
    ("resolv.conf", ""),
  ]
}

/// Collects entries and makes the folders that they lie in.
private struct RootBuilder {
  var entries: [SandboxPlan.Entry] = []
  private var folders: Set<PathKey> = [PathKey("/")]

  mutating func add(_ entry: SandboxPlan.Entry) {
    makeParents(of: entry.path)
    // Something that lies in it may have brought it along.
    switch entry {
    case .directory(let path) where !folders.insert(PathKey(path)).inserted: return
    case .temporary(let path, _, _, _, _), .processes(let path): folders.insert(PathKey(path))
    default: break
    }
    entries.append(entry)
  }

  /// Adds an entry that covers a part of another one: its place is there.
  mutating func addWithin(_ entry: SandboxPlan.Entry) { entries.append(entry) }

  private mutating func makeParents(of path: String) {
    let parent = path.parentPath ?? "/"
    guard !folders.contains(PathKey(parent)) else { return }
    makeParents(of: parent)
    folders.insert(PathKey(parent))
    entries.append(.directory(parent))
  }

  /// Whether a host path is shown inside at the same path already.
  func covers(_ path: String) -> Bool {
    entries.contains { entry in
      switch entry {
      case .bind(let shown, let source, _, _): source.isSamePath(as: shown) && path.lies(within: shown)
      case .link(let shown, let target):
        path.lies(within: shown) && target.hasPrefix("usr")
      default: false
      }
    }
  }
}
