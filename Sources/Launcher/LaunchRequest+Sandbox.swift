internal import Folders
package import Sandbox
package import Wire

extension LauncherInterface.DegradedLayer {
  /// `nil` if the layer holds in full.
  init?(_ entry: LayerReport.Entry, allowed: Bool) {
    let enforcement: Enforcement
    switch entry.enforcement {
    case .full: return nil
    case .partial: enforcement = .partial
    case .notEnforced: enforcement = .notEnforced
    }
    self.init(
      layer: entry.layer.rawValue, enforcement: enforcement, reason: entry.enforcement.reason ?? "", allowed: allowed)
  }
}

extension LaunchRequest {
  /// The call to the broker.
  package func prepareCall(_ environment: [String: String]) -> LauncherInterface.PrepareCall {
    .init(
      program: executable, manifest: manifest, container: container, policy: policy,
      variables: environment.keys.sorted(), observe: trace, seccomp: seccomp, limits: limits,
      answers: trust.map { [.init(.identity, $0.rawValue)] } ?? [], allowEntitlements: allowEntitlements)
  }

  /// The request from which a sandbox is planned, with the app's rights from the broker's answer.
  package func sandboxRequest(_ prepared: LauncherInterface.PrepareReply, environment: [String: String])
    -> SandboxRequest
  {
    let capabilities = prepared.capabilities
    var variables: [String: String] = [:]
    for name in capabilities.variables { variables[name] = environment[name] }
    variables.merge(capabilities.environment) { _, set in set }

    let limits = capabilities.limits
    let usage = UsageLimits(
      processes: limits.processes, openFiles: limits.openFiles, fileSize: limits.fileSize, memory: limits.memory,
      cpuTime: limits.cpuTime, wallTime: limits.wallTime, processors: limits.processors, container: limits.container,
      containerFiles: limits.containerFiles, cgroup: limits.cgroup)
    return SandboxRequest(
      program: program, arguments: DocumentPlaces.filled(arguments, with: prepared.given) ?? arguments,
      bundleIdentifier: prepared.bundleIdentifier,
      container: prepared.container, readOnlyPaths: capabilities.readOnlyPaths, execute: capabilities.execute,
      executePicked: capabilities.grants.executesPicked,
      network: NetworkReach(rawValue: capabilities.network) ?? .none, observe: capabilities.observe,
      landlockFiles: capabilities.landlockFiles, environment: variables, usage: usage,
      limits: [ResourceLimit(.core, 0)],
      hostID: prepared.hostID < 0 ? nil : UInt32(prepared.hostID), controlProgram: Programs.control.path,
      inbox: capabilities.grants.inbox)
  }
}
