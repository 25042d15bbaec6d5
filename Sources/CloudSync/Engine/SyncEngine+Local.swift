// What the device reports of its own folder.

extension SyncEngine {
  mutating func scan(_ items: [LocalItem]) {
    isScanned = true
    var found: [String: LocalItem] = [:]
    found.reserveCapacity(items.count)
    for item in items { found[item.id] = item }
    if isRestored { recognizeAct(found) }
    isRestored = false

    var gone: [Int] = []
    for i in entries.indices {
      guard let local = entries[i].local else { continue }
      if let item = found[local.item.id] { entries[i].local?.item = item } else { gone.append(i) }
    }
    let unknown = items.filter { byLocal[$0.id] == nil }
    var adopted: Set<String> = []
    for i in gone {
      guard let old = entries[i].local?.item else { continue }
      byLocal[old.id] = nil
      // Programs save a document as a new file that takes the old one's name.
      let heir = unknown.first {
        old.kind == .document && $0.kind == .document && $0.parent == old.parent && $0.name == old.name
      }
      entries[i].local?.item = heir ?? old
      if let heir {
        byLocal[heir.id] = entries[i].id
        adopted.insert(heir.id)
      } else {
        entries[i].local = nil
        entries[i].snapshot = nil
      }
    }
    for item in unknown where !adopted.contains(item.id) {
      let i = addEntry(nextName())
      entries[i].local = SyncEntry.Local(item: item, parent: item.parent)
      byLocal[item.id] = entries[i].id
    }
    for i in entries.indices {
      guard let parent = entries[i].local?.item.parent else { continue }
      entries[i].local?.parent = byLocal[parent] ?? CloudItem.root
    }
  }

  /// The device ended after a local act, before the engine heard of it. The temporary's identity shows that the act is done.
  private mutating func recognizeAct(_ found: [String: LocalItem]) {
    guard let acting else { return }
    if let staged = acting.staged, planted != .placementForgotten {
      if found[staged.local.id] != nil {
        finishAct(staged.local)
        return
      }
      effects.append(.discard(id: staged.local.id))
    }
    if let i = index[acting.entry] { entries[i].staged = nil }
    self.acting = nil
  }

  mutating func finishAct(_ item: LocalItem?) {
    guard let acting else { return }
    self.acting = nil
    guard let i = index[acting.entry] else { return }
    entries[i].failures = 0
    switch acting.act {
    case .place, .replace:
      guard let item, let staged = acting.staged else { return }
      if let old = entries[i].local { byLocal[old.item.id] = nil }
      entries[i].staged = nil
      entries[i].snapshot = nil
      entries[i].kept = nil
      bind(i, item)
      if case .place(_, let parent, let name) = acting.act {
        entries[i].synced = SyncEntry.Synced(
          parent: byLocal[parent] ?? CloudItem.root, name: name, contentRevision: 0,
          placeRevision: staged.item.placeRevision, stamp: "")
      }
      setSynced(i, staged.item, stamp: item.stamp)
    case .move: if let item { bind(i, item) }
    case .remove:
      if let old = entries[i].local { byLocal[old.item.id] = nil }
      entries[i].local = nil
      entries[i].synced = nil
    case .keep(_, _, let content, _): entries[i].kept = content
    }
  }

  private mutating func bind(_ i: Int, _ item: LocalItem) {
    entries[i].local = SyncEntry.Local(item: item, parent: byLocal[item.parent] ?? CloudItem.root)
    byLocal[item.id] = entries[i].id
  }

  mutating func setSynced(_ i: Int, _ item: CloudItem, stamp: String) {
    let item = planted == .oldDownloadApplied ? entries[i].remote ?? item : item
    entries[i].synced?.content = item.content
    entries[i].synced?.contentRevision = item.contentRevision
    entries[i].synced?.stamp = stamp
  }

  /// The folder is not as the engine thought, so it looks again.
  mutating func refuseAct() {
    guard let acting else { return }
    self.acting = nil
    isScanned = false
    effects.append(.scan)
    if let i = index[acting.entry] { hold(i) }
  }

  mutating func takeStaged(_ request: Int, _ item: LocalItem) {
    guard let i = entries.firstIndex(where: { $0.transfer?.request == request }),
      let wanted = entries[i].transfer?.download
    else {
      effects.append(.discard(id: item.id))
      return
    }
    entries[i].transfer = nil
    entries[i].failures = 0
    entries[i].staged = SyncEntry.Staged(local: item, item: wanted)
  }
}
