internal import Kernel
internal import Synchronization

/// Unmounts in a thread of its own: before a mount is gone the kernel waits until every processor has taken note, and so would
/// a caller of the broker meanwhile.
final class UnmountWorker: Sendable {
  static let shared = UnmountWorker()

  private let arrived = try? Wakeup()
  private let waiting = Mutex<[Departure]>([])
  private let hasThread = Mutex(false)

  /// Has a mount detached.
  ///
  /// - Returns: `nil` where there is no thread for it: nothing was done.
  func begin(_ path: String, in instance: Descriptor, home: Descriptor) -> Departure? {
    guard let arrived, let departure = try? Departure(path, in: instance, home: home), startThread(arrived) else {
      return nil
    }
    waiting.withLock { $0.append(departure) }
    arrived.signal()
    return departure
  }

  private func startThread(_ arrived: Wakeup) -> Bool {
    hasThread.withLock { hasThread in
      if hasThread { return true }
      hasThread = (try? Worker.start { self.run(arrived) }) != nil
      return hasThread
    }
  }

  private func run(_ arrived: Wakeup) {
    while true {
      var entry = [PollEntry(arrived.descriptor, .read)]
      _ = try? Poll.wait(&entry)
      arrived.clear()
      let all = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      for departure in all { departure.carryOut() }
    }
  }
}

/// A mount that another thread unmounts.
final class Departure: Sendable {
  private let path: String
  private let instance: Descriptor
  private let home: Descriptor
  private let gone: Wakeup
  private let outcome = Mutex<Result<Void, KernelError>?>(nil)

  fileprivate init(_ path: String, in instance: Descriptor, home: Descriptor) throws(KernelError) {
    self.path = path
    self.instance = instance
    self.home = home
    gone = try Wakeup()
  }

  /// Whether the mount is gone, or could not be unmounted.
  var isOver: Bool { outcome.withLock { $0 != nil } }

  /// Waits until it is over.
  ///
  /// - Throws: why it could not be unmounted.
  func finish() throws(KernelError) {
    while true {
      if let outcome = outcome.withLock({ $0 }) { return try outcome.get() }
      var entry = [PollEntry(gone.descriptor, .read)]
      _ = try? Poll.wait(&entry)
    }
  }

  fileprivate func carryOut() {
    let result: Result<Void, KernelError>
    do throws(KernelError) {
      try Namespaces.visit(instance, from: home) { () throws(KernelError) in try Mounts.detach(path) }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    outcome.withLock { $0 = result }
    gone.signal()
  }
}
