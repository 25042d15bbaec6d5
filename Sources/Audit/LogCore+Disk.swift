internal import Kernel
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// Group commit: entries reach the disk a moment later, together with those that have come meanwhile, by a
/// thread that does nothing else.
extension LogCore {
  func startSyncing() {
    let core = self
    // Without a thread, the thread that moves entries does it: later.
    _ = try? Worker.start {
      while core.waitForDisk() { core.syncIfDue() }
    }
  }

  func heldUntil(_ sync: AuditLog.Sync) -> Int64? {
    state.withLock { state in
      guard state.synced.sequence < state.last.sequence else { return nil }
      if sync == .group {
        let isLate = state.dirtySince.map { Disk.now() - $0 > settings.syncWithin } ?? false
        guard isLate || state.failure != nil else { return nil }
      }
      if !state.isUrgent {
        state.isUrgent = true
        wakeup.signal()
      }
      return state.last.sequence
    }
  }

  /// Until it is time to look; false when the log is closed.
  private func waitForDisk() -> Bool {
    let wait: Duration? = state.withLock { state in
      if state.isFinished { return .zero }
      if state.failure != nil { return .milliseconds(200) }
      guard let since = state.dirtySince else { return nil }
      return state.isUrgent ? .zero : .nanoseconds(max(0, since + settings.syncAfter - Disk.now()))
    }
    if wait != .zero {
      var entries = [PollEntry(wakeup.descriptor, .read)]
      _ = try? Poll.wait(&entries, timeout: wait)
      wakeup.clear()
    }
    return !state.withLock { $0.isFinished }
  }

  private func syncIfDue() {
    let isDue = state.withLock { state in
      if state.failure != nil { return true }
      guard let since = state.dirtySince else { return false }
      return state.isUrgent || since + settings.syncAfter <= Disk.now()
    }
    if isDue { try? syncNow() }
  }

  /// Brings to the disk all that is written up to here, and the head signed for it.
  func syncNow() throws(AuditLogError) {
    let reached = try disk.withLock { _ throws(AuditLogError) in
      let (mark, journal, count, isNewName, hasFailed) = state.withLock { state in
        state.dirtyMeanwhile = nil
        state.isUrgent = false
        return (state.last, state.journal, state.unsynced.count, state.isNewName, state.failure != nil)
      }
      if hasFailed {
        try rewriteJournal()
      } else {
        settings.beforeSync()
        let code = settings.sync(journal.descriptor)
        if code != 0 {
          let failure = AuditLogError(
            .failed, journal.path, "the disk has not taken it (\(unsafe String(cString: strerror(code))))", of: .journal
          )
          state.withLock { $0.failure = failure }
          // Bytes that the kernel could not write count as written for it from then on: another call would
          // succeed, and would be believed.
          try rewriteJournal()
        } else {
          if isNewName { SmallFile.syncFolder(of: journal.path) }
          state.withLock { state in
            state.synced = mark
            state.unsynced.removeFirst(count)
            state.dirtySince = state.dirtyMeanwhile
            state.isNewName = false
          }
        }
      }
      return state.withLock { $0.synced }
    }
    removeDoubts()
    try sign(reached)
    listener.withLock { $0 }?()
  }

  /// Takes the file of ``OpenDoubts`` away once their entry is on the disk.
  func removeDoubts() {
    let isSaid = state.withLock { state in
      guard let entry = state.doubtsEntry, entry <= state.synced.sequence else { return false }
      state.doubtsEntry = nil
      return true
    }
    if isSaid { OpenDoubts.remove(files) }
  }

  /// Says how far the log goes.
  ///
  /// - Parameter isFinal: nothing is said after. A thread that has waited for the disk may still want to.
  func sign(_ mark: ChainMark, isFinal: Bool = false) throws(AuditLogError) {
    try signed.withLock { signed throws(AuditLogError) in
      guard isFinal ? signed < .max : mark.sequence > signed else { return }
      do { try head.write(statement(isFinal ? .closed : .head, mark), durably: isFinal) } catch {
        throw AuditLogError(error, file: files.head)
      }
      signed = isFinal ? .max : mark.sequence
    }
  }

  /// Writes the journal anew, in another file, and has that on the disk. With ``disk``, and nothing accepted meanwhile.
  private func rewriteJournal() throws(AuditLogError) {
    let (old, end, unsynced, last) = state.withLock { ($0.journal, $0.tail.end, $0.unsynced, $0.last) }
    let before = try old.prefix(end - unsynced.count)
    var (journal, tail) = try JournalFile.make(files.journal, after: ChainMark(), size: settings.journalLength)
    // With the header that the old one has.
    tail.end = 0
    try journal.append(before + unsynced, &tail)
    let code = settings.sync(journal.descriptor)
    guard code == 0 else {
      throw AuditLogError(
        .failed, old.path, "the disk has not taken it (\(unsafe String(cString: strerror(code))))", of: .journal)
    }
    try journal.take(replacing: true)
    SmallFile.syncFolder(of: journal.path)
    state.withLock { state in
      state.journal = journal
      state.tail = tail
      state.synced = last
      state.unsynced = []
      state.dirtySince = nil
      state.dirtyMeanwhile = nil
      state.isNewName = false
      state.failure = nil
    }
  }

  /// Begins another journal after an entry up to which everything is in the database and on the disk.
  ///
  /// Later entries are copied and brought to the disk; those that came meanwhile are copied then. While appending is
  /// barred, one write(2) is made and no disk is waited for. Until the new name is on the disk as well, a power failure
  /// leaves the old file, and it has everything that was told to be there.
  func renewJournal(after mark: ChainMark) throws(AuditLogError) {
    try disk.withLock { _ throws(AuditLogError) in
      guard state.withLock({ $0.failure == nil }) else { return }
      var (journal, tail) = try JournalFile.make(files.journal, after: mark, size: settings.journalLength)
      let first = state.withLock { $0.waiting }
      try journal.append(Self.records(first, synced: mark.sequence), &tail)
      let code = settings.sync(journal.descriptor)
      guard code == 0 else { throw AuditFile.inaccessible(journal.path, code, .journal) }
      let synced = first.last?.mark ?? mark
      try state.withLock { state throws(AuditLogError) in
        let rest = Array(state.waiting.dropFirst(first.count))
        let bytes = Self.records(rest, synced: synced.sequence)
        try journal.append(bytes, &tail)
        try journal.take(replacing: true)
        state.journal = journal
        state.tail = tail
        state.unsynced = bytes
        // It is only said when the name is there too, by the next sync.
        state.isNewName = true
        if state.dirtySince == nil { state.dirtySince = Disk.now() }
      }
      wakeup.signal()
    }
  }

  private static func records(_ events: [EncodedEvent], synced: Int64) -> [UInt8] {
    var bytes: [UInt8] = []
    for event in events { Journal.append(event, rest: 0, synced: synced, to: &bytes) }
    return bytes
  }
}
