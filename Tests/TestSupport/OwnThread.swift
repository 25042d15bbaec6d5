internal import Dispatch
internal import Foundation
internal import Synchronization

/// Something that is done on a thread of its own.
///
/// Tests run on as many threads as the machine has processors, and so do tasks and what Dispatch does concurrently. Whatever of
/// these a test waits for comes after all other tests that have not had their turn, and perhaps never when the test blocks its
/// thread meanwhile.
package final class OwnThread<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  private let end = DispatchSemaphore(value: 0)

  /// Begins at once. What the body finds wrong it throws: an expectation that fails there would belong to no test.
  package init(_ body: @escaping @Sendable () throws -> Value) {
    Thread.detachNewThread { [self] in
      let outcome = Result { try body() }
      result.withLock { $0 = outcome }
      end.signal()
    }
  }

  package var isOver: Bool { result.withLock { $0 != nil } }

  /// Waits for its end, and answers or throws what the body did.
  package func value() throws -> Value {
    end.wait()
    end.signal()
    guard let outcome = result.withLock({ $0 }) else { throw HarnessError("a thread ended without a result") }
    return try outcome.get()
  }
}

/// Does something several times at once, each on a thread of its own, and waits for all of them.
///
/// - Parameter body: is given a number from zero on.
/// - Returns: the answers, in the order of the numbers.
@discardableResult
package func onOwnThreads<Value: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) throws -> Value
) throws -> [Value] {
  let threads = (0..<count).map { number in OwnThread { try body(number) } }
  // Nobody goes on while one of them is still at work, whatever another has thrown.
  return try threads.map { thread in Result { try thread.value() } }.map { try $0.get() }
}
