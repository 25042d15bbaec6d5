public import Foundation
internal import Synchronization
internal import Wire

/// A state of a folder, as the provider names it: changes are told from there on.
public struct NSFileProviderSyncAnchor: RawRepresentable, Hashable, Sendable {
  /// At most 500 bytes.
  public let rawValue: Data
  /// An anchor with this name.
  public init(rawValue: Data) { self.rawValue = rawValue }
  /// An anchor with this name.
  public init(_ rawValue: Data) { self.rawValue = rawValue }
}

/// Is told the changes of a folder.
public protocol NSFileProviderChangeObserver: AnyObject, Sendable {
  /// Items that are new, or are not as they were.
  func didUpdate(_ updatedItems: [any NSFileProviderItem])
  /// Items that are gone from the folder.
  func didDeleteItems(withIdentifiers deletedItemIdentifiers: [NSFileProviderItemIdentifier])
  /// The changes until an anchor are told; with `moreComing`, further ones follow from there.
  func finishEnumeratingChanges(upTo anchor: NSFileProviderSyncAnchor, moreComing: Bool)
  /// The changes cannot be told: with `syncAnchorExpired`, the folder is listed anew (`PRV-9`).
  func finishEnumeratingWithError(_ error: any Error)
}

/// Collects the changes of one request; the last word about an item counts.
final class ChangeObserver: NSFileProviderChangeObserver {
  private struct Told {
    var updated: [String: ProviderItemMessage] = [:]
    var deleted: Set<String> = []
  }

  private let id: Int
  private let told = Mutex(Told())
  private nonisolated(unsafe) let end: () -> Void

  init(_ id: Int, _ end: @escaping () -> Void) {
    self.id = id
    unsafe self.end = end
  }

  func didUpdate(_ updatedItems: [any NSFileProviderItem]) {
    let messages = updatedItems.map(\.message)
    told.withLock { told in
      for message in messages {
        told.updated[message.identifier] = message
        told.deleted.remove(message.identifier)
      }
    }
  }

  func didDeleteItems(withIdentifiers deletedItemIdentifiers: [NSFileProviderItemIdentifier]) {
    told.withLock { told in
      for identifier in deletedItemIdentifiers.map(\.wire) {
        told.updated[identifier] = nil
        told.deleted.insert(identifier)
      }
    }
  }

  func finishEnumeratingChanges(upTo anchor: NSFileProviderSyncAnchor, moreComing: Bool) {
    let all = told.withLock { $0 }
    NSFileProviderExtension.answer(
      .init(
        id: id, items: all.updated.sorted { $0.key < $1.key }.map(\.value),
        next: anchor.rawValue.base64EncodedString(), deleted: all.deleted.sorted(), more: moreComing))
    unsafe end()
  }

  func finishEnumeratingWithError(_ error: any Error) {
    NSFileProviderExtension.answer(NSFileProviderExtension.failure(id, error))
    unsafe end()
  }
}
