internal import Audit
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import Wire

/// What an app may do with a right of its own besides using it: take the document as a descriptor, or give the right up.
extension Broker {
  func open(_ request: AccessInterface.OpenCall, for instance: Instance) throws -> Answer {
    let grant = try grant(ofScope: request.scope, instance)
    let wanted = request.access ?? grant.rights.message
    func refuse(_ reason: String, _ error: ErrorReply) throws -> Never {
      record(event(.descriptor, .refused, instance, grant: grant, rule: "TOK-14", reason: reason))
      throw error
    }
    guard instance.owners.isActive(grant.id), let exposure = instance.exposed[grant.id] else {
      try refuse("its scope is not started", AccessInterface.Failure.notActive)
    }
    guard wanted == .readOnly || grant.rights == .readWrite else {
      try refuse("the grant is for reading only", AccessInterface.Failure.readOnly)
    }
    let descriptor: Descriptor
    do throws(KernelError) {
      descriptor = try instance.mounts.open(
        grant: grant.id, name: exposure.name, kind: grant.kind, writing: wanted == .readWrite && grant.kind == .file)
    } catch {
      record(event(.descriptor, .failed, instance, grant: grant, reason: "\(error)"))
      throw AccessInterface.Failure.unavailable("\(exposure.name) cannot be opened")
    }
    try decide([
      event(
        .descriptor, .allowed, instance, grant: grant, document: instance.shown[grant.id],
        detail: [AuditEvent.Fact.access: wanted.rawValue])
    ])
    return Answer([:], descriptors: [descriptor])
  }

  /// `TOK-19`: without any right but the one that is given up.
  func release(_ scope: String, for instance: Instance) throws {
    let grant = try grant(ofScope: scope, instance)
    try end([grant], GrantEnding(how: "app", rule: "TOK-19", reason: "the app gave its grant up"))
  }

  /// Before one more grant is made: by the policy's rule, the oldest give way or there is none (`LIM-10`, `LIM-11`).
  func makeRoom(
    for instance: Instance, besides pending: Int = 0,
    refusal: (Int) -> ErrorReply = PickerInterface.Failure.quotaReached
  ) throws {
    let rules = instance.app.rules
    guard let quota = rules.quota else { return }
    let held = try grants.persisted(of: instance.app.bundleIdentifier)
    switch GrantQuota(limit: quota, releasesOldest: rules.releasesOldest).answer(held: held.count + pending) {
    case .admit(let count):
      guard count > 0 else { return }
      try end(
        Array(held.prefix(count)),
        GrantEnding(
          how: "quota", rule: "LIM-10",
          reason: "the oldest gives way: the profile \(rules.profile) keeps \(quota)", endsScopes: false))
    case .refuse(let limit):
      try decide([
        event(
          .grant, .refused, instance, rule: "LIM-11",
          reason: "the app has \(held.count) grants, and the profile \(rules.profile) lets it keep \(limit)")
      ])
      throw refusal(limit)
    }
  }
}
