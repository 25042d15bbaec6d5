public import Foundation
internal import Wire

/// A browser of the user's documents, as an app's first screen. It runs outside the sandbox: the app learns of nothing that was not
/// opened.
///
///     let browser = UIDocumentBrowserViewController(forOpening: [.plainText])
///     browser.delegate = self
///     try browser.run()
///
/// Unlike the picker it stays: after each document it is shown again, until the user leaves it (`PCK-13`). It shows documents, and
/// offers no folders (`PCK-11`).
@MainActor public final class UIDocumentBrowserViewController {
  /// The fate of the file that an app hands over as a new document.
  public enum ImportMode: UInt, Sendable {
    /// There is no new document.
    case none
    /// The file stays, and a copy is the document.
    case copy
    /// The file goes.
    case move
  }

  /// How the browser looks: the page in a web browser. In a terminal its own colours decide.
  public enum BrowserUserInterfaceStyle: UInt, Sendable {
    /// A white browser.
    case white
    /// A light browser.
    case light
    /// A dark browser.
    case dark
  }

  /// Is told of what the user does. Not kept alive.
  public weak var delegate: (any UIDocumentBrowserViewControllerDelegate)?
  /// The user may ask for a new document, if the delegate makes some (`PCK-18`).
  public var allowsDocumentCreation = true
  /// Several documents may be chosen at a time.
  public var allowsPickingMultipleItems = false
  /// The colours of the page in a web browser; `white` leaves them to the user.
  public var browserUserInterfaceStyle = BrowserUserInterfaceStyle.white
  /// Actions of the app's own on documents: at most 16 with the buttons.
  public var customActions: [UIDocumentBrowserAction] = []
  /// Buttons of the app's own. They are in the menu of actions, these first.
  public var additionalLeadingNavigationBarButtonItems: [UIBarButtonItem] = []
  /// The same, behind the others.
  public var additionalTrailingNavigationBarButtonItems: [UIBarButtonItem] = []
  /// Names are shown with their extensions. Unlike Apple's it is true at first. The name under the cursor always has its own.
  public var shouldShowFileExtensions = true
  /// The browser's view.
  public let view = UIDocumentBrowserView()
  /// The app has ended the browser.
  private var isDismissed = false
  /// The app will not write. Ambit's addition.
  public var isReadOnly = false
  /// The types that may be opened; as given when the browser was made.
  public let contentTypesForOpening: [UTType]
  /// The identifiers of the types that may be opened; empty: any.
  public var allowedContentTypes: [String] { contentTypesForOpening.map(\.identifier) }
  /// Where the browser starts next; see ``revealDocument(at:importIfNeeded:completion:)``.
  private var start: URL?

  /// - Parameter contentTypes: the types that may be opened; `nil`: any.
  public init(forOpening contentTypes: [UTType]?) { contentTypesForOpening = contentTypes ?? [] }

  /// The older form, with types by their identifiers.
  public convenience init(forOpeningFilesWithContentTypes types: [String]?) {
    self.init(forOpening: types?.map { UTType(importedAs: $0) })
  }

  // MARK: Showing

  /// Shows the browser until the user leaves it. The delegate is told meanwhile, on this thread.
  ///
  /// - Throws: `CocoaError`: `featureUnsupported` when no user can be asked; other errors of the picker are told to the delegate.
  public func run() throws {
    isDismissed = false
    var failures = 0
    while try present(), !isDismissed {
      failures = failure == nil ? 0 : failures + 1
      // A browser that cannot be shown is not asked for without end.
      if failures >= Self.mostFailures, let failure { throw failure }
    }
  }

  private static let mostFailures = 3
  /// The error of the last time that it was shown, of which the delegate has been told.
  private var failure: (any Error)?

  /// Ends ``run()``: the browser is not shown again. For a delegate, or the handler of an action.
  ///
  /// - Parameter completion: called before this returns.
  public func dismiss(animated: Bool, completion: (() -> Void)? = nil) {
    isDismissed = true
    completion?()
  }

