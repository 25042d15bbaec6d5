public import Foundation
internal import Wire

/// An action of an app's own on documents in its browser. It is in the menu of actions; the documents that the user chooses it for are
/// the app's to use, as if they had been picked (`PCK-33`).
///
///     let export = UIDocumentBrowserAction(identifier: "export", localizedTitle: "Export", availability: [.menu]) { urls in … }
///     browser.customActions = [export]
public final class UIDocumentBrowserAction: Sendable {
  /// Where an action is offered.
  public struct Availability: OptionSet, Sendable {
    /// Its bits.
    public let rawValue: Int
    /// By its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// In the menu of actions on documents.
    public static let menu = Availability(rawValue: 1 << 0)
    /// Beside the list. Ambit has one menu for both.
    public static let navigationBar = Availability(rawValue: 1 << 1)
  }

  /// As the app calls it; the log does too.
  public let identifier: String
  /// Its words in the menu.
  public let localizedTitle: String
  /// Where it is offered.
  public let availability: Availability
  /// The identifiers of the types that it takes.
  public let supportedContentTypes: [String]
  /// It takes several documents at once.
  public let supportsMultipleItems: Bool
  let handler: @MainActor ([URL]) -> Void

  /// - Parameters:
  ///   - identifier: at most 128 bytes; no two of a browser have the same.
  ///   - localizedTitle: at most 80 bytes.
  ///   - handler: is called with scoped URLs.
  public init(
    identifier: String, localizedTitle: String, availability: Availability,
    supportedContentTypes: [String] = ["public.item"], supportsMultipleItems: Bool = true,
    handler: @escaping @MainActor ([URL]) -> Void
  ) {
    (self.identifier, self.localizedTitle, self.availability) = (identifier, localizedTitle, availability)
    (self.supportedContentTypes, self.supportsMultipleItems) = (supportedContentTypes, supportsMultipleItems)
    self.handler = handler
  }

  var message: BrowserActionMessage {
    let types = supportedContentTypes.map { UTType(importedAs: $0) }
    let isAny = types.isEmpty || types.contains { $0.pickedExtensions == nil }
    return BrowserActionMessage(
      identifier: identifier, title: localizedTitle, menu: availability.contains(.menu),
      navigationBar: availability.contains(.navigationBar), documents: true,
      types: isAny ? nil : types.compactMap(\.pickedExtensions).flatMap(\.self), multiple: supportsMultipleItems)
  }
}

/// Something that a button does.
public final class UIAction: Sendable {
  /// Its words.
  public let title: String
  let handler: @MainActor (UIAction) -> Void

  /// - Parameter handler: is called with the action.
  public init(title: String = "", handler: @escaping @MainActor (UIAction) -> Void) {
    (self.title, self.handler) = (title, handler)
  }
}

/// A button of an app's own in its browser. It needs no document.
public final class UIBarButtonItem: Sendable {
  /// Its words.
  public let title: String?
  /// The act itself.
  public let primaryAction: UIAction?

  /// - Parameter title: at most 80 bytes; `nil`: the action's.
  public init(title: String? = nil, primaryAction: UIAction? = nil) {
    (self.title, self.primaryAction) = (title ?? primaryAction?.title, primaryAction)
  }

  func message(_ identifier: String) -> BrowserActionMessage {
    BrowserActionMessage(
      identifier: identifier, title: title ?? "", menu: false, navigationBar: true, documents: false, multiple: false)
  }
}

/// A colour, by its parts from 0 to 1.
public struct UIColor: Sendable, Hashable {
  /// A part of it.
  public let red, green, blue, alpha: Double

  /// By its parts.
  public init(red: Double, green: Double, blue: Double, alpha: Double) {
    (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
  }

  /// The system's red.
  public static let systemRed = UIColor(red: 1, green: 0.23, blue: 0.19, alpha: 1)
  /// The system's orange.
  public static let systemOrange = UIColor(red: 1, green: 0.58, blue: 0, alpha: 1)
  /// The system's green.
  public static let systemGreen = UIColor(red: 0.2, green: 0.78, blue: 0.35, alpha: 1)
  /// The system's blue.
  public static let systemBlue = UIColor(red: 0, green: 0.48, blue: 1, alpha: 1)
  /// The system's purple.
  public static let systemPurple = UIColor(red: 0.69, green: 0.32, blue: 0.87, alpha: 1)

  /// “#rrggbb”.
  var text: String {
    "#"
      + [red, green, blue].map { part in
        let hex = String(Int((max(0, min(1, part.isNaN ? 0 : part)) * 255).rounded()), radix: 16)
        return hex.count == 1 ? "0" + hex : hex
      }.joined()
  }
}

/// The browser's view, as far as an app has a say in it.
@MainActor public final class UIDocumentBrowserView {
  /// The accent: of the page in a web browser, and of the first line in a terminal, if it can be read on black and on white.
  public var tintColor: UIColor?
}
