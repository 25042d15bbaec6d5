/// How many grants an app may keep, and which of them give way to one more. A pure rule.
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
    /// The new grants may be made, when so many of the oldest have ended.
    case admit(ending: Int)
    case refuse(limit: Int)
  }

  /// - Parameters:
  ///   - held: the grants that the app has now. There may be more than the limit: made under another policy.
  ///   - new: how many would be made together. They do not give way to each other: more than the limit are refused.
  package func answer(held: Int, new: Int = 1) -> Answer {
    guard let limit, new > 0, held + new > limit else { return .admit(ending: 0) }
    return releasesOldest && new <= limit ? .admit(ending: held + new - limit) : .refuse(limit: limit)
  }
}
