package import ScopedAccess
package import Wire

/// Whether a grant may be used now, though it is in force: it may have been made under another policy, or its document may have
/// another name by now.
extension LauncherInterface.GrantRules {
  /// Whether a scope may be started (`PCK-7`, `PCK-10`, `AUD-1`).
  ///
  /// - Parameters:
  ///   - isOfThisLaunch: the user has decided it in the launch that asks.
  ///   - now: nanoseconds since 1970.
  package func refusal(ofUsing grant: Grant, isOfThisLaunch: Bool, now: Int64) -> Refusal? {
    if let refusal = refusal(of: grant.kind, named: grant.name) { return refusal }
    if endsWithLaunch, !isOfThisLaunch {
      return Refusal(
        rule: "AUD-1", reason: "the app's policy allows only what its user decided in this launch; ask them again")
    }
    if let end = end(of: grant), end <= now {
      return Refusal(
        rule: "AUD-1", reason: "the app's policy does not allow it for longer after the user's decision; ask them again"
      )
    }
    return nil
  }

  /// When the policy stops a grant from being used that was made under another one, in nanoseconds since 1970; `nil`: it does not.
  package func end(of grant: Grant) -> Int64? { lifetime.map { grant.term.decided + Int64($0) * 1_000_000_000 } }

  /// When and with what a grant ends that the user decides on now.
  ///
  /// - Parameter parent: a grant that it is made from, and does not outlast.
  package func term(at now: Int64, launch: String, within parent: Grant? = nil) -> Grant.Term {
    let own = lifetime.map { now + Int64($0) * 1_000_000_000 }
    return Grant.Term(
      decided: now, until: [own, parent?.term.until].compactMap { $0 }.min(), launch: endsWithLaunch ? launch : nil)
  }
}
