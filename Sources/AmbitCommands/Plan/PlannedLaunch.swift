internal import ArgumentParser
internal import Broker
internal import Folders
internal import Kernel
internal import Launcher
internal import Policy
internal import Sandbox
internal import Seccomp
internal import Wire

/// A launch worked out and not carried out: what `ambit plan` shows and `ambit why` asks.
struct PlannedLaunch {
  let request: LaunchRequest
  let identifier: String
  let capabilities: Capabilities
  let plan: SandboxPlan
  /// The profiles that hold besides ``filter``.
  let foreign: [ForeignSeccomp]

  init(
    app: String, arguments: [String], policy: String, container: String?, seccomp: String?, limits: [String] = []
  ) throws {
    let environment = ThisProcess.environment
    let folders = AmbitFolders.current(environment: environment)
    request = try LaunchRequest(
      app: app, arguments: arguments, container: container, policy: policy, answers: nil, trace: false,
      statusDescriptor: nil, seccomp: seccomp, limits: limits,
      path: environment["PATH"])
    let call = request.prepareCall(environment)
    let rules = LaunchRules(folders)
    do {
      identifier = try rules.identifier(of: call)
      capabilities = try rules.capabilities(for: call)
      foreign = try capabilities.foreignSeccomp
    } catch let error as ErrorReply {
      // The sentence that a launch would have ended with.
      throw Failure((try? error.parameters.string("reason")) ?? "\(error)")
    }
    let answer = LauncherInterface.PrepareReply(
      instance: "", bundleIdentifier: identifier, name: rules.name(of: call),
      container: rules.container(of: identifier),
      hostID: -1, filters: 1 + foreign.count, network: false,
      capabilities: .init(capabilities, variables: call.variables))
    plan = SandboxPlan(request.sandboxRequest(answer, environment: environment), on: .current())
  }

  var filter: SeccompProfile { capabilities.seccomp }
}

/// What the commands that work a launch out have in common.
struct PlannedOptions: ParsableArguments {
  @Option(name: .shortAndLong, help: "A policy's name, or a file.")
  var policy = "default"

  @Option(help: ArgumentHelp("The container to use, instead of the app's own.", valueName: "id"))
  var container: String?

  @Option(help: ArgumentHelp("A seccomp profile of containers to hold as well, or “standard”.", valueName: "file"))
  var seccomp: String?

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp("Set a limit in place of the policy's, as in memory=512MiB.", valueName: "key=value"))
  var limit: [String] = []

  func planned(_ app: String, _ arguments: [String] = []) throws -> PlannedLaunch {
    try PlannedLaunch(
      app: app, arguments: arguments, policy: policy, container: container, seccomp: seccomp,
      limits: limit)
  }
}
