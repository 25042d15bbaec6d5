internal import Folders
internal import Kernel
internal import Sandbox
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// The causes that end an app that did not end by itself (a limit of its sandbox, or the broker), and their messages.
extension AppSession {
  func startWatching(_ sandbox: LaunchedInit) {
    // The reserve of the disk holds under any policy.
    guard let plan, let processes else { return }
    let usage = ProcessUsage(
      processes, sockets: sockets.map { SocketMemory($0, hasInternet: plan.network.hasSockets) },
      hasOwnNetwork: plan.network != .host)
    watch = UsageWatch(
      plan.usage, sandbox, group: group?.group, usage: usage, container: prepared.container,
      staging: "\(folders.staging)/\(prepared.instance)")
    (self.processes, self.sockets) = (nil, nil)
  }

  /// The init is gone without a word of its app: then it was ended from here.
  func endByLimit() {
    guard report == nil, !hasFailed else { return }
    guard let excess = watch?.excess else {
      // Or by the broker, which says why.
      isGone = true
      return
    }
    self.excess = excess
    report = (-1, SIGKILL)
    outcome = excess.limit == .wallTime ? 124 : 128 + SIGKILL
  }

  /// A process that the kernel ended by itself (`RLIMIT_CPU`): with a signal that an app may handle, and a second later for good.
  func processorTime(_ signal: Int32, _ used: Int) -> LimitExcess? {
    // The kernel counts in ticks, and finer where it reports: they differ by a moment.
    guard let ceiling = plan?.usage.cpuTime, signal == SIGXCPU || (signal == SIGKILL && used >= ceiling) else {
      return nil
    }
    return LimitExcess(.cpuTime, value: max(used, ceiling), ceiling: ceiling)
  }

  /// The broker's knowledge of the app's end.
  func tell(_ last: LauncherInterface.EndedReply) {
    if let reason = last.reason {
      if report == nil {
        report = (128 + SIGKILL, SIGKILL)
        outcome = outcome ?? 128 + SIGKILL
      }
      Failure.say("the app was ended: \(reason)")
      status?.send("ended", ["reason": .string(reason)])
    }
    for leak in last.leaks {
      status?.leaked(leak)
      if request.trace { Trace.show(leaked: leak) }
    }
  }

  /// The init is gone, and neither a limit nor the broker gives the reason: a process outside has ended it, and the kernel has
  /// ended all processes inside.
  func tellGone(_ sandbox: LaunchedInit) {
    guard isGone, report == nil else { return }
    try? waitForEnd(of: sandbox)
    let end = sandbox.end()
    let how =
      switch end {
      case (let status, 0)?: "ended with status \(status)"
      case (_, let signal)?:
        "was killed by signal \(signal), from outside of the sandbox or by the kernel for want of memory"
      case nil: "is gone"
      }
    let signal = end.map { $0.signal == 0 ? SIGKILL : $0.signal } ?? SIGKILL
    report = (128 + signal, signal)
    outcome = outcome ?? 128 + signal
    let reason = "its init, process \(sandbox.pid), \(how)"
    Failure.say("the app was ended: \(reason)")
    status?.send("ended", ["reason": .string(reason)])
  }

  /// Output of the app that did not reach its destination makes the launch a failure.
  func tell(_ failures: [String]) {
    for failure in failures { Failure.say(failure) }
    if !failures.isEmpty, outcome == 0 { outcome = 125 }
  }

  func tellLimit() {
    guard let excess else { return }
    Failure.say("the app was ended: \(excess)")
    status?.send(
      "limit",
      [
        "limit": .string(excess.limit.key), "value": JSONValue(excess.value), "ceiling": JSONValue(excess.ceiling),
        "reason": .string("\(excess)"),
      ])
  }
}
