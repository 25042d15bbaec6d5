package import ArgumentParser
internal import Kernel
internal import Launcher
internal import Policy
internal import Review
internal import Terminal
internal import Wire

extension AuditCommand {
  /// `ambit audit diff`: the abilities that appear and disappear, not the lines that changed.
  package struct Diff: ParsableCommand {
    package static let configuration = CommandConfiguration(
      commandName: "diff",
      abstract: "Say what becomes possible and what impossible from one policy or app to another.",
      discussion: """
        Compared is what an app can do, and not which lines say so: a rewritten policy that opens the same is no \
        difference, and a folder that lay in an open one is nothing new. + becomes possible, ↑ goes further, ~ happens \
        otherwise, ↓ goes less far, − becomes impossible. Nothing is run.

        Where one of the two is an app and the other a policy, the app is compared with itself under that policy.

        EXAMPLES
          What would the strict policy take from this app?
            ambit audit diff Editor.app strict

          What can its new version do that the old one could not?
            ambit audit diff old/Editor.app new/Editor.app

          Let a build fail when a policy opens more than the one that was reviewed:
            ambit audit diff --fail-on widening reviewed.toml proposed.toml

        Exit status: 0 if nothing changes, 1 if something becomes possible or goes further, 2 if something changes and \
        nothing by which an app could do more. With --fail-on widening 0 instead of 2, with --fail-on never always 0. \
        125 if the two could not be compared.
        """)

    enum Failing: String, CaseIterable, ExpressibleByArgument { case change, widening, never }

    @Option(name: .shortAndLong, help: "The policy of an app that is named without one: a name, or a file.")
    var policy = "default"

    @Option(
      help: ArgumentHelp("What is to be told by the exit status: change, widening or never.", valueName: "what"))
    var failOn: Failing = .change

    @Option(help: "table, for people; json, for programs.")
    var format: OutputFormat = .table

    @Argument(help: "An app bundle, the path of a program, APP@POLICY, or a policy's name or file.")
    var before: String

    @Argument(help: "The same, to compare with.")
    var after: String

    package init() {}

    package func run() throws {
      var subjects = try AuditSubjects()
      let first = try subjects.subject(before, policy: policy)
      let second = try subjects.subject(after, policy: policy)
      let report = AbilityChangeReport(
        from: first.app == nil ? first.with(second.app) : first,
        to: second.app == nil ? second.with(first.app) : second, on: { .current(for: $0.policy) })
      switch format {
      case .json: try Output.standard.write(json: report.json.text)
      case .table: try Output.standard.write(report.text(Style(for: 1), width: WindowSize.columns(of: 1)))
      }
      let difference = report.difference
      switch failOn {
      case .never: break
      case .widening: if difference.widens { throw ExitCode(1) }
      case .change: if !difference.isEmpty { throw ExitCode(difference.widens ? 1 : 2) }
      }
    }
  }
}
