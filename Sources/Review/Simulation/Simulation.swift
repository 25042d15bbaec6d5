internal import AppModel
package import Audit
internal import Foundation
package import Policy

/// Replays a log under another policy, entry by entry, and tells each decision that would have come out differently, with its
/// consequences: a document that was never granted cannot be started, and a scope that was refused leaves its slot to the next.
///
/// It keeps two ledgers: the recorded one, and the one under the other policy. It asks each rule under the recorded policy and
/// under the other one. If both answers agree and both ledgers agree, the decision stays as recorded, no matter which other facts
/// it depended on. So the same policy changes nothing. No log can tell how an app would have behaved after a different answer.
package struct Simulation: Sendable {
  /// The policy of a launch then, and the one that is asked about, each with the app's entitlements.
  struct Rules: Sendable {
    let then: Capabilities
    let now: Capabilities
    /// The field that their networks differ by, if they do.
    let networkField: String
  }

  /// A thing that changed, and the reason.
  struct Cause: Sendable {
    let sequence: Int64
    let field: String
    let rule: String?
    let reason: String
  }

  let policy: Policy
  /// Only launches of this app are under the other policy; nil: all are.
  let app: String?
  /// The policy has been narrowed by the machine-wide ones, as those of the launches in the log are.
  let isUnderMachinePolicies: Bool
  package internal(set) var gaps = SimulationGaps()
  /// How many decisions were judged.
  package internal(set) var judged = 0

  var history = AccessHistory()
  var rules: [String: Rules] = [:]
  /// Settings by the text that the log has of them: most launches are under the same.
  var settings: [String: PolicySettings] = [:]
  /// Grants that are in force in the log and would not be.
  var lost: [String: Cause] = [:]
  /// Grants that have ended in the log and would still be in force.
  var kept: [String: RecordedGrant] = [:]
  /// Launches that run in the log and would have been ended.
  var endedInstances: [String: Cause] = [:]
  /// Scopes that would be started, with how often; by launch and process.
  var scopes: [String: [Int32?: [String: Int]]] = [:]
  /// The number of starts in the log of documents that were started already, by launch.
  var nestedStarts: [String: Int] = [:]
  /// By which entries a launch came to know a document, in the log; and whether any of them would have been.
  var exposures: [String: [String: Exposure]] = [:]
  /// How many bookmarks were made of a grant, and how many would have been.
  var bookmarks: [String: (made: Int, would: Int, cause: Cause?)] = [:]
  /// Grants of which references were written, and would not have been.
  var unwritten: [String: Cause] = [:]
  /// Grants of which a reference would lie in the app's container.
  var referenced: Set<String> = []
  /// The entry that a grant was used last with.
  var lastUses: [String: Int64] = [:]
  /// The launch that a grant was decided in, and when.
  var terms: [String: Term] = [:]
  /// The rules of an app's last launch: they decide about its grants while it does not run.
  var lastRules: [String: Rules] = [:]
  /// Starts that were allowed and would not have been, by launch and grant.
  var notStarted: [String: [String: Cause]] = [:]
  /// Starts that were refused and would have been allowed: the time of their stops is unknown.
  var assumed: [RecordedScope.Key: Cause] = [:]
  /// The answers of the two policies' sandboxes, for launches that were refused an access.
  var access: [String: Access] = [:]
  /// The earliest of their ends.
  var nextEnd: Date = .distantFuture
  /// The facts about the grants that the previous entries ended. If the next entries say that the ending failed, these facts still
  /// hold.
  var justForgotten:
    [String: (lost: Cause?, term: Term?, bookmarks: (made: Int, would: Int, cause: Cause?)?, unwritten: Cause?)] = [:]
  var found: [SimulatedDifference] = []

  struct Term: Sendable {
    let instance: String?
    let decided: Date
    /// When it ends under the other policy, if that differs from the one of then.
    var end: Date?
  }

  struct Exposure: Sendable {
    var isThere = false
    var cause: Cause?
  }

  package init(policy: Policy, app: String? = nil, isUnderMachinePolicies: Bool = false) {
    self.policy = policy
    self.app = app
    self.isUnderMachinePolicies = isUnderMachinePolicies
  }

  /// Takes the log's next entry.
  ///
  /// - Returns: the decisions that would have come out differently with it.
  package mutating func take(_ event: AuditEvent) -> [SimulatedDifference] {
    found = []
    endDue(before: event)
    if event.kind != .revoke, !justForgotten.isEmpty { justForgotten = [:] }
    let before = event.grant.flatMap { history.grants[$0] }
    for case .grant(let grant, let ending?) in history.take(event) where !ending.isRecorded { ended(grant, ending) }
    if !history.isWhole { gaps.isCut = true }
    judge(event, before)
    return found
  }

  private mutating func judge(_ event: AuditEvent, _ before: RecordedGrant?) {
    if let id = event.instance, let cause = endedInstances[id], event.kind != .exit { return ended(event, cause) }
    switch event.kind {
    case .launch: if event.result == .allowed { launch(event) }
    case .exit: exit(event)
    case .pick: pick(event)
    case .grant: grant(event)
    case .revoke: revoke(event, before)
    // Nested ones that were only counted take no slot, and give none back.
    case .start where event.result == .allowed && event.standsForOthers: break
    case .stop where event.result == .allowed && event.standsForOthers: break
    case .start: start(event)
    case .stop, .scopeEnded: if event.result == .allowed { stop(event) }
    case .refuse: event.how == "observed" ? observed(event) : withdrawn(event)
    case .passed: passed(event)
    case .descriptor: descriptor(event)
    case .bookmarkCreated: bookmarkCreated(event)
    case .bookmarkResolved: bookmarkResolved(event)
    case .reference: reference(event)
    case .referenceResolved: referenceResolved(event)
    case .replaced: replaced(event)
    case .outlived: outlived(event)
    case .hostPath: hostPath(event)
    case .attach: scopes[event.instance ?? ""] = nil
    case .brokerStarted: scopes = [:]
    case .carried:
      if event.detail[AuditEvent.Fact.carries] == "launch", rules[event.instance ?? ""] == nil { launch(event) }
    default: break
    }
  }

  /// The events that an app's requests cause.
  private static let byApps: Set<AuditEvent.Kind> = [
    .pick, .grant, .start, .passed, .descriptor, .bookmarkCreated, .bookmarkResolved, .referenceResolved, .hostPath,
    .replaced,
  ]

  // MARK: Saying it

  mutating func differ(
    _ event: AuditEvent, _ outcome: SimulatedDifference.Outcome, field: String, rule: String?, _ reason: String
  ) {
    add(event, outcome, field: field, rule: rule, reason, because: nil)
  }

  /// The difference follows from an earlier one.
  mutating func differ(_ event: AuditEvent, _ outcome: SimulatedDifference.Outcome, _ cause: Cause) {
    add(event, outcome, field: cause.field, rule: cause.rule, cause.reason, because: cause.sequence)
  }

  private mutating func add(
    _ event: AuditEvent, _ outcome: SimulatedDifference.Outcome, field: String, rule: String?, _ reason: String,
    because: Int64?
  ) {
    found.append(
      SimulatedDifference(
        sequence: event.sequence, time: event.time, kind: event.kind, app: event.app, instance: event.instance,
        grant: event.grant, document: event.document,
        operation: event.kind == .refuse ? event.detail[AuditEvent.Fact.operation] : nil, outcome: outcome,
        field: field, rule: rule, reason: reason,
        because: because))
  }

  mutating func cannotJudge(_ what: String, _ count: Int = 1) { gaps.decisions[what, default: 0] += count }

  /// The app would not have been there any more.
  private mutating func ended(_ event: AuditEvent, _ cause: Cause) {
    guard event.result == .allowed, Self.byApps.contains(event.kind) else { return }
    judged += 1
    differ(event, .refused, cause)
    if event.kind == .grant, let id = event.grant { lost[id] = cause }
    if let child = event.detail["child"] { lost[child] = cause }
  }

  // MARK: Launches

  private mutating func launch(_ event: AuditEvent) {
    guard let id = event.instance, let app = event.app else { return }
    guard self.app == nil || self.app == app else { return }
    guard let text = event.detail[AuditEvent.Fact.settings] else {
      gaps.launches += 1
      return
    }
    let known = settings[text] ?? (try? PolicySettings(text: text, file: "the log's entry \(event.sequence)"))
    guard let known else {
      gaps.launches += 1
      return
    }
    settings[text] = known
    let entitlements = Self.entitlements(event, AuditEvent.Fact.entitlements)
    let withheld = Self.entitlements(event, AuditEvent.Fact.withheld).widening
    let then = Policy(
      name: event.detail[AuditEvent.Fact.policy] ?? "", file: "", description: nil, lineage: [], settings: known)
    let rules = Rules(
      then: Capabilities(policy: then, entitlements: entitlements),
      now: Capabilities(
        policy: policy,
        entitlements: EntitlementRuling(recorded: entitlements, withheld: withheld, under: policy.settings).given),
      networkField: Self.networkField(known, policy.settings))
    if event.detail["narrowed"] != nil, !isUnderMachinePolicies {
      cannotJudge("launches under a machine-wide policy: what it would have left of the other one")
    }
    self.rules[id] = rules
    access[id] = nil
    lastRules[app] = rules
    countUnrecorded(rules)
    for field in PolicyField.all where field.text(in: known) != field.text(in: policy.settings) {
      if !Self.judgedFields.contains(field.name) { gaps.fields[field.name, default: 0] += 1 }
    }
  }

  private static func entitlements(_ event: AuditEvent, _ fact: String) -> Entitlements {
    Entitlements(words: (event.detail[fact] ?? "").split(separator: " ").map(String.init))
  }

  /// The field by which two policies give an app different networks.
  private static func networkField(_ then: PolicySettings, _ now: PolicySettings) -> String {
    if then.network != now.network { return "network.access" }
    return then.entitledNetwork != now.entitledNetwork ? "network.entitled" : "entitlements.trust"
  }

  /// Fields of the policy whose decisions are in the log, and are judged.
  package static let judgedFields: Set<String> = [
    "scopes.limit", "scopes.references", "scopes.start_picked", "scopes.outlived", "picker.modes", "picker.types",
    "picker.folders", "grants.persisted", "grants.pass", "grants.host_paths", "grants.access", "grants.lifetime",
    "bookmarks.replaced", "bookmarks.create", "bookmarks.document_scoped", "bookmarks.implicit", "bookmarks.lifetime",
    // Judged only for refusals: the log has no record of accesses allowed under these, which is counted for each launch.
    "system.read_only", "network.access", "network.entitled", "entitlements.trust",
  ]

  private mutating func exit(_ event: AuditEvent) {
    guard let id = event.instance else { return }
    endLaunch(id, event)
    endedInstances[id] = nil
    scopes[id] = nil
    (exposures[id], notStarted[id], rules[id], access[id]) = (nil, nil, nil, nil)
    assumed = assumed.filter { $0.key.instance != id }
  }
}
