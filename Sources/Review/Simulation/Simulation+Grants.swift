internal import Audit
internal import Decisions
internal import Foundation
internal import Policy

extension Simulation {
  mutating func pick(_ event: AuditEvent) {
    if event.result == .refused, event.document == nil { return refusedUnasked(event) }
    let kind =
      event.detail[AuditEvent.Fact.documentKind] ?? event.grant.flatMap { history.grants[$0]?.kind }
      // Entries of older versions do not say it otherwise.
      ?? (event.result == .refused && event.rule == "PCK-10" ? "folder" : nil)
    let name = event.documentName
    let change = change(event.instance) { Self.refusal(ofPicking: kind, named: name, $0) }
    switch event.result {
    case .allowed:
      judged += 1
      guard let id = event.instance, let grant = event.grant else { return }
      if case .refuses(let verdict) = change {
        let cause = refuse(event, verdict)
        // A grant from before is there all the same; this launch has not come by it in this way.
        if history.grants[grant] == nil { lost[grant] = cause }
        expose(grant, to: id, cause)
        return
      }
      // A second decision makes it anew.
      lost[grant] = nil
      expose(grant, to: id, nil)
      if history.grants[grant] != nil { decide(grant, event) }
      guard let rules = rules[id] else { return }
      if rules.now.startsPicked, !rules.then.startsPicked {
        cannotJudge("what the picker would have started: the log does not say for which process")
      }
      if rules.now.references, !rules.then.references {
        cannotJudge("references that would have been written, and what the app would have done with them")
      }
    case .refused:
      guard case .allows(let verdict) = change, event.rule == verdict.rule else { return }
      judged += 1
      allow(event, verdict)
    case .failed: break
    }
  }

  /// The policy of then did not let the app ask at all.
  private mutating func refusedUnasked(_ event: AuditEvent) {
    guard let rule = event.rule, ["PCK-1", "PCK-10"].contains(rule) else { return }
    judged += 1
    // Older versions wrote neither down, and could only open.
    let mode = event.detail[AuditEvent.Fact.mode].map(PickerMode.init) ?? .open
    let kind = event.detail[AuditEvent.Fact.documentKind] ?? (rule == "PCK-10" ? "folder" : nil)
    guard let mode else { return cannotJudge("picks of a mode that this version does not know") }
    guard case .allows(let verdict) = change(event.instance, { Self.refusal(ofAsking: mode, for: kind, $0) }),
      verdict.rule == rule
    else { return }
    differ(
      event, .allowed, field: verdict.field, rule: rule,
      "the user would have been asked; refused then: \(verdict.reason)")
    cannotJudge("picks that were refused before the user was asked: what they would have chosen")
  }

  mutating func grant(_ event: AuditEvent) {
    // A quota's refusal names no grant: there is none.
    guard event.result == .allowed, let id = event.grant else {
      if event.result == .refused { grantRefused(event) }
      return
    }
    judged += 1
    if event.detail[AuditEvent.Fact.kept] == "true" {
      lost[id] = nil
      return decide(id, event)
    }
    lastUses[id] = event.sequence
    let parent = event.detail[AuditEvent.Fact.parent]
    if let cause = lost[id] ?? parent.flatMap({ lost[$0] }) {
      lost[id] = cause
      differ(event, .refused, cause)
      if let instance = event.instance { expose(id, to: instance, cause) }
      return
    }
    // Handed on by another app: the receiver's policy decides.
    if event.detail["by"] != nil || event.detail["from"] != nil,
      case .refuses(let verdict) = change(
        event.instance, { Self.refusal(of: event.detail[AuditEvent.Fact.documentKind], named: event.documentName, $0) })
    {
      let cause = refuse(event, verdict)
      lost[id] = cause
      if let instance = event.instance { expose(id, to: instance, cause) }
      return
    }
    guard admit(event, id, parent) else { return }
    decide(id, event, within: parent)
    if event.how == "passed" || event.how == "bookmark", let instance = event.instance {
      expose(id, to: instance, nil)
    }
    granted(event, id)
    if isNarrowed(event.instance), event.detail[AuditEvent.Fact.access] == RecordedAccess.readWrite.rawValue {
      differ(event, .narrowed, field: "grants.access", rule: "AUD-3", "the policy lets its grants be for reading only")
    }
  }

  private mutating func grantRefused(_ event: AuditEvent) {
    if event.rule == "LIM-11" { return quotaRefused(event) }
    let kind =
      event.grant.flatMap { history.grants[$0]?.kind } ?? (event.rule == "PCK-10" ? "folder" : nil)
    guard
      case .allows(let verdict) = change(event.instance, { Self.refusal(of: kind, named: event.documentName, $0) }),
      event.rule == verdict.rule
    else { return }
    judged += 1
    allow(event, verdict)
  }

  // MARK: How long

  /// The user has decided on it, with this entry.
  private mutating func decide(_ id: String, _ event: AuditEvent, within parent: String? = nil) {
    var term = Term(instance: event.instance, decided: event.time)
    if let rules = event.instance.flatMap({ self.rules[$0] }), rules.then.lifetime != rules.now.lifetime {
      let own = rules.now.lifetime.seconds.map { event.time.addingTimeInterval(Double($0)) }
      term.end = [own, parent.flatMap { terms[$0]?.end }].compactMap { $0 }.min()
    }
    terms[id] = term
    if let end = term.end { nextEnd = min(nextEnd, end) }
  }

