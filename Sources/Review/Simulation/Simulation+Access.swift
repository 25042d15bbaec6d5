internal import Audit
internal import Foundation
internal import Paths
internal import Policy
internal import Sandbox

/// Judges the accesses that sandboxes refused to apps: files that no policy showed, and networks that the apps did not have.
///
/// The rules that refused (`AccessRules`) are asked again, with a plan of each of the two policies. The plans do not describe the
/// host's system, and need not: only a policy's additions to it can make a difference. A refusal has an entry, and a permitted
/// access has none. So Ambit can tell which refusals the other policy would have lifted, but not which accesses it would have
/// refused besides.
extension Simulation {
  /// The rules of the sandboxes that a launch would have had.
  struct Access: Sendable {
    let then: AccessRules
    let now: AccessRules

    init(_ rules: Rules) {
      func access(_ capabilities: Capabilities) -> AccessRules {
        AccessRules(capabilities.plan(on: SystemLayout(entries: []), memory: 0))
      }
      (then, now) = (access(rules.then), access(rules.now))
    }
  }

  mutating func observed(_ event: AuditEvent) {
    // Those that the launcher left out before it.
    if event.occurrences > 1 {
      cannotJudge("refusals of the sandbox that the log counts and does not name", event.occurrences - 1)
    }
    guard let id = event.instance, let rules = rules[id], let refused = event.refused else { return }
    if let grant = refused.unstarted { return opened(event, grant) }
    let access = self.access[id] ?? Access(rules)
    self.access[id] = access
    guard refused.denial(access.then) != nil else {
      return cannotJudge("refusals of the sandbox that this version has no rule for")
    }
    judged += 1
    guard refused.denial(access.now) == nil else { return }
    if refused.path != nil {
      differ(
        event, .allowed, field: "system.read_only", rule: event.rule,
        "the policy shows it, for reading; whether it was there the log does not say")
    } else {
      differ(event, .allowed, field: rules.networkField, rule: event.rule, refused.answer(rules.now.network))
    }
  }

  /// The app opened a document whose scope was not started.
  private mutating func opened(_ event: AuditEvent, _ grant: String) {
    judged += 1
    guard let start = assumed.first(where: { $0.key.instance == event.instance && $0.key.grant == grant }) else {
      return
    }
    differ(event, .allowed, start.value)
  }

  /// Counts the fields in which the two policies of a launch differ and about which its entries say too little.
  mutating func countUnrecorded(_ rules: Rules) {
    let (then, now) = (rules.then, rules.now)
    func isShown(_ path: String, by folders: [String]) -> Bool {
      folders.contains { path.lies(within: $0) }
    }
    if then.readOnlyPaths.contains(where: { !isShown($0, by: now.readOnlyPaths) }) {
      cannotJudge("launches that were shown more by system.read_only: a log does not have what is read")
    }
    if !then.observe, now.readOnlyPaths.contains(where: { !isShown($0, by: then.readOnlyPaths) }) {
      cannotJudge(
        "launches that were shown less by system.read_only and not observed: what they were refused is not in the log")
    }
    switch (then.network, now.network) {
    case (.host, .loopback), (.host, .none), (.loopback, .none):
      cannotJudge("launches that had more of a network: a log does not have what is connected")
    case (.none, .loopback), (.none, .host):
      if !then.observe {
        cannotJudge(
          "launches that had no network and were not observed: sockets that they were refused are not in the log")
      }
    case (.loopback, .host):
      cannotJudge("launches that had a loopback of their own: a log does not have what they did not find there")
    case (.none, .none), (.loopback, .loopback), (.host, .host): break
    }
  }
}

/// An access that an app was refused, as its launcher wrote it into the entry: an operation and its object.
private struct Refused {
  let operation: String
  let subject: String

  /// A path inside the sandbox, of an operation on files.
  var path: String? { subject.isAbsolutePath ? subject : nil }

  /// The grant of a document that was opened without having been started.
  var unstarted: String?

  func denial(_ rules: AccessRules) -> Denial? {
    if operation == "call" { return AccessRules.filtered }
    if operation == "socket" { return denial(ofSocket: subject, rules) }
    guard let access = AccessOperation(rawValue: operation) else { return nil }
    if let path { return rules.denial(of: access, at: path, .present) }
    guard access == .connect else { return nil }
    if subject.hasPrefix("@") { return rules.denialOfAbstractSockets }
    return denial(ofSocket: subject, rules)
  }

  private func denial(ofSocket family: String, _ rules: AccessRules) -> Denial? {
    ["AF_INET", "AF_INET6", Self.internet].contains(family)
      ? rules.denialOfInternet : rules.denial(ofSocketFamily: family)
  }

  private static let internet = "an internet address"

  /// The answer of the other policy.
  func answer(_ network: NetworkReach) -> String {
    if subject.hasPrefix("@") {
      return "abstract names would have been the app's own: it finds its own processes there and nobody else's"
    }
    return network == .host
      ? "the app would have had the host's network"
      : "the app would have had a loopback of its own, and nobody else on it"
  }
}

extension AuditEvent {
  /// `nil` where it stands for many and names none.
  fileprivate var refused: Refused? {
    let words = (detail[AuditEvent.Fact.operation] ?? "").split(
      separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard words.count == 2, !words[1].isEmpty else { return nil }
    var refused = Refused(operation: String(words[0]), subject: String(words[1]))
    if rule == "TOK-1", let path = refused.path {
      let parts = path.pathNames
      guard parts.count > 1 else { return nil }
      refused.unstarted = parts[1]
    }
    return refused
  }
}
