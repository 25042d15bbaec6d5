/// How many grants an app may keep, and what gives way to one more. A pure rule.
package struct GrantQuota: Equatable, Sendable {
  /// `nil`: as many as it is given.
  package let limit: Int?
  /// The oldest give way (`LIM-10`); otherwise the new one is refused (`LIM-11`).
  package let releasesOldest: Bool

  package init(limit: Int?, releasesOldest: Bool) {
    self.limit = limit
    self.releasesOldest = releasesOldest
  }

  package enum Answer: Equatable, Sendable {
    /// The new grant may be made, when so many of the oldest have ended.
    case admit(ending: Int)
    case refuse(limit: Int)
  }

  /// - Parameter held: the grants that the app has now. There may be more than the limit: made under another policy.
  package func answer(held: Int) -> Answer {
    guard let limit, held >= limit else { return .admit(ending: 0) }
    return releasesOldest ? .admit(ending: held - limit + 1) : .refuse(limit: limit)
  }
}
