internal import Paths

/// The present places of documents, kept current before any request: for those that could only be found by searching.
///
/// A pure value over the messages of a watcher of folders and a survey: the folders that documents stand in are watched, and when
/// one has left its name it is looked for in the background, with all others that are due. A place known here is the first one to
/// look at. It is never believed without the file having been compared, so that a mistake costs time and nothing else.
///
/// Bounded in documents and in folders; documents beyond that are searched for on request. Surveys rest for nine times as long as
/// they took: moving documents all day costs a tenth of one thread.
package struct LocationCache: Sendable {
  package struct Asked: Equatable, Sendable {
    package let grant: String
    package let identity: FileIdentity
    package let path: String
    /// Where it may be besides: names that have come into its folder since it was missed.
    package let guesses: [String]
    /// It may be anywhere; otherwise there is nothing but the guesses that has not been looked at.
    package let mayBeFar: Bool
    let version: Int
  }

  /// A survey's finding about a document.
  package struct Sighting: Equatable, Sendable {
    /// `nil`: it was not found.
    package var path: String?
    /// The watch of the folder that it is in, or was in last.
    package var watch: Int32?

    package init(path: String?, watch: Int32?) {
      self.path = path
      self.watch = watch
    }
  }

  private enum State { case due, displaced, guessed, settled, missing }

  private struct Entry {
    var identity: FileIdentity
    /// Where it was seen last.
    var path: String
    var state: State
    /// The number of its folder's watch.
    var watch: Int32?
    /// Changes with every message about it: a survey's earlier finding counts no more.
    var version: Int
    var guesses: [String] = []

    var name: String { path.lastPathName }
    var isPending: Bool { state == .due || state == .displaced || state == .guessed }
  }

  package static let mostDocuments = 4096
  static let mostFolders = 1024
  static let mostAtOnce = 512
  static let mostGuesses = 8
  /// Nanoseconds from an event to a look at it: a program that saves does several things at once.
  static let pause: Int64 = 100_000_000

  private var entries: [String: Entry] = [:]
  /// Those that a survey has to look at.
  private var pending: Set<String> = []
  /// The documents in each watched folder, by grant.
  private var folders: [Int32: Set<String>] = [:]
  /// Watches of a survey that is under way, of which something was heard already.
  private var early: Set<Int32> = []
  private var surveyed: [Asked] = []
  private var notBefore: Int64 = 0
  private var last = 0

  package init() {}

  /// Notes a document and where it is, or was when it was last seen.
  package mutating func enter(_ grant: String, _ identity: FileIdentity, at path: String, now: Int64) {
    if let known = entries[grant], known.identity == identity, known.path.isSamePath(as: path),
      known.state == .settled || known.state == .due
    {
      return
    }
    guard entries[grant] != nil || entries.count < Self.mostDocuments else { return }
    last += 1
    let watch = entries[grant]?.watch
    put(grant, Entry(identity: identity, path: path, state: .due, watch: watch, version: last))
    notBefore = max(notBefore, now + Self.pause)
  }

  private mutating func put(_ grant: String, _ entry: Entry) {
    entries[grant] = entry
    if entry.isPending { pending.insert(grant) } else { pending.remove(grant) }
  }

  /// - Returns: a watch that is no longer needed.
  package mutating func remove(_ grant: String) -> Int32? {
    pending.remove(grant)
    guard let entry = entries.removeValue(forKey: grant) else { return nil }
    return entry.watch.flatMap { leave($0, grant) }
  }

  private mutating func leave(_ watch: Int32, _ grant: String) -> Int32? {
    folders[watch]?.remove(grant)
    guard folders[watch]?.isEmpty == true else { return nil }
    folders[watch] = nil
    return watch
  }

  /// Something has come into a watched folder or left it.
  ///
  /// - Parameters:
  ///   - watch: negative: events were lost.
  ///   - name: empty: the folder itself.
  package mutating func happened(_ watch: Int32, _ name: String, now: Int64) {
    let concerned = watch < 0 ? Array(entries.keys) : Array(folders[watch] ?? [])
    if folders[watch] == nil, early.count < Self.mostFolders { early.insert(watch) }
    for grant in concerned {
      guard var entry = entries[grant] else { continue }
      if name.isEmpty || entry.name.isSamePath(as: name) {
        entry.state = .displaced
      } else if entry.state == .missing || entry.state == .guessed, entry.guesses.count < Self.mostGuesses {
        entry.state = .guessed
        entry.guesses.append((entry.path.parentPath ?? "").path(of: name))
      } else {
        continue
      }
      last += 1
      entry.version = last
      put(grant, entry)
      notBefore = max(notBefore, now + Self.pause)
    }
  }

  /// The task of a survey now; empty while there is nothing, one is under way, or after the last one.
  package mutating func next(now: Int64) -> [Asked] {
    guard surveyed.isEmpty, now >= notBefore else { return [] }
    let all = pending.compactMap { grant in
      entries[grant].map {
        (
          Asked(
            grant: grant, identity: $0.identity, path: $0.path, guesses: $0.guesses, mayBeFar: $0.state != .guessed,
            version: $0.version), $0.state == .displaced
        )
      }
    }
    // Those that have left their place go first.
    surveyed = Array((all.filter(\.1) + all.filter { !$0.1 }).map(\.0).prefix(Self.mostAtOnce))
    early = []
    return surveyed
  }

  /// A survey has ended.
  ///
  /// - Parameters:
  ///   - sightings: by grant. One that has none was not looked for, and is missing.
  ///   - took: nanoseconds.
  /// - Returns: watches that are no longer needed.
  package mutating func finished(_ sightings: [String: Sighting], now: Int64, took: Int64) -> [Int32] {
    var unneeded = Set(sightings.values.compactMap(\.watch))
    for asked in surveyed {
      guard var entry = entries[asked.grant] else { continue }
      let seen = sightings[asked.grant] ?? Sighting(path: nil, watch: nil)
      if let old = entry.watch, old != seen.watch, let left = leave(old, asked.grant) { unneeded.insert(left) }
      entry.watch = seen.watch.flatMap { folders[$0] != nil || folders.count < Self.mostFolders ? $0 : nil }
      if let watch = entry.watch { folders[watch, default: []].insert(asked.grant) }
      if entry.version == asked.version {
        entry.path = seen.path ?? entry.path
        entry.state = seen.path == nil ? .missing : .settled
        entry.guesses = []
        // It may have left between being seen and now.
        if let watch = seen.watch, early.contains(watch) { entry.state = .displaced }
      }
      put(asked.grant, entry)
    }
    surveyed = []
    notBefore = max(notBefore, now + took * 9)
    return unneeded.filter { folders[$0] == nil }.sorted()
  }

  /// A search for something else has met documents.
  package mutating func met(_ places: [FileIdentity: String]) {
    for (grant, entry) in entries where entry.state != .settled {
      guard let path = places[entry.identity] else { continue }
      last += 1
      put(grant, Entry(identity: entry.identity, path: path, state: .due, watch: entry.watch, version: last))
    }
  }

  /// Where to look first for a grant's document.
  package func place(of grant: String) -> String? { entries[grant]?.path }

  /// Documents that are not where they were last seen, as far as is known.
  package var lost: [FileIdentity] {
    Array(
      entries.values.lazy.filter { $0.state != .settled && $0.state != .due }.map(\.identity)
        .prefix(Self.mostAtOnce))
  }

  /// When ``next(now:)`` has something; `nil` while it has nothing to wait for.
  package var nextDue: Int64? { surveyed.isEmpty && !pending.isEmpty ? notBefore : nil }
}
