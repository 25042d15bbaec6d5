internal import Kernel
internal import Sandbox
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// Measures the use of a running sandbox, as often as it could have reached a limit, and ends the sandbox when it has exceeded one.
///
/// Nothing of it stands between a user and the start of an app: it begins when the app runs. Between looks it takes
/// nothing.
final class UsageWatch: Sendable {
  private let sandbox: LaunchedInit
  private let state: Mutex<State>

  fileprivate struct State {
    var rule: UsageRule
    let usage: ProcessUsage
    let container: Descriptor?
    /// The path on the host of the app's staging folders, once it has any. It counts as the container does.
    let staging: String
    /// Enforces the limit on memory, where it does.
    let group: ControlGroup?
    let limits: UsageLimits
    var baseline: MachineMemory
    var measurement: FolderMeasurement?
    /// Nanoseconds that the measurement has taken so far.
    var measuringCost: Int64 = 0
    /// When to look next, and when to go on with a measurement.
    var lookDue: Int64
    var measuringDue = Int64.max
    var due: Int64 { min(lookDue, measuringDue) }
    /// The limit that ended the sandbox, or for which the app was asked to end.
    var excess: LimitExcess?
    var isOver = false
  }

  /// For so long at a time a container is measured, and so long is the pause before it goes on, in nanoseconds.
  private static let measuring: (work: Int64, pause: Int64) = (10_000_000, 10_000_000)

  /// - Parameters:
  ///   - group: the sandbox's control group, if it has one.
  ///   - usage: of the sandbox's processes.
  ///   - container: its path on the host.
  ///   - staging: the path on the host of the folder with its staging folders; it need not exist.
  init(
    _ limits: UsageLimits, _ sandbox: LaunchedInit, group: ControlGroup?, usage: sending ProcessUsage,
    container: String, staging: String
  ) {
    self.sandbox = sandbox
    let now = Clock.monotonic()
    let folder = try? Descriptor.open(container, flags: [.path, .directory, .noFollow])
    let baseline = MachineMemory.current
    let taken = try? folder?.fileSystemUsage()
    let holder = group?.controllers.contains(.memory) == true ? group : nil
    let rule = UsageRule(
      limits, processors: MachineMemory.processors, isMemoryHeld: limits.memory != nil && holder != nil,
      disk: taken?.size, start: now, reading: .init(spaceTaken: taken?.bytes ?? 0, filesTaken: taken?.files ?? 0))
    state = Mutex(
      State(
        rule: rule, usage: usage, container: folder, staging: staging, group: holder, limits: limits,
        baseline: baseline,
        lookDue: Self.later(now, rule.pause(now: now))))
  }

  private static func later(_ now: Int64, _ pause: Int64) -> Int64 {
    let (sum, overflow) = now.addingReportingOverflow(pause)
    return overflow ? .max : sum
  }

  /// How long nothing has to be looked at; `nil`: never again.
  var timeout: Duration? {
    state.withLock { state in
      state.isOver || state.due == .max ? nil : .nanoseconds(max(0, state.due - Clock.monotonic()))
    }
  }

  /// The limit that was gone beyond, if one was.
  var excess: LimitExcess? { state.withLock { $0.excess ?? $0.outOfMemory } }

  /// Looks, if it is time to.
  func look() {
    state.withLock { state in
      let now = Clock.monotonic()
      guard !state.isOver, now >= state.due else { return }
      if now >= state.lookDue {
        if let excess = state.outOfMemory { return end(excess, &state) }
        for demand in state.rule.look(state.reading(), now: now) { meet(demand, &state) }
        let after = Clock.monotonic()
        state.lookDue = Self.later(after, state.rule.pause(now: after))
      }
      if !state.isOver, state.measurement != nil { measure(&state) }
      state.measuringDue = state.measurement == nil ? .max : Clock.monotonic() + Self.measuring.pause
    }
  }

