package import AppModel
package import Folders
internal import GRDB
internal import Synchronization

/// Which apps identifiers belong to, and the contents of their files as they were read last.
extension GrantStore {
  static let identityColumns = "bundleIdentifier, claimed, digest, path, owners, seen"

  /// All apps that are remembered, by identifier, and when each was launched last: nanoseconds since 1970.
  package func identities() throws(StateError) -> [(app: RememberedApp, seen: Int64)] {
    try read { db in
      try Row.fetchAll(db, sql: "SELECT \(Self.identityColumns) FROM appIdentity ORDER BY bundleIdentifier")
        .map { (try Self.app($0), try Grant.value($0, "seen", Int64.self)) }
    }
  }

  /// Those whose manifests claim an identifier, or that run under it.
  package func identities(claiming claimed: String) throws(StateError) -> [RememberedApp] {
    if let known = claims.withLock({ $0[claimed] }) { return known }
    let found = try read { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: "SELECT \(Self.identityColumns) FROM appIdentity WHERE claimed = ?1 OR bundleIdentifier = ?1"),
        arguments: [claimed]
      ).map { try Self.app($0) }
    }
    claims.withLock { $0[claimed] = found }
    return found
  }

  /// The app that an identifier belongs to.
  package func identity(of identifier: String) throws(StateError) -> RememberedApp? {
    try identities(claiming: identifier).first { $0.identifier == identifier }
  }

  /// Remembers an app, in place of the one that its identifier belonged to.
  package func note(_ app: RememberedApp, at time: Int64) throws(StateError) {
    defer { claims.withLock { $0 = [:] } }
    try access { db in
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO appIdentity (\(Self.identityColumns)) VALUES (?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          app.identifier, app.claimed, app.digest.description, app.path,
          app.owners.map(String.init).joined(separator: ","), time,
        ])
    }
  }

  /// Forgets which app an identifier belongs to: the next one that claims it has it.
  ///
  /// - Returns: whether anything was remembered.
  package func forgetIdentity(of identifier: String) throws(StateError) -> Bool {
    defer { claims.withLock { $0 = [:] } }
    return try access { db in
      try db.execute(sql: "DELETE FROM appIdentity WHERE bundleIdentifier = ?", arguments: [identifier])
      return db.changesCount > 0
    }
  }

  /// The digest of a file's content, by its stamp, if it was read before.
  package func digest(of stamp: FileStamp) -> [UInt8]? {
    if let known = digests.withLock({ $0[stamp] }) { return known }
    let stored: String?? = try? read { db in
      try Row.fetchOne(
        db.cachedStatement(sql: "SELECT digest FROM fileDigest WHERE stamp = ?"), arguments: [stamp.text]
      ).map { try Grant.value($0, "digest", String.self) }
    }
    guard let text = stored ?? nil, let digest = AppDigest(hexadecimal: text)?.bytes else { return nil }
    keep(digest, of: stamp)
    return digest
  }

  /// Keeps the digest of a file's content. A failure matters to no caller: the digest is computed again then.
  package func note(_ digest: [UInt8], of stamp: FileStamp, at time: Int64) {
    keep(digest, of: stamp)
    guard let digest = AppDigest(digest) else { return }
    try? access { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO fileDigest (stamp, digest, read) VALUES (?, ?, ?)",
        arguments: [stamp.text, digest.description, time])
      try db.execute(
        sql:
          "DELETE FROM fileDigest WHERE stamp IN (SELECT stamp FROM fileDigest ORDER BY read DESC LIMIT -1 OFFSET ?)",
        arguments: [Self.mostDigests])
    }
  }

  private func keep(_ digest: [UInt8], of stamp: FileStamp) {
    digests.withLock { digests in
      if digests.count >= Self.mostDigests { digests = [:] }
      digests[stamp] = digest
    }
  }

  private static let mostDigests = 1024

  private static func app(_ row: Row) throws -> RememberedApp {
    guard let digest = AppDigest(hexadecimal: try Grant.value(row, "digest", String.self)) else {
      throw StateError("it is damaged: the digest of an app is none")
    }
    return RememberedApp(
      identifier: try Grant.value(row, "bundleIdentifier", String.self),
      claimed: try Grant.value(row, "claimed", String.self), digest: digest,
      path: try Grant.value(row, "path", String.self),
      owners: try Grant.value(row, "owners", String.self).split(separator: ",").compactMap { UInt32($0) })
  }
}
