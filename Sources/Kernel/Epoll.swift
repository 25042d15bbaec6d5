internal import CLinux
internal import SystemPackage

/// Descriptors that one thread waits for, while other threads add and remove some without waking it (`epoll(7)`).
package struct Epoll: Sendable {
  private let descriptor: Descriptor

  package init() throws(KernelError) {
    descriptor = Descriptor(owning: try KernelError.checkNegative("epoll_create1") { ambit_epoll_make() })
  }

  /// - Parameter tag: the answer of ``next()`` when it can be read, or its other side has gone.
  package func add(_ other: Descriptor, tag: UInt64) throws(KernelError) {
    try KernelError.checkNegative("epoll_ctl", "descriptor \(other.rawValue)") {
      ambit_epoll_add(descriptor.rawValue, other.rawValue, tag)
    }
  }

  package func remove(_ other: Descriptor) { ambit_epoll_remove(descriptor.rawValue, other.rawValue) }

  /// Waits for one of them: the same one again until it has been read, or removed.
  package func next() throws(KernelError) -> UInt64 {
    while true {
      var tag: UInt64 = 0
      do throws(KernelError) {
        try KernelError.checkNegative("epoll_wait") { unsafe ambit_epoll_wait(descriptor.rawValue, &tag) }
        return tag
      } catch { if error.errno != .interrupted { throw error } }
    }
  }
}
