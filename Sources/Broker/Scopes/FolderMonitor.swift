internal import BrokerCore
internal import Folders
internal import Kernel
internal import ScopedAccess

/// Where the files and packages stand that scopes are active on, and the folders that are watched for it: when another one
/// comes into a document's place and the document is gone, that one is the document (decision 1 of the catalogue).
@BrokerLoop
final class FolderMonitor: LoopMember {
  fileprivate struct Entry {
    var place: DocumentPlace?
    /// Where the store has it.
    let recorded: Place?
    var document: FoundDocument
    /// Its folder's volume is one that is never unmounted.
    var mayRest = false
    /// Scopes that are active on it, in all instances.
    var uses: Int
    var watch: Int32?
    /// A package that was set aside is removed there, which its own place is not told of.
    var aside: Int32?
  }

  /// Beyond these folders a replacement is seen only when the document is asked for again.
  private static let mostFolders = 1024
  /// Nanoseconds for which a folder is still watched that nothing is active in any more: most scopes are started again soon.
  private static let patience: Int64 = 1_000_000_000

  private var watcher: FolderWatcher?
  private var active: [String: Entry] = [:]
  /// How many documents each watch is for.
  private var watches: [Int32: Int] = [:]
  /// Watches that are for none any more, and since when.
  private var idle: [Int32: Int64] = [:]
  /// Where documents stood that nothing is active on any more, while that folder is still watched: most scopes that end are
  /// started again soon, and then there is nothing to look for.
  private var resting: [String: Resting] = [:]
  private struct Resting {
    let place: DocumentPlace
    let watch: Int32
  }
  /// Each keeps its folder open, and so its volume mounted: none is of a volume that people take away.
  private static let mostResting = 64
  /// Grants whose documents' folders are not watched yet.
  private var pending: Set<String> = []
  /// Since when there are some, in nanoseconds of CLOCK_MONOTONIC; `nil`: there are none.
  private(set) var pendingSince: Int64?
  /// Grants whose folder was not found, or could not be watched: the host was saving just then, or the kernel had no room.
  private var unwatched: Set<String> = []
  /// The time of the next try, in nanoseconds of CLOCK_MONOTONIC.
  private var again: Int64?
  /// Nanoseconds until then: longer each time that some are left.
  private var pause = FolderMonitor.shortestPause
  private static let shortestPause: Int64 = 1_000_000_000
  private static let longestPause: Int64 = 60_000_000_000
  /// Of those, at one time.
  private static let mostAgain = 64

  private let host: BrokerHost
  private var pace = Pace()
  /// Told a grant in whose document's folder something has happened.
  var onChange: (String) -> Void = { _ in }

  init(_ host: BrokerHost) {
    self.host = host
  }

  // MARK: LoopMember

  func appendEntries(to entries: inout [PollEntry], now: Int64) {
    if let watcher, !pace.rests(now: now) { entries.append(PollEntry(watcher.descriptor, .read)) }
  }

  func nextDue(now: Int64) -> Int64? {
    guard let again else { return pace.nextDue(now: now) }
    return min(again, pace.nextDue(now: now) ?? again)
  }

