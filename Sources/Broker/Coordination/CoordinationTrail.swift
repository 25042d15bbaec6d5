internal import Audit
internal import BrokerCore
internal import Coordination
internal import Paths
internal import Wire

/// Coordinated access in the log: one entry for each access (`AUD-4`), one for its end, and one for each silent presenter.
@BrokerLoop
struct CoordinationTrail {
  let trail: AuditTrail

  /// - Throws: where it cannot be written down.
  func granted(_ id: Int, _ access: CoordinationService.Access, _ paths: [PathKey], waited: Int64) throws {
    var detail = facts(id, access)
    detail[AuditEvent.Fact.waited] = "\(waited)"
    if !access.overtaken.isEmpty { detail[AuditEvent.Fact.before] = access.overtaken.joined(separator: "; ") }
    if !access.asked.isEmpty { detail[AuditEvent.Fact.asked] = access.asked.joined(separator: "; ") }
    try trail.decide([event(.coordinated, .allowed, access, rule: "COO-1", detail: detail)])
  }

  func refused(_ id: Int, _ access: CoordinationService.Access, _ refusal: Refusal, rule: String, reason: String) {
    trail.record(
      event(.coordinated, .refused, access, rule: rule, reason: reason, detail: facts(id, access)))
  }

  /// An access to an item that the app may not use so: it does not come as far as the arbiter.
  func refused(
    _ intent: CoordinationInterface.Intent, _ party: Party, _ instance: Instance?, grant: String?, rule: String,
    _ reason: String
  ) {
    trail.record(
      AuditEvent(
        .coordinated, .refused, app: instance?.app.bundleIdentifier ?? party.app, instance: instance?.id,
        pid: party.process, grant: grant, document: AuditEvent.Document(path: intent.path), how: intent.use.rawValue,
        rule: rule, reason: reason, detail: [AuditEvent.Fact.purpose: party.plainPurpose]))
  }

  func ended(_ id: Int, _ access: CoordinationService.Access) {
    trail.record(event(.coordinationEnded, .allowed, access, detail: [AuditEvent.Fact.coordination: "\(id)"]))
  }

  func silent(
    _ presenter: CoordinationService.Presented?, _ question: Question, _ access: CoordinationService.Access?,
    after: Int64
  ) {
    guard let presenter else { return }
    var event = AuditEvent(
      .presenterSilent, .failed, app: presenter.instance?.app.bundleIdentifier ?? presenter.party.app,
      instance: presenter.instance?.id, pid: presenter.party.process, grant: presenter.item.grant,
      document: AuditEvent.Document(path: presenter.item.item.path.text), rule: "COO-8",
      reason: "it was asked to \(question.words), and has not answered for \(after.seconds)")
    if let access { event.detail[AuditEvent.Fact.asker] = access.party.words }
    trail.record(event)
  }

  /// A question as an entry tells it.
  func words(_ party: Party?, _ question: Question) -> String { "\(party?.words ?? "?"): \(question.words)" }

  private func facts(_ id: Int, _ access: CoordinationService.Access) -> [String: String] {
    let uses = access.request.intents.map { intent in
      switch intent.use {
      case .read(let options): (["read"] + options.names(ReadingOptions.words)).joined(separator: " ")
      case .write(let options): (["write"] + options.names(WritingOptions.words)).joined(separator: " ")
      }
    }
    var facts = [
      AuditEvent.Fact.coordination: "\(id)", AuditEvent.Fact.purpose: access.party.plainPurpose,
      AuditEvent.Fact.uses: zip(uses, access.request.intents).map { "\($0) \($1.item.path.text)" }
        .joined(separator: "\n"),
    ]
    if access.request.isPreparation { facts["prepares"] = "true" }
    return facts
  }

  private func event(
    _ kind: AuditEvent.Kind, _ result: AuditEvent.Result, _ access: CoordinationService.Access, rule: String? = nil,
    reason: String? = nil, detail: [String: String]
  ) -> AuditEvent {
    AuditEvent(
      kind, result, app: access.instance?.app.bundleIdentifier ?? access.party.app, instance: access.instance?.id,
      pid: access.party.process, grant: access.items.first?.grant,
      document: access.request.intents.first.map { AuditEvent.Document(path: $0.item.path.text) },
      how: access.request.intents.contains { $0.isWrite } ? "write" : "read", rule: rule, reason: reason,
      detail: detail)
  }
}
