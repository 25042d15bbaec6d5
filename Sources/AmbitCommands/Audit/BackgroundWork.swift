internal import Kernel
internal import Scenario
internal import Synchronization

/// Work that only reads, in a thread of its own. SQLite's check of the structure of a large log takes a minute and does not respond
/// meanwhile. A user who interrupts the command does not wait for it.
final class BackgroundWork<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)
  private let wakeup: Wakeup?

  init(_ work: @escaping @Sendable () -> Value) {
    wakeup = try? Wakeup()
    guard let wakeup, (try? Worker.start({ [self] in finish(work(), wakeup) })) != nil else {
      let result = work()
      value.withLock { $0 = result }
      return
    }
  }

  private func finish(_ result: Value, _ wakeup: Wakeup) {
    value.withLock { $0 = result }
    wakeup.signal()
  }

  /// The result; nil when a signal came first (`Interruption`): then it goes on until the process ends.
  func wait() -> Value? {
    while true {
      if let result = value.withLock({ $0 }) { return result }
      guard Interruption.signal == nil, let wakeup else { return nil }
      var entries = [PollEntry(wakeup.descriptor, .read)]
      // A signal that came between the question and the wait is seen after it.
      _ = try? Poll.wait(&entries, timeout: .milliseconds(100))
    }
  }
}
