internal import Audit
internal import Decisions
internal import Foundation
internal import Policy

extension Simulation {
  mutating func start(_ event: AuditEvent) {
    guard let key = RecordedScope.Key(event) else { return }
    switch event.result {
    case .allowed: startAllowed(event, key)
    case .refused: startRefused(event, key)
    case .failed:
      // The first start in the launch, and it could not be shown.
      for process in (scopes[key.instance] ?? [:]).keys { scopes[key.instance]?[process]?[key.grant] = nil }
    }
  }

  private mutating func startAllowed(_ event: AuditEvent, _ key: RecordedScope.Key) {
    judged += 1
    if event.isNested { nestedStarts[key.instance, default: 0] += 1 }
    if let cause = absence(key.grant, in: key.instance) {
      differ(event, .refused, cause)
      notStarted[key.instance, default: [:]][key.grant] = cause
      return
    }
    let held = scopes[key.instance]?[key.process]?[key.grant] ?? 0
    if assumed.removeValue(forKey: key) != nil {
      scopes[key.instance]?[key.process]?[key.grant] = event.number(AuditEvent.Fact.count) ?? 1
      return
    }
    if held == 0, let verdict = refusal(ofStarting: event, key) {
      notStarted[key.instance, default: [:]][key.grant] = refuse(event, verdict)
      return
    }
    notStarted[key.instance]?[key.grant] = nil
    let isFirst = !isShown(key.grant, in: key.instance)
    lastUses[key.grant] = event.sequence
    scopes[key.instance, default: [:]][key.process, default: [:]][key.grant] = held + 1
    if held == 0, isNarrowed(key.instance),
      event.detail[AuditEvent.Fact.access] == RecordedAccess.readWrite.rawValue
    {
      differ(event, .narrowed, field: "grants.access", rule: "AUD-3", "the policy lets its grants be for reading only")
    }
    if held == 0, isWidened(key.instance),
      event.detail[AuditEvent.Fact.access] == RecordedAccess.readOnly.rawValue
    {
      cannotJudge("starts for reading only: the log does not say whether the app had asked for writing")
    }
    if isFirst { trimRecent(event) }
  }

  /// Returns the reason to refuse a start that was allowed, of a document that its process has not started yet.
  private func refusal(ofStarting event: AuditEvent, _ key: RecordedScope.Key) -> Verdict? {
    guard let rules = rules[key.instance] else { return nil }
    if Self.isPickers(event), rules.then.startsPicked, !rules.now.startsPicked {
      return Verdict(
        field: "scopes.start_picked", rule: "TOK-13", reason: "the policy does not have the picker start anything")
    }
    // The slot comes first, as with the broker.
    let used = scopes[key.instance]?[key.process]?.count ?? 0
    if used >= rules.now.scopeLimit {
      return Verdict(
        field: "scopes.limit", rule: "LIM-1", reason: "all \(rules.now.scopeLimit) scope slots would have been in use")
    }
    guard !isShown(key.grant, in: key.instance), case .refuses(let verdict) = useChange(event, key) else { return nil }
    return verdict
  }

  private func useChange(_ event: AuditEvent, _ key: RecordedScope.Key) -> Change {
    let known = history.grants[key.grant]
    let decided = terms[key.grant]?.decided ?? known?.since
    return change(key.instance) {
      Self.refusal(
        ofUsing: known?.kind, named: event.documentName, decided: decided, at: event.time, $0)
    }
  }

  private mutating func startRefused(_ event: AuditEvent, _ key: RecordedScope.Key) {
    guard let rules = rules[key.instance], absence(key.grant, in: key.instance) == nil else { return }
    // The start would not have been tried.
    if Self.isPickers(event), !rules.now.startsPicked { return }
    judged += 1
    if event.rule == "LIM-1" {
      let (used, limit) = (event.number(AuditEvent.Fact.used) ?? 0, event.number(AuditEvent.Fact.limit) ?? 0)
      guard used >= limit else {
        return cannotJudge("starts that were refused because an app's processes together held too much")
      }
      let simulated = scopes[key.instance]?[key.process] ?? [:]
      let isAsThen =
        rules.then.scopeLimit == rules.now.scopeLimit
        && Set(simulated.keys) == Set(history.keys(of: key.instance).filter { $0.process == key.process }.map(\.grant))
      guard !isAsThen, simulated[key.grant] != nil || simulated.count < rules.now.scopeLimit else { return }
      let reason = "\(simulated.count) of \(rules.now.scopeLimit) scope slots would have been in use"
      assume(key, Cause(event, "scopes.limit", "LIM-1", reason))
      differ(event, .allowed, field: "scopes.limit", rule: "LIM-1", reason)
    } else if case .allows(let verdict) = useChange(event, key), event.rule == verdict.rule {
      guard (scopes[key.instance]?[key.process] ?? [:]).count < rules.now.scopeLimit else { return }
      assume(key, Cause(event, verdict.field, verdict.rule, "the document would have been started"))
      allow(event, verdict)
    }
  }

