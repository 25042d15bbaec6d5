/// The most that grants allow, even if an app asks for more.
package enum GrantedAccess: String, CaseIterable, Equatable, Sendable, Codable {
  case readOnly = "read-only"
  case readWrite = "read-write"
}

/// When a grant ends by itself: whichever of these comes first.
package struct GrantLifetime: Equatable, Sendable, Codable {
  /// With the launch of the app in which it was made.
  package var withLaunch = false
  /// So many seconds after the user decided on it; `nil`: time does not end it.
  package var seconds: Int?

  package init(withLaunch: Bool = false, seconds: Int? = nil) {
    self.withLaunch = withLaunch
    self.seconds = seconds
  }

  package static let forever = GrantLifetime()
  /// Of a lifetime in seconds: a hundred years and more would not fit where nanoseconds are counted.
  package static let range = 1...3_000_000_000

  package var isForever: Bool { self == .forever }

  package func narrowed(by other: GrantLifetime) -> GrantLifetime {
    GrantLifetime(
      withLaunch: withLaunch || other.withLaunch,
      seconds: [seconds, other.seconds].compactMap { $0 }.min())
  }

  /// As a policy has it: `forever`, `launch`, `8h`, or the two together.
  package var words: [String] {
    if isForever { return ["forever"] }
    return (withLaunch ? ["launch"] : []) + (seconds.map { [Amount.text(seconds: $0)] } ?? [])
  }
}

/// A policy's rules for an app's bookmarks (`[bookmarks]`).
package struct BookmarkRules: Equatable, Sendable, Codable {
  /// Whether it may make any.
  package var create = true
  /// Whether it may make bookmarks that another document opens for each app that has it (`BMK-5`).
  package var documentScoped = true
  /// Whether it may make bookmarks that start the document when they are resolved (`BMK-8`).
  package var implicit = true
  /// Seconds for which a bookmark can be resolved after it was made; `nil`: always.
  package var lifetime: Int?

  package init() {}
}

/// When an audited decision counts as written down.
package enum AuditSync: String, CaseIterable, Equatable, Sendable, Codable {
  /// With others, within a tenth of a second of its effect; no death of a process loses it.
  case group
  /// On the disk before its effect is answered: not even a power cut loses it.
  case full
}
