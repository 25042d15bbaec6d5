/// The properties of an entry by which the table finds it.
struct Filing: Sendable {
  var localID: String?
  var here: FolderIndex.Spot?
  var there: FolderIndex.Spot?
  var request: Int?
  var heldUntil: Int?
  var isSettled = true
  /// The revision of the tombstone, or zero. `nil`: one side has the item, or something is under way for it.
  var finishedAt: Int?

  /// An entry that is in no list.
  init() {}

  init(_ entry: SyncEntry) {
    if let local = entry.local {
      localID = local.item.id
      here = FolderIndex.Spot(parent: local.parent, name: local.item.name, stays: !entry.isGoingHere)
    }
    if let remote = entry.remote, !remote.isDeleted {
      there = FolderIndex.Spot(parent: remote.parent, name: remote.name, stays: !entry.isGoingThere)
    }
    request = entry.transfer?.request
    heldUntil = entry.heldUntil.map { Int($0) }
    isSettled = entry.isSettled
    if here == nil, there == nil, request == nil, entry.staged == nil { finishedAt = entry.remote?.revision ?? 0 }
  }
}

extension SyncEntry {
  /// The cloud will remove the item from the device, or take it out of its folder there.
  fileprivate var isGoingHere: Bool {
    guard let remote, !remote.isDeleted else { return synced != nil }
    return isLeavingHere
  }

  /// The device will remove the item from the cloud, or take it out of its folder there.
  fileprivate var isGoingThere: Bool { local == nil ? synced != nil : isLeavingThere }

  /// Another device's move will take the item out of its place.
  var isLeavingHere: Bool {
    guard let remote, !remote.isDeleted, let local, isMovedThere else { return false }
    return remote.parent != local.parent
  }

  /// The user has moved or deleted the item, and the cloud has not heard of it.
  var isLeavingThere: Bool {
    guard let remote, !remote.isDeleted, synced != nil, !isMovedThere else { return false }
    guard let local else { return true }
    if local.parent == remote.parent, local.item.name == remote.name { return false }
    return local.parent != remote.parent || !Names.collide(local.item.name, remote.name)
  }
}
