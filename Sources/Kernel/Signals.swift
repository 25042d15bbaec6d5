internal import CLinux

/// Signals as something to wait for, instead of code that interrupts (`signalfd(2)`).
package struct SignalQueue: Sendable {
  package let descriptor: Descriptor

  /// Holds these signals back from now on and queues them. Before any thread is started: threads take over the
  /// held-back signals of their maker, and a thread that does not would be interrupted in the old way.
  package init(_ signals: [Int32]) throws(KernelError) {
    descriptor = Descriptor(
      owning: try KernelError.checkNegative("signalfd") {
        unsafe ambit_signal_descriptor(signals, signals.count)
      })
  }

  /// The next signal that has arrived, if one has.
  package func next() throws(KernelError) -> Int32? {
    let signal = try KernelError.checkNegative("read", "signals") { ambit_next_signal(descriptor.rawValue) }
    return signal == 0 ? nil : Int32(signal)
  }
}
