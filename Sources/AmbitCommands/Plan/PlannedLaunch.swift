internal import AppModel
internal import ArgumentParser
internal import Broker
internal import Folders
internal import Kernel
internal import Launcher
internal import Policy
internal import Sandbox
internal import Seccomp
internal import Wire

/// A launch worked out and not carried out: `ambit plan` shows it, and `ambit why` asks it.
struct PlannedLaunch {
  let request: LaunchRequest
  let identifier: String
  /// Where the app lies.
  let place: String
  let capabilities: Capabilities
  /// Which of the entitlements that it declares it would go by.
  let ruling: EntitlementRuling
  private let folders: AmbitFolders
  private let grantRules: LauncherInterface.GrantRules
  let plan: SandboxPlan
  /// The profiles that hold besides ``filter``.
  let foreign: [ForeignSeccomp]

  init(
    app: String, arguments: [String], policy: String, container: String?, seccomp: String?, limits: [String] = [],
    allowing entitlements: [WideningEntitlement] = []
  ) throws {
    let environment = ThisProcess.environment
    folders = try AmbitFolders.current(environment: environment)
    request = try LaunchRequest(
      app: app, arguments: arguments, container: container, policy: policy, answers: nil, trace: false,
      statusDescriptor: nil, seccomp: seccomp, limits: limits, allowEntitlements: entitlements,
      path: environment["PATH"])
    let files = try LaunchedFiles(request)
    let call = request.prepareCall(environment, files)
    let rules = LaunchRules(folders)
    do {
      place = try rules.place(of: call, folder: files.descriptors.first)
      identifier = try rules.identifier(of: call, at: place)
      let policy = try rules.policy(for: call)
      ruling = try Self.ruling(call, identifier, under: policy, folders)
      capabilities = Capabilities(policy: policy, entitlements: ruling.given)
      foreign = try capabilities.foreignSeccomp
      grantRules = rules.grantRules(for: call, capabilities)
    } catch let error as ErrorReply {
      // The sentence that a launch would have ended with.
      throw Failure((try? error.parameters.string("reason")) ?? "\(error)")
    }
    let answer = LauncherInterface.PrepareReply(
      instance: "", bundleIdentifier: identifier, name: rules.name(of: call),
      container: rules.container(of: identifier),
      hostID: -1, filters: 1 + foreign.count, network: false,
      capabilities: .init(capabilities, variables: call.variables), path: place, digest: "")
    plan = SandboxPlan(request.sandboxRequest(answer, environment: environment), on: .current())
  }

  /// The grants of the app until now.
  func foresight() throws -> GrantForesight { try GrantForesight(of: identifier, under: grantRules, in: folders) }

  var filter: SeccompProfile { capabilities.seccomp }

  /// The broker is asked only where the user's answer of an earlier launch decides.
  private static func ruling(
    _ call: LauncherInterface.PrepareCall, _ identifier: String, under policy: Policy, _ folders: AmbitFolders
  ) throws -> EntitlementRuling {
    let named = try LaunchRules.allowed(by: call)
    func ruling(_ answers: [Widening: Bool]) -> EntitlementRuling {
      EntitlementRuling(
        declared: call.manifest?.entitlements ?? .none, under: policy.settings, allowing: named, answers: answers)
    }
    let first = ruling([:])
    // Without grants nothing was ever launched.
    guard !first.undecided.isEmpty, call.container == nil, (try? Descriptor.open(folders.grants, flags: .path)) != nil
    else { return first }
    let said = try UserSide.call(
      GrantsInterface.entitlements, GrantsInterface.EntitlementsCall(app: identifier),
      answer: GrantsInterface.EntitlementsReply.self)
    func answers(_ words: [String], _ answer: Bool) -> [Widening: Bool] {
      Dictionary(uniqueKeysWithValues: words.compactMap(Widening.init(rawValue:)).map { ($0, answer) })
    }
    return ruling(answers(said.allowed, true).merging(answers(said.refused, false)) { $1 })
  }
}

/// The common options of the commands that work out a launch.
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

  @OptionGroup var entitlements: EntitlementOptions

  func planned(_ app: String, _ arguments: [String] = []) throws -> PlannedLaunch {
    try PlannedLaunch(
      app: app, arguments: arguments, policy: policy, container: container, seccomp: seccomp,
      limits: limit, allowing: entitlements.allowEntitlements)
  }
}
