/// One value that a request waits for: set once, read by one waiter. The loop goes on meanwhile.
///
/// After a wait everything may have changed that the waiter knew before: it looks again (``confirmed(_:across:)``).
@BrokerLoop
package final class Wait<Value> {
  private var value: Value?
  private var waiter: CheckedContinuation<Void, Never>?
  private var isCancelled = false

  package init() {}

  /// It has its value, or its waiter is gone.
  package var isOver: Bool { value != nil || isCancelled }

  /// The first value counts.
  package func finish(_ new: Value) {
    guard !isOver else { return }
    value = new
    resume()
  }

  private func cancel() {
    guard !isOver else { return }
    isCancelled = true
    resume()
  }

  private func resume() {
    let waiting = waiter
    waiter = nil
    waiting?.resume()
  }

  /// - Throws: `CancellationError` when the task is cancelled: the client has gone.
  package func get() async throws(CancellationError) -> Value {
    if !isOver {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          if isOver { continuation.resume() } else { waiter = continuation }
        }
      } onCancel: {
        // A request is cancelled by the loop.
        BrokerLoop.assumeIsolated { cancel() }
      }
    }
    guard let value, !Task.isCancelled else { throw CancellationError() }
    return value
  }
}

/// Waits for something that rests on facts, and establishes them again afterwards: meanwhile a grant may have been withdrawn, or
/// another file may have become the document. If they are others now, the wait was for nothing and is repeated, at most 8 times.
///
/// - Parameter establish: throws where there is nothing to wait for any more.
@BrokerLoop
package func confirmed<Facts: Equatable, Value>(
  _ establish: @BrokerLoop () throws -> Facts, across wait: @BrokerLoop (Facts) async throws -> Value
) async throws -> (facts: Facts, value: Value) {
  var facts = try establish()
  for _ in 0..<8 {
    let step = BrokerLoop.step
    let value = try await wait(facts)
    if step == BrokerLoop.step { return (facts, value) }
    let now = try establish()
    if now == facts { return (facts, value) }
    facts = now
  }
  return (facts, try await wait(facts))
}
