package import Kernel
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#endif

/// A terminal that hands over every key as it is pressed: no echo, no lines, no signals from keys, no output changes.
///
/// The settings that it had come back with `restore()`, at the latest when this object goes away, and also when the process is
/// killed (``TerminalKeeper``). Other ends of a process without unwinding (a signal's default action, `_exit`) are noticed by
/// the keeper as well; the holder of a raw terminal still catches the signals that end it, so that nothing is drawn in between.
package final class RawTerminal: Sendable {
  private struct Saved {
    let terminal: Descriptor
    let settings: termios
    /// `nil`: the system had no room for one more process.
    let keeper: TerminalKeeper?
  }

  private let saved: Mutex<Saved?>
  /// The byte that the user's Backspace sends (`VERASE`).
  package let eraseByte: UInt8

  /// Makes the terminal raw (`cfmakeraw(3)`).
  ///
  /// The terminal is kept open until it is restored, even if the descriptor's number is closed or reused meanwhile.
  /// A process in the background is stopped by the kernel here (SIGTTOU), as with every program that sets a terminal.
  /// - Parameters:
  ///   - lines: it hands over lines, with an echo, and Ctrl-C and Escape end a line; else every key.
  ///   - discardingInput: earlier input is thrown away; else type-ahead stays.
  ///   - farewell: the bytes that have to be written to the terminal, should this process be killed before it could.
  /// - Throws: ENOTTY when the descriptor is not a terminal.
  package init(
    _ descriptor: Int32, lines: Bool = false, discardingInput: Bool = false, farewell: String = ""
  ) throws(KernelError) {
    var settings = termios()
    try KernelError.check("tcgetattr", "\(descriptor)") { unsafe tcgetattr(descriptor, &settings) }
    let terminal = Descriptor(
      owning: try KernelError.check("fcntl", "F_DUPFD_CLOEXEC, \(descriptor)") {
        fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
      })
    var raw = settings
    if lines { Self.makeLines(&raw) } else { unsafe cfmakeraw(&raw) }
    let keeper = try? TerminalKeeper(terminal, before: settings, raw: raw, farewell: farewell)
    eraseByte = settings.c_cc.2
    saved = Mutex(Saved(terminal: terminal, settings: settings, keeper: keeper))
    do throws(KernelError) {
      try KernelError.check("tcsetattr", "raw, \(descriptor)") {
        unsafe tcsetattr(terminal.rawValue, discardingInput ? TCSAFLUSH : TCSANOW, &raw)
      }
    } catch {
      restore()
      throw error
    }
  }

  /// As a shell's user has it, whatever the program before has set; but keys send no signals.
  private static func makeLines(_ settings: inout termios) {
    settings.c_lflag |= tcflag_t(ICANON | ECHO | ECHOE | ECHOK)
    settings.c_lflag &= ~tcflag_t(ISIG | IEXTEN)
    settings.c_iflag |= tcflag_t(ICRNL)
    settings.c_oflag |= tcflag_t(OPOST | ONLCR)
    // VEOL and VEOL2: other ends of a line.
    (settings.c_cc.11, settings.c_cc.16) = (0x03, 0x1B)
  }

  deinit { restore() }

  /// Gives the terminal the settings that it had. Only the first call does anything.
  package func restore() {
    saved.withLock { saved in
      guard let last = saved else { return }
      saved = nil
      var settings = last.settings
      // A terminal that has gone away (hang-up) has no settings to bring back: there is no user to tell.
      _ = try? KernelError.check("tcsetattr") { unsafe tcsetattr(last.terminal.rawValue, TCSANOW, &settings) }
      last.keeper?.dismiss()
    }
  }
}
