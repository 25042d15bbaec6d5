internal import BrokerCore
internal import Folders
internal import Kernel
internal import Paths
internal import ScopedAccess

/// Which leases presented files want: of reading while the presenter has saved everything, of writing while it has not (`COO-27`,
/// `COO-28`). During a coordinated access there is none: the accessor opens the file itself.
@BrokerLoop
final class LeasedDocuments: LoopMember {
  private struct Entry {
    var document: FoundDocument?
    /// Presenters, and whether each has unsaved changes.
    var presenters: [Int: Bool] = [:]
    /// When a lease is tried again, in nanoseconds of CLOCK_MONOTONIC; `nil`: it is held, or not to be had.
    var retry: Int64?
    var pause: Int64 = 20_000_000
    /// Why the lease that is wanted was not to be had; the end of a sentence.
    var reason: String?
  }

  private static let shortestPause: Int64 = 20_000_000
  private static let longestPause: Int64 = 1_000_000_000

  private let leases: LeaseKeeper
  private let clock: any LoopClock
  private var entries: [PathKey: Entry] = [:]
  /// Coordinated accesses that are under way, also of files that nobody presents yet.
  private var accesses: [PathKey: Int] = [:]

  /// Told the path of a file that another program opens, and whether it writes.
  var onOpen: (PathKey, Bool) -> Void = { _, _ in }
  /// Whether a program that reads the file at a path can go on at once.
  var isFree: (PathKey) -> Bool = { _ in false }
  /// A program that waits is about to write over a file: its content can be kept first. It goes on when this is finished.
  var onOverwrite: (FoundDocument, PathKey, _ then: @escaping @BrokerLoop () -> Void) -> Void = { $2() }
  /// Files whose content is being kept for that.
  private var keeping: Set<PathKey> = []
  /// Whether a document has conflict versions that are not resolved, and younger than a time; `nil`: unknown.
  var hasConflicts: (FileIdentity, _ since: () throws -> Int64) -> Bool? = { _, _ in nil }
  /// Told the path of a file that no other program has open any more as it had.
  var onHeld: (PathKey) -> Void = { _ in }

  init(_ leases: LeaseKeeper, _ clock: any LoopClock) {
    (self.leases, self.clock) = (leases, clock)
    leases.onBreak = { identity, opener in
      if let path = self.path(of: identity) { self.onOpen(path, opener == .writes) }
    }
    leases.isFree = { identity in self.path(of: identity).map { self.isFree($0) } ?? false }
    leases.onLapse = { identity in
      if let path = self.path(of: identity) { self.retry(path) }
    }
  }

  private func path(of identity: FileIdentity) -> PathKey? {
    entries.first { $0.value.document?.identity == identity }?.key
  }

  /// Nanoseconds that the last opener may be kept waiting; `nil`: as many as one likes. Well before the kernel's own end.
  var longestWait: Int64? { leases.lastBreakTime.map { max(1, Int64($0) - 5) * 1_000_000_000 } }

  /// The lease on a presented file, and the reason why there is none, or not the one that is wanted.
  func lease(on path: PathKey) -> (kind: LeaseKeeper.Kind?, reason: String?) {
    guard let entry = entries[path] else { return (nil, "it is not a document that was given to an app") }
    let kind = entry.document.flatMap { leases.kind(of: $0.identity) }
    if accesses[path] != nil { return (kind, "a coordinated access is under way") }
    return (kind, entry.reason ?? (kind == nil ? LeaseKeeper.isOpen : nil))
  }

  /// Whether the file that is presented at a path has conflict versions that are not resolved; `nil`: unknown.
  ///
  /// - Parameter since: nanoseconds since 1970: earlier ones do not count.
  func conflicts(at path: PathKey, since: () throws -> Int64) -> Bool? {
    entries[path]?.document.flatMap { hasConflicts($0.identity, since) }
  }

  // MARK: Presenters

  /// - Parameter isOpening: an access of the presenter's own follows at once. Its end takes the lease, which would stand in its way until
  ///   then; should it not come, a second later.
  func present(_ id: Int, _ path: PathKey, unsaved: Bool, isOpening: Bool = false) {
    let isFirst = entries[path] == nil
    entries[path, default: Entry()].presenters[id] = unsaved
    guard isFirst, isOpening else { return hold(path) }
    entries[path]?.document = found(path)
    entries[path]?.retry = clock.monotonic + 1_000_000_000
  }

