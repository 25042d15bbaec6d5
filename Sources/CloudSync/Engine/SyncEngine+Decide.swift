// The rules: the act for an item with three trees that differ.

extension SyncEngine {
  mutating func decide(_ i: Int) {
    let entry = entries[i]
    // One thing at a time for each item. The answer decides on the next one.
    if isSending(entry.id) || acts.has(entry: entry.id) || entry.transfer != nil { return }
    if entry.heldUntil != nil { return }
    switch (entry.liveRemote, entry.synced, entry.local) {
    case (let remote?, nil, nil): bring(i, remote)
    case (nil, nil, let local?): if entry.remote == nil { create(i, local) } else { separate(i) }
    case (let remote?, let synced?, let local?):
      settlePlace(i, remote, synced, local)
      settleContent(i, remote)
    case (nil, _?, let local?): removeHere(i, local)
    case (let remote?, let synced?, nil): removeThere(i, remote, synced)
    case (let remote?, nil, _?):
      // The content is unknown, so it is compared as if both sides had changed.
      entries[i].synced = SyncEntry.Synced(
        parent: remote.parent, name: remote.name, contentRevision: 0, placeRevision: 0, stamp: "")
    case (nil, _, nil):
      entries[i].synced = nil
      discardStaged(i)
    }
  }

  // MARK: New items

  /// The cloud has an item that the device does not have.
  private mutating func bring(_ i: Int, _ remote: CloudItem) {
    guard let staged = downloaded(i), let parent = localFolder(remote.parent), mayAct else { return }
    if let other = occupantHere(of: remote.parent, remote.name, except: entries[i].id) {
      makeRoomHere(other)
      return
    }
    act(i, .place(staged: staged.local.id, parent: parent, name: remote.name), with: staged)
    if planted == .syncedBeforeAct {
      entries[i].synced = SyncEntry.Synced(
        parent: remote.parent, name: remote.name, content: remote.content, contentRevision: remote.contentRevision,
        placeRevision: remote.placeRevision, stamp: staged.local.stamp)
    }
  }

  /// The device has an item that the cloud has never had.
  private mutating func create(_ i: Int, _ local: SyncEntry.Local) {
    guard isInCloud(local.parent) else { return }
    var item = CloudItem(id: entries[i].id, parent: local.parent, name: local.item.name, kind: local.item.kind)
    var snapshot: SyncEntry.Snapshot?
    if item.kind == .document {
      snapshot = uploaded(i)
      guard let snapshot else { return }
      (item.content, item.size, item.device) = (snapshot.content, snapshot.size, device)
    }
    guard maySend else { return }
    if let other = occupantThere(of: item.parent, item.name, except: item.id) {
      if !other.isLeavingThere {
        makeRoomHere(i)
        return
      }
      if isAboutToLeaveThere(other) { return }
      item.name = spareName(in: item.parent, for: item.name)
    }
    send(i, .create(item), with: snapshot)
  }

  /// The local item gets a new identity in the cloud, because the old one is deleted there.
  private mutating func separate(_ i: Int) {
    guard let local = entries[i].local else { return }
    let old = entries[i].id
    let snapshot = entries[i].snapshot
    discardStaged(i)
    let new = entries.add(nextName())
    entries[new].local = local
    entries[new].snapshot = snapshot
    let id = entries[new].id
    entries[i].local = nil
    entries[i].synced = nil
    entries[i].snapshot = nil
    for child in entries.here.members(of: old) {
      entries[child].local?.parent = id
      // The user did not move the child.
      if entries[child].synced?.parent == old { entries[child].synced?.parent = id }
    }
  }

  // MARK: Content

  private mutating func settleContent(_ i: Int, _ remote: CloudItem) {
    guard let synced = entries[i].synced, let local = entries[i].local else { return }
    if remote.kind == .folder {
      entries[i].synced?.contentRevision = remote.contentRevision
      return
    }
    var isChangedHere = local.item.stamp != synced.stamp
    var isChangedThere = remote.contentRevision != synced.contentRevision
    if isChangedThere, remote.content == synced.content {
      entries[i].synced?.contentRevision = remote.contentRevision
      isChangedThere = false
    }
    var mine: SyncEntry.Snapshot?
    if isChangedHere {
      mine = uploaded(i)
      guard let mine else { return }
      if mine.content == synced.content {
        entries[i].synced?.stamp = mine.stamp
        isChangedHere = false
      }
      if isChangedThere, mine.content == remote.content {
        setSynced(i, remote, stamp: mine.stamp)
        (isChangedHere, isChangedThere) = (false, false)
      }
    }
    if isChangedThere {
      replaceHere(i, local.item, losing: isChangedHere ? mine : nil)
    } else {
      discardStaged(i)
      guard isChangedHere, let mine else { return }
      let change = CloudChange.replace(
        id: remote.id, content: mine.content, size: mine.size, base: synced.contentRevision)
      send(i, change, with: mine)
    }
  }

  private mutating func replaceHere(_ i: Int, _ local: LocalItem, losing mine: SyncEntry.Snapshot?) {
    guard let staged = downloaded(i), mayAct else { return }
    if let mine, entries[i].kept != mine.content, planted != .conflictNotKept {
      act(i, .keep(item: entries[i].id, id: local.id, content: mine.content, device: device))
    } else {
      act(i, .replace(id: local.id, stamp: local.stamp, staged: staged.local.id), with: staged)
    }
  }

  // MARK: Removal

  /// The cloud's item is deleted. A document that the user edited or took into another folder, and a folder with items that stay, live on
  /// as new items.
  private mutating func removeHere(_ i: Int, _ local: SyncEntry.Local) {
    guard let synced = entries[i].synced else { return }
    discardStaged(i)
    if local.item.kind == .document {
      if local.parent != synced.parent {
        separate(i)
        return
      }
      if local.item.stamp != synced.stamp, planted != .removalBeatsEdit {
        guard let mine = uploaded(i) else { return }
        if mine.content != synced.content {
          separate(i)
          return
        }
      }
      act(i, .remove(id: local.item.id, stamp: local.item.stamp))
      return
    }
    switch entries.here.state(of: entries[i].id) {
    case .empty: act(i, .remove(id: local.item.id, stamp: nil))
    case .leaving: return
    case .kept: separate(i)
    }
  }

  /// The user has deleted the item. A document that another device edited or took into another folder, and a folder with items that
  /// stay, come back.
  private mutating func removeThere(_ i: Int, _ remote: CloudItem, _ synced: SyncEntry.Synced) {
    discardStaged(i)
    let isEdited = remote.contentRevision != synced.contentRevision && remote.content != synced.content
    if remote.kind == .document, isEdited || remote.parent != synced.parent {
      entries[i].synced = nil
      return bring(i, remote)
    }
    switch entries.there.state(of: remote.id) {
    case .empty: send(i, .delete(id: remote.id, base: remote.revision))
    case .leaving: return
    case .kept:
      entries[i].synced = nil
      bring(i, remote)
    }
  }
}
