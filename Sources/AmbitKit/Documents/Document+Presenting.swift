public import Foundation
internal import Synchronization

/// A document presents its file.
extension Document: NSFilePresenter {
  /// The document's file.
  public nonisolated var presentedItemURL: URL? { fileURL }

  /// Lets the other one read; it has been asked to save before (`DOC-13`). Accesses of its own hold the file by themselves.
  public nonisolated func relinquishPresentedItem(
    toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void
  ) {
    reader(nil)
  }

  /// Saves, disables editing, lets the other one write, and reads again what it has written (`DOC-6`).
  public nonisolated func relinquishPresentedItem(
    toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void
  ) {
    let context = FileAccess.current
    onMainLater {
      guard self.isOpen else { return writer(nil) }
      self.writers += 1
      self.documentState.insert(.editingDisabled)
      self.disableEditing()
      self.autosave(within: context) { _ in
        writer {
          self.onMainLater {
            self.writers = max(0, self.writers - 1)
            self.followFile()
          }
        }
      }
    }
  }

  /// Saves what is not saved.
  public nonisolated func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    let context = FileAccess.current
    onMainLater {
      guard self.isOpen else { return completionHandler(nil) }
      self.autosave(within: context) { success in
        completionHandler(success ? nil : self.lastError ?? CocoaError(.fileWriteUnknown))
      }
    }
  }

  /// Closes: the file is about to go (`DOC-14`).
  public nonisolated func accommodatePresentedItemDeletion(
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    let context = FileAccess.current
    onMainLater {
      // Saved first: whoever deletes it has it in the trash, or as a version.
      self.autosave(within: context) { _ in
        if self.isOpen { self.endClosing() }
        completionHandler(nil)
      }
    }
  }

  /// Follows the file (`DOC-7`).
  public nonisolated func presentedItemDidMove(to newURL: URL) {
    shared.withLock { $0.url = newURL }
  }

  /// Reads the file again if another program has written it.
  public nonisolated func presentedItemDidChange() { onMainLater { self.followFile() } }

  /// Reads the package again if another program has written something in it.
  public nonisolated func presentedSubitemDidChange(at url: URL) { onMainLater { self.followFile() } }

  /// Reads the package again if another program has put something into it.
  public nonisolated func presentedSubitemDidAppear(at url: URL) { onMainLater { self.followFile() } }

  /// Conflict versions may have come.
  public nonisolated func presentedItemDidGain(_ version: NSFileVersion) { onMainLater { self.lookForConflicts() } }
  /// Versions have gone.
  public nonisolated func presentedItemDidLose(_ version: NSFileVersion) { onMainLater { self.lookForConflicts() } }
  /// A conflict was resolved.
  public nonisolated func presentedItemDidResolveConflict(_ version: NSFileVersion) {
    onMainLater { self.lookForConflicts() }
  }
}

extension Document {
  /// Saves while a question is being answered: the asker waits for this save, and this save not for the asker.
  private func autosave(
    within context: FileAccess.Context, completionHandler: @escaping @MainActor (Bool) -> Void
  ) {
    answering = context
    autosave(completionHandler: completionHandler)
    answering = nil
  }

  /// Reads the file again, if it is not as this document knows it. With changes that are not saved, both are kept: the next save keeps the
  /// other program's content as a conflict version.
  func followFile() {
    guard isOpen else { return }
    if reverts > 0 {
      looksAgain = true
      return
    }
    let (url, known) = shared.withLock { ($0.url, $0.known) }
    guard let stamp = FileStamp(of: url), stamp != known else { return allowEditing() }
    guard !hasUnsavedChanges else {
      allowEditing()
      return autosave(completionHandler: nil)
    }
    revert(toContentsOf: url, completionHandler: nil)
  }

  /// Keeps content that another program has put into the file since it was read (`DOC-8`).
  ///
  /// - Returns: whether there was any. The state says so once the save is over: until then the document's versions are those of a file
  ///   that is about to be replaced.
  nonisolated func keepUnknown() throws -> Bool {
    let (url, known) = shared.withLock { ($0.url, $0.known) }
    // Also for an opener that waits: the broker reads the document by the descriptor of its lease.
    guard let known, let present = FileStamp(of: url), present != known else { return false }
    _ = try NSFileVersion.addConflictOfItem(at: url)
    return true
  }

  /// The content comes from its provider, or goes there (`DOC-10`).
  nonisolated func transferring(_ completed: Int, of total: Int) {
    onMainLater {
      self.progress.totalUnitCount = Int64(total)
      self.progress.completedUnitCount = Int64(completed)
      self.documentState.insert(.progressAvailable)
    }
  }

  nonisolated func transferred() {
    onMainLater {
      self.documentState.remove(.progressAvailable)
      self.progress.totalUnitCount = -1
      self.progress.completedUnitCount = 0
    }
  }

  /// The state says whether there are conflict versions that nobody has resolved (`DOC-8`).
  func lookForConflicts() {
    guard isOpen else { return }
    let url = fileURL
    performAsynchronousFileAccess {
      // Without an answer the state stays as it is.
      guard let versions = NSFileVersion.unresolvedConflictVersionsOfItem(at: url) else { return }
      self.onMainLater {
        guard self.isOpen else { return }
        if !versions.isEmpty { self.documentState.insert(.inConflict) } else { self.documentState.remove(.inConflict) }
      }
    }
  }
}
