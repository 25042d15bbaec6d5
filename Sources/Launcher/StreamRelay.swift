internal import Kernel
internal import Synchronization
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Copies between a file of the user's and the pipe that an app has in its place, in a thread of its own: an app that writes must
/// not wait while its user looks at a picker.
final class StreamRelay: Sendable {
  enum Direction: Sendable { case toApp, fromApp }

  private let file: Descriptor
  private let direction: Direction
  /// Rings when the app has ended.
  private let ended: Wakeup
  private let state: Mutex<State>

  private struct State {
    /// This side's end. The thread takes it along and lets go of it at its end, so that the app hears of that.
    var end: Descriptor?
    var failure: Errno?
  }

  private static let chunk = 1 << 18

  /// - Parameters:
  ///   - file: the user's own opening; its offset moves on.
  ///   - end: of the pipe whose other end is the app's.
  init(_ file: Descriptor, _ direction: Direction, _ end: Descriptor) throws(KernelError) {
    self.file = file
    self.direction = direction
    ended = try Wakeup()
    // This side's alone: the app's end is another opening.
    try KernelError.check("fcntl", "O_NONBLOCK") { fcntl(end.rawValue, F_SETFL, O_NONBLOCK) }
    state = Mutex(State(end: end))
  }

  /// The error that kept it from copying everything.
  var failure: Errno? { state.withLock { $0.failure } }

  /// Once.
  func start(fileSize: Int?) throws(KernelError) -> Worker {
    let end = state.withLock { state in
      defer { state.end = nil }
      return state.end
    }
    return try Worker { [self] in
      guard let end else { return }
      FailingCalls.holdBackSignals()
      do throws(KernelError) {
        switch direction {
        case .fromApp: try copyOut(end, fileSize)
        case .toApp: try copyIn(end)
        }
      } catch { state.withLock { $0.failure = error.errno } }
    }
  }

  /// The present content of the pipe is still copied out; then the thread ends.
  func stop() { ended.signal() }

  private func copyOut(_ end: Descriptor, _ fileSize: Int?) throws(KernelError) {
    var buffer = [UInt8](repeating: 0, count: Self.chunk)
    // Of a pipe that another instance has been passed there would be no end.
    var left = Int.max
    while left > 0 {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(end.rawValue, $0.baseAddress, $0.count) }
      if count > 0 {
        try write(buffer[..<count], fileSize)
        if left < .max {
          left -= min(left, count)
        } else if try hasEnded() {
          left = end.unread
        }
      } else if count == 0 {
        return
      } else if errno == EAGAIN {
        if left < .max { return }
        if try awaits(end, .read) { left = end.unread }
      } else if errno != EINTR {
        throw KernelError.last("read", "a pipe")
      }
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>, _ fileSize: Int?) throws(KernelError) {
    var rest = bytes
    while !rest.isEmpty {
      let room = fileSize.map { max(0, $0 - position) } ?? .max
      // As the kernel does: the part that fits is written, and then it fails.
      guard room > 0 else { throw KernelError("write", "descriptor \(file.rawValue)", errno: .fileTooLarge) }
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.write(file.rawValue, $0.baseAddress, min(room, $0.count))
      }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if count == 0 || errno != EINTR {
        throw count == 0
          ? KernelError("write", "descriptor \(file.rawValue)", errno: .ioError)
          : .last("write", "descriptor \(file.rawValue)")
      }
    }
  }

  /// Where the next byte goes.
  private var position: Int {
    let isAppended = fcntl(file.rawValue, F_GETFL) & O_APPEND != 0
    return isAppended ? Int((try? file.status().size) ?? 0) : max(0, Int(lseek(file.rawValue, 0, SEEK_CUR)))
  }

  private func copyIn(_ end: Descriptor) throws(KernelError) {
    var buffer = [UInt8](repeating: 0, count: Self.chunk)
    while true {
      let count = try KernelError.check("read", "descriptor \(file.rawValue)") {
        unsafe buffer.withUnsafeMutableBytes { unsafe read(file.rawValue, $0.baseAddress, $0.count) }
      }
      if count == 0 { return }
      var rest = buffer[..<count]
      while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(end.rawValue, $0.baseAddress, $0.count) }
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
          if try awaits(end, .write) { return }
        } else if errno == EPIPE {
          // The app does not want the rest.
          return
        } else if errno != EINTR {
          throw KernelError.last("write", "a pipe")
        }
      }
    }
  }

  private func hasEnded() throws(KernelError) -> Bool {
    var entries = [PollEntry(ended.descriptor, .read)]
    return try Poll.wait(&entries, timeout: .zero) > 0
  }

  /// - Returns: whether the app has ended.
  private func awaits(_ end: Descriptor, _ event: PollEvents) throws(KernelError) -> Bool {
    var entries = [PollEntry(end, event), PollEntry(ended.descriptor, .read)]
    try Poll.wait(&entries)
    return entries[1].hasHappened
  }
}

/// Calls that go too far, on a launcher's threads that write for an app.
enum FailingCalls {
  /// Has them fail on this thread and on those that it starts, instead of ending the launcher. A user's shell may have set a limit
  /// on the size of files (`ulimit -f`). The sandbox's programs start with no signal blocked.
  static func holdBackSignals() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&signals, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }
}
