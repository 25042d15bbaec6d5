// Parents and names.

extension SyncEngine {
  /// Brings a moved item to the same place on both sides.
  mutating func settlePlace(_ i: Int, _ remote: CloudItem, _ synced: SyncEntry.Synced, _ local: SyncEntry.Local) {
    if local.parent == remote.parent, local.item.name == remote.name {
      entries[i].synced?.parent = remote.parent
      entries[i].synced?.name = remote.name
      entries[i].synced?.placeRevision = remote.placeRevision
      entries[i].isAside = false
    } else if entries[i].isMovedThere {
      moveHere(i, remote, local)
    } else {
      moveThere(i, remote, synced, local)
    }
  }

  private mutating func moveHere(_ i: Int, _ remote: CloudItem, _ local: SyncEntry.Local) {
    guard let parent = localFolder(remote.parent), mayAct else { return }
    if isHere(remote.parent, within: remote.id) {
      // The cloud's moves are without a cycle, so a move of the user closes it.
      yieldMoves(from: remote.parent, to: remote.id)
      return
    }
    if let other = occupantHere(of: remote.parent, remote.name, except: remote.id) {
      makeRoomHere(other)
      return
    }
    moveHere(i, local, to: LocalPlace(parent: parent, name: remote.name))
  }

  private mutating func moveHere(_ i: Int, _ local: SyncEntry.Local, to place: LocalPlace) {
    let old = LocalPlace(parent: local.item.parent, name: local.item.name)
    act(i, .move(id: local.item.id, from: old, to: place))
  }

  private mutating func moveThere(
    _ i: Int, _ remote: CloudItem, _ synced: SyncEntry.Synced, _ local: SyncEntry.Local
  ) {
    guard maySend, isInCloud(local.parent), areAncestorsInPlace(of: local) else { return }
    var name = local.item.name
    if let other = occupantThere(of: local.parent, name, except: remote.id) {
      if !other.isLeavingThere {
        makeRoomHere(i)
        return
      }
      if isAboutToLeaveThere(other) || entries[i].isAside { return }
      // Items that exchange names wait for each other, so one takes another name in between.
      name = spareName(in: local.parent, for: name)
      entries[i].isAside = true
    }
    send(i, .move(id: remote.id, parent: local.parent, name: name, base: synced.placeRevision))
  }

  // MARK: The device's side

  /// The identity of the folder on the device.
  func localFolder(_ id: String) -> String? {
    id == CloudItem.root ? LocalItem.root : entry(id)?.local?.item.id
  }

  func occupantHere(of parent: String, _ name: String, except id: String) -> Int? {
    entries.here.occupant(of: parent, name) { entries[$0].id != id }
  }

  /// Renames an item on the device. If its place is the user's choice, the cloud hears of it; if not, it moves on to the cloud's place.
  mutating func makeRoomHere(_ i: Int) {
    guard mayAct, let local = entries[i].local else {
      entries.park(i)
      return
    }
    if acts.has(entry: entries[i].id) || isSending(entries[i].id) { return }
    let name = spareName(in: local.parent, for: local.item.name)
    moveHere(i, local, to: LocalPlace(parent: local.item.parent, name: name))
  }

  private func isHere(_ id: String, within ancestor: String) -> Bool {
    var folder = id
    while folder != CloudItem.root {
      if folder == ancestor { return true }
      guard let parent = entry(folder)?.local?.parent else { return false }
      folder = parent
    }
    return false
  }

  private mutating func yieldMoves(from id: String, to ancestor: String) {
    var folder = id
    while folder != ancestor, let i = entries.position(of: folder), let parent = entries[i].local?.parent {
      if entries[i].isMovedHere, !entries[i].isMovedThere { yieldPlace(i) }
      folder = parent
    }
  }

  /// An item that moves into a folder that itself moves: the folder goes first, so that no cycle arises in between.
  private func areAncestorsInPlace(of local: SyncEntry.Local) -> Bool {
    var folder = local.parent
    while folder != CloudItem.root {
      guard let entry = entry(folder), let parent = entry.local?.parent, parent == entry.liveRemote?.parent else {
        return false
      }
      folder = parent
    }
    return true
  }

  // MARK: The cloud's side

  func isInCloud(_ folder: String) -> Bool { folder == CloudItem.root || entry(folder)?.liveRemote != nil }

  func occupantThere(of parent: String, _ name: String, except id: String) -> SyncEntry? {
    entries.there.occupant(of: parent, name) { entries[$0].id != id }.map { entries[$0] }
  }

  /// Nothing stands in the way of the change that frees the item's name in the cloud.
  func isAboutToLeaveThere(_ entry: SyncEntry) -> Bool {
    guard let local = entry.local else { return entries.there.state(of: entry.id) == .empty }
    return isInCloud(local.parent) && areAncestorsInPlace(of: local)
      && occupantThere(of: local.parent, local.item.name, except: entry.id) == nil
  }

  /// A name that is free in the folder on both sides.
  func spareName(in parent: String, for name: String) -> String {
    let folder = localFolder(parent) ?? ""
    return Names.spare(for: name) { candidate in
      occupantHere(of: parent, candidate, except: "") != nil || occupantThere(of: parent, candidate, except: "") != nil
        || acts.isTaken(folder, candidate) || outgoing.isTaken(parent, candidate)
    }
  }
}
