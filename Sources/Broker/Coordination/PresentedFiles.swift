internal import BrokerCore
internal import Coordination
internal import Kernel
internal import Paths

/// Changes of presented items that programs make which coordinate nothing (`COO-24`). Their folders are watched; of a presented folder
/// also those in it, up to a number.
@BrokerLoop
final class PresentedFiles: LoopMember {
  private struct Entry {
    var path: PathKey
    /// Opened as a place. It tells a move from a deletion.
    var file: Descriptor?
    var watches: Set<Int32> = []
  }

  /// Something that has happened at a path.
  enum Event: Hashable {
    case changed(PathKey, Change)
    case moved(PathKey, to: PathKey)
  }

  private static let mostFolders = 1024
  private static let mostFoldersOfOne = 256
  private static let mostParcels = 128
  /// Names of one folder, and of all folders at one time, that are looked through for folders.
  private static let mostNames = 4096
  private static let mostNamesAtOnce = 16_384
  /// Nanoseconds from an event to a look at the files: programs that replace a file do it in several steps.
  private static let settling: Int64 = 4_000_000

  private var watcher: ChangeWatcher?
  private let clock: any LoopClock
  private var entries: [Int: Entry] = [:]
  /// The path of each watched folder.
  private var folders: [Int32: PathKey] = [:]
  /// Watches that are for none any more, and since when: a document that was closed is often opened again soon.
  private var idle: [Int32: Int64] = [:]
  private static let patience: Int64 = 1_000_000_000
  private var pending: [ChangeWatcher.Event] = []
  private var due: Int64?
  /// Entries whose folder could not be watched, and when that is tried again, in nanoseconds of CLOCK_MONOTONIC.
  private var unwatched: Set<Int> = []
  private var again: Int64?
  /// Nanoseconds until then: longer each time that some are left. An app can name folders that never come.
  private var pause = PresentedFiles.shortestPause
  private static let shortestPause: Int64 = 1_000_000_000
  private static let longestPause: Int64 = 60_000_000_000
  private(set) var namesLeft = PresentedFiles.mostNamesAtOnce

  /// Told what has happened, in order.
  var onEvent: (Event) -> Void = { _ in }

  init(_ clock: any LoopClock) {
    self.clock = clock
  }

  func add(_ id: Int, _ path: PathKey) {
    namesLeft = Self.mostNamesAtOnce
    var entry = Entry(path: path)
    entry.file = try? Descriptor.open(path.text, flags: .place, resolve: .noSymlinks)
    entries[id] = entry
    watch(id)
  }

