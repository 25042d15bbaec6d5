package import Kernel
internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Carries plans out.
package enum SandboxLauncher {
  /// Opens everything that a plan shows, and starts the sandbox's init. The app itself waits for ``LaunchedInit/go()``.
  ///
  /// The caller must be able to clone mounts: privileged on the host, or inside the broker's namespaces.
  /// - Parameters:
  ///   - profiles: further filters, of which only the last may refuse seccomp(2). They can only take away calls that the first lets
  ///     through.
  ///   - network: a network namespace that has been made for this sandbox; making one takes as long as all of the others. The
  ///     calling thread stays in it.
  ///   - group: the control group that all of it is to be in.
  ///   - executable: the identity of the program when it was checked; another file is not executed.
  ///   - standardStreams: descriptors for 0, 1 and 2; `nil` is the sandbox's own terminal.
  package static func start(
    _ plan: SandboxPlan, filter: SeccompProgram, profiles: [SeccompProgram] = [], network: Descriptor? = nil,
    group: ControlGroup? = nil, executable: FileStatus? = nil,
    standardStreams: [Descriptor?]
  ) throws(KernelError) -> LaunchedInit {
    var steps: [RootStep] = []
    steps.reserveCapacity(plan.root.count)
    for entry in plan.root { steps.append(try step(entry)) }

    var limits: [(resource: Int32, soft: UInt64, hard: UInt64)] = []
    for limit in plan.limits { limits.append(lower(limit)) }

    var namespaces = plan.namespaces
    if namespaces.contains(.network), let network, (try? Namespaces.join(network, .network)) != nil {
      namespaces.remove(.network)
    }

    return try LaunchPlan(
      namespaces: namespaces, insideID: plan.insideID, outsideID: plan.hostID ?? getuid(),
      parentMaps: plan.hostID != nil, hostname: plan.hostname, title: "ambit-init", root: steps,
      standardStreams: standardStreams, bringUpLoopback: namespaces.contains(.network), limits: limits,
      directory: plan.directory, program: plan.program, executable: executable, arguments: plan.arguments,
      environment: plan.environment.map { "\($0.key)=\($0.value)" }.sorted(),
      filter: filter, profiles: profiles, listen: true, landlock: plan.landlock, group: group
    ).start()
  }

  private static func step(_ entry: SandboxPlan.Entry) throws(KernelError) -> RootStep {
    // Inside paths are absolute; the new root's descriptor wants them relative.
    func relative(_ path: String) -> String { path.path(within: "/") ?? path }
    switch entry {
    case .directory(let path): return .directory(relative(path))
    case .link(let path, let target): return .symlink(relative(path), to: target)
    case .file(let path, let content): return .file(relative(path), content: content)
    case .bind(let path, let source, _, let attributes):
      // The broker has just looked at the container; a link that has come into its place since then leads elsewhere.
      let isContainer = path == InsidePath.home || path == InsidePath.inbox
      // Nor may a link, or anything else, stand in for a device: the app may write to it.
      let device = DeviceNode.allCases.first { $0.path == path }
      let tree =
        path == InsidePath.inbox
        ? try inbox(source) : try DetachedTree(at: source, followsLink: !isContainer && device == nil)
      if let device, try !device.isOpen(as: tree.descriptor) { throw device.fault(source) }
      // Its present kind counts, not the kind in the plan: a policy may show a file as well as a folder.
      let isDirectory = try tree.descriptor.status().kind == .directory
      if isContainer, !isDirectory { throw KernelError("open_tree", source, errno: .notDirectory) }
      try tree.restrict(attributes, recursive: isDirectory)
      return .tree(relative(path), tree, isDirectory: isDirectory)
    case .temporary(let path, let mode, let size, let inodes, let attributes):
      return .temporary(relative(path), mode: mode, size: size, inodes: inodes, attributes)
    case .documents(let path): return .documents(relative(path))
    case .processes(let path): return .processes(relative(path))
    case .terminals(let path): return .terminals(relative(path))
    case .listener(let path): return .listener(relative(path))
    case .masked(let path): return .mask(relative(path))
    case .readOnly(let path): return .readOnly(relative(path))
    }
  }

  /// A running app may put a link into the place of one of its folders: no link is followed anywhere in the container.
  private static func inbox(_ source: String) throws(KernelError) -> DetachedTree {
    let inner = "Documents/Inbox"
    let container = try Descriptor.open(
      String(source.dropLast(inner.count + 1)), flags: [.path, .directory, .noFollow])
    let folder = try Descriptor.open(
      inner, below: container, flags: [.path, .directory, .noFollow], resolve: [.beneath, .noSymlinks])
    return try DetachedTree(cloning: folder, recursive: false, path: source)
  }

  private static func lower(_ limit: ResourceLimit) -> (resource: Int32, soft: UInt64, hard: UInt64) {
    // As in asm-generic/resource.h; the Glibc module shows RLIMIT_* as neither numbers nor a usable type.
    let resource: Int32 =
      switch limit.kind {
      case .cpuTime: 0
      case .fileSize: 1
      case .data: 2
      case .core: 4
      case .processes: 6
      case .openFiles: 7
      }
    // Above the launcher's own limit, the kernel would refuse; the lower of the two is meant.
    var present = rlimit()
    let read = unsafe getrlimit(resource, &present)
    let value = read == 0 ? min(limit.value, UInt64(present.rlim_max)) : limit.value
    let hard = limit.kind == .cpuTime ? min(value &+ UsageLimits.grace, UInt64(present.rlim_max)) : value
    return (resource, value, hard)
  }
}
