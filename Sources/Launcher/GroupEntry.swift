internal import Kernel
internal import Synchronization

/// A process entering its control group, while the launch goes on. Under version 1 the kernel waits until every processor has come
/// by.
final class GroupEntry {
  private let worker: Worker
  private let outcome: Outcome

  private final class Outcome: Sendable { let error = Mutex<KernelError?>(nil) }

  init(_ group: ControlGroup, _ process: Int32) throws(KernelError) {
    let outcome = Outcome()
    self.outcome = outcome
    worker = try Worker {
      do throws(KernelError) { try group.add(process) } catch { outcome.error.withLock { $0 = error } }
    }
  }

  /// Waits until the process is in it.
  ///
  /// - Throws: if it could not enter, so that nothing runs outside of the group that it was to be in.
  func finish() throws {
    worker.finish()
    if let error = outcome.error.withLock({ $0 }) {
      throw Failure("the sandbox cannot enter its control group: \(error)")
    }
  }
}
