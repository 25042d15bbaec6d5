// What to start next.

extension SyncEngine {
  mutating func plan() {
    if isOnline {
      fetch()
      resend()
    }
    transferCount = 0
    for i in entries.indices {
      if let held = entries[i].heldUntil, held <= now { entries[i].heldUntil = nil }
      if entries[i].transfer != nil { transferCount += 1 }
    }
    if isScanned, !isStale {
      var i = 0
      while i < entries.count {
        if !isBlocked(i), !entries[i].isSettled { decide(i) }
        i += 1
      }
    }
    dropFinished()
    nextDue = earliest()
  }

  /// A new item waits for others of its kind. This only saves time: large folders have many such items.
  private func isBlocked(_ i: Int) -> Bool {
    if entries[i].transfer != nil || entries[i].heldUntil != nil { return true }
    guard entries[i].synced == nil, entries[i].kind == .document else { return false }
    let mayNotTransfer = transferCount >= Limits.transfers
    if entries[i].local == nil { return entries[i].staged == nil ? mayNotTransfer : acting != nil }
    guard entries[i].remote == nil else { return false }
    return entries[i].snapshot == nil ? mayNotTransfer : !maySend
  }

  private mutating func fetch() {
    guard wantsFetch, fetching == nil, fetchRetry <= now else { return }
    wantsFetch = false
    let request = nextNumber()
    fetching = request
    effects.append(
      .fetch(request: request, since: anchor, tombstonesSince: listing == nil ? anchor : listing?.revision))
  }

  private mutating func resend() {
    guard let old = sending, old.request == nil, old.due <= now else { return }
    let request = nextNumber()
    let key = planted == .retryWithNewKey ? nextName() : old.key
    sending?.request = request
    sending?.key = key
    effects.append(.send(request: request, old.change, key: key))
    needsSave = true
  }

  private func earliest() -> Int64? {
    var due: Int64?
    func add(_ time: Int64) { due = min(due ?? time, time) }
    if isOnline {
      if fetching == nil { add(wantsFetch ? fetchRetry : fetchDue) }
      if let sending, sending.request == nil { add(sending.due) }
    }
    for i in entries.indices { if let held = entries[i].heldUntil { add(held) } }
    return due
  }

  /// Items that neither side has any more. A tombstone stays until no older page can come.
  private mutating func dropFinished() {
    func isFinished(_ entry: SyncEntry) -> Bool {
      guard entry.local == nil, entry.transfer == nil, entry.staged == nil else { return false }
      if sending?.change.id == entry.id || acting?.entry == entry.id { return false }
      guard let remote = entry.remote else { return true }
      return remote.isDeleted && remote.revision <= anchor
    }
    guard entries.indices.contains(where: { entries[$0].local == nil && isFinished(entries[$0]) }) else { return }
    entries.removeAll(where: isFinished)
    reindex()
  }

  // MARK: Starting

  var maySend: Bool { isOnline && sending == nil }

  mutating func send(_ i: Int, _ change: CloudChange, with snapshot: SyncEntry.Snapshot? = nil) {
    guard maySend else { return }
    let request = nextNumber()
    let key = nextName()
    sending = Sending(key: key, change: change, snapshot: snapshot, request: request)
    effects.append(.send(request: request, change, key: key))
    needsSave = true
  }

  mutating func act(_ i: Int, _ act: LocalAct, with staged: SyncEntry.Staged? = nil) {
    guard acting == nil else { return }
    let number = nextNumber()
    acting = Acting(number: number, entry: entries[i].id, act: act, staged: staged)
    effects.append(.act(number: number, act))
    needsSave = true
  }

  private var mayTransfer: Bool { isOnline && transferCount < Limits.transfers }

  private mutating func startTransfer(_ i: Int, download: CloudItem?) -> Int {
    let request = nextNumber()
    entries[i].transfer = SyncEntry.Transfer(request: request, download: download)
    transferCount += 1
    return request
  }

  /// - Returns: the document's content at its present stamp, if it is in the cloud. Starts the upload if it is not.
  mutating func uploaded(_ i: Int) -> SyncEntry.Snapshot? {
    guard let local = entries[i].local?.item else { return nil }
    if let snapshot = entries[i].snapshot, snapshot.stamp == local.stamp { return snapshot }
    guard mayTransfer else { return nil }
    let request = startTransfer(i, download: nil)
    effects.append(.upload(request: request, id: local.id, stamp: local.stamp))
    return nil
  }

  /// - Returns: a temporary with the cloud's present content. Starts the download if there is none.
  mutating func downloaded(_ i: Int) -> SyncEntry.Staged? {
    guard let remote = entries[i].liveRemote else { return nil }
    if let staged = entries[i].staged {
      if staged.item.contentRevision == remote.contentRevision || planted == .oldDownloadApplied { return staged }
      discardStaged(i)
    }
    guard mayTransfer || remote.kind == .folder else { return nil }
    let request = startTransfer(i, download: remote)
    effects.append(.stage(request: request, remote))
    return nil
  }

  mutating func discardStaged(_ i: Int) {
    guard let staged = entries[i].staged else { return }
    entries[i].staged = nil
    effects.append(.discard(id: staged.local.id))
  }
}
