internal import CLinux

#if canImport(Glibc)
  package import Glibc
#endif

/// A small process that waits for this one to be killed, and then gives its terminal back: SIGKILL lets no process
/// restore anything, and not every shell does it in their place.
///
/// Settings that another program has made since are left alone.
package final class TerminalKeeper: Sendable {
  private let process: Int32

  /// Starts it; before the terminal is changed, so that there is no moment between.
  ///
  /// - Parameters:
  ///   - before, raw: the settings that the terminal has, and those that it is going to have.
  ///   - farewell: the bytes that are written to it first.
  package init(_ terminal: Descriptor, before: termios, raw: termios, farewell: String) throws(KernelError) {
    let bytes = farewell.utf8.map { CChar(bitPattern: $0) }
    process = try KernelError.checkNegative("clone", "a keeper of the terminal") {
      unsafe withUnsafePointer(to: before) { before in
        unsafe withUnsafePointer(to: raw) { raw in
          unsafe ambit_keep_terminal(terminal.rawValue, before, raw, bytes, bytes.count)
        }
      }
    }
  }

  /// The terminal is as before: there is nothing left to do.
  package func dismiss() { ambit_dismiss_keeper(process) }
}
