/// Whether a grant may be used now, though it is in force: it may have been made under another policy, or its document may have
/// another name by now.
extension DocumentRules {
  /// Whether a scope may be started (`PCK-7`, `PCK-10`, `AUD-1`).
  ///
  /// - Parameters:
  ///   - folder: the document is a folder, and no package.
  ///   - name: the document's name now.
  ///   - decided: when the user decided on the grant last, in nanoseconds since 1970; `nil`: that is not known.
  ///   - isOfThisLaunch: the user has decided it in the launch that asks.
  ///   - now: nanoseconds since 1970.
  package func refusal(
    ofUsingFolder folder: Bool, named name: String, decided: Int64?, isOfThisLaunch: Bool, now: Int64
  ) -> Refusal? {
    if let refusal = refusal(ofFolder: folder, named: name) { return refusal }
    if endsWithLaunch, !isOfThisLaunch {
      return Refusal(
        field: "grants.lifetime", rule: "AUD-1",
        reason: "the app's policy allows only what its user decided in this launch; ask them again")
    }
    if let decided, let end = end(ofGrantDecided: decided), end <= now {
      return Refusal(
        field: "grants.lifetime", rule: "AUD-1",
        reason: "the app's policy does not allow it for longer after the user's decision; ask them again")
    }
    return nil
  }

  /// When the policy stops a grant from being used, whatever was said when it was made; nanoseconds since 1970; `nil`: it does not.
  package func end(ofGrantDecided decided: Int64) -> Int64? { lifetime.map { Self.sum(decided, $0) } }
}
