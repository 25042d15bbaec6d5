internal import ArgumentParser
internal import Kernel
internal import Launcher
internal import Policy
internal import Sandbox
internal import Terminal
internal import Wire

/// `ambit plan`: the sandbox that an app would get. Nothing is run.
struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Show the sandbox that an app would get, without running it.",
    discussion: """
      What is drawn is what a launch carries out: the file tree, the layers that stand between the app and the machine, \
      filter, limits and environment, worked out from the bundle, its entitlements and the policy. Each layer is said \
      to hold in full (✓), in part (◐) or not at all (✗) on this machine, and why. Nothing is made, and no \
      broker is asked but for what you have said of the app's entitlements.

      Where the policy requires layers that do not hold in full, what is printed is what would be refused: the exit \
      status is 125, as that of the launch.

        ambit plan Editor.app
        ambit plan --policy teach /bin/sh
        ambit plan --format json Editor.app | jq .layers
      """)

  @OptionGroup var options: PlannedOptions

  @OptionGroup var degradation: DegradationOptions

  @Option(help: "How to print: table or json.")
  var format: OutputFormat = .table

  @Option(
    parsing: .singleValue,
    help: ArgumentHelp(
      "Say how the app would come to the documents in this folder; may be repeated. The home folder when left out.",
      valueName: "folder"))
  var documents: [String] = []

  @Argument(help: "An app bundle or a program.")
  var app: String

  @Argument(parsing: .captureForPassthrough, help: "What would be passed to it.")
  var arguments: [String] = []

  func run() throws {
    let planned = try options.planned(app, arguments)
    let report = LayerReport(planned.plan, on: .current(for: planned.plan))
    let home = ThisProcess.environment["HOME"] ?? "/"
    let folders = (documents.isEmpty ? [home] : documents).map(DocumentFolder.init)
    switch format {
    case .json: try Output.standard.write(json: PlanReport(planned, report, folders).json.text)
    case .table:
      try Output.standard.write(
        PlanReport(planned, report, folders).text(Style(for: 1), width: WindowSize.columns(of: 1)))
    }
    let admission = LayerAdmission(
      report, required: planned.capabilities.requiredLayers, allowing: degradation.allowDegraded)
    let capabilities = planned.capabilities
    let refusal = admission.refusal(policy: capabilities.policyName, machine: capabilities.requiringMachine)
    if let refusal { throw Failure(printable(refusal)) }
  }
}
