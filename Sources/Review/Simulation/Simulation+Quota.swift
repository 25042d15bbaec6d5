internal import Audit
internal import Decisions
internal import Policy

/// The number of grants that an app may keep: a fixed number in one profile, the remainder of a list of recent documents in
/// another.
extension Simulation {
  /// If the rule and the app's grants are unchanged, the decision is unchanged too.
  func isQuotaOpen(_ app: String, _ rules: Rules) -> Bool {
    if rules.then.persisted != rules.now.persisted || kept.values.contains(where: { $0.app == app })
      || lost.keys.contains(where: { history.grants[$0]?.app == app })
    {
      return true
    }
    // By these two a grant is needed, and counts.
    return rules.now.persisted.recent != nil
      && (rules.then.references != rules.now.references
        || bookmarks.contains { $1.made != $1.would && history.grants[$0]?.app == app })
  }

  /// The grants that an app would have of its own, unordered: a log may tell of many.
  private func held(by app: String, but id: String? = nil) -> [RecordedGrant] {
    let there = history.grants.values.filter { $0.app == app && lost[$0.id] == nil && $0.id != id }
    return (there + kept.values.filter { $0.app == app }).filter { $0.parent == nil || $0.how == "passed" }
  }

  /// Those of them that count. Under a list of recent documents, only grants that a bookmark, a reference or another grant needs
  /// count.
  ///
  /// - Parameter child: a grant that needs none.
  private func counted(by app: String, _ rules: PersistedGrants, but id: String? = nil, without child: String? = nil)
    -> [RecordedGrant]
  {
    let held = held(by: app, but: id)
    guard rules.recent != nil else { return held }
    let parents = Set(
      history.grants.values.filter { lost[$0.id] == nil && $0.id != child }.compactMap(\.parent))
    return held.filter { isNeeded($0.id) || parents.contains($0.id) }
  }

  private func isNeeded(_ id: String) -> Bool { bookmarks[id]?.would ?? 0 > 0 || referenced.contains(id) }

  /// Whether one more grant is made; the oldest give way where the policy says so.
  mutating func admit(_ event: AuditEvent, _ id: String, _ parent: String?) -> Bool {
    guard let app = event.app, let rules = event.instance.flatMap({ self.rules[$0] }), isQuotaOpen(app, rules),
      parent == nil || event.how == "passed" || event.detail["from"] != nil, let quota = rules.now.persisted.quota,
      rules.now.persisted.recent == nil || rules.now.references
    else { return true }
    // Most apps have far fewer.
    guard history.grants.count + kept.count > quota else { return true }
    let held = counted(by: app, rules.now.persisted, but: id)
    guard held.count >= quota else { return true }
    if rules.now.persisted.releasesOldest {
      let oldest = held.sorted { ($0.sequence, $0.id) < ($1.sequence, $1.id) }
      for grant in oldest.prefix(held.count - quota + 1) {
        end(
          grant, event.sequence, event.time, field: "grants.persisted", rule: "LIM-10",
          "the oldest gives way: the policy keeps \(quota)", scopesEnd: false)
      }
      return true
    }
    lost[id] = refuse(event, Self.isFull(held.count, quota))
    if let instance = event.instance { expose(id, to: instance, lost[id]) }
    return false
  }

  private static func isFull(_ held: Int, _ quota: Int) -> Verdict {
    Verdict(
      field: "grants.persisted", rule: "LIM-11", reason: "the app has \(held) grants, and the policy keeps \(quota)")
  }

  /// The policy of then kept no more grants.
  mutating func quotaRefused(_ event: AuditEvent) {
    guard let app = event.app, let rules = event.instance.flatMap({ self.rules[$0] }), isQuotaOpen(app, rules),
      hasRoom(for: app, rules.now)
    else { return }
    judged += 1
    differ(event, .allowed, field: "grants.persisted", rule: "LIM-11", "the policy lets the app keep more")
    cannotJudge("grants that a quota refused: what the app would have done with them")
  }

  private func hasRoom(for app: String, _ rules: Capabilities) -> Bool {
    guard let quota = rules.persisted.quota, rules.persisted.recent == nil || rules.references else { return true }
    return rules.persisted.releasesOldest || counted(by: app, rules.persisted).count < quota
  }

  // MARK: A list of recent documents

  /// A grant was made; the grants that need it follow.
  mutating func granted(_ event: AuditEvent, _ id: String) {
    guard let rules = event.instance.flatMap({ self.rules[$0] }) else { return }
    // The entry of its reference may come after those of others that were chosen with it.
    if rules.now.references, event.how != "bookmark" { referenced.insert(id) }
    trimRecent(event)
  }

  /// Ends the grants that have fallen out of the list and are needed by nothing.
  mutating func trimRecent(_ event: AuditEvent) {
    guard let app = event.app, let rules = event.instance.flatMap({ self.rules[$0] }),
      let limit = rules.now.persisted.recent, isQuotaOpen(app, rules)
    else { return }
    let held = held(by: app)
    guard held.count > limit else { return }
    let needed = Set(counted(by: app, rules.now.persisted).map(\.id))
    guard needed.count < held.count else { return }
    let byUse = held.map { (grant: $0, used: lastUses[$0.id] ?? $0.sequence) }
      .sorted { ($0.used, $0.grant.sequence) > ($1.used, $1.grant.sequence) }
    for (grant, _) in byUse.dropFirst(limit) where !needed.contains(grant.id) {
      end(
        grant, event.sequence, event.time, field: "grants.persisted", rule: "LIM-11",
        "\(limit) others were used since, and nothing keeps it", scopesEnd: false)
    }
  }

  /// Why the first bookmark of a document finds no room; nil: it does, or needs none.
  func refusal(ofFirstBookmarkIn event: AuditEvent) -> Verdict? {
    guard let app = event.app, let rules = event.instance.flatMap({ self.rules[$0] }), isQuotaOpen(app, rules),
      rules.now.persisted.recent != nil, let quota = rules.now.persisted.quota, let id = event.grant
    else { return nil }
    // One for reading only is of a grant that was made for it a moment ago.
    let parent = history.grants[id]?.parent.flatMap { history.grants[$0] }.flatMap { $0.app == app ? $0.id : nil }
    let isOwn = parent != nil && bookmarks[id] == nil
    let kept = counted(by: app, rules.now.persisted, without: isOwn ? id : nil)
    guard kept.count >= quota, !kept.contains(where: { $0.id == parent ?? id }) else { return nil }
    return Self.isFull(kept.count, quota)
  }

  /// The policy of then let the app keep bookmarks of no more documents.
  mutating func bookmarkQuotaRefused(_ event: AuditEvent) {
    guard let app = event.app, let rules = event.instance.flatMap({ self.rules[$0] }), isQuotaOpen(app, rules),
      absence(event.grant, in: event.instance) == nil, Self.refusal(ofMakingBookmark: nil, rules.now) == nil,
      rules.now.persisted.recent == nil || refusal(ofFirstBookmarkIn: event) == nil
    else { return }
    judged += 1
    differ(event, .allowed, field: "grants.persisted", rule: "LIM-11", "the policy lets the app keep more")
    cannotJudge("grants that a quota refused: what the app would have done with them")
  }
}
