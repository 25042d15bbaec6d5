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
  func granted(_ id: Int, _ access: CoordinationService.Access, waited: Int64) throws {
    try trail.decide([grant(id, access, waited)])
  }

  /// A program that coordinates nothing goes on: that has happened already.
  func passed(_ id: Int, _ access: CoordinationService.Access, waited: Int64) {
    trail.record(grant(id, access, waited))
  }

  private func grant(_ id: Int, _ access: CoordinationService.Access, _ waited: Int64) -> AuditEvent {
    var detail = facts(id, access)
    detail[AuditEvent.Fact.waited] = String(waited)
    if !access.overtaken.isEmpty { detail[AuditEvent.Fact.before] = access.overtaken.joined(separator: "; ") }
    if !access.asked.isEmpty { detail[AuditEvent.Fact.asked] = access.asked.joined(separator: "; ") }
    return event(.coordinated, .allowed, access, rule: "COO-1", detail: detail)
  }

  func refused(
    _ id: Int, _ access: CoordinationService.Access, _ refusal: Refusal, rule: String, reason: String, waited: Int64
  ) {
    var detail = facts(id, access)
    detail[AuditEvent.Fact.waited] = String(waited)
    trail.record(event(.coordinated, .refused, access, rule: rule, reason: reason, detail: detail))
  }

  /// An access to an item that the app may not use so: it does not come as far as the arbiter.
  func refused(
    _ intent: CoordinationInterface.Intent, _ party: Party, _ instance: Instance?, grant: String?, rule: String,
    _ reason: String
  ) {
    trail.record(
      AuditEvent(
        .coordinated, .refused, app: instance?.app.bundleIdentifier, instance: instance?.id,
        pid: party.process, grant: grant, document: AuditEvent.Document(path: intent.path), how: intent.use.rawValue,
        rule: rule, reason: reason,
        detail: [AuditEvent.Fact.purpose: party.plainPurpose].merging(caller(party, instance)) { $1 }))
  }

  /// - Parameter held: nanoseconds since it was granted.
  func ended(_ id: Int, _ access: CoordinationService.Access, held: Int64) {
    var detail = [AuditEvent.Fact.coordination: String(id), AuditEvent.Fact.held: String(held)]
    if !access.toldMoves.isEmpty { detail[AuditEvent.Fact.moves] = moves(access) }
    trail.note(event(.coordinationEnded, .allowed, access, detail: detail))
  }

  func silent(
    _ presenter: CoordinationService.Presented?, _ question: Question, _ access: CoordinationService.Access?,
    after: Int64
  ) {
    guard let presenter else { return }
    var event = AuditEvent(
      .presenterSilent, .failed, app: presenter.instance?.app.bundleIdentifier,
      instance: presenter.instance?.id, pid: presenter.party.process, grant: presenter.item.grant,
      document: AuditEvent.Document(path: presenter.item.item.path.text), rule: "COO-8",
      reason: "it was asked to \(question.words), and has not answered for \(after.seconds)")
    event.detail = caller(presenter.party, presenter.instance)
    if let access { event.detail[AuditEvent.Fact.asker] = access.party.words }
    trail.record(event)
  }

  /// A question as an entry tells it.
  func words(_ party: Party?, _ question: Question) -> String { "\(party?.words ?? "?"): \(question.words)" }

  private func moves(_ access: CoordinationService.Access) -> String {
    (["moves": .array(access.toldMoves.map { .object($0.json) })] as JSONObject).text
  }

  /// A line for each.
  private nonisolated func uses(_ intents: [Intent]) -> String {
    var text = ""
    for intent in intents {
      if !text.isEmpty { text += "\n" }
      text += intent.isWrite ? "write " : "read "
      for word in intent.use.words { text += "\(word) " }
      text += intent.item.path.text
    }
    return text
  }

  private func facts(_ id: Int, _ access: CoordinationService.Access) -> [String: String] {
    var facts = [String: String](minimumCapacity: 12)
    facts[AuditEvent.Fact.coordination] = String(id)
    facts[AuditEvent.Fact.purpose] = access.party.plainPurpose
    facts[AuditEvent.Fact.uses] = uses(access.request.intents)
    if access.request.isPreparation { facts[AuditEvent.Fact.prepares] = "true" }
    facts[AuditEvent.Fact.arbitration] = access.arbitration.json.text
    if !access.toldMoves.isEmpty { facts[AuditEvent.Fact.moves] = moves(access) }
    return facts
  }

  /// A program of the user's own is no app.
  private func caller(_ party: Party, _ instance: Instance?) -> [String: String] {
    instance == nil ? [AuditEvent.Fact.caller: party.app] : [:]
  }

  private func event(
    _ kind: AuditEvent.Kind, _ result: AuditEvent.Result, _ access: CoordinationService.Access, rule: String? = nil,
    reason: String? = nil, detail: [String: String]
  ) -> AuditEvent {
    var event = AuditEvent(
      kind, result, app: access.instance?.app.bundleIdentifier, instance: access.instance?.id,
      pid: access.party.process, grant: access.items.first?.grant, how: access.request.isWrite ? "write" : "read",
      rule: rule, reason: reason, detail: detail)
    if let intent = access.request.intents.first { event.document = AuditEvent.Document(path: intent.item.path.text) }
    if access.instance == nil { event.detail[AuditEvent.Fact.caller] = access.party.app }
    return event
  }
}
