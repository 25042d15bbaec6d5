internal import Audit
internal import BrokerCore
internal import Kernel
internal import ScopedAccess
internal import Wire

/// The user's side (`io.ambit.Launcher`): launching apps and answering their questions.
@BrokerLoop
final class LaunchService {
  private let sessions: SessionTable
  private let preparer: LaunchPreparer
  private let attacher: LaunchAttacher
  private let ender: SessionEnder
  private let picker: PickService
  private let saves: SaveService
  private let scopes: ActiveScopes
  private let denials: DenialService
  private let groups: OrphanedGroups
  private let shutdown: Shutdown
  private let suspensions: SuspensionService
  private let pressure: MemoryPressure
  private let openings: OpeningService

  init(
    _ sessions: SessionTable, _ preparer: LaunchPreparer, _ attacher: LaunchAttacher, _ ender: SessionEnder,
    _ picker: PickService, _ saves: SaveService, _ scopes: ActiveScopes, _ denials: DenialService,
    _ groups: OrphanedGroups, _ shutdown: Shutdown, _ suspensions: SuspensionService,
    _ pressure: MemoryPressure, _ openings: OpeningService
  ) {
    (self.sessions, self.preparer, self.attacher, self.ender) = (sessions, preparer, attacher, ender)
    (self.picker, self.saves, self.scopes, self.denials) = (picker, saves, scopes, denials)
    (self.groups, self.shutdown, self.suspensions) = (groups, shutdown, suspensions)
    (self.pressure, self.openings) = (pressure, openings)
  }

  /// Told of the user's answers to a provider's form.
  var onFilledIn: (LauncherInterface.FillInCall, Instance) -> Void = { _, _ in }

  /// - Parameter about: is told the app that a call is about.
  func serve(
    _ call: CheckedCall, on connection: WireConnection, about: (Instance) -> Void
  ) async throws -> Answer? {
    func instance(_ id: String) throws -> Instance {
      guard let instance = sessions.instances[id] else { throw LauncherInterface.Failure.unknownInstance(id) }
      about(instance)
      return instance
    }
    switch call.member {
    case "Prepare":
      return try await preparer.prepare(try .init(json: call.parameters), call.call.descriptors, on: connection)
    case "Attach":
      about(try attacher.attach(try .init(json: call.parameters), descriptors: call.call.descriptors))
      return Answer([:])
    case "Prompts":
      let instance = try instance(try LauncherInterface.PromptsCall(json: call.parameters).instance)
      picker.takeQuestions(of: instance, on: connection)
      return nil
    case "Answer":
      let request = try LauncherInterface.AnswerCall(json: call.parameters)
      return Answer(
        try await picker.answer(request, documents: call.call.descriptors, try instance(request.instance)))
    case "FillIn":
      let request = try LauncherInterface.FillInCall(json: call.parameters)
      onFilledIn(request, try instance(request.instance))
      return Answer([:])
    case "Denied":
      let request = try LauncherInterface.DeniedCall(json: call.parameters)
      if let preparation = sessions.prepared[request.instance] {
        return Answer(try denials.refusedLaunch(request, preparation))
      }
      // Its launcher reports merely counted refusals last, and by then the app may be over.
      return Answer(try denials.denied(request, try sessions.ended[request.instance] ?? instance(request.instance)))
    case "Replace":
      let request = try LauncherInterface.ReplaceCall(json: call.parameters)
      return Answer(try await saves.replace(request, try instance(request.instance)))
    case "Watches":
      let watching = try instance(try LauncherInterface.WatchesCall(json: call.parameters).instance)
      sessions.watchingApps.insert(watching.app.bundleIdentifier)
      return Answer([:])
    case "Ended": return Answer(try await ender.ended(try LauncherInterface.EndedCall(json: call.parameters)))
    case "Suspend":
      return Answer(try await suspensions.suspend(try LauncherInterface.SuspendCall(json: call.parameters)))
    case "Resume":
      return Answer(try await suspensions.resume(try LauncherInterface.ResumeCall(json: call.parameters)))
    case "PressMemory":
      return Answer(try await pressure.press(try LauncherInterface.PressMemoryCall(json: call.parameters)))
    case "Open":
      return Answer(try await openings.open(try .init(json: call.parameters), call.call.descriptors))
    case "Shutdown":
      shutdown.begin()
      return Answer([:])
    default:
      return Answer(LauncherInterface.InstancesReply(instances: sessions.instances.values.map(describe)))
    }
  }

  /// A launcher's connection is gone, and with it all that it has prepared and not attached.
  func left(_ connection: WireConnection) {
    for (launch, preparation) in sessions.prepared where preparation.connection == connection.id {
      sessions.prepared[launch] = nil
      groups.add([launch])
    }
    for instance in sessions.instances.values where instance.picker.prompts?.connection === connection {
      picker.userLeft(instance)
    }
    for instance in Array(sessions.ended.values) where instance.picker.prompts?.connection === connection {
      ender.recordExit(of: instance, nil)
    }
  }

  private func describe(_ instance: Instance) -> LauncherInterface.Instance {
    LauncherInterface.Instance(
      instance: instance.id, bundleIdentifier: instance.app.bundleIdentifier, name: instance.app.name,
      pid: Int(instance.pid), policy: instance.app.policy, started: Instance.rfc3339(instance.started),
      used: instance.scopes.owners.mostUsed, limit: instance.scopes.owners.limit, scopes: scopes.describe(instance),
      path: instance.app.path, digest: instance.app.digest, suspended: instance.suspended.map(Instance.rfc3339))
  }
}
