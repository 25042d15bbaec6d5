internal import Kernel

/// The layers that limit what an app uses up.
extension LayerReport {
  static func limit(_ layer: Layer, _ plan: SandboxPlan, _ system: SystemFeatures) -> Entry {
    switch layer {
    case .rlimits: rlimits(plan)
    case .processes: processes(plan, system)
    case .memory: none(layer, "Ambit sets no limit on memory yet")
    case .cpuTime: none(layer, "Ambit sets no limit on processor time yet")
    case .wallTime: none(layer, "Ambit sets no limit on how long an app runs yet")
    case .cgroup: none(layer, "Ambit makes no control groups yet")
    case .containerSize: none(layer, "Ambit sets no limit on the size of containers yet")
    default: none(layer, "it is no limit")
    }
  }

  private static func none(_ layer: Layer, _ reason: String) -> Entry {
    Entry(layer: layer, enforcement: .notEnforced(reason))
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
