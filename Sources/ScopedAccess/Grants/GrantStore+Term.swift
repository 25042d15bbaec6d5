package import Folders
internal import GRDB
internal import Synchronization

/// Grants that end by themselves.
extension GrantStore {
  /// When the next one does, in nanoseconds since 1970; `nil`: none does.
  package func nextEnd() throws(StateError) -> Int64? {
    if let known = ending.withLock({ $0 }) { return known }
    let next = try read { db in
      try Int64.fetchOne(
        db.cachedStatement(sql: "SELECT min(until) FROM grant_ WHERE until IS NOT NULL AND revoked IS NULL"))
    }
    ending.withLock { $0 = .some(next) }
    return next
  }

  func forgetNextEnd() { ending.withLock { $0 = nil } }

  /// The grants in force whose time is up, in the order in which they ended.
  package func due(at time: Int64) throws(StateError) -> [Grant] {
    try read { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: "SELECT \(Grant.columns) FROM grant_ WHERE until <= ? AND revoked IS NULL ORDER BY until, created"),
        arguments: [time]
      ).map { try Grant(row: $0) }
    }
  }

  /// The launches with which grants in force end.
  package func launches() throws(StateError) -> Set<String> {
    try read { db in
      Set(
        try String.fetchAll(
          db.cachedStatement(
            sql: "SELECT DISTINCT launch FROM grant_ WHERE launch IS NOT NULL AND revoked IS NULL")))
    }
  }

  /// The grants in force that end with a launch.
  package func grants(ofLaunch launch: String) throws(StateError) -> [Grant] {
    try read { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: "SELECT \(Grant.columns) FROM grant_ WHERE launch = ? AND revoked IS NULL ORDER BY created"),
        arguments: [launch]
      ).map { try Grant(row: $0) }
    }
  }

  /// The user has decided on a grant anew.
  package func renew(_ id: String, _ term: Grant.Term) throws(StateError) {
    defer {
      forget([id])
      forgetNextEnd()
    }
    try access { db in
      try db.cachedStatement(sql: "UPDATE grant_ SET decided = ?, until = ?, launch = ? WHERE id = ?")
        .execute(arguments: [term.decided, term.until, term.launch, id])
    }
  }
}
