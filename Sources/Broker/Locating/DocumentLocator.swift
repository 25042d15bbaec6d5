internal import BrokerCore
internal import Folders
internal import Kernel
internal import ScopedAccess

/// Finds files by their identity: at once where that takes no time to speak of, else in a thread while the loop goes on. Keeps
/// documents open for a while, and knows where they are before a request asks (``BackgroundScan``).
@BrokerLoop
final class DocumentLocator: LoopMember {
  private struct Entry {
    let lookup: Lookup
    var waits: [Wait<LookupResult?>]
  }

  private let finder: any DocumentFinding
  private let scan: BackgroundScan
  private let mounts: MountState
  private let host: BrokerHost
  private let jobs: Jobs
  private var queue = LookupQueue()
  private var entries: [Int: Entry] = [:]
  private var running: [Lookup.Key: Int] = [:]
  private let absent: AbsentFiles
  /// Documents kept open so that they are found again without privilege after any move. Bounded.
  private var pinned = KeptDocuments()
  /// Whether the file provider of a document does not let it be changed.
  var isReadOnly: (String) -> Bool = { _ in false }

  init(
    _ host: BrokerHost, _ finder: any DocumentFinding, _ mounts: MountState, _ scan: BackgroundScan,
    _ absent: AbsentFiles,
    _ jobs: Jobs
  ) {
    (self.host, self.finder, self.mounts, self.scan, self.absent, self.jobs) = (
      host, finder, mounts, scan, absent, jobs
    )
  }

  // MARK: Finding

  /// The known places where the document of a grant may be.
  func lookup(of grant: Grant) -> Lookup {
    var lookup = Lookup(.init(subject: grant.id, identity: grant.identity), path: grant.path)
    (lookup.place, lookup.pinned) = (grant.place, pinned[grant.id])
    lookup.isGone = pinned.isGone(grant.identity)
    lookup.hint = scan.place(of: grant.id)
    lookup.kind = grant.kind.isFolder ? .directory : .regular
    return lookup
  }

  /// - Parameter owner: the launch that asks, or "" for the user: each has one slow lookup under way at a time.
  /// - Returns: `nil` if its file system does not answer.
  func find(_ asked: Lookup, for owner: String) async throws(CancellationError) -> LookupResult? {
    mounts.refresh()
    let path = asked.folder.map { "\($0.currentPath ?? "")/\(asked.path)" } ?? asked.path
    var lookup = asked
    lookup.absent = absent.among([asked.identity] + (asked.place.map { [$0.folder] } ?? []))
    let queueKey = mounts.waitingMount(on: path)
    if queueKey == nil {
      if let found = finder.findQuickly(lookup) { return found }
      lookup.batch = scan.lost
    }
    let wait = Wait<LookupResult?>()
    if let id = running[lookup.key] {
      entries[id]?.waits.append(wait)
    } else {
      let added = queue.add(
        owner: owner, queueKey: queueKey, isInFolder: lookup.folder != nil, at: host.clock.monotonic)
      guard let job = added else { return nil }
      entries[job.id] = Entry(lookup: lookup, waits: [wait])
      running[lookup.key] = job.id
      begin()
    }
    return try await wait.get()
  }

  /// The same where no caller can wait.
  ///
  /// - Returns: `nil`: that takes a while.
  func findQuickly(_ asked: Lookup) -> LookupResult? {
    mounts.refresh()
    guard mounts.waitingMount(on: asked.path) == nil else { return nil }
    var lookup = asked
    lookup.absent = absent.among([asked.identity] + (asked.place.map { [$0.folder] } ?? []))
    return finder.findQuickly(lookup)
  }

  private func begin() {
    while let job = queue.begin() {
      guard let lookup = entries[job.id]?.lookup else { continue }
      let (finder, isElsewhere) = (finder, job.queueKey != nil)
      let work: @Sendable () -> Void = {
        let start = Clock.monotonic()
        let found = finder.findThoroughly(lookup, beside: isElsewhere)
        let took = Clock.monotonic() - start
        Task { @BrokerLoop in self.finish(job.id, found, took: took) }
      }
      // Without a thread it is as if the file system had not answered.
      if (try? Worker.start(work)) == nil, queue.end(job.id) { answer(job.id, nil) }
    }
  }

  private func finish(_ id: Int, _ found: LookupResult, took: Int64) {
    if !found.others.isEmpty { scan.met(found.others) }
    absent.note(found.absent, took: took)
    if queue.end(id) { answer(id, found) }
    begin()
  }

