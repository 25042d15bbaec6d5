internal import CLinux

/// Wakes a loop that waits with `poll(2)`, from any thread (`eventfd(2)`).
package struct Bell: Sendable {
  /// Readable once somebody has rung.
  package let descriptor: Descriptor

  package init() throws(KernelError) {
    descriptor = Descriptor(owning: try KernelError.checkNegative("eventfd") { ambit_bell() })
  }

  package func ring() { ambit_ring(descriptor.rawValue) }

  /// Until somebody rings again.
  package func silence() { ambit_unring(descriptor.rawValue) }
}
