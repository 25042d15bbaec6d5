public import Foundation

/// One that shows, or edits, a file or folder, and is asked and told about others' access to it (`COO-4`…`COO-7`).
///
/// As Foundation's on Apple's systems; what is optional there has a default here. All methods are called on
/// ``presentedItemOperationQueue``.
public protocol NSFilePresenter: NSObjectProtocol {
  /// The presented item; `nil`: none at the moment.
  var presentedItemURL: URL? { get }
  /// The queue on which all methods are called.
  var presentedItemOperationQueue: OperationQueue { get }
  /// The document that a related item belongs to (`COO-25`).
  var primaryPresentedItemURL: URL? { get }

  /// Let another one read, and call `reader` when it may. It takes a block that is called once the reader has ended.
  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)
  /// Let another one write, and call `writer` when it may. It takes a block that is called once the writer has ended.
  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)
  /// Save what is not saved yet. With an error the other one's access fails (`COO-7`).
  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// The item is about to be deleted.
  func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Something in the presented package is about to be deleted.
  func accommodatePresentedSubitemDeletion(
    at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void)

  /// The item has another URL now.
  func presentedItemDidMove(to newURL: URL)
  /// The item was written, or its facts have changed.
  func presentedItemDidChange()
  /// Attributes of an item in a provider's care have changed.
  func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>)
  /// There is something new in the presented folder.
  func presentedSubitemDidAppear(at url: URL)
  /// Something in the presented folder was moved.
  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL)
  /// Something in the presented folder was written, or deleted.
  func presentedSubitemDidChange(at url: URL)

  /// The item has another version than the current one (`DOC-8`).
  func presentedItemDidGain(_ version: NSFileVersion)
  /// The item has a version less.
  func presentedItemDidLose(_ version: NSFileVersion)
  /// A conflict about the item was resolved.
  func presentedItemDidResolveConflict(_ version: NSFileVersion)

  /// Ambit's addition (`COO-29`): called before each question, and says which app asks, in which process, and for what.
  func presentedItemWillBeAsked(by asker: NSFileCoordinator.Asker)
  /// Ambit's addition (`COO-24`): called before a change is told that another program made without any coordination.
  func presentedItemDidChangeWithoutCoordination()
}

extension NSFilePresenter {
  /// None.
  public var primaryPresentedItemURL: URL? { nil }
  /// Lets the reader in at once.
  public func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    reader(nil)
  }
  /// Lets the writer in at once.
  public func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    writer(nil)
  }
  /// There is nothing to save.
  public func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    completionHandler(nil)
  }
  /// Agrees.
  public func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    completionHandler(nil)
  }
  /// Agrees.
  public func accommodatePresentedSubitemDeletion(
    at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  /// Does nothing.
  public func presentedItemDidMove(to newURL: URL) {}
  /// Does nothing.
  public func presentedItemDidChange() {}
  /// Does nothing.
  public func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>) {}
  /// Does nothing.
  public func presentedSubitemDidAppear(at url: URL) {}
  /// Does nothing.
  public func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {}
  /// Without a method of its own for items in it, a presenter of a package hears that the package has changed.
  public func presentedSubitemDidChange(at url: URL) {}
  /// Does nothing.
  public func presentedItemDidGain(_ version: NSFileVersion) {}
  /// Does nothing.
  public func presentedItemDidLose(_ version: NSFileVersion) {}
  /// Does nothing.
  public func presentedItemDidResolveConflict(_ version: NSFileVersion) {}
  /// Does nothing.
  public func presentedItemWillBeAsked(by asker: NSFileCoordinator.Asker) {}
  /// Does nothing.
  public func presentedItemDidChangeWithoutCoordination() {}
}
