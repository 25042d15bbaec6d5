internal import Broker
internal import Folders
internal import Paths
internal import Sandbox
internal import ScopedAccess
internal import Terminal

/// The user's grants, by the rules for a start.
extension Reason {
  /// - Returns: `nil` where the question is not about a document that the app was granted.
  static func granted(
    _ operation: AccessOperation, at path: String, _ rules: AccessRules, _ planned: PlannedLaunch
  ) -> Reason? {
    let isInside = path.lies(below: InsidePath.documents)
    // Files that the sandbox shows need no grant.
    let denial = rules.denial(of: operation, at: path, isInside ? .placeholder : .present) ?? rules.absence(of: path)
    // Nor do files of the machine. The app's own files have another name there than the granted ones.
    guard isInside || denial != nil || !rules.isMachines(path) else { return nil }
    let match: GrantForesight.Match?
    do {
      let granted = try planned.foresight()
      match = isInside ? granted.match(inside: path) : granted.match(host: path)
    } catch {
      return Reason(
        .unknown, rule: denial?.rule ?? "grants", reason: "whether the app was granted it cannot be read: \(error)")
    }
    guard let match else { return nil }
    switch match.verdict {
    case .refused(let rule, let reason):
      return Reason(
        .refused, rule: rule, reason: "it was granted (\(match.id)), and \(reason)", remedy: "the user picks it anew")
    case .unknown(let reason): return Reason(.unknown, rule: "grant \(match.id)", reason: reason)
    case .usable(let rights): return answer(operation, match, rights, rules)
    }
  }

  private static func answer(
    _ operation: AccessOperation, _ match: GrantForesight.Match, _ rights: AccessRights, _ rules: AccessRules
  ) -> Reason {
    let rule = "grant \(match.id)"
    if operation == .connect { return Reason(rules.denial(ofSocketAt: match.inside)) }
    let changes = operation != .read
    guard match.isDocument else {
      // The folder around a document that may be saved is the app's own.
      if match.kind != .folder, rights == .readWrite {
        return Reason(
          .allowed, rule: rule,
          reason: "the folder around a started document is the app's own: the host does not see it")
      }
      return Reason(
        .refused, rule: rule, reason: "the folder around this document is Ambit's, and shown read-only",
        remedy: "write below \(InsidePath.home), or to a document that the user picks")
    }
    if changes, rights == .readOnly {
      return Reason(
        .refused, rule: rule, reason: "it was granted for reading only", remedy: "the user picks it for writing as well"
      )
    }
    return Reason(
      .allowed, rule: rule,
      reason: "the user granted \(printable(match.host)); once it is started, this is \(printable(match.inside)) inside"
    )
  }
}
