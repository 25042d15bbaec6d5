public import Foundation
internal import Wire

/// A document that was opened with the app without its asking: by its user (`ambit open`, `ambit run --give`), or from another app.
public struct UIOpenURLContext: Sendable {
  /// The circumstances.
  public struct Options: Sendable, Hashable {
    /// The URL is of the original. Otherwise it is of a copy in `Documents/Inbox`, which the app moves before it writes (`OIP-3`).
    public let openInPlace: Bool
    /// The bundle identifier of the app that the document comes from; `nil`: the user opened it.
    public let sourceApplication: String?
    /// The document is started already, until this launch ends. Ambit's addition.
    public let isStarted: Bool
  }

  /// A scoped URL of the original, or the URL of a copy in the container.
  public let url: URL
  /// The circumstances.
  public let options: Options

  init(_ opening: OpeningInterface.Opening) throws {
    if let document = opening.document {
      url = try URL(document: document)
    } else {
      url = URL(fileURLWithPath: opening.copy ?? "")
    }
    options = Options(
      openInPlace: opening.document != nil, sourceApplication: opening.source, isStarted: opening.started)
  }
}

/// The part of UIKit's class that is about documents.
@MainActor
public final class UIApplication {
  /// Says how a document was opened.
  public struct OpenURLOptionsKey: Hashable, RawRepresentable, Sendable {
    /// UIKit's name of the option.
    public let rawValue: String
    /// An option of this name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A `Bool`: the original, and no copy (`OIP-3`).
    public static let openInPlace = OpenURLOptionsKey(rawValue: "UIApplicationOpenURLOptionsOpenInPlaceKey")
    /// A `String`: the bundle identifier of the app that the document comes from.
    public static let sourceApplication = OpenURLOptionsKey(
      rawValue: "UIApplicationOpenURLOptionsSourceApplicationKey")
  }

  /// The running app.
  public static let shared = UIApplication()
  /// Is told of opened documents once ``receiveOpenedURLs()`` was called; not kept alive.
  public weak var delegate: (any UIApplicationDelegate)?
  private var receiving: Task<Void, Never>?

  private init() {}

  /// From now on the delegate is told of documents that are opened with the app; first of those that were opened before.
  ///
  /// - Throws: a `CocoaError` where there is no broker.
  public func receiveOpenedURLs() throws {
    guard receiving == nil else { return }
    let opened = try Self.openedURLs()
    receiving = Task { [weak self] in
      do {
        for try await context in opened {
          guard let self, let delegate = self.delegate else { continue }
          var options: [OpenURLOptionsKey: Any] = [.openInPlace: context.options.openInPlace]
          if let source = context.options.sourceApplication { options[.sourceApplication] = source }
          _ = delegate.application(self, open: context.url, options: options)
        }
      } catch {}
      self?.receiving = nil
    }
  }

  /// The documents that are opened with the app, in their order; first those that were opened before. One reader gets them.
  ///
  /// - Throws: a `CocoaError` where there is no broker.
  public nonisolated static func openedURLs() throws -> AsyncThrowingStream<UIOpenURLContext, any Error> {
    try BrokerEvents<OpeningInterface.NextReply>(OpeningInterface.next, isRepeated: true).stream {
      try UIOpenURLContext($0.opening)
    }
  }

  /// The same for a program that does nothing else meanwhile. Ambit's addition.
  ///
  /// - Parameter body: told each document; `false` ends it.
  public nonisolated static func forEachOpenedURL(_ body: (UIOpenURLContext) throws -> Bool) throws {
    try BrokerEvents<OpeningInterface.NextReply>(OpeningInterface.next, isRepeated: true).forEach {
      try body(try UIOpenURLContext($0.opening))
    }
  }

  /// Deletes a document in `Documents/Inbox`, which the app cannot write itself (`OIP-2`). Ambit's addition.
  ///
  /// - Throws: a `CocoaError` if the URL leads to nothing there.
  public nonisolated static func discard(inboxItemAt url: URL) throws {
    do {
      try Broker.call(OpeningInterface.discard, OpeningInterface.DiscardCall(path: url.standardizedFileURL.path))
    } catch { throw error.cocoa(for: url) }
  }
}

/// The part of UIKit's protocol that is about documents.
@MainActor
public protocol UIApplicationDelegate: AnyObject {
  /// A document was opened with the app.
  ///
  /// - Returns: whether the app opened it.
  func application(
    _ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]
  ) -> Bool
}

extension UIApplicationDelegate {
  /// False: the app opens nothing.
  public func application(
    _ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]
  ) -> Bool { false }
}
