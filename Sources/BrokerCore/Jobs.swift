package import Kernel
internal import Synchronization

/// Work that may take long and changes something, each piece in a thread of its own. The loop goes on meanwhile, and
/// then with the result of the work.
@BrokerLoop
package final class Jobs: LoopMember {
  /// Between a thread and the loop: whether the work is still wanted, and when it last made progress.
  package final class Heartbeat: Sendable {
    private let state = Mutex((last: Int64(0), isWanted: true))
    package init() {}
    /// The thread makes progress, and asks whether it should go on.
    package func beat() -> Bool {
      state.withLock { state in
        state.last = Clock.monotonic()
        return state.isWanted
      }
    }
    /// The thread begins to wait for the disk, of which nothing can be told meanwhile: two minutes count as progress.
    package func waitForDisk() { state.withLock { $0.last = Clock.monotonic() + 120_000_000_000 } }
    fileprivate var last: Int64 { state.withLock { $0.last } }
    fileprivate func giveUp() { state.withLock { $0.isWanted = false } }
  }

  private struct Entry {
    let work: @Sendable () -> Void
    let heartbeat: Heartbeat
    /// Once; `false`: nothing has come back.
    let finish: (Bool) -> Void
  }

  private var queue = JobQueue()
  private var entries: [Int: Entry] = [:]
  private let clock: any LoopClock

  package init(clock: any LoopClock) { self.clock = clock }

  /// Has work done by a thread, and waits for it. The request may be cancelled meanwhile; the work goes on all the same.
  ///
  /// - Parameters:
  ///   - owner: has two places, and one for each subject.
  ///   - subject: the subject of the work, for example a grant.
  /// - Returns: `nil` if it was given up: it made no progress for 10 s, or its owner has too much waiting.
  package func run<Value: Sendable>(
    owner: String, subject: String, _ work: @escaping @Sendable (Heartbeat) -> Value
  ) async throws(CancellationError) -> Value? {
    let wait = Wait<Value?>()
    start(owner: owner, subject: subject, work) { wait.finish($0) }
    return try await wait.get()
  }

  /// The same without a request that waits for it.
  package func start<Value: Sendable>(
    owner: String, subject: String, _ work: @escaping @Sendable (Heartbeat) -> Value,
    then: @escaping @BrokerLoop (Value?) -> Void
  ) {
    guard let job = queue.add(owner: owner, subject: subject) else { return then(nil) }
    let heartbeat = Heartbeat()
    let result = Result<Value>()
    entries[job.id] = Entry(
      work: { result.value.withLock { $0 = work(heartbeat) } }, heartbeat: heartbeat,
      finish: { hasCome in then(hasCome ? result.value.withLock { $0 } : nil) })
    begin(now: clock.monotonic)
  }

  private final class Result<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
  }

  private func begin(now: Int64) {
    while let job = queue.begin(at: now) {
      guard let entry = entries[job.id] else { continue }
      let (id, work) = (job.id, entry.work)
      let run: @Sendable () -> Void = {
        work()
        Task { @BrokerLoop in self.finish(id) }
      }
      // Without a thread it is as if nothing had come back.
      if (try? Worker.start(run)) == nil, queue.end(id) { end(id, hasCome: false) }
    }
  }

  private func finish(_ id: Int) {
    if queue.end(id) { end(id, hasCome: true) }
    begin(now: clock.monotonic)
  }

  private func end(_ id: Int, hasCome: Bool) { entries.removeValue(forKey: id)?.finish(hasCome) }

  // MARK: LoopMember

  package func nextDue(now: Int64) -> Int64? { queue.nextDue }

  /// Gives up jobs that make no progress.
  package func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    if queue.isIdle { return }
    for id in queue.running.keys {
      if let heartbeat = self.entries[id]?.heartbeat { queue.note(progressOf: id, at: heartbeat.last) }
    }
    for id in queue.expire(at: now) {
      self.entries[id]?.heartbeat.giveUp()
      end(id, hasCome: false)
    }
    begin(now: now)
  }
}
