package import Folders
internal import GRDB

/// Documents that the user has taken from apps. Bookmarks that other apps made before do not bring them back; a grant that has ended by
/// itself is none of these.
extension GrantStore {
  /// - Parameter withdrawn: the ended grants, each with the grant that it was made from, if it was.
  package func noteWithdrawals(
    _ withdrawn: [(grant: Grant, parent: String?)], at time: Int64
  ) throws(StateError) {
    try write { db in
      for (grant, parent) in withdrawn {
        try db.cachedStatement(
          sql: "INSERT OR REPLACE INTO withdrawal (bundleIdentifier, identity, parent, time) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [grant.bundleIdentifier, grant.identity.stored, parent ?? "", time])
      }
    }
  }

  /// When the user last took a document from an app, or a grant that had come from this one. The document may be another file since.
  ///
  /// - Returns: nanoseconds since 1970; `nil`: never.
  package func lastWithdrawn(
    _ document: FileIdentity, from app: String, parent: String
  ) throws(StateError) -> Int64? {
    try read { db in
      try Int64.fetchOne(
        db, sql: "SELECT max(time) FROM withdrawal WHERE bundleIdentifier = ? AND (identity = ? OR parent = ?)",
        arguments: [app, document.stored, parent])
    }
  }
}
