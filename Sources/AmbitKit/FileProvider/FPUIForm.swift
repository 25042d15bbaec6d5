internal import Foundation
internal import Wire

/// A form that the picker draws for a provider, in a frame that names the provider: to sign in, for example (`PRV-14`). A form has 16
/// fields and 4 buttons at most.
public struct FPUIForm: Sendable {
  /// One field.
  public struct Field: Sendable {
    /// The kind of its answer.
    public enum Kind: Sendable {
      /// A line of text.
      case text
      /// A line that is not shown while it is typed, and is in no log.
      case secret
      /// One of these.
      case choice([String])
      /// A text of the provider's own, without an answer.
      case note
    }

    /// The name of the answer.
    public var key: String
    /// The words before it.
    public var label: String
    /// The kind of its answer.
    public var kind: Kind
    /// The answer that stands there first.
    public var value: String?

    /// A field.
    public init(_ key: String, _ label: String, _ kind: Kind = .text, value: String? = nil) {
      (self.key, self.label, self.kind, self.value) = (key, label, kind, value)
    }
  }

  /// One button, besides the picker's own that cancels.
  public struct Button: Sendable {
    /// The name of the answer.
    public var key: String
    /// The words on it.
    public var label: String
    /// A button.
    public init(_ key: String, _ label: String) { (self.key, self.label) = (key, label) }
  }

  /// Above the fields.
  public var title: String
  /// Below the title.
  public var text: String?
  /// In this order.
  public var fields: [Field]
  /// The first one is the usual one.
  public var buttons: [Button]

  /// A form.
  public init(title: String, text: String? = nil, fields: [Field], buttons: [Button]) {
    (self.title, self.text, self.fields, self.buttons) = (title, text, fields, buttons)
  }

  var message: ProviderFormMessage {
    .init(
      title: title, text: text,
      fields: fields.map { field in
        let (kind, choices): (ProviderFieldKind, [String]?) =
          switch field.kind {
          case .text: (.text, nil)
          case .secret: (.secret, nil)
          case .choice(let choices): (.choice, choices)
          case .note: (.note, nil)
          }
        return .init(key: field.key, label: field.label, kind: kind, value: field.value, choices: choices)
      }, buttons: buttons.map { .init(key: $0.key, label: $0.label) })
  }
}

/// The user's answers to a form.
public struct FPUIFormAnswers: Sendable {
  /// The button's key.
  public let button: String
  /// By the keys of the fields.
  public let values: [String: String]
}

extension NSFileProviderExtension {
  func carryOutForm(_ request: ProviderInterface.Request) throws {
    let id = request.id
    guard let reply = request.reply else {
      let error = NSFileProviderError(.init(rawValue: request.identifier) ?? .cannotSynchronize)
      guard let form = form(for: error) else { throw NSFileProviderError(.noSuchItem, "It has no form for that.") }
      return Self.answer(.init(id: id, form: form.message))
    }
    submit(FPUIFormAnswers(button: reply.button, values: reply.values)) { form, error in
      Self.answer(error.map { Self.failure(id, $0) } ?? .init(id: id, form: form?.message))
    }
  }

  /// Changes in a folder.
  func carryOutChanges(_ request: ProviderInterface.Request, _ folder: NSFileProviderItemIdentifier) throws {
    let id = request.id
    let enumerator = try enumerator(for: folder)
    guard request.kind == .changes else {
      return enumerator.currentSyncAnchor { anchor in
        Self.answer(.init(id: id, next: anchor?.rawValue.base64EncodedString()))
        enumerator.invalidate()
      }
    }
    guard let anchor = request.page.flatMap({ Data(base64Encoded: $0) }) else {
      throw NSFileProviderError(.syncAnchorExpired)
    }
    enumerator.enumerateChanges(
      for: ChangeObserver(id) { enumerator.invalidate() }, from: NSFileProviderSyncAnchor(anchor))
  }

  /// The picture of one item.
  func draw(_ request: ProviderInterface.Request, _ identifier: NSFileProviderItemIdentifier) throws {
    guard let path = request.path, let side = request.size else { throw NSFileProviderError(.noSuchItem) }
    let (id, url) = (request.id, URL(fileURLWithPath: path))
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try? FileManager.default.removeItem(at: url)
    _ = fetchThumbnails(
      for: [identifier], requestedSize: CGSize(width: side, height: side),
      perThumbnailCompletionHandler: { drawn, data, _ in
        guard drawn == identifier, let data else { return }
        try? data.write(to: url)
      },
      completionHandler: { error in
        let isThere = FileManager.default.fileExists(atPath: url.path)
        let fault = error ?? (isThere ? nil : NSFileProviderError(.noSuchItem, "There is no picture of it."))
        Self.answer(fault.map { Self.failure(id, $0) } ?? .init(id: id))
      })
  }
}
