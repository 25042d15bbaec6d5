// Answers of the cloud.

extension SyncEngine {
  mutating func take(_ page: CloudPage) {
    fetching = nil
    fetchFailures = 0
    fetchDue = now + Limits.poll
    for item in page.items where !(planted == .tombstoneIgnored && item.isDeleted) { note(item) }
    listing?.ids.append(contentsOf: page.items.map(\.id))
    if let listing, listing.revision == nil { self.listing?.revision = page.revision }
    anchor = max(anchor, page.next)
    if page.more {
      wantsFetch = true
      isStale = true
      return
    }
    if let listing {
      let known = Set(listing.ids)
      for i in entries.positions where !known.contains(entries[i].id) {
        if let remote = entries[i].remote, remote.revision <= anchor { entries[i].remote?.isDeleted = true }
      }
      self.listing = nil
    }
    if !wantsFetch { isStale = false }
  }

  /// Fetches everything from the start. Items that do not come are deleted.
  mutating func listAgain() {
    fetching = nil
    wantsFetch = true
    isStale = true
    anchor = 0
    listing = Listing()
  }

  /// Answers overtake pages, so an older state of the item may come after a newer one.
  private mutating func note(_ item: CloudItem) {
    if let i = entries.position(of: item.id) {
      if let known = entries[i].remote, known.revision > item.revision { return }
      entries[i].remote = item
      if planted == .dirtyMarkForgotten { entries.forgetMark(i) }
    } else if !item.isDeleted {
      let i = entries.add(item.id)
      entries[i].remote = item
    }
  }

  /// Changes up to the anchor have come with pages.
  private mutating func noteAnswer(_ item: CloudItem) {
    if item.revision > anchor { note(item) }
  }

  mutating func take(_ answers: [CloudAnswer]) {
    guard let batch = sending else { return }
    guard answers.count == batch.changes.count else {
      loseChanges()
      return
    }
    sending = nil
    for (sent, answer) in zip(batch.changes, answers) { take(answer, to: sent) }
  }

  private mutating func take(_ answer: CloudAnswer, to sent: Sending.Sent) {
    guard let i = entries.position(of: sent.change.id) else { return }
    if case .accepted(let item) = answer {
      if entries[i].failures > 0 { entries[i].failures = 0 }
      noteAnswer(item)
      acknowledge(i, sent, item)
      return
    }
    hold(i)
    entries[i].isAside = false
    switch answer {
    case .accepted, .overQuota: return
    case .conflict(let item):
      noteAnswer(item)
      // An earlier attempt has created it.
      if case .create(let mine) = sent.change, item.content == mine.content { acknowledge(i, sent, item) }
    case .cycle: yieldPlace(i)
    case .missing(let missing): if missing == sent.snapshot?.content { entries[i].snapshot = nil }
    case .collision: break
    }
    isStale = true
    wantsFetch = true
  }

  /// The item goes back to where the cloud has it.
  mutating func yieldPlace(_ i: Int) { entries[i].synced?.placeRevision = 0 }

  /// Cloud and device now have the sent state in common; either may have changed again.
  private mutating func acknowledge(_ i: Int, _ sent: Sending.Sent, _ item: CloudItem) {
    var stamp = sent.snapshot?.stamp ?? ""
    if planted == .laterStampAcknowledged { stamp = entries[i].local?.item.stamp ?? stamp }
    entries[i].acknowledge(sent.change, item, stamp: stamp)
  }

  mutating func lose(_ request: Int) {
    if fetching == request {
      fetching = nil
      wantsFetch = true
      fetchFailures += 1
      fetchRetry = now + Self.backOff(fetchFailures)
    } else if sending?.request == request {
      loseChanges()
    } else if let i = entries.position(ofRequest: request) {
      entries[i].transfer = nil
      hold(i)
    }
  }

  private mutating func loseChanges() {
    guard let failures = sending?.failures else { return }
    sending?.request = nil
    sending?.failures = failures + 1
    sending?.due = now + Self.backOff(failures + 1)
  }
}

extension SyncEntry {
  fileprivate mutating func acknowledge(_ change: CloudChange, _ item: CloudItem, stamp: String) {
    switch change {
    case .create(let mine):
      if remote == nil {
        remote = item
        // Its tombstone is gone already.
        remote?.isDeleted = true
      }
      synced = Synced(
        parent: mine.parent, name: mine.name, content: mine.content, contentRevision: item.contentRevision,
        placeRevision: item.placeRevision, stamp: stamp)
    case .replace(_, let content, _, _):
      synced?.content = content
      synced?.contentRevision = item.contentRevision
      synced?.stamp = stamp
      kept = nil
    case .move(_, let parent, let name, _):
      synced?.parent = parent
      synced?.name = name
      synced?.placeRevision = item.placeRevision
    case .delete: synced = nil
    }
  }
}
