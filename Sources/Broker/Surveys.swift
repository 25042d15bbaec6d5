internal import Kernel
internal import Paths
internal import ScopedAccess
internal import Synchronization

/// What the surveys of ``LocationCache`` need: a watcher of its own, and a thread at a time that goes and looks.
struct Surveys {
  final class Results: Sendable {
    enum Result: Sendable {
      case granted([Grant])
      case seen([String: LocationCache.Sighting], absent: Set<FileIdentity>, took: Int64)
    }

    private let arrived = Mutex<[Result]>([])
    func put(_ result: Result) { arrived.withLock { $0.append(result) } }
    func take() -> [Result] {
      arrived.withLock { all in
        defer { all = [] }
        return all
      }
    }
  }

  let watcher: FolderWatcher?
  let results = Results()
  var catalog = LocationCache()
  var hasBegun = false

  /// What a survey may take, of what nobody has asked for yet.
  static let entries = 1_000_000
  static let time: Int64 = 1_000_000_000

  init() { watcher = try? FolderWatcher() }
}

extension Broker {
  /// Notes where a document is, if it could only be found by searching. File systems that may keep one waiting are not watched:
  /// what happens elsewhere they do not tell.
  func catalog(_ grant: String, _ identity: FileIdentity, at path: String?) {
    guard surveys.watcher != nil, finder.searches(for: identity), let path, !mayWait(path) else { return }
    surveys.catalog.enter(grant, identity, at: path, now: Clock.monotonic())
  }

  func leaveCatalog(_ grant: String) {
    if let watch = surveys.catalog.remove(grant) { surveys.watcher?.unwatch(watch) }
  }

  /// Something has happened in folders of documents.
  func noteMoves(now: Int64) {
    for event in surveys.watcher?.events() ?? [] { surveys.catalog.happened(event.watch, event.name, now: now) }
  }

  /// Takes what surveys have seen, and begins the next one when it is due.
  func continueSurveys(now: Int64) {
    guard let watcher = surveys.watcher else { return }
    if !surveys.hasBegun { beginCatalog() }
    for result in surveys.results.take() {
      switch result {
      case .granted(let grants): for grant in grants { catalog(grant.id, grant.identity, at: grant.path) }
      case .seen(let sightings, let absent, let took):
        for identity in absent { lookups.absences.note(identity, at: now, took: took, mounts: mounts.generation) }
        let unneeded = surveys.catalog.finished(sightings, now: now, took: took)
        for watch in unneeded { watcher.unwatch(watch) }
      }
    }
    let due = surveys.catalog.next(now: now)
    if !due.isEmpty { survey(due, watcher) }
  }

  /// The grants that there are already, the newest first. Root's documents are found by their handles, but for those of a few
  /// file systems, which are noted as they are used.
  private func beginCatalog() {
    surveys.hasBegun = true
    guard !privileged else { return }
    let (grants, results, wakeup) = (grants, surveys.results, lookups.wakeup)
    try? Worker.start {
      Worker.stepBack()
      results.put(.granted((try? grants.newest(LocationCache.mostDocuments)) ?? []))
      wakeup.signal()
    }
  }

  private func survey(_ due: [LocationCache.Asked], _ watcher: FolderWatcher) {
    let (finder, results, wakeup) = (finder, surveys.results, lookups.wakeup)
    let work: @Sendable () -> Void = {
      Worker.stepBack()
      let start = Clock.monotonic()
      let (seen, absent) = Self.look(at: due, finder, watcher)
      results.put(.seen(seen, absent: absent, took: Clock.monotonic() - start))
      wakeup.signal()
    }
    if (try? Worker.start(work)) == nil {
      _ = surveys.catalog.finished([:], now: Clock.monotonic(), took: 1_000_000_000)
    }
  }

  /// The folder is watched before it is looked into, so that nothing happens in between.
  private static func look(
    at due: [LocationCache.Asked], _ finder: DocumentFinder, _ watcher: FolderWatcher
  ) -> ([String: LocationCache.Sighting], absent: Set<FileIdentity>) {
    var seen: [String: LocationCache.Sighting] = [:]
    var lost: [FileIdentity: String] = [:]
    for asked in due {
      let watch = watcher.watchMoves(around: asked.path)
      let there = ([asked.path] + asked.guesses).first { finder.isInPlace(asked.identity, at: $0) }
      seen[asked.grant] = .init(path: there, watch: watch)
      // Where another file has taken its place a program has saved it, and nobody needs the old one.
      if there == nil, asked.mayBeFar, !finder.isTaken(asked.path) { lost[asked.identity] = asked.path }
    }
    guard !lost.isEmpty else { return (seen, []) }
    let (found, absent) = finder.search(lost, entries: Surveys.entries, time: Surveys.time)
    for asked in due {
      guard let path = found[asked.identity] else { continue }
      let watch = watcher.watchMoves(around: path)
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
