internal import Kernel
internal import Scenario
internal import Synchronization

/// Work that only reads, in a thread of its own: SQLite's look at the structure of a large log takes a minute and answers nobody
/// meanwhile, and whoever interrupts does not wait for it.
final class BackgroundWork<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)
  private let bell: Bell?

  init(_ work: @escaping @Sendable () -> Value) {
    bell = try? Bell()
    guard let bell, (try? Worker.start({ [self] in finish(work(), bell) })) != nil else {
      let result = work()
      value.withLock { $0 = result }
      return
    }
  }

  private func finish(_ result: Value, _ bell: Bell) {
    value.withLock { $0 = result }
    bell.ring()
  }

  /// What came of it; nil when a signal came first (`Interruption`): then it goes on until the process ends.
  func wait() -> Value? {
    while true {
      if let result = value.withLock({ $0 }) { return result }
      guard Interruption.signal == nil, let bell else { return nil }
      var entries = [PollEntry(bell.descriptor, .read)]
      // A signal that came between the question and the wait is seen after it.
      _ = try? Poll.wait(&entries, timeout: .milliseconds(100))
    }
  }
}