  /// The app's wishes for the browser, as a message.
  private func message(creates: Bool) -> PickerInterface.Browser {
    let style: PickerInterface.Browser.Style? =
      switch browserUserInterfaceStyle {
      case .white: nil
      case .light: .light
      case .dark: .dark
      }
    let all = customActions.map(\.message) + buttons.map { $0.item.message($0.identifier) }
    return .init(
      creates: creates, actions: all.isEmpty ? nil : all, hidesExtensions: shouldShowFileExtensions ? nil : true,
      style: style, tint: view.tintColor?.text)
  }

  private var buttons: [(identifier: String, item: UIBarButtonItem)] {
    (additionalLeadingNavigationBarButtonItems + additionalTrailingNavigationBarButtonItems).enumerated().map {
      ("ambit.button.\($0)", $1)
    }
  }

  /// The user has chosen an action of the app's.
  private func perform(_ identifier: String, _ urls: [URL]) {
    if let action = customActions.first(where: { $0.identifier == identifier }) { return action.handler(urls) }
    if let action = buttons.first(where: { $0.identifier == identifier })?.item.primaryAction { action.handler(action) }
  }

  /// Shows the browser until the user has done one thing, and tells the delegate.
  ///
  /// - Returns: false if the user has left it.
  @discardableResult
  public func present() throws -> Bool {
    let picker = DocumentPicker(forOpeningContentTypes: contentTypesForOpening)
    picker.allowsMultipleSelection = allowsPickingMultipleItems
    picker.isReadOnly = isReadOnly
    picker.directoryURL = start
    start = nil
    failure = nil
    let maker = allowsDocumentCreation ? delegate as? any UIDocumentBrowserCreationDelegate : nil
    do {
      let reply = try picker.browse(message(creates: maker != nil))
      if reply.creation == true {
        if let maker { create(maker) }
      } else if let action = reply.action {
        perform(action, try reply.documents.map { try URL(document: $0) })
      } else {
        delegate?.documentBrowser(self, didPickDocumentsAt: try reply.documents.map { try URL(document: $0) })
      }
      return true
    } catch let error as CocoaError where error.code == .userCancelled {
      delegate?.documentBrowserWasCancelled(self)
      return false
    } catch let error as CocoaError where error.code == .featureUnsupported {
      throw error
    } catch {
      failure = error
      delegate?.documentBrowser(self, didFailWithError: error)
      return true
    }
  }

  // MARK: New documents

  /// The handler counts once, and the delegate is told once of the outcome (`PCK-14`).
  private func create(_ maker: any UIDocumentBrowserCreationDelegate) {
    var isDone = false
    maker.documentBrowser(self) { [self] url, mode in
      guard !isDone else { return }
      isDone = true
      guard let url, mode != .none else { return }
      place(url, nextTo: nil, mode) { destination, error in
        if let destination {
          maker.documentBrowser(self, didImportDocumentAt: url, toDestinationURL: destination)
        } else {
          maker.documentBrowser(self, failedToImportDocumentAt: url, error: error)
        }
      }
    }
  }

  /// Puts a new document next to another one, after the user has asked for a new document (`PCK-16`).
  ///
  /// - Parameters:
  ///   - url: a file in the app's container.
  ///   - neighbour: a document that the app was given.
  ///   - completion: called before this returns, with a scoped URL or an error.
  public func importDocument(
    at url: URL, nextToDocumentAt neighbour: URL, mode: ImportMode,
    completionHandler completion: (URL?, (any Error)?) -> Void
  ) {
    guard mode != .none else { return completion(nil, nil) }
    place(url, nextTo: neighbour, mode, completion)
  }

  private func place(
    _ url: URL, nextTo neighbour: URL?, _ mode: ImportMode, _ completion: (URL?, (any Error)?) -> Void
  ) {
    do {
      let call = PickerInterface.CreateCall(
        source: url.standardizedFileURL.path, move: mode == .move,
        nextTo: try neighbour.map { try SecurityScope.scope(of: $0) })
      let reply: PickerInterface.CreateReply = try Broker.call(PickerInterface.create, call)
      completion(try URL(document: reply.document), nil)
    } catch let error as WireError {
      completion(nil, error.cocoa(for: url))
    } catch {
      completion(nil, error)
    }
  }

  // MARK: Names and places

