public import Foundation
internal import Synchronization

/// The accesses to a document's file: each has a beginning and an end on the main actor, and work in between on the document's queue.
extension Document {
  /// Runs the three parts.
  ///
  /// - Parameter begin: with an error the work is not done.
  func inBackground<Value: Sendable>(
    _ completionHandler: (@MainActor (Bool) -> Void)?, begin: @MainActor () throws -> Void,
    work: @escaping @Sendable () throws -> Value, end: @escaping @MainActor (Result<Value, any Error>) -> Void
  ) {
    do { try begin() } catch {
      end(.failure(error))
      return done(completionHandler, false)
    }
    running += 1
    let context = answering ?? FileAccess.Context()
    let job: @Sendable () -> Void = {
      let result = Result { try FileAccess.resuming(context) { try work() } }
      DispatchQueue.main.async {
        MainActor.assumeIsolated {
          self.running -= 1
          end(result)
          completionHandler?((try? result.get()) != nil)
        }
      }
    }
    // An access that waits for the asker must not keep the answer waiting.
    if answering == nil { performAsynchronousFileAccess(job) } else { answers.async(execute: job) }
  }

  /// Runs the three parts here and now.
  func inForeground<Value: Sendable>(
    begin: @MainActor () throws -> Void = {}, work: () throws -> Value,
    end: @MainActor (Result<Value, any Error>) -> Void
  ) throws {
    guard running == 0 else {
      throw CocoaError.make(
        .fileWriteUnknown, .EBUSY, fileURL, "The document is being read or saved: wait for that to end.")
    }
    running += 1
    let result = Result {
      try begin()
      return try work()
    }
    running -= 1
    end(result)
    _ = try result.get()
  }

  // MARK: Without waiting for the main queue

  /// As ``open(completionHandler:)``, for programs that wait themselves.
  public func openAndWait() throws {
    try inForeground(begin: beginOpening, work: { try readFile() }, end: endOpening)
  }

  /// As ``save(to:for:completionHandler:)``, for programs that wait themselves.
  public func saveAndWait(to url: URL, for saveOperation: SaveOperation) throws {
    let job: SaveJob
    do { job = try prepareSave(to: url, for: saveOperation) } catch {
      endSaving(nil, .failure(error))
      throw error
    }
    try inForeground(work: { try carryOut(job) }, end: { endSaving(job, $0) })
  }

  /// As ``autosave(completionHandler:)``, for programs that wait themselves.
  public func autosaveAndWait() throws {
    undoManager.endEventGroup()
    if hasUnsavedChanges { try saveAndWait(to: fileURL, for: .forOverwriting) }
  }

  /// As ``close(completionHandler:)``, for programs that wait themselves.
  public func closeAndWait() throws {
    guard isOpen else { return }
    try autosaveAndWait()
    try inForeground(work: {}, end: { (_: Result<Void, any Error>) in endClosing() })
  }

  /// As ``revert(toContentsOf:completionHandler:)``, for programs that wait themselves.
  public func revertAndWait(toContentsOf url: URL) throws {
    try inForeground(begin: beginReverting, work: { try readFile(at: url) }, end: endReverting)
  }

  // MARK: Opening

  func beginOpening() throws {
    guard !isOpen else {
      throw CocoaError.make(.fileReadUnknown, .EBUSY, fileURL, "The document is open already.")
    }
    try startScope()
    guard !isPresenting else { return }
    isPresenting = true
    // The broker is asked for the access before its answer has come.
    PresenterTable.shared.begin(self, opens: true)
  }

  /// Reads the document's file.
  nonisolated func readFile() throws { try readFile(at: fileURL) }

  nonisolated func readFile(at url: URL) throws {
    try coordinate(readingItemAt: url) { place in
      let stamp = FileStamp(of: place)
      try read(from: place)
      shared.withLock { shared in
        if NSFileCoordinator.path(of: shared.url) == NSFileCoordinator.path(of: url) { shared.known = stamp }
      }
    }
  }

