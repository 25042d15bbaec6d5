internal import AppModel
internal import Paths
internal import Policy
internal import Sandbox

/// A policy as it holds in the end, and where each part of it stands.
struct LintedPolicy {
  let policy: Policy
  private let origins: PolicyOrigins
  /// Of the machine-wide policies that it is under, by their files.
  private let machines: [String: PolicyOrigins]

  init(_ resolved: ResolvedPolicy) {
    policy = resolved.policy
    origins = PolicyOrigins(of: resolved)
    machines = Dictionary(resolved.machines.map { ($0.file, PolicyOrigins(of: $0)) }, uniquingKeysWith: { $1 })
  }

  /// The place that a field's value comes from: that of a machine-wide policy which has made it stricter, or else where it is written.
  func place(_ field: String) -> LintFinding.Place {
    policy.narrowings.last { $0.field == field }.map(place) ?? written(field)
  }

  /// The place where the policy has a field; its own file where no file says anything of it.
  func written(_ field: String) -> LintFinding.Place {
    let origin = origins[field]
    return LintFinding.Place(file: origin?.file ?? policy.file, line: origin?.position.line, key: field)
  }

  func place(_ narrowing: Narrowing) -> LintFinding.Place {
    let origin = machines[narrowing.file]?[narrowing.field]
    return LintFinding.Place(
      file: origin?.file ?? narrowing.file, line: origin?.position.line, key: narrowing.field)
  }

  /// Whether the policy's own file says something of a field, and not one that it inherits.
  func says(_ field: String) -> Bool { origins[field]?.file == policy.file }
}

/// The openings of a policy. Of its inherited fields, only those that it does not set itself are checked.
extension Lint {
  /// The settings of the policy that have no effect, because the machine's owner permits no policy as much.
  static func narrowed(_ policy: LintedPolicy) -> [LintFinding] {
    policy.policy.narrowings.map { narrowing in
      let place = policy.place(narrowing)
      return LintFinding(
        .narrowedByMachine, at: policy.written(narrowing.field),
        "It would be \(narrowing.from), and the machine-wide policy \(place.file)\(place.line.map { ":\($0)" } ?? "") leaves "
          + "\(narrowing.to) of that.",
        "It can stay: here the machine's owner decides. Use --without-machine to look at the policy alone.")
    }
  }

  /// The required layers that no launch under it can have.
  static func unmet(_ policy: LintedPolicy) -> [LintFinding] {
    policy.policy.settings.unmetRequirements.map { unmet in
      let setting = unmet.field.map { field in
        let place = policy.place(field)
        return place.line == nil ? "" : " (\(field) in \(place.file):\(place.line ?? 0))"
      }
      return LintFinding(
        .notLaunchable, unmet.option == nil ? .error : .warning, at: policy.place("require.layers"),
        "It requires \(unmet.layer.rawValue) to hold in full, and \(unmet.reason)\(setting ?? ""): "
          + "no app is run under it without \(unmet.ways).",
        unmet.field.map { "Set \($0), or take the layer out." } ?? "Take the layer out.")
    }
  }

  static func paths(_ policy: LintedPolicy) -> [LintFinding] {
    let place = policy.place("system.read_only")
    let paths = policy.policy.settings.readOnlyPaths
    return paths.compactMap { path in
      if let what = PathClaim.secret(path) {
        return LintFinding(
          .secretPath, at: place, "Every app under it reads \(path.quoted), where \(what).",
          "Take it out; the user can pick what an app needs of it.")
      }
      if let what = PathClaim.broad(path, isInHome: false) {
        return LintFinding(
          .overBroadPath, at: place, "Every app under it reads \(what).", "Name the folders in it that are needed.")
      }
      if path.lies(below: "/home") || path.lies(below: "/root") {
        return LintFinding(
          .overBroadPath, at: place, "Every app under it reads \(path.quoted), which is in somebody's home.",
          "Let the user pick it, or put what apps need elsewhere.")
      }
      if let system = ["/usr", "/bin", "/sbin", "/lib", "/lib64"].first(where: { path.lies(below: $0) }) {
        return LintFinding(
          .pathInVain, at: place, "\(path.quoted) is in \(system), which every app reads anyhow.", "Take it out.")
      }
      if let outer = paths.first(where: { path.lies(below: $0) }) {
        return LintFinding(
          .pathInVain, at: place, "\(path.quoted) is in \(outer.quoted), which is shown already.",
          "Take one of the two out.")
      }
      return nil
    }
  }

