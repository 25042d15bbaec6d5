internal import Audit
internal import Foundation

/// Decisions against apps, counted by their reason: the rule, the request, and its remedy.
struct Denials: Sendable {
  private struct Key: Hashable {
    let rule: String?
    let kind: AuditEvent.Kind
    let isFailure: Bool
    let remedy: String?
    /// Where no rule of the catalogue's says why, the entry does.
    let reason: String?
  }

  private var groups: [Key: ReportModel.Denial] = [:]
  /// Those of more reasons than are kept apart.
  private var others = 0
  /// A log can be hostile: apps have a word in remedies.
  private static let most = 2048
  private static let mostApps = 8

  /// - Parameter count: decisions that the entry stands for.
  mutating func add(_ event: AuditEvent, count: Int) {
    let key = Key(
      rule: event.rule, kind: event.kind, isFailure: event.result == .failed, remedy: event.detail["remedy"],
      reason: DenialWords.explains(event.rule) ? nil : event.reason)
    guard groups[key] != nil || groups.count < Self.most else {
      others += count
      return
    }
    let words = DenialWords(event)
    var group =
      groups[key]
      ?? ReportModel.Denial(
        rule: event.rule, what: words.what, why: words.why, remedy: words.remedy, isFailure: key.isFailure, count: 0,
        apps: [], first: event.time, last: event.time, example: "", sequence: event.sequence)
    group.count += count
    group.first = min(group.first, event.time)
    group.last = max(group.last, event.time)
    (group.example, group.sequence) = (words.example, event.sequence)
    if let app = event.app, !group.apps.contains(app), group.apps.count < Self.mostApps { group.apps.append(app) }
    groups[key] = group
  }

  /// The most frequent first, and how many decisions are in none of them.
  func listed(_ most: Int) -> (denials: [ReportModel.Denial], leftOut: Int) {
    let sorted = groups.values.sorted { left, right in
      left.count == right.count ? left.sequence < right.sequence : left.count > right.count
    }
    return (
      sorted.prefix(most).map { denial in
        var denial = denial
        denial.apps.sort()
        return denial
      }, others + sorted.dropFirst(most).reduce(0) { $0 + $1.count }
    )
  }
}

/// A decision against an app in words.
private struct DenialWords {
  let what: String
  let why: String
  let remedy: String
  /// The entry's own words.
  let example: String

  init(_ event: AuditEvent) {
    let rule = event.rule.flatMap { Self.rules[$0] }
    what = Self.kinds[event.kind] ?? event.kind.rawValue
    // A rule that decides about many things says in the entry about which.
    let own = event.reason ?? ""
    why = rule?.why ?? (own.isEmpty ? "the entry gives no reason" : own)
    remedy =
      event.detail["remedy"] ?? rule?.remedy
      ?? (event.result == .failed
        ? "nothing to grant: it was allowed, and could not be done" : "the entry does not say")
    let subject = event.detail[AuditEvent.Fact.operation] ?? event.document?.path
    example = [subject, own.isEmpty ? nil : own].compactMap(\.self).joined(separator: ": ")
  }

  /// Whether the rule alone says why.
  static func explains(_ rule: String?) -> Bool { rule.map { rules[$0] != nil } ?? false }

  private static let kinds: [AuditEvent.Kind: String] = [
    .launch: "launch", .attach: "attach to the broker", .degraded: "run without a whole layer",
    .identity: "run under another app’s identifier", .suspend: "be suspended", .resume: "go on after a suspension",
    .pick: "pick a document",
    .pickCancelled: "ask the user for a document", .grant: "be granted a document", .start: "start a scope",
    .stop: "stop a scope", .replaced: "put a file in a document’s place", .scopeEnded: "end a scope",
    .reference: "be given a reference", .bookmarkCreated: "make a bookmark", .bookmarkResolved: "resolve a bookmark",
    .referenceResolved: "resolve a reference", .descriptor: "be handed a descriptor",
    .hostPath: "learn where a document lies", .passed: "pass a right on", .revoke: "withdraw a grant",
    .outlived: "keep a document open beyond its scope", .limit: "use more than its limit", .refuse: "reach something",
    .coordinated: "use a document in turn", .presenterSilent: "answer as a presenter",
    .version: "keep a version of a document",
    .related: "have a file beside its document",
    .protocolError: "talk to the broker",
  ]

  /// The catalogue's rules that refuse, in words, with the access that would have been granted instead.
  private static let rules: [String: (why: String, remedy: String)] = [
    "LIM-1": (
      "all scope slots of the process were in use", "stop a document first, or a higher [scopes] limit in the policy"
    ),
    "LIM-10": ("the app keeps as many grants as it may", "give one up, or a higher [grants] persisted in the policy"),
    "LIM-11": ("the app keeps as many grants as it may", "give one up, or a higher [grants] persisted in the policy"),
    "TOK-1": (
      "the document’s security scope is not started", "startAccessingSecurityScopedResource(), or ambitctl start URL"
    ),
    "TOK-4": ("it is not known which process asked", "ask from a process of the sandbox that is still running"),
    "TOK-14": (
      "the document cannot be handed over as a descriptor", "start it first, and ask for no more than the grant allows"
    ),
    "TOK-15": (
      "the token is not of this launch", "a bookmark or a reference, resolved in this launch, gives a new one"
    ),
    "TOK-16": (
      "something of a document stayed open when its scope had ended", "[scopes] outlived = \"allow\" in the policy"
    ),
    "TOK-18": ("the app may not pass its rights on", "[grants] pass in the policy, and the app’s entitlement"),
    "BMK-4": ("the bookmark is another app’s", "the user picks the document for this app"),
    "BMK-9": (
      "what the bookmark is of was deleted, or has left its folder", "put it back, or the user picks it where it is"
    ),
    "BMK-16": ("another file may stand in the document’s place", "the user picks the file that is meant"),
    "BMK-18": ("the document’s scope is not started", "start the document before bookmarking it"),
    "FSF-11": ("the policy does not tell where documents lie", "[grants] host_paths in the policy"),
    "PCK-9": ("the user closed the picker without choosing", "nothing but the user’s choice"),
    "SBX-15": ("Ambit’s own files are not for apps", "nothing: pick a document of the user’s"),
    "AUD-1": ("the grant was withdrawn", "the user picks the document again"),
    "COO-7": ("a presenter of the document could not let go of it", "try again once its app can"),
    "COO-8": (
      "others held the document, or a presenter did not answer, for longer than the policy waits",
      "end the other app, or a longer [coordination] patience in the policy"
    ),
    "COO-14": ("the access was cancelled, by the app or by the user", "nothing: ask again"),
    "COO-23": ("the app was suspended while it waited", "let the app go on, and ask again"),
    "COO-30": ("each of several accesses waited for the next", "one access for all the files, in place of several"),
    "F9": ("the broker’s limits on what an app sends", "fewer connections, and well-formed messages"),
  ]
}
