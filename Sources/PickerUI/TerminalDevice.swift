import Glibc
import Kernel
import SystemPackage
import Terminal

/// The user's terminal while the picker has it: raw, on the alternate screen, and given back as it was.
struct TerminalDevice: Sendable {
  let input: Int32
  let output: Int32
  private let raw: RawTerminal

  /// Takes the terminal over and throws away earlier input: those keys were meant for another program.
  init(input: Int32, output: Int32) throws(KernelError) {
    self.input = input
    self.output = output
    raw = try RawTerminal(input, discardingInput: true, farewell: TerminalPicker.restoreSequence)
  }

  /// The byte that the user's Backspace sends.
  var eraseByte: UInt8 { raw.eraseByte }

  /// Gives the terminal back. Keys still waiting were meant for the picker, and no app gets them.
  func restore() {
    try? write(TerminalPicker.restoreSequence)
    tcflush(input, TCIFLUSH)
    raw.restore()
  }

  /// The size now; 80 × 24 when the terminal does not know.
  func size() -> ScreenSize {
    var window = winsize()
    guard unsafe ioctl(output, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
      return ScreenSize(columns: 80, rows: 24)
    }
    return ScreenSize(columns: Int(window.ws_col), rows: Int(window.ws_row))
  }

  func write(_ text: String) throws(KernelError) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      do throws(KernelError) {
        let written = try KernelError.check("write", "the terminal") {
          unsafe rest.withUnsafeBytes { unsafe Glibc.write(output, $0.baseAddress, $0.count) }
        }
        rest = rest.dropFirst(written)
      } catch {
        guard error.errno == .wouldBlock else { throw error }
        // Another program made the terminal non-blocking; wait until it takes more.
        var waiting = [pollfd(fd: output, events: Int16(POLLOUT), revents: 0)]
        _ = unsafe poll(&waiting, 1, -1)
      }
    }
  }

  enum Input: Sendable, Equatable {
    case bytes([UInt8])
    case nothing
    /// The terminal hung up.
    case end
    /// The asking process is gone.
    case abandoned
  }

  /// Waits for input, at most so many milliseconds.
  ///
  /// - Parameters:
  ///   - abandoned: a descriptor that becomes readable or hangs up when the question no longer matters.
  ///   - also: a descriptor whose news end the wait.
  func read(milliseconds: Int32, abandoned: Int32?, also: Int32? = nil) throws(KernelError) -> Input {
    var waiting = [pollfd(fd: input, events: Int16(POLLIN), revents: 0)]
    // Without a number, poll(2) passes over an entry.
    waiting.append(pollfd(fd: abandoned ?? -1, events: Int16(POLLIN), revents: 0))
    if let also { waiting.append(pollfd(fd: also, events: Int16(POLLIN), revents: 0)) }
    let ready = unsafe poll(&waiting, nfds_t(waiting.count), milliseconds)
    if ready < 0 {
      // A signal (the window changed, most likely) is a reason to look at the size again.
      if errno == EINTR { return .nothing }
      throw KernelError.last("poll", "the terminal")
    }
    if waiting[1].revents != 0 { return .abandoned }
    if waiting[0].revents == 0 { return .nothing }
    var buffer = [UInt8](repeating: 0, count: 4096)
    do throws(KernelError) {
      let count = try KernelError.check("read", "the terminal") {
        unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(input, $0.baseAddress, $0.count) }
      }
      return count == 0 ? .end : .bytes(Array(buffer.prefix(count)))
    } catch {
      if error.errno == .wouldBlock { return .nothing }
      if error.errno == .ioError { return .end }
      throw error
    }
  }
}
