internal import BrokerCore
internal import FileProviders
internal import Paths
internal import Wire

/// Providers' own pickers (`UIDocumentPickerExtensionViewController`): the provider answers with forms, and in the end with items of its
/// own. It learns which mode and which types an app asks for, and not which app.
@BrokerLoop
final class ProviderPickers {
  private let items: ProvidedItems
  private let extensions: ProviderExtensions
  private var open: [Int: Picker] = [:]
  private var nextID = 1

  private struct Picker {
    let provider: EnabledProvider
    let several: Bool
    let launch: String?
    var form: ProviderFormMessage
    /// Of the last form, in nanoseconds of CLOCK_MONOTONIC.
    var shown: Int64
  }

  /// At a time. The oldest gives way.
  private static let most = 64
  /// Nanoseconds for which a form is waited for: an extension that ends forgets its pickers.
  private static let patience: Int64 = 1_800_000_000_000
  /// Items of one choice.
  private static let mostChosen = 200

  init(_ items: ProvidedItems, _ extensions: ProviderExtensions) {
    (self.items, self.extensions) = (items, extensions)
    extensions.isInUse = { [unowned self] in self.isOpen($0, $1) }
  }

  private func isOpen(_ provider: String, _ now: Int64) -> Bool {
    open.values.contains { $0.provider.identifier == provider && now - $0.shown < Self.patience }
  }

  func begin(_ call: LocationsInterface.PickCall) async throws -> LocationsInterface.PickReply {
    let provider = try items.provider(call.provider)
    guard provider.pickerModes.contains(call.mode) else {
      throw LocationsInterface.Failure.notFound("\(provider.name) has no picker of its own for this")
    }
    let id = nextID
    nextID += 1
    let answer = try await extensions.ask(
      provider, .pick, "", picker: .init(id: id, mode: call.mode, types: call.types, several: call.several))
    guard let form = answer.form else { throw Self.fault(provider, "its picker shows nothing") }
    try check(form, of: provider)
    if open.count >= Self.most, let oldest = open.keys.min() { dismiss(oldest) }
    open[id] = Picker(
      provider: provider, several: call.several, launch: extensions.launch(of: provider.identifier), form: form,
      shown: extensions.now)
    return .init(picker: id, form: form)
  }

  func take(_ call: LocationsInterface.ChooseCall) async throws -> LocationsInterface.ChooseReply {
    guard let picker = open[call.picker] else {
      throw LocationsInterface.Failure.notFound("this picker has been dismissed")
    }
    guard let reply = call.reply else {
      dismiss(call.picker)
      return .init()
    }
    // An extension that has ended meanwhile is not asked again: another launch of it knows of no picker.
    guard let launch = picker.launch, extensions.launch(of: picker.provider.identifier) == launch else {
      open[call.picker] = nil
      throw Self.fault(picker.provider, "it has ended, and its picker with it")
    }
    open[call.picker]?.shown = extensions.now
    guard let accepted = picker.form.accepted(reply) else { throw ErrorReply.invalidParameter("reply") }
    let answer: ProviderInterface.AnswerCall
    do {
      answer = try await extensions.ask(
        picker.provider, .choose, "", reply: accepted, picker: .init(id: call.picker))
    } catch let fault as ProviderFault where fault.provider != nil {
      return .init(form: picker.form, refused: fault.description)
    }
    if let form = answer.form {
      try check(form, of: picker.provider)
      open[call.picker]?.form = form
      open[call.picker]?.shown = extensions.now
      return .init(form: form)
    }
    open[call.picker] = nil
    return .init(paths: try await paths(of: answer.chosen ?? [], picker))
  }

  /// The documents of items. A provider can name nothing but items of its own (`PRV-7`).
  private func paths(of chosen: [String], _ picker: Picker) async throws -> [String] {
    guard chosen.count <= (picker.several ? Self.mostChosen : 1) else {
      throw Self.fault(picker.provider, "its picker answers with \(chosen.count) items, more than were asked for")
    }
    var paths: [String] = []
    for item in chosen {
      guard let path = try await items.path(of: item, by: picker.provider.identifier) else {
        throw Self.fault(
          picker.provider, "its picker answers with “\(item.cut(toBytes: 80))”, which is no document of its own")
      }
      paths.append(path)
    }
    return paths
  }

  /// Tells the provider that a picker is gone; it need not hear it.
  private func dismiss(_ id: Int) {
    guard let picker = open.removeValue(forKey: id), extensions.isRunning(picker.provider.identifier) else { return }
    BrokerLoop.begin(Cancellation()) { [extensions] in
      _ = try? await extensions.ask(picker.provider, .dismiss, "", picker: .init(id: id))
    }
  }

  private func check(_ form: ProviderFormMessage, of provider: EnabledProvider) throws {
    guard let fault = form.fault else { return }
    throw Self.fault(provider, "its picker shows a form that cannot be drawn: \(fault)")
  }

  private static func fault(_ provider: EnabledProvider, _ reason: String) -> ProviderFault {
    ProviderFault(description: "\(provider.name): \(reason)")
  }
}