  private func answer(_ id: Int, _ found: LookupResult?) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    running[entry.lookup.key] = nil
    for wait in entry.waits { wait.finish(found) }
  }

  /// Looks at documents that the user has chosen: at a few of the machine's own at once, at others in a thread.
  ///
  /// - Parameter subject: the choice, among all that wait.
  /// - Throws: `KernelError` if one is neither a file nor a folder; `StateError` where the file system does not answer.
  func examine(_ documents: [Descriptor], _ subject: String) async throws -> [Chosen] {
    let chosen = try await look(at: documents, subject)
    return chosen.map { isReadOnly($0.document.path ?? "") ? $0.readOnly : $0 }
  }

  private func look(at documents: [Descriptor], _ subject: String) async throws -> [Chosen] {
    mounts.refresh()
    if documents.count <= Chosen.few {
      let all = documents.map { (descriptor: $0, path: $0.currentPath) }
      if !all.contains(where: { mayWait($0.path ?? "") }) {
        return try all.map { try Chosen($0.descriptor, at: $0.path) }
      }
    }
    let outcome = try await jobs.run(owner: subject, subject: subject) { heartbeat in
      FaultPoint.picksDue.hold()
      return Result { () throws(KernelError) in
        var chosen: [Chosen] = []
        for document in documents where heartbeat.beat() {
          chosen.append(try Chosen(document, at: document.currentPath))
        }
        return chosen
      }
    }
    guard let outcome else { throw StateError("a document is on a file system that does not answer") }
    return try outcome.get()
  }

  /// Asks a question about a file: at once, or in a thread where the answer may take long.
  ///
  /// - Throws: `StateError` where the file system does not answer.
  func ask<Value: Sendable>(
    about path: String, for owner: String, _ question: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    mounts.refresh()
    guard mayWait(path) else { return try question() }
    guard let outcome = try await jobs.run(owner: owner, subject: path, { _ in Result(catching: question) }) else {
      throw StateError("its file system does not answer")
    }
    return try outcome.get()
  }

  /// Whether looking at the files there may keep the loop waiting.
  func mayWait(_ path: String) -> Bool { mounts.mayWait(path) }

  // MARK: Keeping open

  /// Keeps a document open for a while, so that it is found after any move (``KeptDocuments``). With privilege the kernel finds
  /// it by its handle and nothing has to be kept.
  ///
  /// An open file keeps its volume mounted. So on volumes that people take away none is kept open: there
  /// the folders are watched.
  func pin(_ document: FoundDocument, for grant: String) {
    scan.note(grant, document.identity, at: document.path)
    // A kept file can be asked about at any time, so it is not where an answer may take long.
    guard !host.privileged, !mayWait(document.path ?? ""), host.isStaying(document.descriptor) else {
      pinned.remove(grant)
      return
    }
    pinned.keep(document, of: grant, now: host.clock.monotonic)
  }

  func unpin(_ grant: String) {
    pinned.remove(grant)
    scan.forget(grant)
  }

  /// The descriptor that is kept open for a grant.
  func pinned(_ grant: String) -> Descriptor? { pinned[grant] }

  // MARK: LoopMember

  func prepare(now: Int64) { pinned.sweep(now: now) }
  func nextDue(now: Int64) -> Int64? { queue.nextDue }

  /// Gives up lookups that have taken too long.
  func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    if queue.isIdle { return }
    for id in queue.expire(at: now) { answer(id, nil) }
    begin()
  }
}

/// Files that were searched for and are nowhere, for a while (``NegativeCache``).
@BrokerLoop
final class AbsentFiles {
  private var cache = NegativeCache()
  private let mounts: MountState
  private let clock: any LoopClock

  init(_ mounts: MountState, _ clock: any LoopClock) { (self.mounts, self.clock) = (mounts, clock) }

  func among(_ identities: [FileIdentity]) -> Set<FileIdentity> {
    let now = clock.monotonic
    return Set(identities.filter { cache.holds($0, at: now, mounts: mounts.generation) })
  }

  /// - Parameter took: nanoseconds that the search has taken.
  func note(_ identities: Set<FileIdentity>, took: Int64) {
    let now = clock.monotonic
    for identity in identities { cache.note(identity, at: now, took: took, mounts: mounts.generation) }
  }
}
