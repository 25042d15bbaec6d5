/// One kept content of a document.
package struct KeptVersion: Sendable, Equatable {
  /// The reason for which it was kept.
  package enum Cause: String, Sendable { case saved, overwritten, conflict }

  package let id: String
  /// The document's name when it was kept.
  package let name: String
  /// The document's path then.
  package let place: String
  /// Nanoseconds since 1970: when its content was written last.
  package let modified: Int64
  /// Nanoseconds since 1970.
  package let kept: Int64
  /// The app that has replaced it; `nil`: another program.
  package let app: String?
  package let device: String
  /// Bytes; of a package those of its files, and 4 KiB for each entry.
  package let size: UInt64
  package let isPackage: Bool
  package let cause: Cause
  /// Of a conflict: it is not resolved.
  package var isUnresolved: Bool

  package init(
    id: String, name: String, place: String, modified: Int64, kept: Int64, app: String?, device: String, size: UInt64,
    isPackage: Bool, cause: Cause, isUnresolved: Bool
  ) {
    (self.id, self.name, self.place, self.modified, self.kept) = (id, name, place, modified, kept)
    (self.app, self.device, self.size, self.isPackage) = (app, device, size, isPackage)
    (self.cause, self.isUnresolved) = (cause, isUnresolved)
  }
}

/// Which versions are kept, and which have to go. Values alone.
package struct VersionRules: Sendable, Equatable {
  /// Bytes that one version has at most.
  package var largest: UInt64 = 256 << 20
  /// Bytes of all versions together.
  package var total: UInt64 = 1 << 30
  /// Bytes of the versions that one app has kept or left: no app takes the room of the others, also not with conflicts.
  package var ofApp: UInt64 = 256 << 20
  /// Bytes of the unresolved conflicts of one app: they never give way.
  package var conflictsOfApp: UInt64 = 128 << 20
  /// Versions that one app has kept or left, empty ones too.
  package var mostOfApp = 2000
  /// Versions of one document.
  package var ofDocument = 100
  /// Nanoseconds in which an app's saves of a document leave one version: the content from before the first of them.
  package var burst: Int64 = 60_000_000_000

  package init() {}

  /// Bytes of all unresolved conflicts: the rest stays for contents that saves replace.
  package var conflicts: UInt64 { total / 2 }

  /// Whether a save leaves a version.
  ///
  /// - Parameter latest: the newest version of the document.
  package func isWanted(_ cause: KeptVersion.Cause, by app: String?, after latest: KeptVersion?, now: Int64) -> Bool {
    guard cause == .saved, let latest, latest.cause == .saved, latest.app == app else { return true }
    return now - latest.kept >= burst
  }

  /// The versions that make room for another one: the oldest first, and never an unresolved conflict.
  ///
  /// - Parameters:
  ///   - size: bytes of the new one.
  ///   - app: its app; `nil`: another program.
  ///   - isConflict: it is an unresolved conflict.
  ///   - document: the versions of its document.
  ///   - all: the versions of all documents, with those.
  /// - Returns: `nil`: there is no room for it.
  package func removals(
    for size: UInt64, by app: String?, isConflict: Bool = false, of document: [KeptVersion], among all: [KeptVersion]
  ) -> [String]? {
    guard size <= largest else { return nil }
    if isConflict {
      let unresolved = all.filter(\.isUnresolved)
      let sum = unresolved.reduce(0) { $0 + $1.size }
      let sumOfApp = unresolved.reduce(0) { $0 + ($1.app == app ? $1.size : 0) }
      guard sum + size <= conflicts, app == nil || sumOfApp + size <= conflictsOfApp else { return nil }
    }
    var gone: [String] = []
    var remaining = all.filter { !$0.isUnresolved }.sorted { ($0.kept, $0.id) < ($1.kept, $1.id) }
    var countOfApp = all.count { $0.app == app }
    var sum = all.reduce(0) { $0 + $1.size }
    var sumOfApp = all.reduce(0) { $0 + ($1.app == app ? $1.size : 0) }
    var count = document.count
    let own = Set(document.map(\.id))
    func drop(_ index: Int) {
      let version = remaining.remove(at: index)
      gone.append(version.id)
      sum -= version.size
      if version.app == app { (sumOfApp, countOfApp) = (sumOfApp - version.size, countOfApp - 1) }
      if own.contains(version.id) { count -= 1 }
    }
    while count >= ofDocument {
      guard let oldest = remaining.firstIndex(where: { own.contains($0.id) }) else { return nil }
      drop(oldest)
    }
    while app != nil, sumOfApp + size > ofApp || countOfApp >= mostOfApp {
      guard let oldest = remaining.firstIndex(where: { $0.app == app }) else { return nil }
      drop(oldest)
    }
    while sum + size > total {
      guard !remaining.isEmpty else { return nil }
      drop(0)
    }
    return gone
  }
}
