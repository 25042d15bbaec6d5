package import Kernel
package import PickerUI
package import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

extension ProviderForm {
  /// As it comes from the broker. A form out of bounds is refused here as well.
  package init(
    _ message: ProviderFormMessage, of provider: String, appName: String? = nil, refused: String? = nil
  ) throws(PickerError) {
    if let fault = message.fault { throw PickerError("The form of \(provider) cannot be shown: \(fault).") }
    self.init(
      provider: provider, appName: appName, title: message.title, text: message.text,
      fields: message.fields.map { field in
        .init(
          key: field.key, label: field.label, kind: .init(rawValue: field.kind.rawValue) ?? .note,
          value: field.value ?? "", choices: field.choices ?? [],
          rows: (field.rows ?? []).map { .init(key: $0.key, title: $0.title, detail: $0.detail) },
          several: field.several ?? false)
      },
      buttons: message.buttons.map { .init(key: $0.key, label: $0.label) }, refused: refused)
  }
}

/// Shows a provider's form to the user, in the face that they have chosen.
package struct ProviderFormFront {
  private let face: PickerFace
  private let environment: [String: String]
  /// The pages that the form follows.
  private let pages: WebPicker?

  /// - Parameter face: `nil`: the one that the environment has.
  package init(
    face: PickerFace? = nil, environment: [String: String] = ThisProcess.environment, pages: WebPicker? = nil
  ) {
    (self.face, self.environment) = (face ?? PickerFace(environment: environment), environment)
    self.pages = pages
  }

  /// - Parameter sources: descriptors of which one becomes readable when no process waits for the answer any more.
  /// - Returns: `nil`: the user has cancelled.
  /// - Throws: where there is no terminal to ask on.
  package func ask(_ form: ProviderForm, abandonedWith sources: [Descriptor] = []) throws -> ProviderFormReply? {
    let end = try SignalQueue([SIGTERM, SIGHUP])
    let abandoned = try Poll.any(of: sources + [end.descriptor])
    if face == .web {
      let reply = try (pages ?? WebPicker()).run(form, abandoned: abandoned.rawValue)
      return reply.map { ProviderFormReply(button: $0.button, values: $0.values) }
    }
    let terminal = try DeviceNode.tty.open([.readWrite])
    guard tcgetpgrp(terminal.rawValue) == getpgrp() else {
      throw PickerError("The app was started in the background; bring it to the foreground (fg).")
    }
    let reply = try ProviderFormTerminal(
      input: terminal.rawValue, output: terminal.rawValue, environment: environment
    ).run(form, face: face, abandoned: abandoned.rawValue)
    return reply.map { ProviderFormReply(button: $0.button, values: $0.values) }
  }
}
