internal import Kernel

/// The layers that limit an app's use of resources.
extension LayerReport {
  static func limit(_ layer: Layer, _ plan: SandboxPlan, _ system: SystemFeatures) -> Entry {
    switch layer {
    case .rlimits: rlimits(plan)
    case .processes: processes(plan, system)
    case .memory: memory(plan, system)
    case .cpuTime: cpuTime(plan)
    case .wallTime:
      plan.usage.wallTime == nil
        ? unset(layer, "how long the app runs", "wall_time") : Entry(layer: layer, enforcement: .full)
    case .cgroup: group(plan, system)
    case .containerSize: containerSize(plan)
    default: none(layer, "it is no limit")
    }
  }

  private static func none(_ layer: Layer, _ reason: String) -> Entry {
    Entry(layer: layer, enforcement: .notEnforced(reason))
  }

  private static func unset(_ layer: Layer, _ what: String, _ key: String) -> Entry {
    Entry(
      layer: layer, enforcement: .notEnforced("the policy sets no limit on \(what)"),
      remedy: "\(key) in the policy's [limits].")
  }

  private static func memory(_ plan: SandboxPlan, _ system: SystemFeatures) -> Entry {
    guard plan.usage.memory != nil else { return unset(.memory, "memory", "memory") }
    if system.groups?.contains(.memory) == true { return Entry(layer: .memory, enforcement: .full) }
    return Entry(
      layer: .memory,
      enforcement: .partial("the kernel holds each process to it; the whole is looked at every 10 ms to 1 s"),
      remedy: plan.usage.wantsGroup ? nil : "cgroup = true in the policy's [limits].")
  }

  private static func cpuTime(_ plan: SandboxPlan) -> Entry {
    guard plan.usage.cpuTime != nil else { return unset(.cpuTime, "processor time", "cpu_time") }
    return Entry(
      layer: .cpuTime, enforcement: .partial("the kernel holds each process to it; the whole is looked at"))
  }

  private static func containerSize(_ plan: SandboxPlan) -> Entry {
    let lacking = [
      (plan.usage.container, "space", "container"), (plan.usage.containerFiles, "files", "container_files"),
    ]
    .filter { $0.0 == nil }
    if lacking.count == 2 { return unset(.containerSize, "the container", "container, container_files") }
    let looked = "it is looked at, every 10 ms to 1 s"
    guard let missing = lacking.first else { return Entry(layer: .containerSize, enforcement: .partial(looked)) }
    return Entry(
      layer: .containerSize, enforcement: .partial("\(looked); the policy sets no limit on its \(missing.1)"),
      remedy: "\(missing.2) in the policy's [limits].")
  }

  private static func group(_ plan: SandboxPlan, _ system: SystemFeatures) -> Entry {
    guard plan.usage.wantsGroup else {
      return Entry(
        layer: .cgroup, enforcement: .notEnforced("the policy asks for none"),
        remedy: "cgroup = true in the policy's [limits].")
    }
    let wanted = plan.usage.ofGroup.controllers
    let lacking = wanted.filter { system.groups?.contains($0) != true }.map(\.rawValue)
    if wanted.isEmpty {
      return Entry(layer: .cgroup, enforcement: .notEnforced("the policy sets no limit that a group could enforce"))
    }
    if lacking.isEmpty { return Entry(layer: .cgroup, enforcement: .full) }
    let reason = "this user can have no group here that limits \(lacking.joined(separator: ", "))"
    return Entry(
      layer: .cgroup, enforcement: lacking.count == wanted.count ? .notEnforced(reason) : .partial(reason),
      remedy: "Run ambit in a scope of your own: systemd-run --user --scope -p Delegate=yes ambit run …; or as root.",
      isDegraded: true)
  }

  private static func rlimits(_ plan: SandboxPlan) -> Entry {
    let wanted: [(kind: ResourceLimit.Kind, what: String, key: String?)] = [
      (.core, "core files", nil), (.openFiles, "open files", "open_files"),
      (.fileSize, "the size of files", "file_size"),
    ]
    let set = Set(plan.limits.map(\.kind))
    let lacking = wanted.filter { !set.contains($0.kind) }
    guard !lacking.isEmpty else { return Entry(layer: .rlimits, enforcement: .full) }
    let reason = "no limit is set on " + lacking.map(\.what).joined(separator: " and ")
    let keys = lacking.compactMap(\.key)
    return Entry(
      layer: .rlimits, enforcement: lacking.count == wanted.count ? .notEnforced(reason) : .partial(reason),
      remedy: keys.isEmpty ? nil : "\(keys.joined(separator: ", ")) in the policy's [limits].")
  }

  private static func processes(_ plan: SandboxPlan, _ system: SystemFeatures) -> Entry {
    guard plan.limits.contains(where: { $0.kind == .processes }) else {
      return Entry(
        layer: .processes, enforcement: .notEnforced("the policy sets no limit on processes"),
        remedy: "processes in the policy's [limits].")
    }
    // An app that has a host id of its own has its count to itself on any kernel.
    if plan.hostID != nil || system.countsProcessesByNamespace { return Entry(layer: .processes, enforcement: .full) }
    return Entry(
      layer: .processes, enforcement: .partial("this kernel counts the user's other processes as well"),
      remedy: "Boot a kernel of 5.14 or later.", isDegraded: true)
  }
}
