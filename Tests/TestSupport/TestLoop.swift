package import BrokerCore
internal import Kernel
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// The loop of this test process: one thread, for all tests that drive a broker in process.
package enum TestLoop {
  @BrokerLoop package static let root = EventLoop(clock: SystemClock())

  private static let started: Void = {
    do {
      try Worker.start {
        BrokerLoop.adoptThread()
        BrokerLoop.assumeIsolated {
          do { try root.run { true } } catch { fatalError("the loop of the tests: \(error)") }
        }
      }
    } catch { fatalError("no thread for the loop of the tests: \(error)") }
  }()

  /// Once in a process; safe to call again.
  package static func start() { started }
}

/// Runs a test on the loop.
package func onLoop<Value: Sendable>(
  _ body: @escaping @BrokerLoop @Sendable () async throws -> Value
) async throws -> Value { try await BrokerLoop.run(body) }

/// The calling thread, as a number.
package func pthread() -> UInt { pthread_self() }

/// A clock that a test sets.
package final class ManualClock: LoopClock {
  private let ahead = Mutex(Int64(0))
  private let start: (monotonic: Int64, realtime: Int64)

  package init() { start = (Clock.monotonic(), Clock.realtime()) }

  /// - Parameter time: nanoseconds.
  package func advance(_ time: Int64) { ahead.withLock { $0 += time } }

  package var monotonic: Int64 { start.monotonic + ahead.withLock(\.self) }
  package var realtime: Int64 { start.realtime + ahead.withLock(\.self) }
}
