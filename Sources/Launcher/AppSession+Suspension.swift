internal import Folders
internal import Kernel
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// Signals and keys of an app that the user has suspended (`ambit suspend`). The broker stops its processes, and the app cannot react.
extension AppSession {
  /// By the broker's record, which is there before the first process stops.
  var isSuspended: Bool { SuspensionRecords(folders).since(prepared.instance) != nil }

  /// Whether the app's stop is one of this job, and not the broker's doing.
  func isJobStop(_ signal: Int32) -> Bool {
    if isSuspended { return false }
    // A suspension that is over already also ends up here. The app is the first process after the init.
    guard signal == SIGSTOP, let table else { return true }
    return ProcessState.of(2, in: table) == .stopped
  }

  /// Lets a suspended app go on, where no broker is left to do it.
  func resume() {
    guard let table else { return }
    let group = GroupFreezer(of: prepared.instance, in: GroupRecords(folders.groups))
    let suspension = SandboxSuspension(table, group: group)
    if suspension.isSuspended { try? suspension.resume() }
    SuspensionRecords(folders).remove(prepared.instance)
  }

  /// Acts in the app's place: a signal that asks it to end ends it, and Ctrl-Z gives the shell back.
  ///
  /// - Returns: whether that is all. Other signals wait for the app.
  func passToSuspended(_ signal: Int32, _ sandbox: LaunchedInit, _ proxy: TerminalProxy?) throws -> Bool {
    switch signal {
    case SIGINT, SIGQUIT, SIGTERM, SIGHUP:
      endedSuspended = endedSuspended ?? signal
      try? sandbox.process.signalProcess(SIGKILL)
    case SIGTSTP: if hasShell { try stop(with: signal, sandbox, proxy) }
    case SIGCONT:
      // The job goes on, and the app does not.
      try? proxy?.takeTerminal()
      proxy?.resize()
    default: return false
    }
    return true
  }

  /// Tells the user why an app ended that could not answer a signal.
  func tellEndedSuspended() {
    guard let signal = endedSuspended, isGone else { return }
    let reason = "it was suspended, and signal \(signal) asked it to end"
    report = (128 + SIGKILL, SIGKILL)
    outcome = outcome ?? 128 + signal
    Failure.say("the app was ended: \(reason)")
    status?.send("ended", ["reason": .string(reason)])
  }
}
