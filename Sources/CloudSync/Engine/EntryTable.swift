/// All entries, in the order in which they came, with the answers that the engine needs again and again.
///
/// Each change of an entry goes through the subscript, which brings everything derived up to date and marks the entry for the next
/// ``SyncDelta``. So no question goes over all entries. An entry keeps its position until ``removeFinished(upTo:where:)``
/// gives up the empty positions of those that are gone.
struct EntryTable: Sendable {
  private var slots: [SyncEntry] = []
  /// The number that gives the entry its place among the saved rows. `nil`: the entry is gone.
  private var orders: [Int?] = []
  private var lastOrder = 0
  private var goneCount = 0

  // Derived from the entries.
  private var filings: [Filing] = []
  private var byID: [String: Int] = [:]
  private var byLocal: [String: Int] = [:]
  private var byRequest: [Int: Int] = [:]
  private(set) var here = FolderIndex()
  private(set) var there = FolderIndex()
  private(set) var unsettled = PositionSet()
  /// Entries that neither side has any more, by the revision of the tombstone.
  private var finished = DueQueue()
  /// Entries that are left alone up to a time.
  private var held = DueQueue()
  /// The reason why each entry waits, and the entries that wait for the same.
  private var waits: [Wait] = []
  private var queues = Array(repeating: PositionSet(), count: Wait.kinds)

  /// Since the last delta.
  private var changed = PositionSet()
  private var removed: Set<String> = []

  init() {}

  subscript(_ i: Int) -> SyncEntry {
    // Without optimization, Swift 6.3 reads wrong values through a `_read` here.
    get { slots[i] }
    _modify {
      yield &slots[i]
      changed.insert(i)
      refile(i, Filing(slots[i]))
    }
  }

  var count: Int { slots.count - goneCount }

  /// Of all entries, in their order.
  var positions: [Int] { slots.indices.filter { orders[$0] != nil } }

  /// Uploads and downloads under way.
  var transferCount: Int { byRequest.count }

  func position(of id: String) -> Int? { byID[id] }
  func position(ofLocal id: String) -> Int? { byLocal[id] }
  func position(ofRequest request: Int) -> Int? { byRequest[request] }

  /// The entry's id of a local item.
  func id(ofLocal id: String) -> String? { byLocal[id].map { slots[$0].id } }

  mutating func add(_ id: String) -> Int {
    lastOrder += 1
    removed.remove(id)
    return append(SyncEntry(id: id), order: lastOrder)
  }

  /// Removes the entries that neither side has any more and whose tombstone cannot come again.
  mutating func removeFinished(upTo revision: Int, where isFree: (String) -> Bool) {
    var kept: [DueQueue.Element] = []
    while let first = finished.first, first.due <= revision {
      finished.removeFirst()
      guard filings[first.position].finishedAt == first.due else { continue }
      if isFree(slots[first.position].id) { remove(first.position) } else { kept.append(first) }
    }
    for element in kept { finished.add(element.due, element.position) }
    compact()
  }

  private mutating func remove(_ i: Int) {
    let id = slots[i].id
    orders[i] = nil
    goneCount += 1
    byID[id] = nil
    changed.remove(i)
    removed.insert(id)
    refile(i, Filing())
    slots[i] = SyncEntry(id: "")
  }

  /// Gives up empty positions, but only when there are many, so that the time is shared among many removals.
  private mutating func compact() {
    guard goneCount > 8, goneCount > count else { return }
    var table = EntryTable()
    for i in slots.indices {
      guard let order = orders[i] else { continue }
      let new = table.append(slots[i], order: order)
      table.changed.set(new, changed.contains(i))
    }
    table.lastOrder = lastOrder
    table.removed = removed
    self = table
  }

  private mutating func append(_ entry: SyncEntry, order: Int) -> Int {
    let i = slots.count
    slots.append(entry)
    orders.append(order)
    filings.append(Filing())
    waits.append([])
    byID[entry.id] = i
    changed.insert(i)
    refile(i, Filing(entry))
    return i
  }

