internal import Audit
internal import BrokerCore
internal import Kernel
internal import Seccomp
internal import Wire

/// The refusals that apps get from their sandbox, as their launchers see them (`SBX-16`).
@BrokerLoop
final class DenialService {
  private let trail: AuditTrail
  init(_ trail: AuditTrail) { self.trail = trail }

  func denied(
    _ request: LauncherInterface.DeniedCall, _ instance: Instance
  ) throws -> LauncherInterface.DeniedReply {
    let name = request.call.flatMap { SeccompProgram.name(ofCall: Int32(truncatingIfNeeded: $0)) }
    let subject = request.path ?? name ?? request.call.map { "call \($0)" }
    var detail = ["operation": [request.operation, subject].compactMap(\.self).joined(separator: " ")]
    if !request.error.isEmpty { detail["errno"] = request.error }
    if !request.remedy.isEmpty { detail["remedy"] = request.remedy }
    if request.suppressed > 0 { detail[AuditEvent.Fact.suppressed] = "\(request.suppressed)" }
    try trail.decide([
      AuditEvent(
        .refuse, .refused, instance, how: "observed", rule: request.rule, reason: request.reason, detail: detail)
    ])
    return .init(name: name)
  }

  /// A launch that its launcher has refused, before anything was made: a requirement of the policy does not hold.
  func refusedLaunch(
    _ request: LauncherInterface.DeniedCall, _ preparation: Preparation
  ) throws -> LauncherInterface.DeniedReply {
    try trail.decide([
      AuditEvent(
        .launch, .refused, app: preparation.bundleIdentifier, instance: request.instance, how: "launcher",
        rule: request.rule, reason: request.reason, detail: ["name": preparation.name, "policy": preparation.policy])
    ])
    return .init(name: nil)
  }
}
