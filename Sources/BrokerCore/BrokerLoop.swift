internal import Kernel
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// The one thread on which a broker decides: services are isolated to this actor, and the compiler checks that nothing else touches
/// them.
///
/// An `EventLoop` is its executor: jobs run between two waits of `poll(2)`, on the thread that called `EventLoop.run()`.
@globalActor
package actor BrokerLoop {
  package static let shared = BrokerLoop()
  nonisolated let executor = LoopExecutor()
  nonisolated package var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Makes the calling thread the loop's. Once in a process, before anything of the broker runs.
  package static func adoptThread() { shared.executor.adoptThread() }

  /// Counts the jobs that have run: while it stays the same, nothing else can have changed the caller's state.
  @BrokerLoop package static var step: Int { unsafe shared.executor.step }

  /// Has the loop look around, from any thread.
  package static func wake() { shared.executor.wakeup.signal() }

  /// Begins something that may wait: at once, up to its first wait, if no other job is under way.
  ///
  /// The loop is its task executor as well: otherwise the runtime goes on after a wait by way of a thread of its own.
  @BrokerLoop
  package static func begin(
    _ cancellation: Cancellation, _ body: @escaping @BrokerLoop @Sendable () async -> Void
  ) {
    Cancellation.$current.withValue(cancellation) {
      _ = Task(executorPreference: shared.executor) { @BrokerLoop @Sendable in await body() }
    }
    if unsafe !shared.executor.isDraining { _ = shared.executor.drain() }
  }

  /// Runs something at once that waits for nothing. Tasks that it begins run after it.
  @BrokerLoop
  package static func perform(_ body: @BrokerLoop () -> Void) {
    guard unsafe !shared.executor.isDraining else { return body() }
    unsafe shared.executor.isDraining = true
    body()
    unsafe shared.executor.isDraining = false
    _ = shared.executor.drain()
  }

  /// Runs something on the loop from elsewhere, and waits for it.
  package static func run<Value: Sendable>(
    _ body: @escaping @BrokerLoop @Sendable () async throws -> Value
  ) async throws -> Value {
    try await Task(executorPreference: shared.executor) { @BrokerLoop @Sendable in try await body() }.value
  }

  /// Runs something at once that has to run on the loop. Ends the process on any other thread.
  package static func assumeIsolated<Value>(_ body: @BrokerLoop () throws -> Value) rethrows -> Value {
    shared.executor.checkIsolated()
    return try withoutActuallyEscaping(body) { body in
      // The same as `MainActor.assumeIsolated` does: that the thread is the right one has just been checked.
      try unsafe unsafeBitCast(body, to: (() throws -> Value).self)()
    }
  }
}

/// A queue of jobs that the loop's thread empties, and the descriptor that wakes it.
final class LoopExecutor: SerialExecutor, TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  /// The loop's thread (`pthread_self(3)`); 0: none has been adopted.
  private let thread = Atomic<UInt>(0)
  let wakeup: Wakeup
  /// Of the loop's thread alone.
  nonisolated(unsafe) fileprivate(set) var step = 0
  nonisolated(unsafe) fileprivate(set) var isDraining = false

  init() {
    do { wakeup = try Wakeup() } catch { fatalError("no loop without an eventfd: \(error)") }
  }

  func adoptThread() { thread.store(pthread_self(), ordering: .sequentiallyConsistent) }

  private var isOwnThread: Bool { thread.load(ordering: .relaxed) == pthread_self() }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    if !isOwnThread { wakeup.signal() }
  }

  /// Runs the queued jobs, and the jobs that those queue. A chain of jobs without end gets so many turns,
  /// and the loop looks around.
  ///
  /// - Returns: whether there is something left.
  func drain() -> Bool {
    unsafe isDraining = true
    defer { unsafe isDraining = false }
    for _ in 0..<64 {
      let batch = jobs.withLock { jobs in
        let batch = jobs
        jobs.removeAll(keepingCapacity: true)
        return batch
      }
      if batch.isEmpty { return false }
      for job in batch {
        unsafe step += 1
        unsafe job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
    }
    return jobs.withLock { !$0.isEmpty }
  }

  func checkIsolated() { precondition(isOwnThread, "this is the broker loop's alone") }
  func isIsolatingCurrentContext() -> Bool? { isOwnThread }
}