  /// The picker starts the documents that it hands over if the policy says so.
  private static func isPickers(_ event: AuditEvent) -> Bool { event.detail[AuditEvent.Fact.caller] == "the picker" }

  private mutating func assume(_ key: RecordedScope.Key, _ cause: Cause) {
    scopes[key.instance, default: [:]][key.process, default: [:]][key.grant, default: 0] += 1
    assumed[key] = cause
  }

  mutating func stop(_ event: AuditEvent) {
    guard let key = RecordedScope.Key(event) else { return }
    let left = event.kind == .stop ? event.number(AuditEvent.Fact.count) ?? 0 : 0
    let processes = key.process == nil ? Array((scopes[key.instance] ?? [:]).keys) : [key.process]
    for process in processes {
      guard let held = scopes[key.instance]?[process]?[key.grant] else { continue }
      // After so many there may be starts that were only counted.
      let isCounted = left > 0 && nestedStarts[key.instance] ?? 0 >= RefusalLimiter.burst
      let rest = isCounted ? max(1, min(held - 1, left)) : min(held - 1, left)
      scopes[key.instance]?[process]?[key.grant] = rest > 0 ? rest : nil
    }
    if event.how != AuditEvent.ScopeEnd.app, !isShown(key.grant, in: key.instance) {
      lastUses[key.grant] = event.sequence
    }
  }

  func isShown(_ grant: String, in instance: String) -> Bool {
    (scopes[instance] ?? [:]).values.contains { $0[grant] != nil }
  }

  mutating func dropScopes(of grant: String, assumedOnly: Bool = false) {
    for instance in Array(scopes.keys) {
      for process in Array((scopes[instance] ?? [:]).keys) {
        let key = RecordedScope.Key(instance: instance, process: process, grant: grant)
        if assumed.removeValue(forKey: key) != nil || !assumedOnly { scopes[instance]?[process]?[grant] = nil }
      }
    }
  }

  /// Why something that needs a started document would not have been possible; nil: it would.
  private func obstacle(_ event: AuditEvent) -> Cause? {
    guard let grant = event.grant, let instance = event.instance else { return nil }
    if let cause = absence(grant, in: instance) { return cause }
    return isShown(grant, in: instance) ? nil : notStarted[instance]?[grant]
  }

  // MARK: Use of a started document

  mutating func descriptor(_ event: AuditEvent) {
    guard event.result == .allowed else { return }
    judged += 1
    if let cause = obstacle(event) { return differ(event, .refused, cause) }
    if isNarrowed(event.instance), event.detail[AuditEvent.Fact.access] == RecordedAccess.readWrite.rawValue {
      differ(event, .refused, field: "grants.access", rule: "TOK-14", "the grant would have been for reading only")
    }
  }

  mutating func replaced(_ event: AuditEvent) {
    guard event.result == .allowed, let grant = event.grant, event.how != "sidecar" else { return }
    judged += 1
    if event.how == "app" {
      if let cause = obstacle(event) {
        differ(event, .refused, cause)
      } else if isNarrowed(event.instance) {
        differ(event, .refused, field: "grants.access", rule: "AUD-3", "the grant would have been for reading only")
      }
      return
    }
    let rules = event.instance.flatMap { self.rules[$0] } ?? event.app.flatMap { lastRules[$0] }
    guard lost[grant] == nil, let rules, rules.then.replacedDocuments == .follow, rules.now.replacedDocuments == .refuse
    else { return }
    let verdict = Verdict(
      field: "bookmarks.replaced", rule: "BMK-12", reason: "the policy does not follow a document to another file")
    lost[grant] = refuse(event, verdict)
  }

  mutating func outlived(_ event: AuditEvent) {
    guard let id = event.instance, let rules = rules[id] else { return }
    judged += 1
    if event.result == .allowed, rules.now.endsOutlived, !rules.then.endsOutlived {
      let reason = "the policy ends an app that keeps a document open beyond its scope"
      differ(event, .ended, field: "scopes.outlived", rule: "TOK-16", reason)
      endedInstances[id] = Cause(event, "scopes.outlived", "TOK-16", reason)
      scopes[id] = nil
    } else if event.result == .refused, rules.then.endsOutlived, !rules.now.endsOutlived {
      differ(event, .kept, field: "scopes.outlived", rule: "TOK-16", "the policy lets it stay open until it is closed")
      cannotJudge("what apps would have gone on to do that were ended")
    }
  }
}
