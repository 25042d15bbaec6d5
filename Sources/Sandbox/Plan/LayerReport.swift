internal import Kernel

/// How far each layer goes in a launch: a plan, compared with the system's features. Missing layers are reported, not left out.
package struct LayerReport: Equatable, Sendable {
  package struct Entry: Equatable, Sendable {
    package var layer: Layer
    package var enforcement: Enforcement
    /// The way to get the rest, as a sentence; `nil` where nothing is lacking or no remedy exists.
    package var remedy: String?
    /// The system gives less than the plan asks for: it is not the policy that wants it so.
    package var isDegraded = false
  }

  /// One for each layer, in their order.
  package let entries: [Entry]

  package init(_ plan: SandboxPlan, on system: SystemFeatures) {
    entries = Layer.allCases.map { Self.entry($0, plan, system) }
  }

  /// - Parameter found: the entry of a layer for which the set-up of the sandbox has shown another result.
  package init(_ plan: SandboxPlan, on system: SystemFeatures, found: Entry) {
    entries = Layer.allCases.map { $0 == found.layer ? found : Self.entry($0, plan, system) }
  }

  package subscript(_ layer: Layer) -> Entry {
    // There is one for each.
    entries.first { $0.layer == layer } ?? Entry(layer: layer, enforcement: .notEnforced("it is not reported"))
  }

  /// The layers that the plan asks for and the system does not give in full.
  package var degraded: [Entry] { entries.filter(\.isDegraded) }

  private static func entry(_ layer: Layer, _ plan: SandboxPlan, _ system: SystemFeatures) -> Entry {
    switch layer {
    // Without these there is no launch: each step that fails ends it.
    case .namespaces, .fileTree, .seccomp, .sockets, .capabilities: Entry(layer: layer, enforcement: .full)
    case .hostname: hostname(plan)
    case .network: network(plan)
    case .proc: proc(plan)
    case .landlock: landlock(plan, system)
    case .keyring: keyring(system)
    case .observer: observer(plan)
    case .rlimits, .processes, .memory, .cpuTime, .wallTime, .cgroup, .containerSize: limit(layer, plan, system)
    }
  }

  private static func hostname(_ plan: SandboxPlan) -> Entry {
    plan.namespaces.contains(.uts)
      ? Entry(layer: .hostname, enforcement: .full)
      : Entry(layer: .hostname, enforcement: .notEnforced("the app shares the host's name"))
  }

  private static func network(_ plan: SandboxPlan) -> Entry {
    guard plan.network == .host else { return Entry(layer: .network, enforcement: .full) }
    let remedy =
      "[network] access = \"none\" or \"loopback\" in the policy, or entitled = \"loopback\" for an app that asks for a network."
    return Entry(
      layer: .network, enforcement: .partial("the app shares the host's network, but for the abstract Unix sockets"),
      remedy: remedy)
  }

  private static func proc(_ plan: SandboxPlan) -> Entry {
    let covered = Set(plan.root.map(\.path))
    let open = (ProcessFiles.masked + ProcessFiles.readOnly).filter { !covered.contains("/proc/\($0)") }
    return open.isEmpty
      ? Entry(layer: .proc, enforcement: .full)
      : Entry(
        layer: .proc, enforcement: .partial("of the kernel's own it leaves open: \(open.joined(separator: ", "))"))
  }

  private static func landlock(_ plan: SandboxPlan, _ system: SystemFeatures) -> Entry {
    guard let rules = plan.landlock else {
      return Entry(layer: .landlock, enforcement: .notEnforced("the plan does not use it"))
    }
    guard let abi = system.landlockABI else {
      return Entry(
        layer: .landlock, enforcement: .notEnforced("this kernel has no Landlock, or has it switched off"),
        remedy: "Boot a kernel of 6.12 or later, with landlock in the list in lsm= on its command line.",
        isDegraded: true)
    }
    let lacking = rules.lacking(onABI: abi)
    let lack = lacking.map { "\($0.what) takes ABI \($0.abi)" }.joined(separator: ", ")
    let newer = "Boot a kernel of 6.12 or later, which has ABI 6."
    if rules.isEmpty(onABI: abi) {
      return Entry(
        layer: .landlock, enforcement: .notEnforced("this kernel's Landlock has ABI \(abi): \(lack)"), remedy: newer,
        isDegraded: true)
    }
    if rules.denied.isEmpty {
      let files = "files are left to the mounts"
      return Entry(
        layer: .landlock,
        enforcement: .partial(lacking.isEmpty ? files : "\(files), and this kernel's Landlock has ABI \(abi): \(lack)"),
        remedy: lacking.isEmpty ? "[landlock] files = true in the policy." : newer, isDegraded: !lacking.isEmpty)
    }
    guard lacking.isEmpty else {
      return Entry(
        layer: .landlock, enforcement: .partial("this kernel's Landlock has ABI \(abi): \(lack)"), remedy: newer,
        isDegraded: true)
    }
    return Entry(layer: .landlock, enforcement: .full)
  }

  private static func keyring(_ system: SystemFeatures) -> Entry {
    switch system.keyrings {
    // Where the kernel was built without key rings there is none that could be shared.
    case .present, .absent: Entry(layer: .keyring, enforcement: .full)
    case .refused: sharedKeyring("something around Ambit forbids keyctl(2)")
    }
  }

  /// The sandbox could not be given a session key ring of its own. Only the filter is left.
  ///
  /// - Parameter reason: why, as a clause.
  package static func sharedKeyring(_ reason: String) -> Entry {
    Entry(
      layer: .keyring,
      enforcement: .partial(
        "\(reason), so the launcher's session key ring comes along; the filter denies the calls to use it"),
      remedy: "Run Ambit in a session without keys (keyctl session), or where keyctl(2) is allowed.", isDegraded: true)
  }

  private static func observer(_ plan: SandboxPlan) -> Entry {
    plan.observe
      ? Entry(layer: .observer, enforcement: .full)
      : Entry(
        layer: .observer, enforcement: .notEnforced("the policy does not observe"),
        remedy: "[audit] observe = true in the policy, or --trace.")
  }
}
