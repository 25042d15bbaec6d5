package import Folders
internal import GRDB
internal import Synchronization

/// Which store the grants are in, and how often a broker has begun or ended with it. The log names it at each of these
/// moments, so a broker that starts knows whether the grants are the ones that the log goes on with: the user may have
/// put a backup in their place, or in the log's.
extension GrantStore {
  package struct Stamp: Equatable, Sendable, CustomStringConvertible {
    let store: String
    let turns: Int64

    init(store: String, turns: Int64) {
      self.store = store
      self.turns = turns
    }

    /// Reads the form of `description`.
    package init?(_ text: String) {
      let parts = text.split(separator: "-")
      guard parts.count == 2, let turns = Int64(parts[1]), turns >= 0 else { return nil }
      self.init(store: String(parts[0]), turns: turns)
    }

    package var description: String { "\(store)-\(turns)" }

    /// Whether a log that last named that one goes with this: the same, or one further, since a process can die after it has been
    /// written here and before it is there.
    package func follows(_ named: Self?) -> Bool {
      guard let named, named.store == store else { return false }
      return turns == named.turns || turns == named.turns + 1
    }
  }

  static func stamp(_ db: Database) throws -> Stamp {
    Stamp(
      store: try String.fetchOne(db, sql: "SELECT store FROM stamp") ?? "",
      turns: try Int64.fetchOne(db, sql: "SELECT turns FROM stamp") ?? 0)
  }

  /// As it is now.
  package func stamp() throws(StateError) -> Stamp { try read(Self.stamp) }

  /// The next one; it is on the disk before the log's later entries.
  package func nextStamp() throws(StateError) -> Stamp {
    let next = try write { db in
      try db.execute(sql: "UPDATE stamp SET turns = turns + 1")
      return try Self.stamp(db)
    }
    pending.withLock { $0.isDirty = true }
    return next
  }

  /// The key that bookmarks, references and tokens of these grants are made with. It is made for grants that no broker has used yet.
  ///
  /// - Parameter path: of the key file.
  /// - Throws: where the key is gone, or is another one than the grants were used with. Grants and key stay as they are.
  package func sealingKey(at path: String) throws(StateError) -> SealingKey {
    let (isUsed, known) = try read { db in
      // A broker has its key before it notes anything; the stamp is younger than the first stores.
      let isUsed = try Self.stamp(db).turns > 0 || Int.fetchOne(db, sql: "SELECT 1 FROM app LIMIT 1") != nil
      return (isUsed, try String.fetchOne(db, sql: "SELECT sealingKey FROM stamp"))
    }
    let key = try SealingKey.load(from: path, neededBy: isUsed ? self.path : nil)
    guard let known else {
      // Where that cannot be written now the next broker does it.
      try? write { db in try db.execute(sql: "UPDATE stamp SET sealingKey = ?", arguments: [key.fingerprint]) }
      return key
    }
    guard known == key.fingerprint else {
      throw StateError(
        "\(path): it is another key than the one that every bookmark and reference was sealed with. \(SealingKey.remedy(self.path))"
      )
    }
    return key
  }
}