  static func openings(_ policy: LintedPolicy) -> [LintFinding] {
    let settings = policy.policy.settings
    var findings: [LintFinding] = []
    if settings.network == .host {
      findings.append(
        LintFinding(
          .openNetwork, at: policy.place("network.access"),
          "Every app under it has the host's network, whether it asks or not.",
          "Write access = \"entitlement\": then those have it that ask for it."))
    }
    if settings.network != .entitlement, policy.says("network.entitled") {
      findings.append(
        LintFinding(
          .settingInVain, at: policy.place("network.entitled"),
          "network.entitled says what an entitlement opens, and network.access does not leave it to entitlements.",
          "Write access = \"entitlement\", or take it out."))
    }
    let leavesToEntitlements =
      settings.network == .entitlement || settings.passing == .entitlement || settings.executing == .entitlement
    if settings.entitlementTrust == .declared, leavesToEntitlements {
      findings.append(
        LintFinding(
          .openEntitlements, at: policy.place("entitlements.trust"),
          "Every app under it gets what its own bundle declares, and its user is not asked.",
          "Write trust = \"ask\", and --allow-entitlement where nobody can be asked."))
    }
    if !leavesToEntitlements, policy.says("entitlements.trust") {
      findings.append(
        LintFinding(
          .settingInVain, at: policy.place("entitlements.trust"),
          "entitlements.trust says which entitlements an app gets, and the policy leaves nothing to them.",
          "Take it out, or write \"entitlement\" for network.access, grants.pass or grants.execute."))
    }
    if settings.execute {
      findings.append(
        LintFinding(
          .openExecution, at: policy.place("files.execute"),
          "An app may run what it has written into its container: code that nobody has looked at.",
          "Set it to false unless the app is made to install programs."))
    }
    if settings.executing == .any {
      findings.append(
        LintFinding(
          .openExecution, at: policy.place("grants.execute"),
          "Every app under it may run programs that lie in what its user picks.",
          "Write execute = \"entitlement\"."))
    }
    if settings.passing == .any {
      findings.append(
        LintFinding(
          .openPassing, at: policy.place("grants.pass"),
          "Every app under it may give others the documents that the user gave to it alone.",
          "Write pass = \"entitlement\"."))
    }
    return findings + variables(policy)
  }

  private static let secretWords = [
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY", "PRIVATE_KEY", "SESSION",
  ]
  private static let agents: [String: String] = [
    "SSH_AUTH_SOCK": "the way to the user's ssh agent", "GPG_AGENT_INFO": "the way to the user's keys",
    "DBUS_SESSION_BUS_ADDRESS": "the way to the user's session bus", "XAUTHORITY": "the key to the user's display",
    "DOCKER_HOST": "the way to the machine's containers", "KUBECONFIG": "the way to keys of clusters",
  ]

  private static func variables(_ policy: LintedPolicy) -> [LintFinding] {
    let settings = policy.policy.settings
    func secret(_ name: String) -> String? {
      if let what = agents[name] { return what }
      let upper = name.uppercased()
      if ["AWS_", "AZURE_", "GOOGLE_"].contains(where: upper.hasPrefix) { return "keys to cloud accounts" }
      return secretWords.contains(where: upper.contains) ? "a secret, by its name" : nil
    }
    let passed = settings.environmentPass.compactMap { name -> LintFinding? in
      let place = policy.place("environment.pass")
      if let what = secret(name) {
        return LintFinding(
          .secretVariable, at: place, "Every app under it gets \(name.quoted), \(what).", "Take it out.")
      }
      guard name.hasSuffix("*"), name.utf8.count <= 3 else { return nil }
      return LintFinding(
        .overBroadVariable, at: place, "\(name.quoted) passes whatever begins so, secrets as well.",
        "Name the variables.")
    }
    let set = settings.environmentSet.keys.sorted().compactMap { name -> LintFinding? in
      guard let what = secret(name) else { return nil }
      return LintFinding(
        .secretVariable, at: policy.place("environment.set"),
        "\(name.quoted), \(what), stands in the file for all to read, and every app under it gets it.", "Take it out.")
    }
    return passed + set
  }
}
