internal import Folders
internal import Kernel
internal import PickerUI
internal import Wire

/// One run of a provider's own picker: forms from the provider through the broker, answers from the user, and documents in the end. What
/// comes out is judged as a choice in Ambit's own picker is.
struct ProviderPicker {
  private let place: PickerRequest.Place
  private let request: PickerRequest
  private let folders: AmbitFolders
  private let begun: LocationsInterface.PickReply

  /// Forms of one run.
  private static let most = 1000

  /// - Throws: where the provider shows nothing.
  init(_ place: PickerRequest.Place, _ request: PickerRequest, _ folders: AmbitFolders) throws {
    (self.place, self.request, self.folders) = (place, request, folders)
    begun = try Self.ask(
      folders, LocationsInterface.pick,
      LocationsInterface.PickCall(
        provider: place.provider ?? "", mode: request.purpose == .copy ? "import" : "open", types: request.types,
        several: request.multiple))
  }

  /// - Parameter answer: shows a form; `nil`: the user has cancelled it.
  /// - Returns: none: it was dismissed.
  func run(_ answer: (ProviderForm) throws -> ProviderForm.Reply?) throws -> [PickedDocument] {
    var (form, refused): (ProviderFormMessage, String?) = (begun.form, nil)
    for _ in 0..<Self.most {
      let shown = try ProviderForm(form, of: place.name, appName: request.appName, refused: refused)
      let reply = try answer(shown).map { ProviderFormReply(button: $0.button, values: $0.values) }
      let next: LocationsInterface.ChooseReply = try Self.ask(
        folders, LocationsInterface.choose, LocationsInterface.ChooseCall(picker: begun.picker, reply: reply))
      guard reply != nil else { return [] }
      if let paths = next.paths { return try request.documents(at: paths) }
      (form, refused) = (next.form ?? form, next.refused)
    }
    throw PickerError("\(place.name) asks again and again.")
  }

  private static func ask<Answer: WireMessage>(
    _ folders: AmbitFolders, _ method: String, _ call: some WireMessage
  ) throws -> Answer {
    do {
      return try BrokerConnection.ask(folders) { try Answer(json: $0.call(method, call.json).parameters) }
    } catch WireError.remote(let name, let parameters) {
      throw PickerError((try? parameters.string("reason")) ?? name)
    }
  }
}
