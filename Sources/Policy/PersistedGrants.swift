internal import AppModel

/// How many documents an app may keep its access to, and what happens to one more: Ambit's own rule, or another system's, so that
/// an app can be seen under each.
package enum PersistedGrants: Equatable, Sendable, Codable {
  /// As many as the user gives it.
  case unlimited
  /// Android 11 and later: 512 (`MAX_PERSISTED_URI_GRANTS`), and the oldest gives way without a word (`LIM-10`).
  case android
  /// Android 10 and before: 128.
  case android10
  /// Windows' lists: of what the app keeps a bookmark or a reference of (`FutureAccessList`) 1,000, and then adding fails; and
  /// besides, of what it used last (`MostRecentlyUsedList`), 25 (`LIM-11`).
  case windows
  /// The document portal: no limit (`LIM-12`).
  case xdp
  /// So many, and then a document that the user picks is refused, with a reason.
  case refusing(Int)

  package static let names: [(name: String, value: PersistedGrants)] = [
    ("unlimited", .unlimited), ("android", .android), ("android-10", .android10), ("windows", .windows), ("xdp", .xdp),
  ]
  package static let range = 1...1_000_000

  package var name: String {
    if case .refusing(let count) = self { return "\(count)" }
    return Self.names.first { $0.value == self }?.name ?? ""
  }

  /// `nil`: there is no limit.
  package var quota: Int? {
    switch self {
    case .unlimited, .xdp: nil
    case .android: 512
    case .android10: 128
    case .windows: 1000
    case .refusing(let count): count
    }
  }

  /// How many of the documents that were used last are kept without a bookmark or a reference; `nil`: that makes no difference.
  package var recent: Int? { self == .windows ? 25 : nil }

  package var releasesOldest: Bool { self == .android || self == .android10 }
}

/// Which apps may do something.
package enum AppPermission: String, CaseIterable, Equatable, Sendable, Codable {
  case none
  /// Those whose entitlements ask for it.
  case entitlement
  case any

  package func covers(_ isEntitled: Bool) -> Bool { self == .any || (self == .entitlement && isEntitled) }
}

/// What happens to an app that still has something of a document open whose scope has ended (`TOK-16`).
package enum OutlivedScopes: String, CaseIterable, Equatable, Sendable, Codable {
  /// What is open stays so until it is closed; it is in the log.
  case allow
  /// The app is ended.
  case end
}

/// What `[grants]` and `[scopes]` say of grants.
extension PolicyOverrides {
  mutating func decodeGrants(_ table: TOMLReader) throws(SourceError) {
    passing = try permission("pass", table)
    executing = try permission("execute", table)
    tellsHostPaths = try table.boolean("host_paths")
    try decodePersisted(table)
  }

  private func permission(_ key: String, _ table: TOMLReader) throws(SourceError) -> AppPermission? {
    try table.choice(key, of: AppPermission.allCases.map(\.rawValue)).flatMap(AppPermission.init(rawValue:))
  }

  private mutating func decodePersisted(_ table: TOMLReader) throws(SourceError) {
    guard let node = table.value("persisted") else { return }
    switch node.value {
    case .integer(let number) where PersistedGrants.range.contains(number): persisted = .refusing(number)
    case .string(let text):
      if let known = PersistedGrants.names.first(where: { $0.name == text }) { persisted = known.value }
    default: break
    }
    if persisted == nil {
      let words = PersistedGrants.names.map { $0.name.quoted }.joined(separator: ", ")
      throw table.wrong(
        "persisted", node, "an integer from 1 to \(PersistedGrants.range.upperBound), or one of \(words)")
    }
  }
}
