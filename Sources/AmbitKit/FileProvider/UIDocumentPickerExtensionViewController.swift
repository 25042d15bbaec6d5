public import Foundation
internal import Synchronization
internal import Wire

/// A provider's own picker: the user chooses documents of the provider's in rows and forms that the provider makes. Ambit draws them in
/// each face of its picker, in a frame that names the provider. Apple's name; a form stands for the view.
///
/// The extension's manifest names the modes under `NSExtensionAttributes`, `UIDocumentPickerModes`: `UIDocumentPickerModeOpen` and
/// `UIDocumentPickerModeImport`. Each picker is a value of its own, and its methods are called one after the other:
///
///     override func prepareForPresentation(in mode: UIDocumentPickerMode) {
///       present(FPUIForm(title: "Snippets", fields: [.init("snippet", "Snippet", .rows(rows))], buttons: [.init("open", "Open")]))
///     }
///     override func submit(_ answers: FPUIFormAnswers) {
///       dismissGrantingAccess(to: provider.urlForItem(withPersistentIdentifier: .init(answers.rows("snippet")[0])))
///     }
open class UIDocumentPickerExtensionViewController: @unchecked Sendable {
  private struct State {
    var mode = UIDocumentPickerMode.open
    var types: [String]?
    var several = false
    /// Of the broker, which waits for an answer.
    var request: Int?
  }
  private let state = Mutex(State())
  /// Set once, before the picker is prepared. It lives as long as its process.
  private nonisolated(unsafe) weak var owner: NSFileProviderExtension?

  /// A picker that is not presented yet.
  public required init() {}

  /// The purpose of the choice: open or import.
  public var documentPickerMode: UIDocumentPickerMode { state.withLock { $0.mode } }
  /// Extensions of the files that may be chosen; `nil`: any.
  public var validTypes: [String]? { state.withLock { $0.types } }
  /// More than one document may be chosen.
  public var allowsMultipleSelection: Bool { state.withLock { $0.several } }
  /// The provider's documents.
  public var provider: NSFileProviderExtension? { unsafe owner }

  /// The picker is about to be shown: present the first form.
  open func prepareForPresentation(in mode: UIDocumentPickerMode) {}

  /// The user has pressed a button: present another form, refuse the answers, or dismiss the picker.
  open func submit(_ answers: FPUIFormAnswers) {}

  /// The user has dismissed the picker. No answer is wanted any more.
  open func dismissed() {}

  /// Shows a form in place of the one before.
  public final func present(_ form: FPUIForm) {
    take().map { NSFileProviderExtension.answer(.init(id: $0, form: form.message)) }
  }

  /// Refuses the answers: the form stays, with the error's sentence above it.
  public final func refuse(_ error: any Error) {
    take().map { NSFileProviderExtension.answer(NSFileProviderExtension.failure($0, error)) }
  }

  /// Ends the picker with a document of the provider's own.
  ///
  /// - Parameter url: in the provider's storage; any other one is refused (`PRV-7`). `nil`: nothing is chosen.
  public final func dismissGrantingAccess(to url: URL?) { dismissGrantingAccess(to: url.map { [$0] } ?? []) }

  /// The same, with several documents.
  public final func dismissGrantingAccess(to urls: [URL]) {
    let provider = self.provider
    guard let id = take() else { return }
    let items = urls.map { url in provider.flatMap { $0.persistentIdentifierForItem(at: url)?.wire } }
    guard !items.contains(nil) else {
      let outside = NSFileProviderError(.noSuchItem, "The picker has chosen a document that is not the provider's own.")
      return NSFileProviderExtension.answer(NSFileProviderExtension.failure(id, outside))
    }
    NSFileProviderExtension.answer(.init(id: id, chosen: items.compactMap(\.self)))
  }

  private func take() -> Int? {
    state.withLock { state in
      defer { state.request = nil }
      return state.request
    }
  }

  // MARK: The broker's requests

  func begin(_ request: ProviderInterface.Request, of provider: NSFileProviderExtension) {
    let mode: UIDocumentPickerMode = request.mode == "import" ? .import : .open
    state.withLock { state in
      (state.mode, state.types, state.several) = (mode, request.types, request.several ?? false)
      state.request = request.id
    }
    unsafe owner = provider
    prepareForPresentation(in: mode)
  }

  func take(_ reply: ProviderFormReply, _ request: Int) {
    state.withLock { $0.request = request }
    submit(FPUIFormAnswers(button: reply.button, values: reply.values))
  }
}

/// The pickers of an extension that are open, by the broker's numbers.
final class OpenPickers: Sendable {
  private let all = Mutex<[Int: UIDocumentPickerExtensionViewController]>([:])

  func carryOut(_ request: ProviderInterface.Request, of provider: NSFileProviderExtension) throws {
    guard let number = request.picker else { throw NSFileProviderError(.noSuchItem) }
    switch request.kind {
    case .pick:
      guard let picker = provider.documentPicker() else {
        throw NSFileProviderError(.noSuchItem, "It has no picker of its own.")
      }
      all.withLock { all in
        // The broker keeps no more of them.
        while all.count >= 64, let oldest = all.keys.min() { all[oldest] = nil }
        all[number] = picker
      }
      picker.begin(request, of: provider)
    case .choose:
      guard let picker = all.withLock({ $0[number] }), let reply = request.reply else {
        throw NSFileProviderError(.noSuchItem, "The picker is gone.")
      }
      picker.take(reply, request.id)
    default:
      all.withLock { $0.removeValue(forKey: number) }?.dismissed()
      NSFileProviderExtension.answer(.init(id: request.id))
    }
  }
}
