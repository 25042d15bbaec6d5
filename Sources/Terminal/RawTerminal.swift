package import Kernel
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// A terminal that hands over every key as it is pressed: no echo, no lines, no signals from keys, no output changes.
///
/// The settings that it had come back with `restore()`, and at the latest when this object goes away. What ends a
/// process without unwinding it (a signal's default action, `_exit`) runs neither: whoever holds a raw terminal
/// catches the signals that end it and restores first.
package final class RawTerminal: Sendable {
  private struct Saved {
    let terminal: Descriptor
    let settings: termios
  }

  private let saved: Mutex<Saved?>

  /// Makes the terminal raw (`cfmakeraw(3)`). Type-ahead stays.
  ///
  /// The terminal is kept open until it is restored, even if the descriptor's number is closed or reused meanwhile.
  /// A process in the background is stopped by the kernel here (SIGTTOU), as with every program that sets a terminal.
  /// - Throws: ENOTTY when the descriptor is not a terminal.
  package init(_ descriptor: Int32) throws(KernelError) {
    var settings = termios()
    try KernelError.check("tcgetattr", "\(descriptor)") { unsafe tcgetattr(descriptor, &settings) }
    let terminal = Descriptor(
      owning: try KernelError.check("fcntl", "F_DUPFD_CLOEXEC, \(descriptor)") {
        fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
      })
    var raw = settings
    unsafe cfmakeraw(&raw)
    try KernelError.check("tcsetattr", "raw, \(descriptor)") { unsafe tcsetattr(terminal.rawValue, TCSANOW, &raw) }
    saved = Mutex(Saved(terminal: terminal, settings: settings))
  }

  deinit { restore() }

  /// Gives the terminal the settings that it had. Only the first call does anything.
  package func restore() {
    saved.withLock { saved in
      guard let last = saved else { return }
      saved = nil
      var settings = last.settings
      // A terminal that has gone away (hang-up) has no settings to bring back: there is nobody to tell.
      _ = try? KernelError.check("tcsetattr") { unsafe tcsetattr(last.terminal.rawValue, TCSANOW, &settings) }
    }
  }
}
