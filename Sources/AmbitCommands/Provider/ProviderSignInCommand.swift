internal import ArgumentParser
internal import Folders
internal import Launcher
internal import PickerUI
internal import Terminal
internal import Wire

/// `ambit provider sign-in`: the provider's own form (`PRV-14`).
struct ProviderSignInCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-in", abstract: "Fill in the form by which you sign in to a provider.",
    discussion: """
      The form is the provider's, and is drawn in a frame that names it. Your answers go to the provider alone: a secret is not shown \
      while you type it, and is in no log. An app that reads a document of the provider shows the same form by itself.

        ambit provider sign-in Cloud
        printf '%s\\n' ada secret | ambit provider sign-in --stdin Cloud

      Exit status: 0 the provider took it; 1 it did not, or you cancelled.
      """)
  @Option(
    help: ArgumentHelp(
      "The error that is to be mended: notAuthenticated, insufficientQuota or serverUnreachable.", valueName: "word"))
  var error = "notAuthenticated"
  @Flag(help: "Read the answers from standard input, a line for each field, and press the first button.")
  var stdin = false
  @Argument(help: "Its identifier, its name, or its app's bundle.", transform: ProviderCommand.named)
  var provider: String

  func run() throws {
    var form = try UserSide.call(
      LocationsInterface.formFor, LocationsInterface.FormForCall(provider: provider, error: error),
      answer: LocationsInterface.FormForReply.self
    ).form
    var refused: String?
    for _ in 0..<16 {
      let shown = try ProviderForm(form, of: provider, refused: refused)
      guard let reply = try answer(shown) else { throw Failure("You have cancelled.", status: 1) }
      let answer = try UserSide.call(
        LocationsInterface.submit, LocationsInterface.SubmitCall(provider: provider, reply: reply),
        answer: LocationsInterface.SubmitReply.self)
      if let reason = answer.refused {
        if stdin { throw Failure("It was not taken: \(printable(reason)).", status: 1) }
        refused = reason
        // The form is asked for again: the provider counts on the last one that it gave.
        form = try UserSide.call(
          LocationsInterface.formFor, LocationsInterface.FormForCall(provider: provider, error: error),
          answer: LocationsInterface.FormForReply.self
        ).form
        continue
      }
      guard let next = answer.form else {
        return try Output.standard.write("\(printable(provider)) has taken it.\n")
      }
      (form, refused) = (next, nil)
    }
    throw Failure("\(printable(provider)) asks again and again.", status: 1)
  }

  private func answer(_ form: ProviderForm) throws -> ProviderFormReply? {
    guard stdin else { return try ProviderFormFront().ask(form) }
    var values: [String: String] = [:]
    for field in form.fields where field.kind != .note { values[field.key] = readLine() ?? "" }
    guard let reply = form.filled(values, button: nil) else { throw Failure("An answer is none of the choices.") }
    return ProviderFormReply(button: reply.button, values: reply.values)
  }
}
