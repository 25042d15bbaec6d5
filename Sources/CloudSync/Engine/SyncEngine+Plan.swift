// What to start next.

extension SyncEngine {
  mutating func plan() {
    if isOnline {
      fetch()
      resend()
    }
    entries.release(at: now)
    if isScanned, !isStale {
      var start = 0
      while let i = entries.next(from: start, free: free) {
        decide(i)
        start = i + 1
      }
    }
    dropFinished()
    nextDue = earliest()
  }

  /// What may be started now.
  private var free: Wait {
    var free: Wait = []
    if mayTransfer { free.insert(.transfer) }
    if acting == nil { free.insert(.act) }
    if maySend { free.insert(.change) }
    return free
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

  private mutating func earliest() -> Int64? {
    var due: Int64?
    func add(_ time: Int64) { due = min(due ?? time, time) }
    if isOnline {
      if fetching == nil { add(wantsFetch ? fetchRetry : fetchDue) }
      if let sending, sending.request == nil { add(sending.due) }
    }
    if let held = entries.nextRelease() { add(held) }
    return due
  }

  /// Items that neither side has any more. A tombstone stays until no older page can come.
  private mutating func dropFinished() {
    let (sent, acted) = (sending?.change.id, acting?.entry)
    entries.removeFinished(upTo: anchor) { $0 != sent && $0 != acted }
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

  private var mayTransfer: Bool { isOnline && entries.transferCount < Limits.transfers }

  private mutating func startTransfer(_ i: Int, download: CloudItem?) -> Int {
    let request = nextNumber()
    entries[i].transfer = SyncEntry.Transfer(request: request, download: download)
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
