/// The reason why an entry waits. Acts, changes and transfers have limits, so most entries of a large folder wait.
///
/// An entry waits if ``SyncEngine/decide(_:)`` would do nothing for it until one of these is free. Otherwise it waits for
/// ``nothing`` and is decided on after each input.
struct Wait: OptionSet, Hashable, Sendable {
  let rawValue: Int

  static let transfer = Wait(rawValue: 1)
  static let act = Wait(rawValue: 2)
  static let change = Wait(rawValue: 4)
  static let nothing = Wait(rawValue: 8)
  /// One more than the largest raw value.
  static let kinds = 9
}

extension SyncEntry {
  /// Empty: there is nothing to decide until the entry or its folder changes.
  func wait(in table: EntryTable) -> Wait {
    if isSettled || transfer != nil || heldUntil != nil { return [] }
    guard let synced else { return waitOfNew(in: table) }
    let remote = liveRemote
    if let remote, let local {
      let wait = waitOfPlace(remote, synced, local).union(waitOfContent(remote, synced, local.item))
      return wait == [] || wait.contains(.nothing) ? .nothing : wait
    }
    if staged != nil { return .nothing }
    if let remote {
      if remote.kind == .folder { return Self.wait(.change, toRemove: table.there.state(of: id)) }
      let isEdited = remote.contentRevision != synced.contentRevision && remote.content != synced.content
      return isEdited || remote.parent != synced.parent ? .nothing : .change
    }
    guard let local else { return .nothing }
    if local.item.kind == .folder { return Self.wait(.act, toRemove: table.here.state(of: id)) }
    if local.parent != synced.parent { return .nothing }
    if local.item.stamp == synced.stamp { return .act }
    return hasSnapshot(of: local.item) ? .nothing : .transfer
  }

  private static func wait(_ wait: Wait, toRemove state: FolderIndex.State) -> Wait {
    switch state {
    case .empty: wait
    case .leaving: []
    case .kept: .nothing
    }
  }

  private func waitOfNew(in table: EntryTable) -> Wait {
    if let local {
      if remote != nil { return .nothing }
      if local.parent != CloudItem.root, !table.has(local.parent, there: true) { return [] }
      return local.item.kind == .document && snapshot == nil ? .transfer : .change
    }
    guard let staged else { return liveRemote == nil ? [] : kind == .document ? .transfer : .nothing }
    if let remote = liveRemote, staged.item.contentRevision == remote.contentRevision {
      return remote.parent == CloudItem.root || table.has(remote.parent, there: false) ? .act : []
    }
    return kind == .document ? .act : .nothing
  }

  private func waitOfPlace(_ remote: CloudItem, _ synced: Synced, _ local: Local) -> Wait {
    if local.parent != remote.parent || local.item.name != remote.name { return isMovedThere ? .act : .change }
    let isKnown =
      synced.placeRevision == remote.placeRevision && synced.parent == remote.parent && synced.name == remote.name
    return isKnown && !isAside ? [] : .nothing
  }

  private func waitOfContent(_ remote: CloudItem, _ synced: Synced, _ local: LocalItem) -> Wait {
    let isChangedThere = remote.contentRevision != synced.contentRevision
    if remote.kind == .folder { return isChangedThere ? .nothing : [] }
    if isChangedThere, remote.content == synced.content { return .nothing }
    let isChangedHere = local.stamp != synced.stamp
    if isChangedHere {
      guard let snapshot, hasSnapshot(of: local) else { return .transfer }
      if snapshot.content == synced.content || isChangedThere && snapshot.content == remote.content { return .nothing }
    }
    guard isChangedThere else { return staged != nil ? .nothing : isChangedHere ? .change : [] }
    guard let staged else { return .transfer }
    return staged.item.contentRevision == remote.contentRevision ? .act : .nothing
  }

  private func hasSnapshot(of local: LocalItem) -> Bool { snapshot?.stamp == local.stamp }
}

extension EntryTable {
  /// The cloud or the device has the item.
  fileprivate func has(_ id: String, there: Bool) -> Bool {
    guard let i = position(of: id) else { return false }
    return there ? self[i].liveRemote != nil : self[i].local != nil
  }
}
