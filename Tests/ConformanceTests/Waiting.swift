import Dispatch
import Foundation
import Synchronization
import Testing

/// Tests that start programs and mostly wait for them.
///
/// All tests run on as many threads as the machine has processors, and who waits keeps one of these from those that have something
/// to do. These run on threads of their own, of which there are four more than processors: most wait, others go on.
struct Waiting: SuiteTrait, TestTrait, TestScoping {
  fileprivate let threads: WaitingThreads

  /// What is done inside of the scope of a suite, its tests and their cases, is done on these threads.
  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(threads, operation: function)
  }
}

extension Trait where Self == Waiting {
  static var waiting: Self { Self(threads: .shared) }

  /// For those that do hardly anything but wait, for half a minute and more, and for the longest suites: they begin at once, and keep no
  /// thread from others.
  static var waitingLong: Self { Self(threads: .long) }
}

/// A few threads that take whatever is next.
private final class WaitingThreads: TaskExecutor {
  static let shared = WaitingThreads(ProcessInfo.processInfo.activeProcessorCount + 4)
  static let long = WaitingThreads(6)

  private let jobs = Mutex<[UnownedJob]>([])
  private let count = DispatchSemaphore(value: 0)

  private init(_ threads: Int) {
    for _ in 0..<threads { Thread.detachNewThread { [self] in work() } }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    count.signal()
  }

  private func work() {
    while true {
      count.wait()
      let job = jobs.withLock { $0.removeFirst() }
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
