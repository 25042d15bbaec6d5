internal import Audit
internal import Decisions
internal import Foundation
internal import Policy

/// Judges the rights that apps keep and pass on.
extension Simulation {
  mutating func passed(_ event: AuditEvent) {
    let rules = event.instance.flatMap { self.rules[$0] }
    if event.result == .refused {
      guard event.rule == "TOK-18", let rules, !rules.then.mayPass, rules.now.mayPass else { return }
      judged += 1
      differ(event, .allowed, field: "grants.pass", rule: "TOK-18", "the policy lets the app pass rights on")
      return
    }
    guard event.result == .allowed else { return }
    judged += 1
    var cause = absence(event.grant, in: event.instance)
    if let cause {
      differ(event, .refused, cause)
    } else if let rules, rules.then.mayPass, !rules.now.mayPass {
      cause = refuse(
        event,
        Verdict(field: "grants.pass", rule: "TOK-18", reason: "the policy does not let the app pass rights on"))
    } else if isNarrowed(event.instance), event.detail[AuditEvent.Fact.access] == RecordedAccess.readWrite.rawValue {
      cause = refuse(
        event,
        Verdict(field: "grants.access", rule: "TOK-18", reason: "more than the app might have done itself"))
    }
    if let cause, let child = event.detail["child"] { lost[child] = cause }
  }

  mutating func bookmarkCreated(_ event: AuditEvent) {
    let scope = event.detail[AuditEvent.Fact.scope]
    let change = change(event.instance) { Self.refusal(ofMakingBookmark: scope, $0) }
    if event.result == .refused {
      if event.rule == "LIM-11" { return bookmarkQuotaRefused(event) }
      guard case .allows(let verdict) = change, event.rule == verdict.rule else { return }
      judged += 1
      return allow(event, verdict)
    }
    guard event.result == .allowed else { return }
    judged += 1
    var cause: Cause?
    if case .refuses(let verdict) = change {
      cause = refuse(event, verdict)
    } else if let grant = event.grant, let instance = event.instance {
      // Less than the app has is a grant of its own, which was made for the bookmark.
      cause = absence(grant, in: instance)
      if cause == nil, !isShown(grant, in: instance) { cause = notStarted[instance]?[grant] }
      if let cause {
        differ(event, .refused, cause)
      } else if let verdict = refusal(ofFirstBookmarkIn: event) {
        cause = refuse(event, verdict)
      }
    }
    guard let grant = event.grant else { return }
    var known = bookmarks[grant] ?? (0, 0, nil)
    known.made += 1
    if let cause { known.cause = cause } else { known.would += 1 }
    bookmarks[grant] = known
  }

  mutating func bookmarkResolved(_ event: AuditEvent) {
    let scope = event.detail[AuditEvent.Fact.scope]
    let made = event.detail[AuditEvent.Fact.made].flatMap { Timestamp($0)?.date }
    if event.result == .refused {
      guard ["BMK-3", "BMK-5", "BMK-8"].contains(event.rule), let rules = event.instance.flatMap({ self.rules[$0] }),
        rules.then.bookmarks != rules.now.bookmarks
      else { return withdrawn(event) }
      return cannotJudge("bookmarks that were refused: the log does not say of which kind they were, and when made")
    }
    guard event.result == .allowed, let instance = event.instance else { return }
    judged += 1
    if made == nil, scope != "container", let rules = rules[instance],
      rules.then.bookmarks.lifetime != rules.now.bookmarks.lifetime
    {
      cannotJudge("bookmarks of which the log does not say when they were made")
    }
    var cause: Cause?
    if case .refuses(let verdict) = change(
      instance, { Self.refusal(ofOpening: scope, made: made, at: event.time, $0) })
    {
      cause = refuse(event, verdict)
    } else if let grant = event.grant {
      let known = bookmarks[grant]
      cause = lost[grant] ?? (known.map { $0.would == 0 } ?? false ? known?.cause : nil)
      if let cause { differ(event, .refused, cause) }
    }
    if let grant = event.grant { expose(grant, to: instance, cause) }
  }

  mutating func reference(_ event: AuditEvent) {
    if event.result == .allowed, let grant = event.grant, event.instance.flatMap({ rules[$0] })?.now.references ?? true
    {
      referenced.insert(grant)
    }
    guard event.result == .allowed, let grant = event.grant, let rules = event.instance.flatMap({ self.rules[$0] }),
      rules.then.references, !rules.now.references, event.detail[AuditEvent.Fact.kept] != "true", lost[grant] == nil
    else { return }
    judged += 1
    let verdict = Verdict(
      field: "scopes.references", rule: "PCK-1", reason: "the policy leaves no references in the container")
    unwritten[grant] = refuse(event, verdict)
  }

  mutating func referenceResolved(_ event: AuditEvent) {
    guard event.result == .allowed, let grant = event.grant, let instance = event.instance else {
      return withdrawn(event)
    }
    judged += 1
    let cause = lost[grant] ?? unwritten[grant]
    if let cause { differ(event, .refused, cause) }
    expose(grant, to: instance, cause)
  }

  mutating func hostPath(_ event: AuditEvent) {
    judged += 1
    if event.result == .allowed, let cause = absence(event.grant, in: event.instance) {
      return differ(event, .refused, cause)
    }
    guard let rules = event.instance.flatMap({ self.rules[$0] }) else { return }
    if event.result == .allowed, rules.then.tellsHostPaths, !rules.now.tellsHostPaths {
      differ(
        event, .refused, field: "grants.host_paths", rule: "FSF-11", "the policy does not tell where documents lie")
    } else if event.result == .refused, !rules.then.tellsHostPaths, rules.now.tellsHostPaths {
      differ(event, .allowed, field: "grants.host_paths", rule: "FSF-11", "the policy tells where documents lie")
    }
  }
}
