/// One item in the three trees: as the cloud has it, as the device has it, and as both last had it.
struct SyncEntry: Codable, Hashable, Sendable {
  let id: String
  /// The item as last known of the cloud, perhaps deleted. `nil`: the cloud never had it.
  var remote: CloudItem?
  /// The last state that cloud and device both had. `nil`: there was none.
  var synced: Synced?
  /// The item as last scanned. `nil`: the device does not have it.
  var local: Local?

  /// The document's content that was uploaded last.
  var snapshot: Snapshot?
  /// The temporary that is ready to be moved into the folder.
  var staged: Staged?
  /// The upload or download under way.
  var transfer: Transfer?
  /// The local content that the device has kept as a conflict version.
  var kept: String?
  /// The cloud's item has a name for the time until the name that it should have is free.
  var isAside = false
  /// Nothing is tried with the item before this time, in nanoseconds.
  var heldUntil: Int64?
  var failures = 0

  struct Synced: Codable, Hashable, Sendable {
    var parent: String
    var name: String
    var content: String?
    var contentRevision: Int
    var placeRevision: Int
    /// The local document's stamp with this content.
    var stamp: String

    mutating func setContent(_ item: CloudItem, stamp: String) {
      content = item.content
      contentRevision = item.contentRevision
      self.stamp = stamp
    }
  }

  struct Local: Codable, Hashable, Sendable {
    var item: LocalItem
    /// The id of the parent's entry, or ``CloudItem/root``.
    var parent: String
  }

  struct Snapshot: Codable, Hashable, Sendable {
    var content: String
    var size: Int64
    var stamp: String
  }

  struct Transfer: Codable, Hashable, Sendable {
    let request: Int
    /// The cloud's item that is downloaded. `nil`: an upload.
    var download: CloudItem?
    /// The document's stamp at the start of an upload.
    var stamp: String?
  }

  struct Staged: Codable, Hashable, Sendable {
    var local: LocalItem
    /// The cloud's item whose content the temporary has.
    var item: CloudItem
  }

  init(id: String) { self.id = id }

  var liveRemote: CloudItem? { remote.flatMap { $0.isDeleted ? nil : $0 } }

  var kind: CloudItem.Kind { remote?.kind ?? local?.item.kind ?? .document }

  /// Cloud and device have the same, and the engine knows it.
  var isSettled: Bool {
    // The numbers first: this is asked for all items after each input.
    guard let revision = remote?.contentRevision, revision == synced?.contentRevision, local != nil, staged == nil,
      transfer == nil, remote?.placeRevision == synced?.placeRevision, remote?.isDeleted == false
    else { return false }
    return local?.parent == synced?.parent && local?.item.name == synced?.name
      && (remote?.kind == .folder || local?.item.stamp == synced?.stamp)
  }

  /// The transfer has succeeded.
  mutating func endTransfer() { (transfer, failures) = (nil, 0) }

  /// The user has moved or renamed the item since the last common state.
  var isMovedHere: Bool {
    guard let synced, let local else { return false }
    return local.parent != synced.parent || local.item.name != synced.name
  }

  /// Another device has moved or renamed the item since the last common state.
  var isMovedThere: Bool {
    guard let synced, let remote else { return false }
    return remote.placeRevision != synced.placeRevision
  }

  var isInPlace: Bool {
    guard let remote = liveRemote, let local else { return false }
    return remote.parent == local.parent && remote.name == local.item.name
  }
}
