internal import Kernel
internal import SystemPackage
internal import Terminal

#if canImport(Glibc)
  internal import Glibc
#endif

/// Stands between the user's terminal and the app's own: keys go in, output comes out, the size follows.
final class TerminalProxy {
  private let master: Descriptor
  /// The user's terminal to read from; `nil` when standard input is something else.
  private let input: Int32?
  private let output: Int32
  private var raw: RawTerminal?
  private var inputEnded = false
  /// Keys that the app's terminal has no room for yet.
  private var keys: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 16384)

  /// - Parameter master: of the terminal that the app has.
  init(master: Descriptor, streams: StandardStreams) throws(KernelError) {
    self.master = master
    input = streams.isTerminal[0] ? 0 : nil
    output = streams.isTerminal[1] ? 1 : streams.isTerminal[2] ? 2 : 0
    try KernelError.check("fcntl", "O_NONBLOCK") { fcntl(master.rawValue, F_SETFL, O_NONBLOCK) }
    adoptSettings()
    resize()
    try takeTerminal()
  }

  /// The app's terminal starts with the settings of the user's: erase key, echo, and so on.
  private func adoptSettings() {
    var settings = termios()
    guard unsafe tcgetattr(input ?? output, &settings) == 0 else { return }
    // Without raw mode the user's terminal does the work on output itself; done twice, it would show.
    if input == nil { settings.c_oflag &= ~tcflag_t(OPOST) }
    _ = unsafe tcsetattr(master.rawValue, TCSANOW, &settings)
  }

  /// Makes the user's terminal raw, if this job is in the foreground; in the background it belongs to another.
  func takeTerminal() throws(KernelError) {
    guard raw == nil, let input, tcgetpgrp(input) == getpgrp() else { return }
    raw = try RawTerminal(input)
  }

  /// Gives the user's terminal back.
  func restore() {
    raw?.restore()
    raw = nil
  }

  func resize() {
    try? WindowSize(of: output).apply(to: master.rawValue)
  }

  /// - Parameter isSuspended: the app is suspended and reads no keys: they are read here then, for those that end or stop a job.
  func appendEntries(to entries: inout [PollEntry], isSuspended: () -> Bool) -> Range<Int> {
    let start = entries.count
    var events: PollEvents = [.read]
    if !keys.isEmpty { events.insert(.write) }
    if !outputEnded { entries.append(PollEntry(master, events, tag: 1)) }
    // Not while keys wait: a program that does not read must not make this one collect without end.
    let hasRoom = keys.isEmpty || keys.count < Self.mostKeys && isSuspended()
    if let input, raw != nil, !inputEnded, hasRoom {
      if let copy = duplicate(input) { entries.append(PollEntry(copy, .read, tag: 2)) }
    }
    return start..<entries.count
  }

  private var outputEnded = false
  private var inputCopy: Descriptor?

  /// Poll entries hold descriptors that they keep alive; standard input is not this object's to own.
  private func duplicate(_ descriptor: Int32) -> Descriptor? {
    if inputCopy == nil {
      let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 10)
      if copy >= 0 { inputCopy = Descriptor(owning: copy) }
    }
    return inputCopy
  }

  /// - Returns: the signals of keys that a suspended app does not get.
  func process(_ entries: ArraySlice<PollEntry>, isSuspended: () -> Bool) -> [Int32] {
    var signals: [Int32] = []
    for entry in entries where !entry.returned.isEmpty {
      if entry.tag == 2 {
        signals += readKeys(isSuspended)
      } else {
        if entry.returned.contains(.write) { sendKeys() }
        if !entry.returned.isDisjoint(with: [.read, .hangUp, .error]) { outputEnded = !copyOutput() }
      }
    }
    return signals
  }

  private func readKeys(_ isSuspended: () -> Bool) -> [Int32] {
    guard let input else { return [] }
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(input, $0.baseAddress, $0.count) }
    if count <= 0 {
      inputEnded = count == 0 || (Glibc.errno != EINTR && Glibc.errno != EAGAIN)
    } else {
      var read = buffer[..<count]
      var signals: [Int32] = []
      if read.contains(where: { Self.signalKeys[$0] != nil }), isSuspended() {
        signals = read.compactMap { Self.signalKeys[$0] }
        read.removeAll { Self.signalKeys[$0] != nil }
      }
      keys += read
      sendKeys()
      return signals
    }
    return []
  }

  /// Ctrl-C, Ctrl-\ and Ctrl-Z.
  private static let signalKeys: [UInt8: Int32] = [3: SIGINT, 28: SIGQUIT, 26: SIGTSTP]
  /// Keys that wait for a suspended app at most, beyond those that its terminal has room for.
  private static let mostKeys = 65536

  private func sendKeys() {
    let count = unsafe keys.withUnsafeBytes { unsafe write(master.rawValue, $0.baseAddress, $0.count) }
    if count > 0 { keys.removeFirst(count) }
  }

  /// - Returns: `false` when there will be no more: the sandbox's init keeps the app's terminal open to its own end.
  private func copyOutput() -> Bool {
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(master.rawValue, $0.baseAddress, $0.count) }
    if count > 0 {
      writeOut(count)
      return true
    }
    return count == -1 && (Glibc.errno == EAGAIN || Glibc.errno == EINTR)
  }

  private func writeOut(_ count: Int) {
    var written = 0
    while written < count {
      let done = unsafe buffer.withUnsafeBytes { bytes -> Int in
        guard let base = bytes.baseAddress else { return -1 }
        return unsafe write(output, base + written, count - written)
      }
      if done > 0 {
        written += done
      } else if Glibc.errno == EAGAIN {
        var ready = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&ready, 1, 1000)
      } else if Glibc.errno != EINTR {
        return
      }
    }
  }

  /// Shows the app's last output that has not been shown yet.
  func drain() {
    var rest = pollfd(fd: master.rawValue, events: Int16(POLLIN), revents: 0)
    while !outputEnded, unsafe poll(&rest, 1, 0) > 0 { outputEnded = !copyOutput() }
  }
}
