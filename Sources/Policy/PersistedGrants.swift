internal import AppModel

/// How many documents an app may keep its access to, and the treatment of one more: Ambit's own rule, or another system's, so that
/// an app can be tried under each.
package enum PersistedGrants: Equatable, Sendable, Codable {
  /// As many as the user gives it.
  case unlimited
  /// Android 11 and later: 512 (`MAX_PERSISTED_URI_GRANTS`), and the oldest gives way without a word (`LIM-10`).
  case android
  /// Android 10 and before: 128.
  case android10
  /// Windows' lists. The app may keep 1,000 documents with a bookmark or a reference (`FutureAccessList`); after that, adding
  /// fails. Besides, it keeps the 25 documents that it used last (`MostRecentlyUsedList`, `LIM-11`).
  case windows
  /// The document portal: no limit (`LIM-12`).
  case xdp
  /// So many, and then a document that the user picks is refused, with a reason.
  case refusing(Int)
  /// Several of these at once, as an array has them, and as a machine-wide policy leaves them.
  case together(quota: Int, recent: Int?, releasesOldest: Bool)

  package static let names: [(name: String, value: PersistedGrants)] = [
    ("unlimited", .unlimited), ("android", .android), ("android-10", .android10), ("windows", .windows), ("xdp", .xdp),
  ]
  package static let range = 1...1_000_000

  package var name: String {
    switch self {
    case .refusing(let count): return "\(count)"
    case .together(let quota, let recent, let releasesOldest):
      return "\(quota)" + (releasesOldest ? ", the oldest ends" : "") + (recent.map { "; recent \($0)" } ?? "")
    default: break
    }
    return Self.names.first { $0.value == self }?.name ?? ""
  }

  /// As a policy has it: a number, a name, or an array of those that hold together.
  var text: String {
    switch self {
    case .refusing(let count): return "\(count)"
    case .together(let quota, let recent, let releasesOldest):
      // A list of those used last is Windows' alone, and the oldest ends under Android's alone.
      let first: PersistedGrants = !releasesOldest ? .refusing(quota) : quota <= 128 ? .android10 : .android
      return recent == nil ? first.text : "[\(first.text), \(PersistedGrants.windows.text)]"
    default: return name.quotedTOML
    }
  }

  /// `nil`: there is no limit.
  package var quota: Int? {
    switch self {
    case .unlimited, .xdp: nil
    case .android: 512
    case .android10: 128
    case .windows: 1000
    case .refusing(let count): count
    case .together(let quota, _, _): quota
    }
  }

  /// How many of the documents that were used last are kept without a bookmark or a reference; `nil`: that makes no difference.
  package var recent: Int? {
    switch self {
    case .windows: 25
    case .together(_, let recent, _): recent
    default: nil
    }
  }

  package var releasesOldest: Bool {
    switch self {
    case .android, .android10: true
    case .together(_, _, let releases): releases
    default: false
    }
  }

  /// The rule that both permit: the smaller number, by the rule that it comes from, and no more of those used last than either
  /// keeps.
  package func narrowed(by other: PersistedGrants) -> PersistedGrants {
    guard let ours = quota else { return other }
    guard let theirs = other.quota else { return self }
    let quota = min(ours, theirs)
    let recent = [self.recent, other.recent].compactMap { $0 }.min()
    // Of the same number, refusing permits less than letting the oldest go.
    let releases = (ours > quota || releasesOldest) && (theirs > quota || other.releasesOldest)
    let known = [self, other].first {
      $0.quota == quota && $0.recent == recent && $0.releasesOldest == releases
    }
    return known ?? .together(quota: quota, recent: recent, releasesOldest: releases)
  }
}

/// Which apps may do something.
package enum AppPermission: String, CaseIterable, Equatable, Sendable, Codable {
  case none
  /// Apps with an entitlement that asks for it.
  case entitlement
  case any

  package func covers(_ isEntitled: Bool) -> Bool { self == .any || (self == .entitlement && isEntitled) }
}

/// The consequence for an access when a presenter is silent (`COO-8`).
package enum SilentPresenters: String, CaseIterable, Equatable, Sendable, Codable {
  /// It fails.
  case refuse
  /// It goes on without the presenter.
  case proceed
}

/// The treatment of an app that still has something of a document open after the end of its scope (`TOK-16`).
package enum OutlivedScopes: String, CaseIterable, Equatable, Sendable, Codable {
  /// Open handles stay until they are closed; they are in the log.
  case allow
  /// The app is ended.
  case end
}
