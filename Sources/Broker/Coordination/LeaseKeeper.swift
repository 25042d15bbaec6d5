internal import BrokerCore
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import SystemPackage

/// The leases on documents that apps present: programs that know nothing of Ambit wait in open(2) until the presenter has saved.
///
/// The kernel bounds that wait (``breakTime``). It breaks no lease for a rename over the document, and an open with `O_NONBLOCK`
/// fails at once instead of waiting, though it breaks the lease as well.
@BrokerLoop
final class LeaseKeeper: LoopMember {
  /// `read`: the presenter has no unsaved changes, so only writers wait. `write`: it has some, and all openers wait.
  typealias Kind = FileLease

  enum Holding: Equatable {
    case leased(Kind)
    /// No opener waits. The reason is the end of a sentence.
    case watchOnly(reason: String)
  }

  /// The intent of the open that waits.
  enum Opener { case reads, writes }

  /// A lease, for people.
  struct Lease {
    let identity: FileIdentity
    let path: String?
    let kind: Kind
    /// Nanoseconds for which an opener has been waiting; `nil`: none is.
    let sinceBreak: Int64?
  }

  private struct Entry {
    let file: Descriptor
    let kind: Kind
    var opener: Opener?
    /// Of the break, in nanoseconds of the loop's clock.
    var since: Int64 = 0
    /// When the kernel lets the opener go on; `nil`: never.
    var due: Int64?

    /// As the kernel has it.
    var present: Opener? {
      switch file.lease {
      case kind: nil
      case .read: .reads
      default: .writes
      }
    }
  }

  private var entries: [FileIdentity: Entry] = [:]
  private let mounts: MountState
  private let clock: any LoopClock

  /// Told once of each break, and once more when a writer joins a reader that waits. The opener waits until ``release(_:)``.
  var onBreak: (FileIdentity, Opener) -> Void = { _, _ in }
  /// Whether a reader of a document can go on at once. It then does so before its break is told, since each step before that costs it
  /// time.
  var isFree: (FileIdentity) -> Bool = { _ in false }
  /// Told when the kernel's time was over. The opener has gone on, and the lease is lost.
  var onLapse: (FileIdentity) -> Void = { _ in }

  /// Breaks are signals, and signals are the process's: one of a few keepers in a process reads for all.
  private static let breaks = Result { () throws(KernelError) in try LeaseBreaks() }
  private static var keepers: [Weak] = []
  private struct Weak { weak var keeper: LeaseKeeper? }

  /// Told of a document that is about to be leased.
  var beforeLease: (Descriptor) -> Void = { _ in }

  init(_ mounts: MountState, _ clock: any LoopClock) {
    (self.mounts, self.clock) = (mounts, clock)
    Self.keepers = Self.keepers.filter { $0.keeper != nil } + [Weak(keeper: self)]
  }

  // MARK: Holding

  /// Seconds that the kernel gives a holder to react; `nil`: as many as it wants. Patience with a presenter has to end well before.
  var breakTime: Int? { FileLease.breakTime }
  /// The same, as it was at the last break.
  private(set) var lastBreakTime: Int?

  /// Takes a lease on a document, or another kind in place of the present one. While an opener waits nothing is changed.
  ///
  /// Between two kinds there is a moment without a lease. A descriptor that ``leased(_:)`` has answered must be given up before.
  func hold(_ document: FoundDocument, as kind: Kind) -> Holding {
    if let entry = entries[document.identity] {
      if entry.kind == kind || isBreaking(document.identity) { return .leased(entry.kind) }
      release(document.identity)
    }
    guard document.kind == .file else { return .watchOnly(reason: "it is no regular file") }
    if let path = document.path, mounts.mayWait(path) {
      return .watchOnly(reason: "its file system may keep a caller waiting")
    }
    do throws(KernelError) {
      _ = try Self.breaks.get()
      // Without waiting: another process may have a lease itself.
      let file = try document.descriptor.reopened([kind == .write ? .readWrite : .read, .nonBlocking])
      guard try FileIdentity(of: file) == document.identity else {
        return .watchOnly(reason: "another file is in its place")
      }
      beforeLease(file)
      try file.take(kind)
      entries[document.identity] = Entry(file: file, kind: kind)
      return .leased(kind)
    } catch { return .watchOnly(reason: Self.reason(error)) }
  }