  /// Gives a document another name.
  ///
  /// - Parameter completion: called before this returns, with a scoped URL that has the name which the document got: if the proposed one
  ///   was taken, it has a number (`PCK-17`).
  public func renameDocument(
    at url: URL, proposedName name: String, completionHandler completion: (URL?, (any Error)?) -> Void
  ) {
    do {
      let call = PickerInterface.RenameCall(scope: try SecurityScope.scope(of: url), name: name)
      let reply: PickerInterface.RenameReply = try Broker.call(PickerInterface.rename, call)
      completion(try URL(document: reply.document), nil)
    } catch let error as WireError {
      completion(nil, error.cocoa(for: url))
    } catch {
      completion(nil, error)
    }
  }

  /// Has the browser start where a document is.
  ///
  /// - Parameters:
  ///   - importIfNeeded: a document in `Documents/Inbox` becomes one of the user's. The delegate is told that it was imported.
  ///   - completion: called before this returns: with the URL of the imported document, or `nil` if none was imported (`OIP-4`).
  public func revealDocument(
    at url: URL, importIfNeeded: Bool, completion: ((URL?, (any Error)?) -> Void)? = nil
  ) {
    guard importIfNeeded, (try? SecurityScope.scope(of: url)) == nil else {
      start = url
      completion?(nil, nil)
      return
    }
    place(url, nextTo: nil, .move) { destination, error in
      if let destination {
        start = destination
        delegate?.documentBrowser(self, didImportDocumentAt: url, toDestinationURL: destination)
      } else {
        delegate?.documentBrowser(self, failedToImportDocumentAt: url, error: error)
      }
      completion?(destination, error)
    }
  }
}

/// Is told of the user's acts in a browser. Each method may be left out.
@MainActor public protocol UIDocumentBrowserViewControllerDelegate: AnyObject {
  /// The user opened documents: at least one, in one call.
  func documentBrowser(_ controller: UIDocumentBrowserViewController, didPickDocumentsAt documentURLs: [URL])
  /// A new document is in its place.
  func documentBrowser(
    _ controller: UIDocumentBrowserViewController, didImportDocumentAt sourceURL: URL,
    toDestinationURL destinationURL: URL)
  /// A new document could not be put into its place.
  func documentBrowser(
    _ controller: UIDocumentBrowserViewController, failedToImportDocumentAt documentURL: URL, error: (any Error)?)
  /// The user left the browser. Ambit's addition.
  func documentBrowserWasCancelled(_ controller: UIDocumentBrowserViewController)
  /// The user's choice could not be handed over. Ambit's addition.
  func documentBrowser(_ controller: UIDocumentBrowserViewController, didFailWithError error: any Error)
}

extension UIDocumentBrowserViewControllerDelegate {
  /// Nothing happens.
  public func documentBrowser(_ controller: UIDocumentBrowserViewController, didPickDocumentsAt documentURLs: [URL]) {}
  /// Nothing happens.
  public func documentBrowser(
    _ controller: UIDocumentBrowserViewController, didImportDocumentAt sourceURL: URL,
    toDestinationURL destinationURL: URL
  ) {}
  /// Nothing happens.
  public func documentBrowser(
    _ controller: UIDocumentBrowserViewController, failedToImportDocumentAt documentURL: URL, error: (any Error)?
  ) {}
  /// Nothing happens.
  public func documentBrowserWasCancelled(_ controller: UIDocumentBrowserViewController) {}
  /// The reason goes to standard error.
  public func documentBrowser(_ controller: UIDocumentBrowserViewController, didFailWithError error: any Error) {
    try? FileHandle.standardError.write(contentsOf: Data("document browser: \(error.localizedDescription)\n".utf8))
  }
}

/// A delegate that makes new documents. On Apple's systems the method is an optional one of the delegate's; Swift on Linux cannot ask an
/// object for such a method, so it has a protocol of its own. Without it the browser offers no new document (`PCK-18`).
@MainActor public protocol UIDocumentBrowserCreationDelegate: UIDocumentBrowserViewControllerDelegate {
  /// The user asks for a new document. The app makes a file in its container and calls the handler once, at once or later on the thread
  /// of the browser; with no URL and `.none` if there is to be no document.
  func documentBrowser(
    _ controller: UIDocumentBrowserViewController,
    didRequestDocumentCreationWithHandler importHandler:
      @escaping (URL?, UIDocumentBrowserViewController.ImportMode) ->
      Void)
}
