package import Kernel
internal import Wire

/// Something that the loop waits for and lets act. Members act in the order in which they were added. Times are nanoseconds of
/// CLOCK_MONOTONIC.
@BrokerLoop
package protocol LoopMember: AnyObject {
  /// Before the loop waits.
  func prepare(now: Int64)
  /// Appends the descriptors that it waits for; `handle` gets the same entries back.
  func appendEntries(to entries: inout [PollEntry], now: Int64)
  /// When it wants a turn, even without events on its descriptors; `nil`: not at all.
  func nextDue(now: Int64) -> Int64?
  /// After the wait.
  func handle(_ entries: ArraySlice<PollEntry>, now: Int64)
  /// When all members have had their turn, and every request that could be answered has its answer.
  func finishTurn(now: Int64)
}

extension LoopMember {
  package func prepare(now: Int64) {}
  package func appendEntries(to entries: inout [PollEntry], now: Int64) {}
  package func nextDue(now: Int64) -> Int64? { nil }
  package func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {}
  package func finishTurn(now: Int64) {}
}

/// Work that no caller waits for. A client that has just been answered often asks again at once: so it is put off until no request
/// comes, or until it has waited for long enough.
package struct DeferredWork {
  /// Since when there is some, in nanoseconds of CLOCK_MONOTONIC; `nil`: there is none.
  let since: @BrokerLoop () -> Int64?
  /// Nanoseconds for which the loop looks out for a request before it does the work.
  let awake: Int64
  /// Nanoseconds after which it is done though there are requests.
  let patience: Int64
  let run: @BrokerLoop () -> Void

  package init(
    awake: Int64, patience: Int64, since: @escaping @BrokerLoop () -> Int64?, run: @escaping @BrokerLoop () -> Void
  ) {
    (self.awake, self.patience, self.since, self.run) = (awake, patience, since, run)
  }
}

/// Waits with `poll(2)` for all members at once, and runs the jobs of ``BrokerLoop`` in between. A loop can be a member of another
/// one, with a clock of its own.
@BrokerLoop
package final class EventLoop: LoopMember {
  package let clock: any LoopClock
  private var members: [any LoopMember] = []
  /// The members of a turn, and the entries of each.
  private var served: [any LoopMember] = []
  private var ranges: [Range<Int>] = []
  /// The storage of a turn's entries, kept for the next turn.
  private var room: [PollEntry] = []
  private var deferred: [DeferredWork] = []
  /// It does the waiting; otherwise it is a member of a loop that does.
  private var isOutermost = false
  private var timers: [(due: Int64, wait: Wait<Bool>)] = []
  /// As long as many requests come, the loop waits for each awake.
  private var polling = AdaptivePolling(most: 100_000, processors: Poll.processors)
  /// Without anything due the loop looks around this often.
  private static let longest: Int64 = 1_000_000_000

  package nonisolated init(clock: any LoopClock) { self.clock = clock }

  package func add(_ member: any LoopMember) { members.append(member) }
  package func remove(_ member: any LoopMember) { members.removeAll { $0 === member } }
  package func add(_ work: DeferredWork) { deferred.append(work) }

  /// Has a wait end by itself.
  ///
  /// - Parameter due: nanoseconds of CLOCK_MONOTONIC. The wait is then `false`, if it has no value yet.
  package func end(_ wait: Wait<Bool>, at due: Int64) { timers.append((due, wait)) }

  /// Turns until something on the loop says that it is over.
  package func run(while goesOn: @BrokerLoop () -> Bool) throws(KernelError) {
    isOutermost = true
    while true {
      _ = drain()
      let now = clock.monotonic
      prepare(now: now)
      let hasJobs = drain()
      guard goesOn() else { return }
      try turn(now: now, hasJobs: hasJobs)
    }
  }

  /// Turns for some members alone, until something is done. Nothing else is served.
  package func run(_ some: [any LoopMember], until isDone: @BrokerLoop () -> Bool) throws(KernelError) {
    let wakeup = BrokerLoop.shared.executor.wakeup
    while true {
      _ = drain()
      if isDone() { return }
      var entries = [PollEntry(wakeup.descriptor, .read)]
      try Poll.wait(&entries, timeout: .seconds(1))
      if entries[0].hasHappened { wakeup.clear() }
      for member in some { member.handle([], now: clock.monotonic) }
    }
  }

  private func drain() -> Bool { BrokerLoop.shared.executor.drain() }

  private func turn(now: Int64, hasJobs: Bool) throws(KernelError) {
    let wakeup = BrokerLoop.shared.executor.wakeup
    var entries: [PollEntry] = []
    swap(&entries, &room)
    defer {
      entries.removeAll(keepingCapacity: true)
      swap(&entries, &room)
    }
    entries.append(PollEntry(wakeup.descriptor, .read))
    appendEntries(to: &entries, now: now)
    let due = hasJobs ? now : min(nextDue(now: now) ?? .max, now + Self.longest)

    let asked = clock.monotonic
    if try !doDeferred(&entries, now: asked) {
      // That may have queued jobs.
      let left = Duration.nanoseconds(drain() ? 0 : max(0, due - clock.monotonic))
      try Poll.wait(&entries, timeout: left, awake: polling.patience)
    }
    let after = clock.monotonic
    polling.waited(after - asked)
    if entries[0].hasHappened { wakeup.clear() }
    handle(entries[...], now: after)
    _ = drain()
    finishTurn(now: after)
  }

  /// - Returns: whether a request came before that was done.
  private func doDeferred(_ entries: inout [PollEntry], now: Int64) throws(KernelError) -> Bool {
    for work in deferred {
      guard let since = work.since() else { continue }
      let isPatient = now - since < work.patience
      if isPatient, try Poll.look(&entries, for: min(polling.patience, work.awake)) > 0 { return true }
      work.run()
    }
    return false
  }

  // MARK: As a member of another loop, with a clock that may show another time

  package func prepare(now: Int64) {
    let now = isOutermost ? now : clock.monotonic
    each(of: members) { $1.prepare(now: now) }
  }

  /// By a span: on each turn a loop over an array would count all its members, for each phase.
  private func each(of members: [any LoopMember], _ body: (Int, any LoopMember) -> Void) {
    let members = members.span
    for index in members.indices { body(index, members[index]) }
  }

  package func appendEntries(to entries: inout [PollEntry], now: Int64) {
    let now = isOutermost ? now : clock.monotonic
    ranges.removeAll(keepingCapacity: true)
    served = members
    each(of: served) { _, member in
      let start = entries.count
      member.appendEntries(to: &entries, now: now)
      ranges.append(start..<entries.count)
    }
  }

  package func nextDue(now: Int64) -> Int64? {
    let own = isOutermost ? now : clock.monotonic
    var due = Int64.max
    each(of: members) { if let next = $1.nextDue(now: own) { due = min(due, next) } }
    for timer in timers { due = min(due, timer.due) }
    return due == .max ? nil : now + max(0, due - own)
  }

  package func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    let now = isOutermost ? now : clock.monotonic
    if !timers.isEmpty { endTimers(now: now) }
    let ranges = ranges
    each(of: served) { $1.handle(entries[ranges[$0]], now: now) }
  }

  private func endTimers(now: Int64) {
    timers.removeAll { timer in
      if timer.due <= now { timer.wait.finish(false) }
      return timer.wait.isOver
    }
  }

  package func finishTurn(now: Int64) {
    let now = isOutermost ? now : clock.monotonic
    each(of: served) { $1.finishTurn(now: now) }
    served = []
    if !isOutermost { for work in deferred where work.since() != nil { work.run() } }
  }
}
