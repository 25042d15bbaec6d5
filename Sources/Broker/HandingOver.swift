internal import Audit
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess
internal import SystemPackage
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
    let path = request.path.flatMap { $0.isEmpty ? nil : $0 }
    if path != nil, !grant.kind.isFolder { throw ErrorReply.invalidParameter("path") }
    let isMade = request.create == true
    guard !isMade || path != nil && wanted == .readWrite else { throw ErrorReply.invalidParameter("create") }
    let descriptor: Descriptor
    do {
      let opening = ShownDocument.Wanted(
        grant.kind, writing: wanted == .readWrite && (path != nil || grant.kind == .file), path: path, making: isMade)
      descriptor = try opened(opening, of: grant, as: exposure.name, for: instance)
    } catch let error as KernelError {
      record(event(.descriptor, .failed, instance, grant: grant, reason: "\(error)"))
      let name = path?.lastPathName ?? exposure.name
      throw AccessInterface.Failure.notOpened(
        "\(name) cannot be opened: \(error.errno) (\(error.errno.symbol))", code: error.errno.symbol)
    }
    var detail = [AuditEvent.Fact.access: wanted.rawValue]
    if let path { detail["inside"] = path }
    try decide([
      event(.descriptor, .allowed, instance, grant: grant, document: instance.shown[grant.id], detail: detail)
    ])
    return Answer([:], descriptors: [descriptor])
  }

  /// Where the file system may keep one waiting, another thread opens it.
  private func opened(
    _ wanted: ShownDocument.Wanted, of grant: Grant, as name: String, for instance: Instance
  ) throws -> Descriptor {
    let shown = try instance.mounts.place(grant: grant.id, name: name)
    guard instance.shown[grant.id]?.path.map(mayWait) == true else { return try shown.open(wanted) }
    let outcome: Result<Descriptor, KernelError>? = try outcome(of: "open \(grant.id)") { _ in
      Result { () throws(KernelError) in try shown.open(wanted) }
    }
    guard let outcome else { throw KernelError("open", "the file system does not answer", errno: .ioError) }
    return try outcome.get()
  }

  /// `TOK-19`: without any right but the one that is given up.
  func release(_ scope: String, for instance: Instance) throws {
    let grant = try grant(ofScope: scope, instance)
    request?.awaitsWhatFollows = true
    try end([grant], GrantEnding(how: "app", rule: "TOK-19", reason: "the app gave its grant up"))
  }

  /// Before grants are made: by the policy's rule, the oldest give way or there are none (`LIM-10`, `LIM-11`). Under one that
  /// knows a list of what was used last, what leaves no reference needs no room.
  ///
  /// - Parameter kept: grants that are handed over anew with them, and do not give way.
  func makeRoom(
    for instance: Instance, new: Int = 1, besides kept: Set<String> = [],
    refusal: (Int) -> ErrorReply = PickerInterface.Failure.quotaReached
  ) throws {
    let rules = instance.app.rules
    guard new > 0, let quota = rules.quota, rules.recent == nil || instance.app.references else { return }
    let held = try counted(instance)
    let answer = GrantQuota(limit: quota, releasesOldest: rules.releasesOldest).answer(held: held.count, new: new)
    let others = held.filter { !kept.contains($0) }
    if case .admit(let count) = answer, count <= others.count {
      guard count > 0 else { return }
      try end(
        try others.prefix(count).compactMap { try grants.grant($0) },
        GrantEnding(
          how: "quota", rule: "LIM-10",
          reason: "the oldest gives way: the profile \(rules.profile) keeps \(quota)", endsScopes: false))
      return
    }
    let more = new > 1 ? " and would get \(new) more" : ""
    try decide([
      event(
        .grant, .refused, instance, rule: rules.releasesOldest ? "LIM-10" : "LIM-11",
        reason: "the app has \(held.count) grants\(more), and the profile \(rules.profile) lets it keep \(quota)")
    ])
    throw refusal(quota)
  }

  /// The app's grants that count against its quota, the oldest first.
  private func counted(_ instance: Instance) throws -> [String] {
    try grants.persisted(of: instance.app.bundleIdentifier, onlyNeeded: instance.app.rules.recent != nil)
  }

  /// Before a bookmark is made: where the quota is for what is kept by one, the first of a document needs room (`LIM-11`).
  func makeRoom(forBookmarkOf grant: Grant, _ instance: Instance) throws {
    let rules = instance.app.rules
    guard rules.recent != nil, let quota = rules.quota else { return }
    let kept = try counted(instance)
    guard kept.count >= quota, !kept.contains(grant.id) else { return }
    try decide([
      event(
        .bookmarkCreated, .refused, instance, grant: grant, rule: "LIM-11",
        reason: "the app keeps \(kept.count) documents, and the profile \(rules.profile) lets it keep \(quota)")
    ])
    throw BookmarksInterface.Failure.quotaReached(limit: quota)
  }

  /// After a document was granted or used: what has fallen out of the list of those used last, and is needed by nothing else, ends
  /// (`LIM-11`). What is started stays so until it is stopped.
  func trimRecent(of instance: Instance) throws {
    let rules = instance.app.rules
    guard let limit = rules.recent else { return }
    let evicted = RecentGrants(limit: limit).evicted(
      from: try grants.recency(of: instance.app.bundleIdentifier, forListOf: limit))
    try end(
      try evicted.compactMap { try grants.grant($0.grant) },
      GrantEnding(
        how: "quota", rule: "LIM-11",
        reason: "\(limit) others were used since, and nothing keeps it: the profile \(rules.profile)", endsScopes: false
      ))
  }

  /// What the app may keep, and what of it was used last.
  func kept(by instance: Instance) throws -> AccessInterface.KeptReply {
    let rules = instance.app.rules
    let entries = try grants.recency(of: instance.app.bundleIdentifier)
    let recent = try rules.recent.map { limit in
      try RecentGrants(limit: limit).list(of: entries).compactMap { entry -> AccessInterface.Recent? in
        guard let grant = try grants.grant(entry.grant) else { return nil }
        return .init(
          grant: grant.id, name: instance.exposed[grant.id]?.name ?? grant.name, used: Instance.rfc3339(entry.used),
          kept: entry.isNeeded)
      }
    }
    return AccessInterface.KeptReply(
      profile: rules.profile, kept: rules.recent == nil ? entries.count : entries.count(where: \.isNeeded),
      maximum: rules.quota, recent: recent ?? [], recentMaximum: rules.recent)
  }
}
