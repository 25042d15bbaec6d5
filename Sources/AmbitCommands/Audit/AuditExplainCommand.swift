package import ArgumentParser
internal import Kernel
internal import Launcher
internal import Policy
internal import Review
internal import Scenario
internal import Terminal
internal import Wire

extension AuditCommand {
  /// `ambit audit explain`: an app's possible access, and the decisions behind it.
  package struct Explain: ParsableCommand {
    package static let configuration = CommandConfiguration(
      commandName: "explain",
      abstract: "Say in words what an app can do, by whose decision, and how exposed that leaves you.",
      discussion: """
        Every ability of the vocabulary is listed, those that the app does not have as well: ✗ it has without a limit, \
        ◐ up to an amount or only if its entitlements ask, ✓ not at all, · the same for every app. Behind each stands \
        who decided: the line of a policy, a key of the app's Info.plist or Entitlements.plist, Ambit itself, or the \
        kernel that this is. Nothing is run and no broker is asked.

        The exposure is a sum of named weights, 100 together; each line says what it contributes, and the end what \
        would lower it most. The same app under a stricter policy never scores worse.

        EXAMPLES
          What can this app do?
            ambit audit explain Editor.app

          And under another policy?
            ambit audit explain Editor.app@strict

          What does a policy give to any app?
            ambit audit explain teach

          Which of all these apps leave me most exposed?
            ambit audit explain --bulk ~/Applications

          Which line let it use the network?
            ambit audit explain --format json Editor.app |
              jq '.abilities[] | select(.ability == "connectOut")'
        """)

    @Option(name: .shortAndLong, help: "The policy of an app that is named without one: a name, or a file.")
    var policy = "default"

    @Option(
      name: .long, parsing: .singleValue,
      help: ArgumentHelp("Set a limit in place of the policy's, as in memory=512MiB.", valueName: "key=value"))
    var limit: [String] = []

    @Option(help: "table, for people; json, for programs.")
    var format: OutputFormat = .table

    @Option(
      help: ArgumentHelp(
        "Explain all bundles below this folder, one line each, the most exposed first; JSON has one object a line. One "
          + "that cannot be read is listed behind the others, and is no error.", valueName: "folder"))
    var bulk: String?

    @Argument(
      help: "An app bundle, a manifest or entitlements, a program's path, APP@POLICY, or a policy's name or file.")
    var subject: String?

    package init() {}

    package func validate() throws {
      if (subject == nil) == (bulk == nil) {
        throw ValidationError("Name one app or policy, or a folder with --bulk.")
      }
    }

    package func run() throws {
      var subjects = try AuditSubjects(limits: limit)
      if let bulk { return try explainAll(below: bulk, &subjects) }
      guard let subject else { return }
      let found = try subjects.subject(subject, policy: policy)
      let report = ExplanationReport(found, on: .current(for: found.policy))
      switch format {
      case .json: try Output.standard.write(json: report.json.text)
      case .table: try Output.standard.write(report.text(Style(for: 1), width: WindowSize.columns(of: 1)))
      }
    }

    private func explainAll(below folder: String, _ subjects: inout AuditSubjects) throws {
      let (policy, origins) = try subjects.policy(policy)
      Interruption.listen()
      let line = ProgressLine()
      line.show("looking for apps …")
      let bundles = try AppSurvey.bundles(below: folder)
      if bundles.paths.isEmpty, bundles.unread.isEmpty, Interruption.signal == nil {
        line.clear()
        throw Failure("There is no app (Name.app) in \(printable(folder)), \(AppSurvey.depth) folders deep.")
      }
      let survey = AppSurvey(
        bundles, under: AuditSubject(policy: policy, origins: origins, app: nil), on: .current(for: policy)
      ) { done in line.show("explained \(done) of \(bundles.paths.count) apps …") }
      line.clear()
      let report = SurveyReport(survey: survey, policy: policy.name)
      switch format {
      case .json: try Output.standard.write(json: report.jsonLines)
      case .table: try Output.standard.write(report.text(Style(for: 1), width: WindowSize.columns(of: 1)))
      }
      if let signal = Interruption.signal { throw ExitCode(128 + signal) }
    }
  }
}
