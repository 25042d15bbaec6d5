// The device's view of the sync.

extension SyncEngine {
  package enum ItemState: String, Codable, Sendable {
    /// Cloud and device have the same.
    case current
    case uploading, downloading
    /// Changes are known that are not under way: the device is offline, the item waits for another one, or an attempt failed.
    case waiting
  }

  /// - Parameter local: the file's identity.
  /// - Returns: `nil` if the last scan did not find the item.
  package func state(of local: String) -> ItemState? { entries.position(ofLocal: local).map { state(of: entries[$0]) } }

  /// The cloud's id of a local item. An item that the cloud never had has an id too.
  package func cloudID(of local: String) -> String? { entries.id(ofLocal: local) }

  /// The number of items that differ, and those that the device does not have yet.
  package var pendingCount: Int { entries.unsettled.count }

  /// The identities of temporaries that the engine still needs, that of the act under way included.
  package var temporaries: Set<String> {
    var result = Set(entries.unsettled.positions.compactMap { entries[$0].staged?.local.id })
    for acting in acts.all { if let staged = acting.staged { result.insert(staged.local.id) } }
    return result
  }

  private func state(of entry: SyncEntry) -> ItemState {
    if entry.isSettled { return .current }
    if let transfer = entry.transfer { return transfer.download == nil ? .uploading : .downloading }
    if isSending(entry.id) { return .uploading }
    return acts.has(entry: entry.id) ? .downloading : .waiting
  }
}
