internal import CLinux
internal import Foundation
package import Kernel
internal import Synchronization
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A program that a test started, its streams and how it ended. In a session of its own, so that no terminal of the
/// person who runs the tests is within its reach.
package final class ChildProcess {
  package enum Exit: Equatable, Sendable {
    case status(Int32)
    case signal(Int32)
  }

  /// What its standard streams are.
  package enum Streams {
    /// Three pipes.
    case pipes
    /// A terminal for all three, by the slave's path; it becomes the controlling one.
    case terminal(path: String, master: Descriptor)
  }

  package let arguments: [String]
  package let pid: Int32
  private let process: Descriptor
  private var input: Descriptor?
  private var output: Descriptor?
  private var errors: Descriptor?
  private var outputBytes: [UInt8] = []
  private var errorBytes: [UInt8] = []
  private var taken = 0
  private var ending: Exit?

  package init(
    _ arguments: [String], user: TestUser, environment: [String: String], directory: String, streams: Streams = .pipes
  ) throws {
    self.arguments = arguments
    let command = user.prefix + arguments
    switch streams {
    case .pipes:
      let started = try Self.start.withLock { _ in
        let (input, output, errors) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
        let pid = try unsafe Self.spawn(command, environment, directory) { actions in
          unsafe posix_spawn_file_actions_adddup2(actions, input.reading.rawValue, 0)
          unsafe posix_spawn_file_actions_adddup2(actions, output.writing.rawValue, 1)
          unsafe posix_spawn_file_actions_adddup2(actions, errors.writing.rawValue, 2)
        }
        return (pid: pid, input: input.writing, output: output.reading, errors: errors.reading)
      }
      (pid, input, output, errors) = (started.pid, started.input, started.output, started.errors)
    case .terminal(let path, let master):
      // A session's leader that opens a terminal gets it as the controlling one.
      pid = try Self.start.withLock { _ in
        try unsafe Self.spawn(command, environment, directory) { actions in
          unsafe posix_spawn_file_actions_addopen(actions, 0, path, O_RDWR, 0)
          unsafe posix_spawn_file_actions_adddup2(actions, 0, 1)
          unsafe posix_spawn_file_actions_adddup2(actions, 0, 2)
        }
      }
      (input, output) = (master, master)
    }
    process = Descriptor(owning: try KernelError.checkNegative("pidfd_open") { [pid] in ambit_pidfd_open(pid) })
    for descriptor in [input, output, errors] {
      if let descriptor { _ = fcntl(descriptor.rawValue, F_SETFL, O_NONBLOCK) }
    }
  }

  // MARK: Talking

  /// Writes all of it, reading meanwhile what the program says, so that neither waits for the other.
  package func send(_ text: String, patience: Duration = .seconds(10)) throws {
    guard let input else { throw seen("its input has been closed") }
    let deadline = Deadline(in: patience)
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(input.rawValue, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EAGAIN {
        throw seen("it does not read any more (errno \(errno))")
      } else {
        if deadline.isOver { throw seen("it does not read what it is sent") }
        wait(deadline, writing: true)
      }
    }
  }

  package func closeInput() { input = nil }

  /// The next line of its output.
  package func readLine(patience: Duration = .seconds(10)) throws -> String {
    let deadline = Deadline(in: patience)
    while true {
      if let end = outputBytes[taken...].firstIndex(of: 10) {
        defer { taken = end + 1 }
        return String(decoding: outputBytes[taken..<end], as: UTF8.self)
      }
      if output == nil { throw seen("its output has ended") }
      if deadline.isOver { throw seen("it has not answered for \(patience)") }
      wait(deadline)
    }
  }

  /// Waits until its output, from the last place that was waited for, has this text; answers what stood before it.
  @discardableResult
  package func wait(forOutput text: String, patience: Duration = .seconds(10)) throws -> String {
    let deadline = Deadline(in: patience)
    let wanted = Data(text.utf8)
    while true {
      if let found = Data(outputBytes[taken...]).range(of: wanted) {
        let start = taken
        taken += found.upperBound
        return String(decoding: outputBytes[start..<(start + found.lowerBound)], as: UTF8.self)
      }
      if output == nil { throw seen("its output ended without “\(text)”") }
      if deadline.isOver { throw seen("“\(text)” has not come for \(patience)") }
      wait(deadline)
    }
  }

  /// Everything that it has written until now.
  package var allOutput: String {
    drain()
    return String(decoding: outputBytes, as: UTF8.self)
  }
  package var allErrors: String {
    drain()
    return String(decoding: errorBytes, as: UTF8.self)
  }

  // MARK: Ending

  package func signal(_ number: Int32) { _ = ambit_pidfd_signal(process.rawValue, number) }

  /// Waits until it has ended and its output has been read to the end.
  package func waitForExit(patience: Duration = .seconds(20)) throws -> Exit {
    let deadline = Deadline(in: patience)
    while true {
      reap()
      if let ending {
        // What it left behind may hold the pipes open; what it wrote itself is in them already.
        drain()
        return ending
      }
      if deadline.isOver { throw seen("it has not ended for \(patience)") }
      wait(deadline, reading: output != nil || errors != nil)
    }
  }

  package var hasEnded: Bool {
    reap()
    return ending != nil
  }

  /// Ends it, if it has not ended, and takes its status.
  package func kill() {
    signal(SIGKILL)
    _ = try? waitForExit()
  }

  /// An error that tells what this program has said until now.
  package func seen(_ sentence: String) -> HarnessError {
    reap()
    return HarnessError(
      """
      \(arguments.joined(separator: " ")): \(sentence)
      ended: \(ending.map { "\($0)" } ?? "no")
      output: \(allOutput)
      errors: \(allErrors)
      """)
  }

  private func reap() {
    guard ending == nil else { return }
    var status: Int32 = 0
    guard unsafe waitpid(pid, &status, WNOHANG) == pid else { return }
    ending = status & 0x7f == 0 ? .status((status >> 8) & 0xff) : .signal(status & 0x7f)
  }

  // MARK: Streams

  private func wait(_ deadline: Deadline, writing: Bool = false, reading: Bool = true) {
    var entries = (reading ? [output, errors] : []).compactMap { $0 }.map {
      pollfd(fd: $0.rawValue, events: Int16(POLLIN), revents: 0)
    }
    if writing, let input { entries.append(pollfd(fd: input.rawValue, events: Int16(POLLOUT), revents: 0)) }
    if ending == nil { entries.append(pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)) }
    _ = unsafe poll(&entries, UInt(entries.count), deadline.milliseconds)
    drain()
    reap()
  }

  private func drain() {
    Self.drain(&output, into: &outputBytes)
    Self.drain(&errors, into: &errorBytes)
  }

  private static func drain(_ stream: inout Descriptor?, into bytes: inout [UInt8]) {
    guard let descriptor = stream else { return }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(descriptor.rawValue, &buffer, buffer.count)
      if count > 0 {
        bytes += buffer[..<count]
      } else if count == -1, errno == EINTR {
        continue
      } else {
        // A terminal whose other side has been closed answers EIO; that is its end.
        if count == 0 || errno != EAGAIN { stream = nil }
        return
      }
    }
  }

  // MARK: Starting

  /// Does something while no other program is being started: a program in the making holds all that was open at that
  /// moment, and a file that somebody holds for writing cannot be executed (ETXTBSY).
  package static func whileNothingStarts<Result>(_ body: () throws -> Result) rethrows -> Result {
    try start.withLock { _ in try body() }
  }

  /// Between making a pipe and marking its ends close-on-exec no other child may start: it would keep them open, and
  /// the end of a stream would never be seen.
  private static let start = Mutex<Void>(())

  private static func pipe() throws(KernelError) -> (reading: Descriptor, writing: Descriptor) {
    var ends: [Int32] = [-1, -1]
    try KernelError.check("pipe") { unsafe Glibc.pipe(&ends) }
    let (reading, writing) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    return (try reading.duplicate(), try writing.duplicate())
  }

  private static func spawn(
    _ command: [String], _ environment: [String: String], _ directory: String,
    _ streams: (UnsafeMutablePointer<posix_spawn_file_actions_t>) -> Void
  ) throws(KernelError) -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe streams(&actions)
    // What another test has open just then, as Foundation opens files, is not the program's.
    unsafe ambit_close_from(&actions, 3)

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    for signal in [SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU] {
      unsafe sigaddset(&defaults, signal)
    }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    // POSIX_SPAWN_SETSID is 0x80; the headers show it only to GNU sources.
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | 0x80))

    var pid = pid_t()
    let whole = ["/usr/bin/env", "-C", directory] + command
    let status = unsafe withCStrings(whole) { arguments in
      unsafe withCStrings(environment.map { "\($0.key)=\($0.value)" }.sorted()) { environment in
        unsafe posix_spawn(&pid, whole[0], &actions, &attributes, arguments, environment)
      }
    }
    guard status == 0 else { throw KernelError("posix_spawn", whole[0], errno: Errno(rawValue: status)) }
    return pid
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("the list ends in nil, so it is not empty") }
      return unsafe body(base)
    }
  }
}
