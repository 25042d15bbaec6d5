internal import Audit
internal import BrokerCore
internal import Folders
internal import Kernel
internal import ScopedAccess
internal import Wire

/// Suspends apps and resumes them. A suspended app keeps its scopes: the user sees them, and can withdraw the grants.
@BrokerLoop
final class SuspensionService {
  private let host: BrokerHost
  private let grants: GrantStore
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let jobs: Jobs
  private let records: SuspensionRecords
  /// Instances that are being suspended, with the requests that wait for their turn.
  private var pending: [String: [Wait<Void>]] = [:]

  /// Nanoseconds that an app's processes have to stop in.
  private nonisolated static let patience: Int64 = 3_000_000_000

  init(_ host: BrokerHost, _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ jobs: Jobs) {
    (self.host, self.grants, self.trail, self.sessions, self.jobs) = (host, grants, trail, sessions, jobs)
    records = SuspensionRecords(host.folders)
  }

  func suspend(_ call: LauncherInterface.SuspendCall) async throws -> LauncherInterface.SuspendReply {
    var outcomes: [LauncherInterface.Suspension] = []
    for instance in try chosen(call.app) { outcomes.append(try await suspend(instance)) }
    return .init(instances: outcomes)
  }

  func resume(_ call: LauncherInterface.ResumeCall) async throws -> LauncherInterface.ResumeReply {
    var outcomes: [LauncherInterface.Suspension] = []
    for instance in try chosen(call.app) {
      try await turn(of: instance)
      outcomes.append(resume(instance))
    }
    return .init(instances: outcomes)
  }

  /// An instance comes from another broker. That one may have ended while it was suspending it: then it goes on. So does a
  /// provider's extension: it serves the broker that launched it, and ends when it finds that one gone.
  func recall(_ instance: Instance) {
    guard let since = records.since(instance.id) else { return }
    guard let suspension = instance.sandbox.suspension, suspension.isSuspended,
      !ProviderExtensions.isContainer(instance.app.bundleIdentifier)
    else {
      try? instance.sandbox.suspension?.resume()
      return records.remove(instance.id)
    }
    instance.suspended = since
    sessions.onSuspend(instance)
  }

  // MARK: Choosing

  /// The instance of this identifier; otherwise all of an app, by its bundle identifier or its name.
  func chosen(_ app: String) throws -> [Instance] {
    if let instance = sessions.instances[app] { return [instance] }
    var found = sessions.running(app)
    if found.isEmpty { found = sessions.instances.values.filter { $0.app.name == app } }
    let apps = Set(found.map(\.app.bundleIdentifier)).sorted()
    if apps.count > 1 {
      throw LauncherInterface.Failure.notRunning(
        "\(app) is the name of several running apps: \(apps.joined(separator: ", ")). Name one of these.")
    }
    guard !found.isEmpty else {
      let isKnown = try grants.knownApps().contains { $0.bundleIdentifier == app || $0.name == app }
      throw LauncherInterface.Failure.notRunning(
        isKnown
          ? "\(app) does not run." : "No running app or instance is called \(app); “ambit ps” has those that there are."
      )
    }
    return found.sorted { ($0.started, $0.id) < ($1.started, $1.id) }
  }

  // MARK: Suspending

  private func suspend(_ instance: Instance) async throws -> LauncherInterface.Suspension {
    try await turn(of: instance)
    guard sessions.isRunning(instance) else { return outcome(instance, failure: Self.ended(instance)) }
    if instance.isSuspended { return outcome(instance) }
    let done = Wait<LauncherInterface.Suspension>()
    begin(instance) { done.finish($0) }
    return try await done.get()
  }

