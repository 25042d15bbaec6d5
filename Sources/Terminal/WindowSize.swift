package import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// A terminal's size in character cells.
package struct WindowSize: Equatable, Sendable {
  package var columns: Int
  package var rows: Int

  package init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  /// The size of the terminal behind a descriptor (`ioctl_tty(2)`, `TIOCGWINSZ`). Zeros: the terminal does not know.
  package init(of descriptor: Int32) throws(KernelError) {
    var size = winsize()
    try KernelError.check("ioctl", "TIOCGWINSZ, \(descriptor)") {
      unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size)
    }
    self.init(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }

  /// Gives the terminal behind a descriptor this size; its foreground programs get SIGWINCH if it changes
  /// (`ioctl_tty(2)`, `TIOCSWINSZ`).
  package func apply(to descriptor: Int32) throws(KernelError) {
    var size = winsize()
    size.ws_col = UInt16(clamping: columns)
    size.ws_row = UInt16(clamping: rows)
    try KernelError.check("ioctl", "TIOCSWINSZ \(columns)x\(rows), \(descriptor)") {
      unsafe ioctl(descriptor, UInt(TIOCSWINSZ), &size)
    }
  }

  /// How wide a line may be on a descriptor; nil when it is not a terminal. 80 when the terminal does not know.
  package static func columns(of descriptor: Int32) -> Int? {
    guard let size = try? WindowSize(of: descriptor) else { return nil }
    return size.columns > 0 ? size.columns : 80
  }
}
