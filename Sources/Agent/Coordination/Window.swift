internal import AmbitKit
internal import Foundation
internal import Synchronization

/// A presenter as an editor's window would be: it has text that may not be saved yet, and remembers all that it was asked and told.
final class Window: NSObject, NSFilePresenter, @unchecked Sendable {
  /// How it answers a question.
  struct Manner: Sendable {
    /// Seconds.
    var delay: Double = 0
    var isSilent = false
    /// Its error, in words.
    var failure: String?
  }

  /// One message, in words, and the asker of a question.
  struct Message: Sendable {
    let words: String
    let asker: NSFileCoordinator.Asker?
  }

  let presentedItemOperationQueue = OperationQueue()
  let primaryPresentedItemURL: URL?
  private let manner: Manner
  private let state: Mutex<State>

  private struct State {
    var url: URL
    var text: String?
    var asker: NSFileCoordinator.Asker?
    var messages: [Message] = []
  }

  init(_ url: URL, primary: URL?, text: String?, _ manner: Manner) {
    presentedItemOperationQueue.maxConcurrentOperationCount = 1
    primaryPresentedItemURL = primary
    self.manner = manner
    state = Mutex(State(url: url, text: text))
  }

  var presentedItemURL: URL? { state.withLock { $0.url } }
  var messages: [Message] { state.withLock { $0.messages } }

  /// The text is in memory alone, until it is asked to save.
  func edit(_ text: String) {
    state.withLock { $0.text = text }
    NSFileCoordinator.setHasUnsavedChanges(true, for: self)
  }

  // MARK: Questions

  func presentedItemWillBeAsked(by asker: NSFileCoordinator.Asker) { state.withLock { $0.asker = asker } }

  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    asked("relinquish to reader") { _ in reader { self.told("reacquire") } }
  }

  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    asked("relinquish to writer") { _ in writer { self.told("reacquire") } }
  }

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    asked("save") { error in completionHandler(error ?? self.save()) }
  }

  func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    asked("deletion", completionHandler)
  }

  func accommodatePresentedSubitemDeletion(
    at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { asked("deletion of \(url.lastPathComponent)", completionHandler) }

  private func asked(_ words: String, _ answer: @escaping @Sendable ((any Error)?) -> Void) {
    state.withLock { $0.messages.append(Message(words: words, asker: $0.asker)) }
    if manner.isSilent { return }
    let error = manner.failure.map {
      NSError(domain: "org.example.window", code: 7, userInfo: [NSLocalizedDescriptionKey: $0])
    }
    guard manner.delay > 0 else { return answer(error) }
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: self.manner.delay)
      answer(error)
    }
  }

  /// Writes the text through a coordinator of its own, as an editor does: a plain one would wait for the very one that asks.
  private func save() -> (any Error)? {
    guard let text = state.withLock({ $0.text }), let url = presentedItemURL else { return nil }
    var refusal: NSError?
    var failure: (any Error)?
    unsafe NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: url, error: &refusal) { url in
      do { try Data(text.utf8).write(to: url) } catch { failure = error }
    }
    if let error = refusal ?? failure { return error }
    // Not before: a save for a program that waits comes to the document after the accessor.
    state.withLock { $0.text = nil }
    NSFileCoordinator.setHasUnsavedChanges(false, for: self)
    return nil
  }

  // MARK: News

  private func told(_ words: String) { state.withLock { $0.messages.append(Message(words: words, asker: nil)) } }

  func presentedItemDidChangeWithoutCoordination() { told("without coordination") }
  func presentedItemDidChange() { told("changed") }
  func presentedSubitemDidAppear(at url: URL) { told("appeared \(url.lastPathComponent)") }
  func presentedSubitemDidChange(at url: URL) { told("changed \(url.lastPathComponent)") }

  func presentedItemDidMove(to newURL: URL) {
    state.withLock { $0.url = newURL }
    told("moved to \(newURL.lastPathComponent)")
  }

  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
    told("moved \(oldURL.lastPathComponent) to \(newURL.lastPathComponent)")
  }
}
