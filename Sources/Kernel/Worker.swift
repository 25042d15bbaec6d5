internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A thread beside the main one, for work that must not wait while that one waits for a person.
package final class Worker {
  private var thread = pthread_t()

  /// Starts the work at once.
  package init(_ work: @escaping @Sendable () -> Void) throws(KernelError) {
    let box = unsafe Unmanaged.passRetained(Box(work))
    let result = unsafe pthread_create(
      &thread, nil,
      { raw in
        guard let raw = unsafe raw else { return nil }
        unsafe Unmanaged<Box>.fromOpaque(raw).takeRetainedValue().work()
        return nil
      }, box.toOpaque())
    if result != 0 {
      unsafe box.release()
      throw KernelError("pthread_create", errno: .init(rawValue: result))
    }
  }

  /// Starts work that no caller waits for; with the process it ends, at any point.
  package static func start(_ work: @escaping @Sendable () -> Void) throws(KernelError) {
    _ = pthread_detach(try Worker(work).thread)
  }

  /// Lets the work of all other threads go before the calling thread's.
  package static func stepBack() { ambit_step_back() }

  /// Waits until the work is done. Once.
  package func finish() { _ = pthread_join(thread, nil) }

  private final class Box: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
  }
}
