/// The cloud's rules for one account: the changes that it accepts, and the news for devices.
///
/// A value without input, output or clock. The server process and the simulation use the same one. Each accepted change raises
/// ``revision`` by one and changes one row; a server stores this row and the receipt, as one transaction, before it answers.
///
/// A folder is deleted only when it is empty. A device therefore deletes the items in it one by one, each with its own base, and a
/// new item of another device stops the deletion. No device can delete a content that it has not seen.
package struct CloudLedger: Sendable {
  /// The number of the last accepted change.
  package private(set) var revision = 0
  /// The limit of ``used``, in bytes. `nil`: no limit.
  package var quota: Int64?
  /// The sizes of all documents that are not deleted, in bytes.
  package private(set) var used: Int64 = 0
  /// Documents and folders that are not deleted.
  package private(set) var count = 0
  /// Of these; a device's folder has room for as many.
  package static let most = 100_000
  /// Anchors below this one are too old, because tombstones after them are gone.
  package private(set) var oldestAnchor = 0

  private var rows: [String: CloudItem] = [:]
  /// The item at each place, and the number of items in each folder. Tombstones have no place.
  private var occupants: [Place: String] = [:]
  private var childCounts: [String: Int] = [:]
  /// All changes in their order. An element whose item has changed again later is out of date.
  private var log: [(revision: Int, id: String)] = []
  private var receipts: [String: CloudAnswer] = [:]
  private var receiptOrder: [String] = []
  var planted: PlantedFault?

  /// The number of receipts that the ledger remembers. A device has one message with 128 changes at most under way at a time, so a late
  /// duplicate is far younger.
  static let receiptLimit = 16_384

  private struct Place: Hashable {
    let parent, name: String
    init(_ parent: String, _ name: String, exact: Bool = false) {
      self.parent = parent
      self.name = exact ? name : Names.folded(name)
    }
  }

  package init() {}

  /// - Parameters:
  ///   - rows: all stored rows, in any order.
  ///   - receipts: stored receipts, oldest first.
  ///   - revision: the number of the last accepted change, which may exceed all rows' when tombstones are gone.
  package init(restoring rows: [CloudItem], receipts: [CloudReceipt], revision: Int = 0, oldestAnchor: Int = 0) {
    for row in rows.sorted(by: { $0.revision < $1.revision }) { put(row) }
    self.revision = max(revision, self.revision)
    self.oldestAnchor = oldestAnchor
    for receipt in receipts { remember(receipt.answer, for: receipt.key) }
  }

  // MARK: Reading

  package func item(_ id: String) -> CloudItem? { rows[id] }

  package func receipt(for key: String) -> CloudReceipt? { receipts[key].map { CloudReceipt(key: key, answer: $0) } }

  /// The contents that items and receipts name.
  package var contents: Set<String> {
    var contents = Set(rows.values.filter { !$0.isDeleted }.compactMap(\.content))
    for answer in receipts.values {
      if case .accepted(let item) = answer, let content = item.content { contents.insert(content) }
    }
    return contents
  }

  /// All items that are not deleted, in the order of their ids.
  package var items: [CloudItem] { rows.values.filter { !$0.isDeleted }.sorted { $0.id < $1.id } }

  /// A device with such an anchor lists everything again, from 0, and first without an anchor (`nil`). While it lists, its anchor in this sense is the ledger's revision at
  /// the first page: later deletions must still have their tombstones.
  package func isTooOld(_ anchor: Int?) -> Bool { anchor.map { $0 < oldestAnchor } ?? false }

  /// The items that changed after an anchor, tombstones too: each one once, in the order of revisions.
  package func changes(since anchor: Int, limit: Int) -> CloudPage {
    var low = 0
    var high = log.count
    while low < high {
      let middle = (low + high) / 2
      if log[middle].revision > anchor { high = middle } else { low = middle + 1 }
    }
    var page = CloudPage(items: [], next: anchor, more: false, revision: revision)
    for entry in log[low...] {
      guard let row = rows[entry.id], row.revision == entry.revision else { continue }
      if page.items.count == limit {
        page.more = true
        return page
      }
      page.items.append(row)
      page.next = row.revision
    }
    page.next = max(page.next, revision)
    return page
  }

  // MARK: Changing

  /// Decides on a change.
  ///
  /// - Parameter key: the same key again gives the same answer and changes nothing.
  /// - Returns: the answer, and the rows that changed.
  package mutating func apply(_ change: CloudChange, device: String, key: String) -> (CloudAnswer, [CloudItem]) {
    if let answer = receipts[key] { return (answer, []) }
    let before = revision
    let answer = decide(change, device)
    remember(answer, for: key)
    guard revision > before, case .accepted(let row) = answer else { return (answer, []) }
    return (answer, [row])
  }

  private mutating func decide(_ change: CloudChange, _ device: String) -> CloudAnswer {
    if case .create(let item) = change { return create(item, device) }
    guard var row = rows[change.id] else { return .missing(change.id) }
    if row.isDeleted { return .conflict(row) }
    switch change {
    case .create: return .conflict(row)
    case .replace(_, let content, let size, let base):
      if row.kind == .folder { return .missing(row.id) }
      if row.content == content { return .accepted(row) }
      if row.contentRevision != base { return .conflict(row) }
      if isOverQuota(adding: size - row.size) { return .overQuota }
      (row.content, row.size, row.device) = (content, size, device)
      row.contentRevision = revision + 1
    case .move(_, let parent, let name, let base):
      if row.parent == parent, row.name == name { return .accepted(row) }
      if row.placeRevision != base, planted != .moveBaseIgnored { return .conflict(row) }
      if let refusal = refusal(of: row.id, in: parent, name) { return refusal }
      (row.parent, row.name) = (parent, name)
      row.placeRevision = revision + 1
    case .delete(_, let base):
      if row.revision != base, planted != .deleteBaseIgnored { return .conflict(row) }
      if childCounts[row.id, default: 0] > 0, planted != .folderDeletedWithChildren { return .conflict(row) }
      row.isDeleted = true
    }
    return .accepted(accept(row))
  }

  private mutating func create(_ item: CloudItem, _ device: String) -> CloudAnswer {
    if let row = rows[item.id] { return .conflict(row) }
    if let refusal = refusal(of: item.id, in: item.parent, item.name) { return refusal }
    if isOverQuota(adding: item.size) || count >= Self.most { return .overQuota }
    var row = item
    (row.contentRevision, row.placeRevision) = (revision + 1, revision + 1)
    (row.device, row.isDeleted) = (device, false)
    return .accepted(accept(row))
  }

  /// The reason why the item cannot be at this place.
  private func refusal(of id: String, in parent: String, _ name: String) -> CloudAnswer? {
    var (folder, steps) = (parent, 0)
    while folder != CloudItem.root {
      if folder == id { return planted == .cycleAccepted ? nil : .cycle }
      // Only a planted fault makes a circle that is not seen when it closes.
      steps += 1
      guard steps <= rows.count else { return .cycle }
      guard let row = rows[folder], !row.isDeleted, row.kind == .folder else { return .missing(folder) }
      folder = row.parent
    }
    guard let other = occupants[place(parent, name)], other != id, let row = rows[other] else { return nil }
    return .collision(row)
  }

  private func isOverQuota(adding size: Int64) -> Bool {
    guard size > 0 else { return false }
    // Without a limit there is that of the counter.
    let (sum, overflows) = used.addingReportingOverflow(size)
    return overflows || sum > quota ?? Int64.max
  }

  private mutating func accept(_ row: CloudItem) -> CloudItem {
    var row = row
    row.revision = revision + 1
    put(row)
    return row
  }

  private func place(_ parent: String, _ name: String) -> Place {
    Place(parent, name, exact: planted == .caseSensitiveNames)
  }

  private mutating func put(_ row: CloudItem) {
    if let old = rows[row.id], !old.isDeleted {
      occupants[place(old.parent, old.name)] = nil
      childCounts[old.parent, default: 0] -= 1
      used -= old.size
      count -= 1
    }
    if !row.isDeleted {
      occupants[place(row.parent, row.name)] = row.id
      childCounts[row.parent, default: 0] += 1
      used += row.size
      count += 1
    }
    rows[row.id] = row
    revision = row.revision
    log.append((row.revision, row.id))
    if log.count > 64, log.count > 2 * rows.count { log.removeAll { rows[$0.id]?.revision != $0.revision } }
  }

  private mutating func remember(_ answer: CloudAnswer, for key: String) {
    receipts[key] = answer
    receiptOrder.append(key)
    guard receiptOrder.count >= 2 * Self.receiptLimit else { return }
    for old in receiptOrder.prefix(Self.receiptLimit) { receipts[old] = nil }
    receiptOrder.removeFirst(Self.receiptLimit)
  }

  /// Forgets the tombstones up to a revision. Devices with an older anchor fetch everything again.
  ///
  /// - Returns: the ids whose rows a server removes.
  package mutating func forgetTombstones(upTo limit: Int) -> [String] {
    let gone = log.filter {
      $0.revision <= limit && rows[$0.id]?.revision == $0.revision && rows[$0.id]?.isDeleted == true
    }
    for entry in gone { rows[entry.id] = nil }
    log.removeAll { rows[$0.id]?.revision != $0.revision }
    oldestAnchor = max(oldestAnchor, min(limit, revision))
    return gone.map(\.id)
  }
}
