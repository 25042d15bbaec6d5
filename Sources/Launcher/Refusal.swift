internal import Folders
internal import Kernel
internal import Sandbox
internal import Synchronization
internal import SystemPackage
internal import Wire

/// Something that the sandbox refuses an app, and why.
struct Refusal {
  let operation: String
  /// The object of the call: a path inside, or a name; `nil`: the call itself.
  let subject: String?
  let denial: Denial

  var errno: Errno {
    #if AMBIT_MUTANTS
      if Mutant.wrongErrno.isActive { return .permissionDenied }
    #endif
    return switch denial.code {
    case .notPermitted: .notPermitted
    case .familyNotSupported: .addressFamilyNotSupported
    case .typeNotSupported: .socketTypeNotSupported
    }
  }
}

/// Reports refusals to the audit log, and to the user if they asked for it: before the app hears of them (`SBX-16`).
final class RefusalReporter: Sendable {
  private let instance: String
  private let folders: AmbitFolders
  private let trace: Bool
  private let status: StatusStream?
  private let state: Mutex<State>

  private struct State {
    var log: DenialLog
    var broker: WireClient?
  }

  init(instance: String, folders: AmbitFolders, trace: Bool, status: StatusStream?) {
    self.instance = instance
    self.folders = folders
    self.trace = trace
    self.status = status
    state = Mutex(State(log: DenialLog(now: Clock.monotonic())))
  }

  func report(_ refusal: Refusal, _ call: SeccompListener.Notification) {
    #if AMBIT_MUTANTS
      if Mutant.refusalUnwritten.isActive { return }
    #endif
    state.withLock { state in
      let key = DenialLog.Refusal(operation: refusal.operation, subject: refusal.subject ?? "\(call.number)")
      guard let suppressed = state.log.take(key, now: Clock.monotonic()) else { return }
      let message = LauncherInterface.DeniedCall(
        instance: instance, operation: refusal.operation, path: refusal.subject,
        call: refusal.subject == nil ? Int(call.number) : nil, error: refusal.denial.code.rawValue,
        rule: refusal.denial.rule, reason: refusal.denial.reason, remedy: refusal.denial.remedy, suppressed: suppressed)
      let name = send(message, &state.broker)
      status?.denied(message, name: name)
      guard trace else { return }
      Trace.show(
        refused: refusal.subject ?? name ?? "call \(call.number)", operation: refusal.operation, refusal.denial)
    }
  }

  /// At the end: how many were only counted.
  func finish() {
    state.withLock { state in
      guard state.log.suppressed > 0 else { return }
      let message = LauncherInterface.DeniedCall(
        instance: instance, operation: "more", path: nil, call: nil, error: "", rule: "SBX-16",
        reason: "refused as before, or too often to be noted one by one", remedy: "", suppressed: state.log.suppressed)
      _ = send(message, &state.broker)
      status?.denied(message, name: nil)
      if trace { Trace.show(suppressed: state.log.suppressed) }
    }
  }

  /// - Returns: the name of the call, which the broker knows.
  private func send(_ message: LauncherInterface.DeniedCall, _ broker: inout WireClient?) -> String? {
    // The broker may have been replaced since.
    for _ in 1...2 {
      if broker == nil { broker = try? BrokerConnection.existing(folders) }
      guard let client = broker else { return nil }
      do {
        let answer = try client.call(LauncherInterface.denied, message.json)
        return try LauncherInterface.DeniedReply(json: answer.parameters).name
      } catch { broker = nil }
    }
    return nil
  }
}
