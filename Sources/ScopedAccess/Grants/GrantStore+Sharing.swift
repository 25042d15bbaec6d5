package import Folders
internal import GRDB
internal import Synchronization

/// The apps whose Documents other apps' pickers show.
extension GrantStore {
  /// The statements of an app's manifests so far; `nil`: it was never launched with one.
  package func sharedDocuments(of app: String) throws(StateError) -> SharedDocuments? {
    try read { db in
      try Row.fetchOne(
        db.cachedStatement(
          sql: "SELECT browsable, publicScope, version FROM sharedDocuments WHERE bundleIdentifier = ?"),
        arguments: [app]
      ).map { row in
        SharedDocuments(
          isBrowsable: try Grant.value(row, "browsable", Int.self) != 0,
          isPublicScope: try Grant.value(row, "publicScope", Int.self) != 0,
          version: try Self.text(row, "version"))
      }
    }
  }

  /// Notes it for an app that is registered.
  package func note(_ shared: SharedDocuments, of app: String) throws(StateError) {
    defer { sharing.withLock { $0 = nil } }
    try access { db in
      try db.cachedStatement(
        sql:
          "INSERT OR REPLACE INTO sharedDocuments (bundleIdentifier, browsable, publicScope, version) VALUES (?, ?, ?, ?)"
      ).execute(arguments: [app, shared.isBrowsable ? 1 : 0, shared.isPublicScope ? 1 : 0, shared.version])
    }
  }

  /// The apps that show their Documents, by name: not those that were removed.
  package func sharingApps() throws(StateError) -> [KnownApp] {
    if let known = sharing.withLock({ $0 }) { return known }
    let shown = try read { db in
      try String.fetchAll(
        db, sql: "SELECT bundleIdentifier FROM sharedDocuments WHERE browsable <> 0 OR publicScope <> 0")
    }
    let apps = try knownApps().filter { shown.contains($0.bundleIdentifier) }
      .sorted { ($0.name, $0.bundleIdentifier) < ($1.name, $1.bundleIdentifier) }
    sharing.withLock { $0 = apps }
    return apps
  }

  private static func text(_ row: Row, _ column: String) throws(StateError) -> String? {
    let stored: DatabaseValue? = row[column]
    return stored?.isNull == false ? try Grant.value(row, column, String.self) : nil
  }
}