  /// Ends the grants that would have ended before an entry.
  mutating func endDue(before event: AuditEvent) {
    guard nextEnd <= event.time else { return }
    let due = terms.filter { $0.value.end.map { $0 <= event.time } ?? false }
      .sorted { ($0.value.end ?? .distantFuture, $0.key) < ($1.value.end ?? .distantFuture, $1.key) }
    for (id, term) in due {
      terms[id]?.end = nil
      guard let grant = history.grants[id] ?? kept[id], lost[id] == nil, let end = term.end else { continue }
      self.end(grant, history.sequence, end, field: "grants.lifetime", rule: "AUD-1", "its time would have been up")
    }
    nextEnd = terms.values.compactMap(\.end).min() ?? .distantFuture
  }

  /// A launch is over; its grants end with it if the policy says so.
  mutating func endLaunch(_ id: String, _ event: AuditEvent) {
    guard let rules = rules[id], rules.now.lifetime.withLaunch, !rules.then.lifetime.withLaunch else { return }
    for grant in history.grants.values.filter({ terms[$0.id]?.instance == id && lost[$0.id] == nil })
      .sorted(by: { $0.sequence < $1.sequence })
    {
      end(
        grant, event.sequence, event.time, field: "grants.lifetime", rule: "AUD-1",
        "the launch that it was made in ends")
    }
  }

  /// A grant would have ended, and with it the grants made from it.
  mutating func end(
    _ grant: RecordedGrant, _ sequence: Int64, _ time: Date, field: String, rule: String, _ reason: String,
    scopesEnd: Bool = true
  ) {
    var (all, index) = ([grant], 0)
    while index < all.count {
      all += history.grants.values.filter { $0.parent == all[index].id && lost[$0.id] == nil }
      index += 1
    }
    for grant in all {
      judged += 1
      found.append(
        SimulatedDifference(
          sequence: sequence, time: time, kind: .revoke, app: grant.app, instance: nil, grant: grant.id,
          document: grant.document, operation: nil, outcome: .ended, field: field, rule: rule, reason: reason,
          because: nil))
      kept[grant.id] = nil
      if history.grants[grant.id] != nil {
        lost[grant.id] = Cause(sequence: sequence, field: field, rule: rule, reason: reason)
      }
      if scopesEnd { dropScopes(of: grant.id) }
    }
  }

  mutating func revoke(_ event: AuditEvent, _ before: RecordedGrant?) {
    guard let id = event.grant else { return }
    guard event.result == .allowed else {
      // It was not done: the grant is unchanged.
      kept[id] = nil
      guard let known = justForgotten.removeValue(forKey: id) else { return }
      (lost[id], terms[id], bookmarks[id], unwritten[id]) = (known.lost, known.term, known.bookmarks, known.unwritten)
      return
    }
    judged += 1
    let field: String? =
      switch (event.how, event.app.flatMap { lastRules[$0] }) {
      case ("quota", let rules?): isQuotaOpen(event.app ?? "", rules) ? "grants.persisted" : nil
      case ("lifetime", let rules?): rules.then.lifetime != rules.now.lifetime ? "grants.lifetime" : nil
      default: nil
      }
    guard let field else {
      // The app would no longer have had the grant that it gives up.
      if event.how == "app", let cause = lost[id] { differ(event, .refused, cause) }
      return forget(id)
    }
    // It has given way before, or its time was up.
    if lost[id] != nil { return forget(id) }
    guard let before else { return }
    kept[id] = before
    differ(event, .kept, field: field, rule: event.rule, "the policy does not end it here")
  }

  /// Its time was over, and no broker ran that would have said so.
  mutating func ended(_ grant: RecordedGrant, _ ending: RecordedGrantEnding) {
    guard lost[grant.id] == nil, let rules = lastRules[grant.app], rules.then.lifetime != rules.now.lifetime else {
      return forget(grant.id)
    }
    kept[grant.id] = grant
    found.append(
      SimulatedDifference(
        sequence: ending.sequence, time: ending.time, kind: .revoke, app: grant.app, instance: nil, grant: grant.id,
        document: grant.document, operation: nil, outcome: .kept, field: "grants.lifetime", rule: ending.rule,
        reason: "the policy does not end it here", because: nil))
  }

  private mutating func forget(_ id: String) {
    justForgotten[id] = (lost[id], terms[id], bookmarks[id], unwritten[id])
    (lost[id], kept[id], terms[id], bookmarks[id], unwritten[id]) = (nil, nil, nil, nil, nil)
    (lastUses[id], referenced) = (nil, referenced.subtracting([id]))
    dropScopes(of: id, assumedOnly: true)
  }

  /// An app was refused a grant as withdrawn.
  mutating func withdrawn(_ event: AuditEvent) {
    guard event.rule == "AUD-1", let id = event.grant, kept[id] != nil else { return }
    judged += 1
    differ(event, .allowed, field: "grants.lifetime", rule: "AUD-1", "the grant would not have ended")
  }

  // MARK: How a launch comes by a document

  mutating func expose(_ grant: String, to instance: String, _ cause: Cause?) {
    var exposure = exposures[instance]?[grant] ?? Exposure()
    if let cause { exposure.cause = cause } else { exposure.isThere = true }
    exposures[instance, default: [:]][grant] = exposure
  }

  /// Why a launch cannot use a grant; nil: it can, or could in the log in a way that is not recorded.
  func absence(_ grant: String?, in instance: String?) -> Cause? {
    guard let grant else { return nil }
    if let cause = lost[grant] { return cause }
    guard let exposure = instance.flatMap({ exposures[$0]?[grant] }), !exposure.isThere else { return nil }
    return exposure.cause
  }
}
