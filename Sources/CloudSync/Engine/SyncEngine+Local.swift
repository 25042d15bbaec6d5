// Reports of the device about its own folder.

extension SyncEngine {
  mutating func scan(_ items: [LocalItem]) {
    isScanned = true
    var found: [String: LocalItem] = [:]
    found.reserveCapacity(items.count)
    for item in items { found[item.id] = item }
    if isRestored { for acting in acts.all { recognize(acting, found) } }
    isRestored = false

    var gone: [Int] = []
    for i in entries.positions {
      guard let old = entries[i].local?.item else { continue }
      guard let item = found[old.id] else {
        gone.append(i)
        continue
      }
      // Equal names may be different bytes.
      if item != old || !item.name.utf8.elementsEqual(old.name.utf8) {
        entries[i].local?.item = item
        if entries[i].failures <= Self.hastyFailures { entries[i].heldUntil = nil }
      }
    }
    // Of two new items whose names collide, the one that comes first keeps its name; a folder lists its items in any order.
    let unknown = items.filter { entries.position(ofLocal: $0.id) == nil }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    var heirs: [LocalPlace: LocalItem] = [:]
    for item in unknown.reversed() where item.kind == .document && !gone.isEmpty {
      heirs[LocalPlace(parent: item.parent, name: item.name)] = item
    }
    var adopted: Set<String> = []
    // Of two items that had the name one after the other, the new file is the one that the cloud knows.
    for i in gone.filter({ entries[$0].synced != nil }) + gone.filter({ entries[$0].synced == nil }) {
      guard let old = entries[i].local?.item else { continue }
      // Programs save a document as a new file that takes the old one's name.
      let place = LocalPlace(parent: old.parent, name: old.name)
      let heir = old.kind == .document ? heirs.removeValue(forKey: place) : nil
      if let heir {
        entries[i].local?.item = heir
        adopted.insert(heir.id)
      } else {
        entries[i].local = nil
        entries[i].snapshot = nil
      }
    }
    for item in unknown where !adopted.contains(item.id) {
      let i = entries.add(nextName())
      entries[i].local = SyncEntry.Local(item: item, parent: item.parent)
    }
    for i in entries.positions {
      guard let local = entries[i].local else { continue }
      let parent = parent(of: local.item)
      if parent != local.parent { entries[i].local?.parent = parent }
    }
  }

  /// The device ended after a local act, before the engine heard of it. The temporary's identity shows that the act is done.
  private mutating func recognize(_ acting: Acting, _ found: [String: LocalItem]) {
    if let staged = acting.staged, planted != .placementForgotten {
      if found[staged.local.id] != nil {
        finishAct(acting.number, staged.local)
        return
      }
      effects.append(.discard(id: staged.local.id))
    }
    if let i = entries.position(of: acting.entry) { entries[i].staged = nil }
    _ = acts.remove(acting.number)
  }

  mutating func finishAct(_ number: Int, _ item: LocalItem?) {
    guard let acting = acts.remove(number) else { return }
    guard let i = entries.position(of: acting.entry) else { return }
    if entries[i].failures > 0 { entries[i].failures = 0 }
    switch acting.act {
    case .place, .replace:
      guard let item, let staged = acting.staged else { return }
      var entry = entries[i]
      (entry.staged, entry.snapshot, entry.kept) = (nil, nil, nil)
      entry.local = SyncEntry.Local(item: item, parent: parent(of: item))
      if case .place(_, let parent, let name) = acting.act {
        entry.synced = SyncEntry.Synced(
          parent: entries.id(ofLocal: parent) ?? CloudItem.root, name: name, contentRevision: 0,
          placeRevision: staged.item.placeRevision, stamp: "")
      }
      entries[i] = entry
      setSynced(i, staged.item, stamp: item.stamp)
    case .move: if let item { entries[i].local = SyncEntry.Local(item: item, parent: parent(of: item)) }
    case .remove:
      entries[i].local = nil
      entries[i].synced = nil
    case .keep(_, _, let content, _): entries[i].kept = content
    }
  }

  /// The id of the folder's entry.
  private func parent(of item: LocalItem) -> String { entries.id(ofLocal: item.parent) ?? CloudItem.root }

  mutating func setSynced(_ i: Int, _ item: CloudItem, stamp: String) {
    let item = planted == .oldDownloadApplied ? entries[i].remote ?? item : item
    entries[i].synced?.setContent(item, stamp: stamp)
    // A later conflict about the same content is another one: its version may be gone by then.
    if entries[i].kept != nil { entries[i].kept = nil }
  }

  /// The folder is not as the engine thought, so it looks again.
  mutating func refuseAct(_ number: Int) {
    guard let acting = acts.remove(number) else { return }
    isScanned = false
    if !effects.contains(.scan) { effects.append(.scan) }
    if let i = entries.position(of: acting.entry) { hold(i) }
  }

  mutating func takeStaged(_ request: Int, _ item: LocalItem) {
    guard let i = entries.position(ofRequest: request),
      let wanted = entries[i].transfer?.download
    else {
      effects.append(.discard(id: item.id))
      return
    }
    entries[i].endTransfer()
    entries[i].staged = SyncEntry.Staged(local: item, item: wanted)
  }
}