  func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    guard entries.contains(where: \.hasHappened) else { return }
    pace.note(now: now)
    for grant in changed() { onChange(grant) }
  }

  func finishTurn(now: Int64) {
    leaveFolders(now: now)
    guard let due = again, due <= now else { return }
    again = nil
    pause = min(Self.longestPause, pause * 2)
    let missing = unwatched.prefix(Self.mostAgain)
    unwatched.subtract(missing)
    for grant in missing where settle(grant) { onChange(grant) }
    if unwatched.isEmpty { pause = Self.shortestPause } else { again = again ?? now + pause }
  }

  // MARK: The watches

  /// Its folder is watched from the next ``settle()`` on: the start of the scope does not wait for that.
  func add(_ grant: String, _ document: FoundDocument, recorded: Place?) {
    if active[grant] != nil {
      active[grant]?.uses += 1
      return
    }
    active[grant] = Entry(recorded: recorded, document: document, uses: 1)
    pending.insert(grant)
    if pendingSince == nil { pendingSince = host.clock.monotonic }
  }

  /// One scope on it has ended.
  func remove(_ grant: String) {
    guard let entry = active[grant] else { return }
    active[grant]?.uses -= 1
    guard entry.uses == 1 else { return }
    active[grant] = nil
    pending.remove(grant)
    unwatched.remove(grant)
    if pending.isEmpty { pendingSince = nil }
    if let aside = entry.aside { leave(aside) }
    guard let number = entry.watch, watches[number] != nil else { return }
    leave(number)
    if let place = entry.place, entry.mayRest, resting.count < Self.mostResting {
      resting[grant] = Resting(place: place, watch: number)
    }
  }

  private func leave(_ number: Int32) {
    guard let count = watches[number] else { return }
    watches[number] = count - 1
    if count == 1 { idle[number] = host.clock.monotonic }
  }

  func replaced(_ grant: String, by document: FoundDocument) {
    active[grant]?.document = document
    if let aside = active[grant]?.aside { leave(aside) }
    active[grant]?.aside = nil
  }

  /// The folder around a grant's document is another one now.
  func moved(_ grant: String, to place: DocumentPlace) {
    guard active[grant] != nil else { return }
    pending.remove(grant)
    if pending.isEmpty { pendingSince = nil }
    let number = watch(place.folder)
    if let old = active[grant]?.watch { leave(old) }
    active[grant]?.watch = number
    take(place, for: grant)
  }

  private func take(_ place: DocumentPlace, for grant: String) {
    active[grant]?.place = place
    active[grant]?.mayRest = host.isStaying(place.folder)
  }

  /// Leaves the folders that nothing was active in for a while.
  func leaveFolders(now: Int64) {
    for (number, since) in idle where now - since > Self.patience { unwatch(number) }
  }

  /// When no request waits: watches the folders that are not watched yet. Some documents may be gone already.
  func settle() {
    pendingSince = nil
    for grant in pending.filter({ settle($0) }) { onChange(grant) }
  }

  private func settle(_ grant: String) -> Bool {
    pending.remove(grant)
    if pending.isEmpty { pendingSince = nil }
    guard let entry = active[grant] else { return false }
    let document = entry.document
    if let known = resting.removeValue(forKey: grant), watches[known.watch] != nil, known.place.holds(document) {
      take(known.place, for: grant)
      active[grant]?.watch = known.watch
      watches[known.watch, default: 0] += 1
      idle[known.watch] = nil
      return active[grant]?.isGone ?? false
    }
    // The host may have saved between the start and now: then no path leads to the document, and its place is the last one.
    let last = entry.isGone ? DocumentPlace(lastOf: document, recorded: entry.recorded) : nil
    guard let place = DocumentPlace(of: document) ?? last else {
      tryAgain(grant)
      return false
    }
    let watch = watch(place.folder)
    if watch == nil { tryAgain(grant) }
    take(place, for: grant)
    if let old = entry.watch { leave(old) }
    active[grant]?.watch = watch
    return active[grant]?.isGone ?? false
  }

  private func tryAgain(_ grant: String) {
    unwatched.insert(grant)
    again = again ?? host.clock.monotonic + pause
  }

  private func watch(_ folder: Descriptor) -> Int32? {
    guard let watcher = watcher.opened(), let number = try? watcher.watch(folder) else { return nil }
    if watches[number] == nil, watches.count >= Self.mostFolders { for each in idle.keys { unwatch(each) } }
    guard watches[number] != nil || watches.count < Self.mostFolders else {
      watcher.unwatch(number)
      return nil
    }
    idle[number] = nil
    watches[number, default: 0] += 1
    return number
  }

  private func unwatch(_ number: Int32) {
    watcher?.unwatch(number)
    watches[number] = nil
    idle[number] = nil
    resting = resting.filter { $0.value.watch != number }
  }

  /// The grants whose documents' folders something has happened in.
  func changed() -> [String] {
    guard let events = watcher?.events(), !events.isEmpty else { return [] }
    let folders = Set(events.map(\.watch))
    return active.filter { _, entry in
      [entry.watch, entry.aside].contains { $0.map { folders.contains($0) || folders.contains(-1) } ?? false }
    }.map(\.key)
  }

  /// The file or package that has come into the place of a grant's document, if the document is gone for good. One that was only
  /// moved away is still the document, even if another file stands at its old place.
  func successor(of grant: String) -> (old: FileIdentity, new: FoundDocument)? {
    if pending.contains(grant) { _ = settle(grant) }
    guard let entry = active[grant] else { return nil }
    if !entry.isGone { followAside(grant, entry) }
    guard entry.isGone, let present = entry.place?.present, present.kind == entry.document.kind,
      present.identity != entry.document.identity, entry.place?.isOnItsVolume(present) == true
    else { return nil }
    return (entry.document.identity, present)
  }

  /// Programs set a package aside, put the new one there, and only then remove the old one's content and itself.
  private func followAside(_ grant: String, _ entry: Entry) {
    guard entry.document.kind == .folder, let present = entry.place?.present,
      present.identity != entry.document.identity, let elsewhere = DocumentPlace(of: entry.document)
    else { return }
    let watch = watch(elsewhere.folder)
    if let old = active[grant]?.aside { leave(old) }
    active[grant]?.aside = watch
  }
}

extension FolderMonitor.Entry {
  fileprivate var isGone: Bool { (try? document.descriptor.status())?.links == 0 }
}
