// The next work to start.

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
    sendOutgoing()
    dropFinished()
    nextDue = earliest()
  }

  /// The work that may start now.
  private var free: Wait {
    var free: Wait = []
    if mayTransfer { free.insert(.transfer) }
    if mayAct { free.insert(.act) }
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
    var again = old
    again.request = request
    if planted == .retryWithNewKey { again.setKeys { nextName() } }
    sending = again
    effects.append(.send(request: request, again.keyed))
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
    let (sending, acts) = (sending, acts)
    entries.removeFinished(upTo: anchor) { sending?.has($0) != true && !acts.has(entry: $0) }
  }

  // MARK: Starting

  var maySend: Bool { isOnline && sending == nil && outgoing.changes.count < limits.changes }
  var mayAct: Bool { acts.count < limits.acts }

  func isSending(_ id: String) -> Bool { outgoing.has(id) || sending?.has(id) == true }

  mutating func send(_ i: Int, _ change: CloudChange, with snapshot: SyncEntry.Snapshot? = nil) {
    guard maySend else { return }
    // The ledger would refuse the second of two changes that take one place.
    switch change {
    case .create(let item): if outgoing.isTaken(item.parent, item.name) { return }
    case .move(_, let parent, let name, _): if outgoing.isTaken(parent, name) { return }
    case .replace, .delete: break
    }
    outgoing.add(Sending.Sent(key: nextName(), change: change, snapshot: snapshot))
  }

  private mutating func sendOutgoing() {
    guard !outgoing.changes.isEmpty else { return }
    let request = nextNumber()
    outgoing.request = request
    effects.append(.send(request: request, outgoing.keyed))
    sending = outgoing
    outgoing = Sending()
    needsSave = true
  }

  mutating func act(_ i: Int, _ act: LocalAct, with staged: SyncEntry.Staged? = nil) {
    guard mayAct else { return }
    // The folder would refuse the second of two acts that take one place.
    switch act {
    case .place(_, let parent, let name): if acts.isTaken(parent, name) { return }
    case .move(_, _, let to): if acts.isTaken(to.parent, to.name) { return }
    case .replace, .remove, .keep: break
    }
    let number = nextNumber()
    acts.add(Acting(number: number, entry: entries[i].id, act: act, staged: staged))
    effects.append(.act(number: number, act))
    needsSave = true
  }

  private var mayTransfer: Bool { isOnline && entries.transferCount < limits.transfers }

  private mutating func startTransfer(_ i: Int, download: CloudItem?) -> Int {
    let request = nextNumber()
    entries[i].transfer = SyncEntry.Transfer(
      request: request, download: download, stamp: download == nil ? entries[i].local?.item.stamp : nil)
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
