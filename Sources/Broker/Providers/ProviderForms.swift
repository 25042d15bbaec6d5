internal import BrokerCore
internal import FileProviders
internal import Wire

/// Forms of providers (`PRV-14`): asked for where an error needs the user, shown in a frame that names the provider, and answered to the
/// provider alone. Answers are in no log and in no file.
@BrokerLoop
final class ProviderForms {
  private let files: ProviderFiles
  private let extensions: ProviderExtensions
  private let sessions: SessionTable
  /// The form that a provider has given last: answers are for that one.
  private var given: [String: ProviderFormMessage] = [:]
  /// A provider has taken a form: waiting requests can go on.
  var onTaken: (EnabledProvider) -> Void = { _ in }
  /// Puts the next waiting question to the user of an app.
  var ask: (Instance) -> Void = { _ in }
  private var nextID = 1
  /// Forms one after the other, for one request.
  private static let most = 8

  init(_ files: ProviderFiles, _ extensions: ProviderExtensions, _ sessions: SessionTable) {
    (self.files, self.extensions, self.sessions) = (files, extensions, sessions)
  }

  // MARK: The provider

  /// The form of a provider that mends an error.
  ///
  /// - Throws: `ProviderFault` with `noSuchItem`, where there is none.
  func form(_ provider: EnabledProvider, for error: String) async throws -> ProviderFormMessage {
    let answer = try await extensions.ask(provider, .form, error)
    guard let form = try checked(answer.form, of: provider) else {
      throw ProviderFault(word: "noSuchItem", description: "\(provider.name) has no form for that")
    }
    return form
  }

  /// Gives the user's answers to a provider.
  ///
  /// - Returns: a further form; `nil`: that was all.
  func submit(_ reply: ProviderFormReply, to provider: EnabledProvider) async throws -> ProviderFormMessage? {
    guard let form = given[provider.identifier], let accepted = form.accepted(reply) else {
      throw ErrorReply.invalidParameter("reply")
    }
    let answer = try await extensions.ask(provider, .submit, "", reply: accepted)
    let next = try checked(answer.form, of: provider)
    if next == nil { onTaken(provider) }
    return next
  }

  private func checked(_ form: ProviderFormMessage?, of provider: EnabledProvider) throws -> ProviderFormMessage? {
    given[provider.identifier] = nil
    guard let form else { return nil }
    if let fault = form.fault {
      throw ProviderFault(description: "\(provider.name) answers with a form that cannot be shown: \(fault)")
    }
    given[provider.identifier] = form
    return form
  }

  // MARK: Inside of an app's flow

  /// Asks the user of an app to fill in a provider's form, in place: the app's request waits meanwhile, and nothing else does.
  ///
  /// - Returns: whether it may be tried again.
  func mend(_ fault: ProviderFault, for instance: Instance) async throws -> Bool {
    guard ProviderFault.passing.contains(fault.word), let name = fault.provider, instance.picker.prompts != nil,
      let provider = try files.store()?.providers().first(where: { $0.identifier == name }),
      var form = try? await form(provider, for: fault.word)
    else { return false }
    var refused: String?
    for _ in 0..<Self.most {
      guard let reply = try await fillIn(form, of: provider, refused: refused, for: instance) else { return false }
      do {
        given[provider.identifier] = form
        guard let next = try await submit(reply, to: provider) else { return true }
        (form, refused) = (next, nil)
      } catch let fault as ProviderFault { refused = fault.description }
    }
    return false
  }

  private func fillIn(
    _ form: ProviderFormMessage, of provider: EnabledProvider, refused: String?, for instance: Instance
  ) async throws -> ProviderFormReply? {
    let pending = PendingForm(
      request: .init(
        id: nextID, provider: provider.name, appName: instance.app.name, form: form, refused: refused),
      answer: Wait())
    nextID += 1
    instance.picker.forms.append(pending)
    ask(instance)
    do { return try await pending.answer.get() } catch {
      // The app has gone, or its request: the form goes away, if it is the one that is shown.
      let wasShown = instance.picker.forms.first?.request.id == pending.request.id && instance.picker.isFormShown
      instance.picker.forms.removeAll { $0.request.id == pending.request.id }
      guard wasShown, sessions.isRunning(instance) else { throw error }
      instance.picker.isFormShown = false
      if instance.picker.forms.isEmpty, instance.picker.picks.isEmpty {
        instance.picker.prompts?.send(LauncherInterface.PromptsReply())
      }
      ask(instance)
      throw error
    }
  }

  /// The user's answers (`io.ambit.Launcher.FillIn`).
  func filledIn(_ call: LauncherInterface.FillInCall, _ instance: Instance) {
    guard instance.picker.isFormShown, let first = instance.picker.forms.first, first.request.id == call.id else {
      return
    }
    instance.picker.isFormShown = false
    instance.picker.forms.removeFirst()
    first.answer.finish(call.reply)
    ask(instance)
  }
}

/// A form that waits for the user of an app.
struct PendingForm {
  let request: LauncherInterface.FormRequest
  /// `nil`: the user has cancelled it.
  let answer: Wait<ProviderFormReply?>
}
