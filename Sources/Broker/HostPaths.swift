internal import Audit
internal import Kernel
internal import ScopedAccess
internal import Wire

/// Where documents lie on the host, for an app that may show it to its user (`FSF-11`).
extension Broker {
  func hostPath(_ scope: String, for instance: Instance) throws -> AccessInterface.HostPathReply {
    let grant = try grant(ofScope: scope, instance)
    guard instance.app.rules.tellsHostPaths else {
      try decide([
        event(
          .hostPath, .refused, instance, grant: grant, rule: "FSF-11",
          reason: "the policy \(instance.app.policy) does not let apps be told: [grants] host_paths")
      ])
      throw AccessInterface.Failure.notTold
    }
    let document = try instance.shown[grant.id] ?? locate(grant, for: instance).document
    let path = standing(document)
    try decide([
      event(
        .hostPath, .allowed, instance, grant: grant, document: document,
        detail: [AuditEvent.Fact.known: path == nil ? "false" : "true"])
    ])
    return AccessInterface.HostPathReply(path: path)
  }

  /// The path that leads to a document now. What the kernel says of an open file may be old, or nothing that can be written down
  /// as text: so it is tried.
  private func standing(_ document: FoundDocument) -> String? {
    guard let path = document.descriptor.currentPath, path.isText,
      let opened = try? Descriptor.open(path, flags: [.path, .noFollow], resolve: .noSymlinks),
      let there = try? FoundDocument(opened), there.identity == document.identity
    else { return nil }
    return path
  }
}