  private func meet(_ demand: UsageRule.Demand, _ state: inout State) {
    switch demand {
    case .measureMemory:
      let found = state.usage.exactMemory()
      // Memory that cannot be counted is too much.
      let value = found.isWhole ? found.bytes : .max
      if let excess = state.rule.measured(memory: value, now: Clock.monotonic()) { end(excess, &state) }
    case .measureContainer:
      if state.measurement == nil, let container = state.container {
        state.measurement = try? FolderMeasurement(of: [container] + state.stagingFolder)
      }
    case .askToEnd(let excess):
      state.excess = state.excess ?? excess
      try? sandbox.signal(SIGTERM, group: false)
    case .end(let excess): end(excess, &state)
    }
  }

  private func measure(_ state: inout State) {
    guard let measurement = state.measurement else { return }
    let begin = Clock.monotonic()
    let isDone = measurement.proceed(until: begin + Self.measuring.work)
    state.measuringCost += Clock.monotonic() - begin
    // The size of the excess does not matter.
    let isTooMuch =
      measurement.bytes > state.limits.container ?? .max || measurement.files > state.limits.containerFiles ?? .max
    guard isDone || isTooMuch || measurement.isTooDeep else { return }
    state.measurement = nil
    defer { state.measuringCost = 0 }
    var (bytes, files) = (measurement.bytes, measurement.files)
    var isCounted = !measurement.isTooDeep
    if !isTooMuch, let container = state.container {
      let begin = Clock.monotonic()
      let deleted = state.usage.deletedFiles(besides: container)
      state.measuringCost += Clock.monotonic() - begin
      (bytes, files) = (bytes + deleted.bytes, files + deleted.files)
      if !deleted.isWhole { isCounted = false }
    }
    // A container that cannot be counted is too large.
    if !isCounted { (bytes, files) = (.max, .max) }
    if let excess = state.rule.measured(space: bytes, files: files, now: Clock.monotonic(), cost: state.measuringCost) {
      end(excess, &state)
    }
  }

  private func end(_ excess: LimitExcess, _ state: inout State) {
    state.excess = excess
    state.isOver = true
    try? sandbox.process.signalProcess(SIGKILL)
  }

  // MARK: While this thread waits for a person

  /// Does something that takes as long as a person likes, and goes on looking meanwhile.
  func whileWaiting<Result>(_ body: () throws -> Result) throws -> Result {
    let ends: (Descriptor, Descriptor) = try UnixSocket.pair()
    let end = ends.0
    let worker = try Worker { [self] in
      while let pause = timeout {
        var entries = [PollEntry(end, .read)]
        guard (try? Poll.wait(&entries, timeout: pause)) != nil, entries[0].returned.isEmpty else { return }
        look()
      }
    }
    defer {
      _ = shutdown(ends.1.rawValue, CInt(SHUT_RDWR))
      worker.finish()
    }
    return try body()
  }
}

extension UsageWatch.State {
  fileprivate var stagingFolder: [Descriptor] {
    (try? Descriptor.open(staging, flags: [.path, .directory, .noFollow])).map { [$0] } ?? []
  }

  /// The kernel has ended one of the processes, since the group had no memory left. The others follow, as under version 2.
  fileprivate var outOfMemory: LimitExcess? {
    guard let ceiling = limits.memory, let group, group.outOfMemoryKills > 0 else { return nil }
    return LimitExcess(.memory, value: ceiling, ceiling: ceiling)
  }

  fileprivate mutating func reading() -> UsageRule.Reading {
    var reading = UsageRule.Reading()
    let wantsMemory = limits.memory != nil && group == nil
    if wantsMemory || limits.cpuTime != nil {
      let total = usage.total(cpuTime: limits.cpuTime != nil)
      reading.cpuTime = total.cpuTime
      if wantsMemory { reading.memory = total.memory + memoryElsewhere() }
    }
    if let taken = try? container?.fileSystemUsage() {
      reading.spaceTaken = taken.bytes
      reading.filesTaken = taken.files
      reading.spaceLeft = taken.left
    }
    return reading
  }

  /// Memory in files in memory, and swapped out memory, belongs to no single process: returns its growth for the whole machine.
  private mutating func memoryElsewhere() -> Int {
    let now = MachineMemory.current
    baseline.shared = min(baseline.shared, now.shared)
    baseline.swapUsed = min(baseline.swapUsed, now.swapUsed)
    return now.shared - baseline.shared + now.swapUsed - baseline.swapUsed
  }
}