  func leave(_ id: Int) {
    for (path, entry) in entries where entry.presenters[id] != nil {
      entries[path]?.presenters[id] = nil
      if entry.presenters.count > 1 {
        hold(path)
      } else {
        if let document = entry.document { leases.release(document.identity) }
        entries[path] = nil
        // No lease will tell of the last opener.
        onHeld(path)
      }
    }
  }

  /// The presented file has another path.
  func moved(_ id: Int, to path: PathKey) {
    guard let unsaved = entries.values.compactMap({ $0.presenters[id] }).first else { return }
    leave(id)
    present(id, path, unsaved: unsaved)
  }

  /// Another file may be in its place.
  func changed(_ path: PathKey) {
    guard let entry = entries[path] else { return }
    if let document = entry.document {
      let present = try? Descriptor.open(path.text, flags: .place, resolve: .noSymlinks)
      guard present.flatMap({ try? FoundDocument($0) })?.identity != document.identity else { return }
      leases.release(document.identity)
    }
    hold(path)
  }

  // MARK: Accesses

  /// A coordinated access begins: it opens the file itself.
  ///
  /// - Parameter isAnswer: it saves for an opener that waits, who must not go on before.
  func begin(_ path: PathKey, isAnswer: Bool) {
    accesses[path, default: 0] += 1
    guard let document = entries[path]?.document else { return }
    if isAnswer, leases.isBreaking(document.identity) { return }
    leases.release(document.identity)
  }

  func end(_ path: PathKey) {
    guard let count = accesses[path] else { return }
    accesses[path] = count > 1 ? count - 1 : nil
    hold(path)
  }

  /// Whether an opener waits for a file.
  func isAwaited(_ path: PathKey) -> Bool {
    entries[path]?.document.map { leases.isBreaking($0.identity) } ?? false
  }

  /// An opener that waits may go on.
  func letGo(_ path: PathKey) {
    guard let document = entries[path]?.document else { return onHeld(path) }
    guard leases.isAwaitedByWriter(document.identity) else { return release(document, path) }
    guard keeping.insert(path).inserted else { return }
    onOverwrite(document, path) {
      self.keeping.remove(path)
      self.release(document, path)
    }
  }

  private func release(_ document: FoundDocument, _ path: PathKey) {
    leases.release(document.identity)
    guard let entry = entries[path] else { return }
    // A presenter that has not saved by now would keep up the next one as well, and have those fail that do not wait.
    if entry.presenters.values.contains(true) { entries[path]?.pause = Self.longestPause }
    retry(path)
  }

  // MARK: Holding

  private func hold(_ path: PathKey) {
    guard let entry = entries[path], accesses[path] == nil else { return }
    let kind: LeaseKeeper.Kind = entry.presenters.values.contains(true) ? .write : .read
    guard let document = found(path) else {
      entries[path]?.reason = "there is no regular file"
      onHeld(path)
      return
    }
    if let former = entry.document, former.identity != document.identity { leases.release(former.identity) }
    entries[path]?.document = document
    let isChange = leases.kind(of: document.identity) != kind && !leases.isBreaking(document.identity)
    switch leases.hold(document, as: kind) {
    case .leased(let taken):
      entries[path]?.retry = nil
      entries[path]?.reason = nil
      entries[path]?.pause = Self.shortestPause
      // A lease that was to be had says that the last opener has closed the file, though the next one may wait by now.
      if isChange && taken == kind || !leases.isBreaking(document.identity) { onHeld(path) }
    case .watchOnly(let reason):
      entries[path]?.reason = reason
      if reason == LeaseKeeper.isOpen {
        // An opener that only reads is no hindrance for the lease that keeps writers waiting.
        if kind == .write { _ = leases.hold(document, as: .read) }
        retry(path)
      } else {
        entries[path]?.retry = nil
        onHeld(path)
      }
    }
  }

  /// The regular file at a path.
  private func found(_ path: PathKey) -> FoundDocument? {
    guard let place = try? Descriptor.open(path.text, flags: .place, resolve: .noSymlinks),
      let document = try? FoundDocument(place), document.kind == .file
    else { return nil }
    return document
  }

  private func retry(_ path: PathKey) {
    guard let entry = entries[path] else { return }
    entries[path]?.retry = clock.monotonic + entry.pause
    entries[path]?.pause = min(Self.longestPause, entry.pause * 2)
  }

  // MARK: LoopMember

  func nextDue(now: Int64) -> Int64? { entries.isEmpty ? nil : entries.values.compactMap(\.retry).min() }

  func finishTurn(now: Int64) {
    for (path, entry) in entries {
      guard let due = entry.retry, due <= now else { continue }
      entries[path]?.retry = nil
      hold(path)
    }
  }
}