  func endOpening(_ result: Result<Void, any Error>) {
    switch result {
    case .success:
      fileModificationDate = shared.withLock { $0.known?.modified }
      undoManager.removeAllActions()
      updateChangeCount(.cleared)
      documentState = []
      switch PresenterTable.shared.conflicts(of: self) {
      case true?: documentState.insert(.inConflict)
      case false?: break
      case nil: lookForConflicts()
      }
      // It may have been written while it was read. Otherwise nothing has to come later, which would keep the document until then.
      let (url, known) = shared.withLock { ($0.url, $0.known) }
      if let now = FileStamp(of: url), now != known { onMainLater { self.followFile() } }
    case .failure(let error):
      if !isOpen {
        endPresenting()
        stopScope()
      }
      report(error)
    }
  }

  func endClosing() {
    cancelAutosave()
    endPresenting()
    stopScope()
    writers = 0
    documentState = .closed
  }

  // MARK: Reverting

  func beginReverting() {
    reverts += 1
    documentState.insert(.editingDisabled)
    disableEditing()
  }

  func endReverting(_ result: Result<Void, any Error>) {
    reverts -= 1
    switch result {
    case .success:
      fileModificationDate = shared.withLock { $0.known?.modified }
      undoManager.removeAllActions()
      updateChangeCount(.cleared)
      documentState.remove(.savingError)
      lookForConflicts()
    case .failure(let error):
      documentState.insert(.savingError)
      report(error)
    }
    if looksAgain, reverts == 0 {
      looksAgain = false
      followFile()
    } else {
      allowEditing()
    }
  }

  /// Editing is possible again when all have ended that it was disabled for.
  func allowEditing() {
    guard writers == 0, reverts == 0, documentState.contains(.editingDisabled) else { return }
    documentState.remove(.editingDisabled)
    enableEditing()
  }

  func report(_ error: any Error) {
    lastError = error
    handleError(error, userInteractionPermitted: true)
  }

  // MARK: Scope and presenter

  /// A URL with a security scope is started; any other needs no start.
  private func startScope() throws {
    guard startedURL == nil, (try? SecurityScope.scope(of: fileURL)) != nil else { return }
    try SecurityScope.start(fileURL, caller: "\(type(of: self))")
    startedURL = fileURL
  }

  func stopScope() {
    guard let url = startedURL else { return }
    startedURL = nil
    _ = try? SecurityScope.stop(url)
  }

  func present() {
    guard !isPresenting else { return }
    isPresenting = true
    NSFileCoordinator.addFilePresenter(self)
  }

  func endPresenting() {
    guard isPresenting else { return }
    isPresenting = false
    NSFileCoordinator.removeFilePresenter(self)
  }

  // MARK: Coordination

  nonisolated func coordinate(readingItemAt url: URL, _ body: (URL) throws -> Void) throws {
    var failure: NSError?
    var outcome: Result<Void, any Error> = .success(())
    unsafe NSFileCoordinator(filePresenter: self).coordinate(readingItemAt: url, error: &failure) { place in
      outcome = Result { try body(place) }
    }
    if let failure { throw failure }
    try outcome.get()
  }

  nonisolated func coordinate(
    writingItemAt url: URL, options: NSFileCoordinator.WritingOptions, _ body: (URL) throws -> Void
  ) throws {
    var failure: NSError?
    var outcome: Result<Void, any Error> = .success(())
    unsafe NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: url, options: options, error: &failure) {
      place in
      outcome = Result { try body(place) }
    }
    try outcome.get()
    if let failure { throw failure }
  }

  /// Runs something on the main actor and waits for it.
  nonisolated func onMain<Value: Sendable>(_ body: @MainActor () throws -> Value) rethrows -> Value {
    if MainQueue.isCurrent { return try MainActor.assumeIsolated(body) }
    return try DispatchQueue.main.sync { try MainActor.assumeIsolated(body) }
  }

  /// Runs something on the main actor, later.
  nonisolated func onMainLater(_ body: @escaping @MainActor @Sendable () -> Void) {
    DispatchQueue.main.async { MainActor.assumeIsolated(body) }
  }
}

/// Content on its way between the main actor and the document's queue: one gives it away, and only then the other one takes it.
struct Handover: @unchecked Sendable {
  let value: Any
}

/// The main queue. After `dispatchMain()` its blocks run on other threads than the first one.
enum MainQueue {
  private static let key = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