  // MARK: Waiting

  /// The first entry from a position on that waits for nothing, or for something that is free.
  func next(from start: Int, free: Wait) -> Int? {
    var result: Int?
    for kind in 1..<Wait.kinds where kind == Wait.nothing.rawValue || kind & free.rawValue != 0 {
      if let i = queues[kind].next(from: start), i < result ?? Int.max { result = i }
    }
    return result
  }

  /// Ends the time in which entries are left alone, where it is over.
  mutating func release(at now: Int64) {
    let now = Int(now)
    while let first = held.first, first.due <= now || filings[first.position].heldUntil != first.due {
      held.removeFirst()
      if filings[first.position].heldUntil == first.due { self[first.position].heldUntil = nil }
    }
  }

  mutating func nextRelease() -> Int64? {
    while let first = held.first, filings[first.position].heldUntil != first.due { held.removeFirst() }
    return held.first.map { Int64($0.due) }
  }

  private mutating func requeue(_ i: Int) { setWait(i, orders[i] == nil ? [] : slots[i].wait(in: self)) }

  /// The entry needs an act, and all are under way. Its next change ends this.
  mutating func park(_ i: Int) { setWait(i, .act) }

  private mutating func setWait(_ i: Int, _ wait: Wait) {
    if wait == waits[i] { return }
    if waits[i] != [] { queues[waits[i].rawValue].remove(i) }
    if wait != [] { queues[wait.rawValue].insert(i) }
    waits[i] = wait
  }

  // MARK: Filing

  private mutating func refile(_ i: Int, _ new: Filing) {
    let old = filings[i]
    filings[i] = new
    if old.localID != new.localID {
      if let id = old.localID, byLocal[id] == i { byLocal[id] = nil }
      if let id = new.localID { byLocal[id] = i }
    }
    if old.request != new.request {
      if let request = old.request { byRequest[request] = nil }
      if let request = new.request { byRequest[request] = i }
    }
    if let due = new.heldUntil, due != old.heldUntil { held.add(due, i) }
    if old.isSettled != new.isSettled { unsettled.set(i, !new.isSettled) }
    if let due = new.finishedAt, due != old.finishedAt { finished.add(due, i) }
    let folders = old.here == new.here ? [] : here.move(i, from: old.here, to: new.here)
    let foldersThere = old.there == new.there ? [] : there.move(i, from: old.there, to: new.there)
    requeue(i)
    for folder in folders + foldersThere { if let other = byID[folder] { requeue(other) } }
    // Items wait for their folder to come to the other side.
    if (old.there == nil) != (new.there == nil) { for child in here.members(of: slots[i].id) { requeue(child) } }
    if (old.here == nil) != (new.here == nil) { for child in there.members(of: slots[i].id) { requeue(child) } }
  }

  // MARK: Saving

  /// - Parameter rows: in any order.
  init(_ rows: some Sequence<SyncRow>) {
    for row in rows.sorted(by: { $0.order < $1.order }) {
      _ = append(row.entry, order: row.order)
      lastOrder = row.order
    }
    changed = PositionSet()
  }

  /// The entries that changed and the ids of those that went since the last call.
  mutating func takeChanges() -> (changed: [SyncRow], removed: [String]) {
    let rows = changed.positions.compactMap { i in orders[i].map { SyncRow(order: $0, entry: slots[i]) } }
    let ids = removed.sorted()
    changed = PositionSet()
    removed = []
    return (rows, ids)
  }

  /// A planted fault.
  mutating func forgetMark(_ i: Int) { changed.remove(i) }
}

/// As a list of entries. All entries of a decoded table count as changed.
extension EntryTable: Codable {
  init(from decoder: any Decoder) throws {
    for entry in try [SyncEntry](from: decoder) {
      lastOrder += 1
      _ = append(entry, order: lastOrder)
    }
  }

  func encode(to encoder: any Encoder) throws { try positions.map { slots[$0] }.encode(to: encoder) }
}