  /// Gives a lease back. An open that waits for it goes on.
  func release(_ identity: FileIdentity) { entries.removeValue(forKey: identity)?.file.giveBackLease() }

  /// The one reason that may pass.
  static let isOpen = "another program has it open"

  private static func reason(_ error: KernelError) -> String {
    switch (error.call, error.errno) {
    case (_, .wouldBlock): isOpen
    case ("fcntl", .permissionDenied): "it belongs to another user"
    case ("fcntl", .invalidArgument), ("fcntl", .notSupported), ("fcntl", .noLocks):
      "its file system has no leases"
    default: "\(error)"
    }
  }

  // MARK: Questions

  /// Whether an opener waits for a document, as the kernel has it now.
  func isBreaking(_ identity: FileIdentity) -> Bool {
    guard let entry = entries[identity], entry.present != nil else { return false }
    // After that the kernel answers the same, and no opener waits any more.
    return entry.due.map { clock.monotonic < $0 } ?? true
  }

  /// The lease on a document.
  func kind(of identity: FileIdentity) -> Kind? { entries[identity]?.kind }

  /// The open file that has the lease; it writes if the kind is ``Kind/write``.
  func leased(_ identity: FileIdentity) -> Descriptor? { entries[identity]?.file }

  /// The open file to save through: an opener waits, and has found this very file already. After a save by rename it would see the
  /// old content.
  func awaited(_ identity: FileIdentity) -> Descriptor? {
    guard let entry = entries[identity], entry.kind == .write, isBreaking(identity) else { return nil }
    return entry.file
  }

  /// Whether an opener waits that is going to write into this very file, through which nothing can be saved. A save by rename would
  /// leave its bytes in a file that has no name any more.
  func awaitsWriter(_ identity: FileIdentity) -> Bool { entries[identity]?.kind == .read && isBreaking(identity) }

  /// Whether an opener waits that is going to write.
  func isAwaitedByWriter(_ identity: FileIdentity) -> Bool {
    isBreaking(identity) && entries[identity]?.present == .writes
  }

  /// Nanoseconds until the kernel lets the opener of a document go on; `nil`: none waits, or it waits without end.
  func timeLeft(_ identity: FileIdentity) -> Int64? {
    note(identity)
    return entries[identity]?.due.map { max(0, $0 - clock.monotonic) }
  }

  /// All leases.
  var held: [Lease] {
    let now = clock.monotonic
    return entries.map { identity, entry in
      Lease(
        identity: identity, path: entry.file.currentPath, kind: entry.kind,
        sinceBreak: entry.opener.map { _ in now - entry.since })
    }
  }

  // MARK: LoopMember

  func appendEntries(to entries: inout [PollEntry], now: Int64) {
    guard !self.entries.isEmpty, let breaks = try? Self.breaks.get() else { return }
    entries.append(PollEntry(breaks.descriptor, .read))
  }

  func nextDue(now: Int64) -> Int64? { entries.isEmpty ? nil : entries.values.compactMap(\.due).min() }

  func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    if entries.contains(where: \.hasHappened) { Self.hear() }
    for (identity, entry) in self.entries {
      guard let due = entry.due, due <= now else { continue }
      release(identity)
      onLapse(identity)
    }
  }

  private static func hear() {
    guard let breaks = try? breaks.get() else { return }
    while let heard = (try? breaks.next()) ?? nil {
      for keeper in keepers.compactMap(\.keeper) { keeper.look(at: heard) }
    }
  }

  private func look(at heard: LeaseBreaks.Break) {
    for (identity, entry) in entries {
      if case .of(let number) = heard, entry.file.rawValue != number { continue }
      if entry.opener == nil, isFree(identity), entry.present == .reads {
        release(identity)
        lastBreakTime = breakTime
        onBreak(identity, .reads)
        continue
      }
      guard let opener = note(identity) else { continue }
      onBreak(identity, opener)
    }
  }

  /// Asks the kernel: the signal may have been that of a lease that was given back since.
  ///
  /// - Returns: the opener, if it is news.
  @discardableResult
  private func note(_ identity: FileIdentity) -> Opener? {
    guard var entry = entries[identity], let opener = entry.present, opener != entry.opener else { return nil }
    if entry.opener == nil {
      entry.since = clock.monotonic
      lastBreakTime = breakTime
      entry.due = lastBreakTime.map { entry.since + Int64($0) * 1_000_000_000 }
    }
    entry.opener = opener
    entries[identity] = entry
    return opener
  }
}