  /// Stops the processes in a thread: one that waits for a disk takes its time. It is carried through even if the client leaves.
  private func begin(_ instance: Instance, then: @escaping @BrokerLoop (LauncherInterface.Suspension) -> Void) {
    guard let suspension = instance.sandbox.suspension else {
      return then(fail(instance, "this kernel does not show which processes are the app's"))
    }
    // The launcher reads it when it hears that the app stopped, so it has to be there before.
    do throws(KernelError) { try records.add(instance.id, since: host.clock.realtime) } catch {
      return then(fail(instance, "\(error)"))
    }
    pending[instance.id] = []
    jobs.start(owner: "suspensions", subject: instance.id) { heartbeat -> Result<Int?, KernelError> in
      let due = Clock.monotonic() + Self.patience
      return Result { () throws(KernelError) in
        try suspension.suspend { heartbeat.beat() && Clock.monotonic() < due }
      }
    } then: { result in
      then(self.end(instance, result))
      for waiter in self.pending.removeValue(forKey: instance.id) ?? [] { waiter.finish(()) }
    }
  }

  /// - Parameter result: how many processes were stopped. `nil` inside: some still run; `nil`: the thread has not come back.
  private func end(_ instance: Instance, _ result: Result<Int?, KernelError>?) -> LauncherInterface.Suspension {
    guard sessions.isRunning(instance), !instance.process.processHasEnded else {
      records.remove(instance.id)
      return outcome(instance, failure: Self.ended(instance))
    }
    switch result {
    case .success(let count?):
      instance.suspended = records.since(instance.id) ?? host.clock.realtime
      // It takes abilities away, so it also holds on a full disk.
      trail.keep([
        AuditEvent(.suspend, .allowed, instance, how: "user", detail: [AuditEvent.Fact.processes: "\(count)"])
      ])
      sessions.onSuspend(instance)
      return outcome(instance, changed: true, processes: count)
    case .success(nil), nil: return fail(instance, "some of its processes did not stop in time; it goes on")
    case .failure(let error): return fail(instance, "\(error)")
    }
  }

  private func fail(_ instance: Instance, _ reason: String) -> LauncherInterface.Suspension {
    records.remove(instance.id)
    trail.record(AuditEvent(.suspend, .failed, instance, how: "user", reason: reason))
    return outcome(instance, failure: "\(instance.app.bundleIdentifier) could not be suspended: \(reason)")
  }

  // MARK: Resuming

  /// Without a wait: the loop reads nothing of the resumed app before everything is done.
  private func resume(_ instance: Instance) -> LauncherInterface.Suspension {
    guard sessions.isRunning(instance) else { return outcome(instance, failure: Self.ended(instance)) }
    guard let since = instance.suspended else { return outcome(instance) }
    func failed(_ error: any Error) -> LauncherInterface.Suspension {
      trail.record(AuditEvent(.resume, .failed, instance, how: "user", reason: "\(error)"))
      return outcome(instance, failure: "\(instance.app.bundleIdentifier) could not be resumed: \(error)")
    }
    do {
      try trail.decide([
        AuditEvent(
          .resume, .allowed, instance, how: "user", detail: [AuditEvent.Fact.since: Instance.rfc3339(since)])
      ])
    } catch { return failed(error) }
    do throws(KernelError) { try instance.sandbox.suspension?.resume() } catch { return failed(error) }
    records.remove(instance.id)
    instance.suspended = nil
    sessions.onResume(instance)
    return outcome(instance, changed: true)
  }

  // MARK: Answers

  /// Waits while the instance is being suspended.
  private func turn(of instance: Instance) async throws(CancellationError) {
    while pending[instance.id] != nil {
      let wait = Wait<Void>()
      pending[instance.id]?.append(wait)
      try await wait.get()
    }
  }

  private static func ended(_ instance: Instance) -> String {
    "\(instance.app.bundleIdentifier) has ended meanwhile."
  }

  private func outcome(
    _ instance: Instance, changed: Bool = false, processes: Int? = nil, failure: String? = nil
  ) -> LauncherInterface.Suspension {
    .init(
      instance: instance.id, bundleIdentifier: instance.app.bundleIdentifier, name: instance.app.name,
      pid: Int(instance.pid), suspended: instance.suspended.map(Instance.rfc3339), changed: changed,
      processes: processes, failure: failure)
  }
}
