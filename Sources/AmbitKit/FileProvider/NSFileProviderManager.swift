public import Foundation
internal import Synchronization
internal import Wire

/// The broker, as a provider's extension talks to it. Apple's names.
public final class NSFileProviderManager: Sendable {
  /// The one of this extension.
  public static let `default` = NSFileProviderManager()

  private init() {}

  private struct State {
    var identifier = ""
    var placeholders: [String: ProviderItemMessage] = [:]
  }
  private static let state = Mutex(State())
  private static let mostPlaceholders = 1024

  static func setIdentifier(_ identifier: String) { state.withLock { $0.identifier = identifier } }

  /// The identifier of this provider. As the purpose of a file coordinator, it keeps the extension from waiting for the reader that it
  /// serves (`PRV-18`).
  public var providerIdentifier: String { Self.state.withLock { $0.identifier } }

  /// The only folder in which documents are handed over (`PRV-7`).
  public var documentStorageURL: URL {
    URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true).appendingPathComponent(ProviderStorage.folder)
  }

  /// Says that a folder, the working set or the trash has changed: Ambit asks for the changes soon.
  ///
  /// - Parameter completion: told when Ambit knows it, or why it does not.
  public func signalEnumerator(
    for containerItemIdentifier: NSFileProviderItemIdentifier,
    completionHandler completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    call(completion) {
      try Broker.call(
        ProviderInterface.signal, ProviderInterface.SignalCall(identifier: containerItemIdentifier.wire))
    }
  }

  /// Takes the content of a document away from the user's folder (`PRV-13`).
  ///
  /// - Parameter completion: told when it is done, or why the content stays.
  public func evictItem(
    identifier: NSFileProviderItemIdentifier, completionHandler completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    call(completion) {
      try Broker.call(ProviderInterface.evict, ProviderInterface.EvictCall(identifier: identifier.wire))
    }
  }

  /// Not on the calling thread: the answer may need the extension.
  private func call(
    _ completion: @escaping @Sendable ((any Error)?) -> Void, _ body: @escaping @Sendable () throws -> Void
  ) {
    Thread.detachNewThread {
      do { try body() } catch {
        let sentence: String? =
          if case .remote(_, let parameters)? = error as? WireError { try? parameters.string("reason") } else { nil }
        return completion(NSFileProviderError(.cannotSynchronize, sentence ?? "\(error)"))
      }
      completion(nil)
    }
  }

  // MARK: Placeholders

  /// The name of the placeholder of the document at a URL. Ambit keeps placeholders itself: nothing is at this URL.
  public static func placeholderURL(for url: URL) -> URL {
    url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).placeholder")
  }

  /// Gives the metadata that the placeholder of an item shows. The answer to ``NSFileProviderExtension/providePlaceholder(at:completionHandler:)`` has
  /// it.
  ///
  /// - Throws: where too many are asked for at once.
  public static func writePlaceholder(at placeholderURL: URL, withMetadata metadata: any NSFileProviderItem) throws {
    let message = metadata.message
    try state.withLock { state in
      guard state.placeholders.count < mostPlaceholders else { throw NSFileProviderError(.cannotSynchronize) }
      state.placeholders[placeholderURL.standardizedFileURL.path] = message
    }
  }

  static func takePlaceholder(of url: URL) -> ProviderItemMessage? {
    let path = placeholderURL(for: url).standardizedFileURL.path
    return state.withLock { $0.placeholders.removeValue(forKey: path) }
  }
}