  func remove(_ id: Int) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    unwatched.remove(id)
    leave(entry.watches)
  }

  /// An item is somewhere else, as its presenter has been told.
  func moved(_ id: Int, to path: PathKey) {
    guard let entry = entries[id], entry.path != path else { return }
    entries[id]?.path = path
    entries[id]?.file = (try? Descriptor.open(path.text, flags: .place, resolve: .noSymlinks)) ?? entry.file
    entries[id]?.watches = []
    leave(entry.watches)
    namesLeft = Self.mostNamesAtOnce
    watch(id)
  }

  private func watch(_ id: Int) {
    guard let entry = entries[id] else { return }
    let isFolder = (try? entry.file?.status().kind) == .directory
    if let parent = entry.path.text.parentPath, watch(PathKey(parent), for: id) == nil {
      unwatched.insert(id)
      again = again ?? clock.monotonic + pause
    }
    if isFolder { watchTree(entry.path, for: id) }
  }

  private func watchTree(_ path: PathKey, for id: Int) {
    var left = [path]
    // Not by the watches alone: two paths of one folder have the same.
    var looks = 0
    while let next = left.popLast(), looks < Self.mostFoldersOfOne, namesLeft > 0,
      (entries[id]?.watches.count ?? .max) < Self.mostFoldersOfOne
    {
      looks += 1
      guard let folder = watch(next, for: id), let opened = try? folder.reopened([.read, .directory]),
        let inside = try? DirectoryReader.entries(of: opened, limit: Self.mostNames)
      else { continue }
      namesLeft -= inside.count
      left += inside.filter { $0.kind == .directory }.map { PathKey(next.text.path(of: $0.name)) }
    }
  }

  @discardableResult
  private func watch(_ path: PathKey, for id: Int) -> Descriptor? {
    guard folders.count < Self.mostFolders, let watcher = watcher.opened(),
      let folder = try? Descriptor.open(path.text, flags: [.path, .directory], resolve: .noSymlinks),
      let number = try? watcher.watch(folder)
    else { return nil }
    folders[number] = path
    idle[number] = nil
    entries[id]?.watches.insert(number)
    return folder
  }

  private func leave(_ watches: Set<Int32>) {
    for number in watches where !entries.values.contains(where: { $0.watches.contains(number) }) {
      idle[number] = clock.monotonic
    }
    // Room is for those that are in use.
    if folders.count > Self.mostFolders / 2 { forgetIdle(since: .max) }
  }

  private func forgetIdle(since time: Int64) {
    for (number, since) in idle where since <= time {
      watcher?.unwatch(number)
      folders[number] = nil
      idle[number] = nil
    }
  }

  // MARK: Events

  /// Looks at once at all that has happened until now.
  func drain() {
    // What was due when the last presenter left is taken as well, or the loop would go on for it without end.
    guard let watcher, !entries.isEmpty || due != nil else { return }
    // As many as the kernel keeps at a time. Later events have another turn.
    for _ in 0..<Self.mostParcels {
      let events = watcher.events()
      if events.isEmpty { break }
      pending += events
    }
    settle()
  }

  private func settle() {
    due = nil
    guard !pending.isEmpty else { return }
    namesLeft = Self.mostNamesAtOnce
    let events = pending
    pending = []
    for event in judged(events) { onEvent(event) }
  }

  /// What has become of the items: each path once, moves first.
  private func judged(_ events: [ChangeWatcher.Event]) -> [Event] {
    var result: [Event] = []
    var known: Set<Event> = []
    func add(_ event: Event) { if known.insert(event).inserted { result.append(event) } }
    let away = Dictionary(
      events.filter { $0.kind == .movedAway }.map { ($0.move, $0) }, uniquingKeysWith: { first, _ in first })
    let here = Set(events.filter { $0.kind == .movedHere }.map(\.move))
    for event in events {
      if event.kind == .lost {
        for entry in entries.values { add(.changed(entry.path, .content)) }
        continue
      }
      guard let folder = folders[event.watch] else { continue }
      let path = PathKey(folder.text.path(of: event.name))
      let presented = entries.values.first { $0.path == path }
      if let presented {
        if let judged = Self.judge(presented, event.kind) { add(judged) }
      } else if entries.values.contains(where: { path.text.lies(below: $0.path.text) }) {
        switch event.kind {
        case .created: add(.changed(path, .created))
        case .deleted: add(.changed(path, .deleted))
        case .content: if !known.contains(.changed(path, .created)) { add(.changed(path, .content)) }
        case .attributes: add(.changed(path, .attributes))
        case .movedAway: if !here.contains(event.move) { add(.changed(path, .deleted)) }
        case .movedHere:
          if let from = away[event.move], let old = folders[from.watch] {
            add(.moved(PathKey(old.text.path(of: from.name)), to: path))
          } else {
            add(.changed(path, .created))
          }
        case .lost: break
        }
        if event.isFolder, event.kind == .created || event.kind == .movedHere {
          for (id, entry) in entries where path.text.lies(below: entry.path.text) { watchTree(path, for: id) }
        }
      }
    }
    // Whoever replaced a file has it opened anew.
    for (id, entry) in entries where known.contains(.changed(entry.path, .content)) {
      if let file = try? Descriptor.open(entry.path.text, flags: .place, resolve: .noSymlinks) {
        entries[id]?.file = file
      }
    }
    return result
  }

  /// Compares the file that was there with the one that is there now.
  private static func judge(_ entry: Entry, _ kind: ChangeWatcher.Kind) -> Event? {
    let present = try? Descriptor.open(entry.path.text, flags: .place, resolve: .noSymlinks).status()
    let former = try? entry.file?.status()
    if let present {
      if let former, former.inode == present.inode, former.device == present.device {
        return switch kind {
        case .content, .movedHere: .changed(entry.path, .content)
        case .attributes: .changed(entry.path, .attributes)
        default: nil
        }
      }
      return .changed(entry.path, .content)
    }
    if let former, former.links > 0, let now = entry.file?.currentPath, !now.isSamePath(as: entry.path.text) {
      return .moved(entry.path, to: PathKey(now))
    }
    return .changed(entry.path, .deleted)
  }

  // MARK: LoopMember

  func appendEntries(to entries: inout [PollEntry], now: Int64) {
    // While something settles, more of it is no news.
    if let watcher, due == nil { entries.append(PollEntry(watcher.descriptor, .read)) }
  }

  func nextDue(now: Int64) -> Int64? {
    var next = [due, again].compactMap(\.self).min()
    for since in idle.values { next = min(next ?? .max, since + Self.patience) }
    return next
  }

  func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    guard entries.contains(where: \.hasHappened), due == nil else { return }
    due = now + Self.settling
  }

  func finishTurn(now: Int64) {
    if let due, due <= now { drain() }
    if let again, again <= now { watchAgain() }
    if !idle.isEmpty { forgetIdle(since: now - Self.patience) }
  }

  /// The kernel may have room by now, or the folder be there.
  private func watchAgain() {
    again = nil
    pause = min(Self.longestPause, pause * 2)
    let missing = unwatched
    unwatched = []
    namesLeft = Self.mostNamesAtOnce
    for id in missing {
      watch(id)
      // Changes until now were missed.
      if !unwatched.contains(id), let path = entries[id]?.path { onEvent(.changed(path, .content)) }
    }
    if unwatched.isEmpty { pause = Self.shortestPause }
  }
}
