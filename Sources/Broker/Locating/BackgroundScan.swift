internal import BrokerCore
internal import Kernel
internal import Paths
internal import ScopedAccess

/// Learns where documents are before a request asks, where only a search could tell: it watches the folders of documents, and a thread
/// at a time goes and looks (``LocationCache``).
@BrokerLoop
final class BackgroundScan: LoopMember {
  private var watcher: FolderWatcher?
  private let finder: any DocumentFinding
  private let grants: GrantStore
  private let mounts: MountState
  private let absent: AbsentFiles
  private let host: BrokerHost
  private var catalog = LocationCache()
  private var hasBegun = false
  private var pace = Pace()

  /// A scan's allowance, for documents that no request has asked for yet.
  private nonisolated static let entries = 1_000_000
  private nonisolated static let time: Int64 = 1_000_000_000

  init(
    _ host: BrokerHost, _ grants: GrantStore, _ finder: any DocumentFinding, _ mounts: MountState, _ absent: AbsentFiles
  ) {
    (self.host, self.grants, self.finder, self.mounts, self.absent) = (host, grants, finder, mounts, absent)
  }

  /// Notes where a document is, if it could only be found by searching. File systems that may keep the loop waiting are not
  /// watched: they do not tell of changes from elsewhere.
  func note(_ grant: String, _ identity: FileIdentity, at path: String?) {
    guard finder.searches(for: identity), let path, !mounts.mayWait(path) else { return }
    catalog.enter(grant, identity, at: path, now: host.clock.monotonic)
  }

  func forget(_ grant: String) {
    if let watch = catalog.remove(grant) { watcher?.unwatch(watch) }
  }

  func place(of grant: String) -> String? { catalog.place(of: grant) }
  /// Documents whose place is unknown: a search for another one looks out for these as well.
  var lost: [FileIdentity] { catalog.lost }
  /// Such a search has met some.
  func met(_ places: [FileIdentity: String]) { catalog.met(places) }

  // MARK: LoopMember

  func appendEntries(to entries: inout [PollEntry], now: Int64) {
    if let watcher, !pace.rests(now: now) { entries.append(PollEntry(watcher.descriptor, .read)) }
  }

  func nextDue(now: Int64) -> Int64? { [catalog.nextDue, pace.nextDue(now: now)].compactMap(\.self).min() }

  func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    guard entries.contains(where: \.hasHappened) else { return }
    pace.note(now: now)
    for event in watcher?.events() ?? [] { catalog.happened(event.watch, event.name, now: now) }
  }

  /// Begins the next scan when it is due.
  func finishTurn(now: Int64) {
    if !hasBegun { begin() }
    let due = catalog.next(now: now)
    if !due.isEmpty { scan(due, watcher.opened()) }
  }

  // MARK: In threads

  /// The grants that there are already, the newest first. Root's documents are found by their handles, but for those of a few
  /// file systems, which are noted as they are used.
  private func begin() {
    hasBegun = true
    guard !host.privileged else { return }
    let grants = grants
    try? Worker.start {
      Worker.stepBack()
      let newest = (try? grants.newest(LocationCache.mostDocuments)) ?? []
      Task { @BrokerLoop in
        for grant in newest { self.note(grant.id, grant.identity, at: grant.path) }
      }
    }
  }

  private func scan(_ due: [LocationCache.Asked], _ watcher: FolderWatcher?) {
    let finder = finder
    let work: @Sendable () -> Void = {
      Worker.stepBack()
      let start = Clock.monotonic()
      let (seen, absent) = Self.look(at: due, finder, watcher)
      let took = Clock.monotonic() - start
      Task { @BrokerLoop in self.finish(seen, absent, took: took) }
    }
    if (try? Worker.start(work)) == nil {
      _ = catalog.finished([:], now: host.clock.monotonic, took: 1_000_000_000)
    }
  }

  private func finish(_ seen: [String: LocationCache.Sighting], _ missing: Set<FileIdentity>, took: Int64) {
    absent.note(missing, took: took)
    for watch in catalog.finished(seen, now: host.clock.monotonic, took: took) { watcher?.unwatch(watch) }
  }

  /// The folder is watched before it is looked into, so that nothing happens in between.
  private nonisolated static func look(
    at due: [LocationCache.Asked], _ finder: any DocumentFinding, _ watcher: FolderWatcher?
  ) -> ([String: LocationCache.Sighting], absent: Set<FileIdentity>) {
    var seen: [String: LocationCache.Sighting] = [:]
    var lost: [FileIdentity: String] = [:]
    for asked in due {
      let watch = watcher?.watchMoves(around: asked.path)
      let there = ([asked.path] + asked.guesses).first { finder.isInPlace(asked.identity, at: $0) }
      seen[asked.grant] = .init(path: there, watch: watch)
      // Where another file has taken its place a program has saved it, and the old one is of no use.
      if there == nil, asked.mayBeFar, !finder.isTaken(asked.path) { lost[asked.identity] = asked.path }
    }
    guard !lost.isEmpty else { return (seen, []) }
    let (found, absent) = finder.search(lost, entries: entries, time: time)
    for asked in due {
      guard let path = found[asked.identity] else { continue }
      let watch = watcher?.watchMoves(around: path)
      guard finder.isInPlace(asked.identity, at: path) else { continue }
      seen[asked.grant] = .init(path: path, watch: watch)
    }
    return (seen, absent)
  }
}

extension FolderWatcher {
  /// Watches the folder that a path leads into.
  fileprivate func watchMoves(around path: String) -> Int32? {
    guard let parent = path.parentPath,
      let folder = try? Descriptor.open(parent, flags: [.path, .directory], resolve: .noSymlinks)
    else { return nil }
    return try? watchMoves(folder)
  }
}

/// How often something is looked at that others may cause without end: a few times at once, since a program that saves a file makes
/// another one first, and then once in each pause.
struct Pace {
  private static let pause: Int64 = 3_000_000
  private static let atOnce: Int64 = 10
  private var again: Int64 = 0

  func rests(now: Int64) -> Bool { now < again }
  func nextDue(now: Int64) -> Int64? { rests(now: now) ? again : nil }
  mutating func note(now: Int64) { again = max(again, now - Self.atOnce * Self.pause) + Self.pause }
}
