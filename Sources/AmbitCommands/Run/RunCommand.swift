internal import ArgumentParser
internal import Broker
internal import Foundation
internal import Kernel
internal import PickerUI
internal import Policy

/// `ambit run`.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run an app, or any program, in a sandbox.",
    discussion: """
      The program gets a container of its own as its home folder, and sees nothing of yours. A bundle (Name.app) says \
      in its Info.plist what to run; anything else is a program, and what follows it are its arguments.

        ambit run Editor.app
        ambit run --policy teach --pick notes.txt Editor.app
        ambit run /bin/sh -c 'id; ls -la ~'

      When the app asks for a document, a picker appears in your terminal, which the app can neither see nor type \
      into. --pick and --answers answer it beforehand; the audit log then says “scripted”.

      Exit status: the app's own; 128 + n if signal n ended it; 127 if there is no such program, 126 if it cannot be \
      run, 125 if Ambit itself failed.
      """)

  @Option(name: .shortAndLong, help: "A policy's name, or a file (see “Policies”).")
  var policy = "default"

  @Option(help: ArgumentHelp("The container to use, instead of the app's own.", valueName: "id"))
  var container: String?

  @Option(
    help: ArgumentHelp(
      "Answer the picker from a TOML file: [[answer]] with pick = [\"path\"] or cancel = true.", valueName: "file"))
  var answers: String?

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp("Answer the picker with this document. Once for each time the app asks.", valueName: "path"))
  var pick: [String] = []

  @Argument(help: ArgumentHelp("An app bundle or a program.", valueName: "app"))
  var app: String

  @Argument(parsing: .captureForPassthrough, help: "What is passed to it.")
  var arguments: [String] = []

  func validate() throws {
    if answers != nil, !pick.isEmpty { throw ValidationError("Use either --pick or --answers.") }
  }

  func run() throws {
    let environment = ProcessInfo.processInfo.environment
    let folders = AmbitFolders.current(environment: environment)
    let specification: LaunchSpecification
    let answers: ScriptedPicker?
    do {
      specification = try LaunchSpecification(
        app: app, arguments: arguments, policy: policy, container: container, folders: folders,
        environment: environment)
      answers = try scriptedAnswers()
    } catch let error as SourceError {
      throw Failure("\(error)")
    }
    throw ExitCode(try AppSession(specification, folders: folders, answers: answers, environment: environment).run())
  }

  /// `nil`: the user answers.
  private func scriptedAnswers() throws -> ScriptedPicker? {
    if let answers { return ScriptedPicker(answers: try AnswersFile.read(answers)) }
    return pick.isEmpty ? nil : ScriptedPicker(picks: pick.map { [$0] })
  }
}
