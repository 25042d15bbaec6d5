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
      /// A list, of which one row can be chosen, or several. Its answer is ``FPUIFormAnswers/rows(_:)``.
      case rows([Row], several: Bool = false)
      /// A text of the provider's own, without an answer.
      case note
    }

    /// One row of a list.
    public struct Row: Sendable {
      /// The name of the answer, without an end of line.
      public var key: String
      /// The words.
      public var title: String
      /// Further words beside them.
      public var detail: String?

      /// A row.
      public init(_ key: String, _ title: String, detail: String? = nil) {
        (self.key, self.title, self.detail) = (key, title, detail)
      }
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
        var message = ProviderFormField(key: field.key, label: field.label, kind: .note, value: field.value)
        switch field.kind {
        case .text: message.kind = .text
        case .secret: message.kind = .secret
        case .choice(let choices): (message.kind, message.choices) = (.choice, choices)
        case .rows(let rows, let several):
          message.kind = .rows
          (message.rows, message.several) = (
            rows.map { .init(key: $0.key, title: $0.title, detail: $0.detail) }, several
          )
        case .note: break
        }
        return message
      }, buttons: buttons.map { .init(key: $0.key, label: $0.label) })
  }
}

/// The user's answers to a form.
public struct FPUIFormAnswers: Sendable {
  /// The button's key.
  public let button: String
  /// By the keys of the fields.
  public let values: [String: String]

  /// The keys of the rows that were chosen in a list.
  public func rows(_ key: String) -> [String] { values[key]?.split(separator: "\n").map(String.init) ?? [] }
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
