package import Folders
internal import GRDB

/// Users' answers about entitlements that apps declare.
extension GrantStore {
  /// A user's answers for an app: by the access that the entitlement opens, whether it is allowed.
  ///
  /// - Parameter program: tells apps apart that share a container; empty: the identifier does.
  package func entitlementAnswers(of app: String, program: String) throws(StateError) -> [String: Bool] {
    try read { db in
      var answers: [String: Bool] = [:]
      let rows = try Row.fetchAll(
        db.cachedStatement(
          sql: "SELECT subject, allowed FROM entitlementAnswer WHERE bundleIdentifier = ? AND program = ?"),
        arguments: [app, program])
      for row in rows {
        answers[try Grant.value(row, "subject", String.self)] = try Grant.value(row, "allowed", Int.self) != 0
      }
      return answers
    }
  }

  /// Notes answers for an app that is registered; each takes the place of an earlier one.
  package func note(entitlements answers: [String: Bool], of app: String, program: String) throws(StateError) {
    try write { db in
      for (subject, isAllowed) in answers {
        try db.cachedStatement(
          sql:
            "INSERT OR REPLACE INTO entitlementAnswer (bundleIdentifier, program, subject, allowed) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [app, program, subject, isAllowed ? 1 : 0])
      }
    }
  }

  /// Forgets them: the user is asked again.
  package func forgetEntitlements(of app: String) throws(StateError) {
    try access { db in
      try db.execute(sql: "DELETE FROM entitlementAnswer WHERE bundleIdentifier = ?", arguments: [app])
    }
  }
}
