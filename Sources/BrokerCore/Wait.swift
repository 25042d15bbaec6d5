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

  /// Its value, if it has one already.
  package var present: Value? { isCancelled ? nil : value }

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

  /// - Throws: `CancellationError` when the request is cancelled: the client has gone.
  package func get() async throws(CancellationError) -> Value {
    let scope = Cancellation.current
    if let scope, scope.isCancelled { cancel() }
    if !isOver {
      scope?.cancelWait = { self.cancel() }
      await withCheckedContinuation { waiter = $0 }
      scope?.cancelWait = nil
    }
    guard let value, scope?.isCancelled != true else { throw CancellationError() }
    return value
  }
}

/// Whether a request is still wanted; it waits for one thing at a time.
///
/// Not the cancellation of `Task`: its handler runs on any thread.
@BrokerLoop
package final class Cancellation {
  @TaskLocal static var current: Cancellation?
  package private(set) var isCancelled = false
  fileprivate var cancelWait: (() -> Void)?

  package init() {}

  package func cancel() {
    isCancelled = true
    cancelWait?()
    cancelWait = nil
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
