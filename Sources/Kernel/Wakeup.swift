internal import CLinux

/// Wakes a loop that waits with `poll(2)`, from any thread (`eventfd(2)`).
package struct Wakeup: Sendable {
  /// Readable after a ring.
  package let descriptor: Descriptor

  package init() throws(KernelError) {
    descriptor = Descriptor(owning: try KernelError.checkNegative("eventfd") { ambit_wakeup_make() })
  }

  package func signal() { ambit_wakeup_signal(descriptor.rawValue) }

  /// Until the next ring.
  package func clear() { ambit_wakeup_clear(descriptor.rawValue) }
}
