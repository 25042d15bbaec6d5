internal import Foundation
internal import Kernel
internal import Scenario
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A program that the battery started: a sandbox's launcher, a control, the stage's hand.
///
/// It has a session of its own, so that no terminal of the user's is within its reach.
final class Program {
  enum Ending: Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  /// The time after which a program that has not ended is taken to hang; the machine may have other things to do.
  static let patience: Duration = .seconds(120)

  private let arguments: [String]
  let pid: pid_t
  private let process: Descriptor
  private var input: Descriptor?
  private var output: Descriptor?
  private var errors: Descriptor?
  private var outputBytes: [UInt8] = []
  private var errorBytes: [UInt8] = []
  private var taken = 0
  private var ending: Ending?

  /// - Parameters:
  ///   - terminal: all three streams; it becomes the controlling one. nil: three pipes.
  ///   - inherited: descriptors that are left open for it, by the numbers that they get.
  init(
    _ arguments: [String], environment: [String: String], terminal: PseudoTerminal? = nil,
    inherited: [Int32: Descriptor] = [:]
  ) throws(KernelError) {
    self.arguments = arguments
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    var given: [Descriptor] = []
    if let terminal {
      // A session's leader that opens a terminal gets it as the controlling one.
      unsafe posix_spawn_file_actions_addopen(&actions, 0, terminal.path, O_RDWR, 0)
      unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
      unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
      (input, output) = (terminal.master, terminal.master)
    } else {
      let (standardInput, standardOutput, standardError) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
      unsafe posix_spawn_file_actions_adddup2(&actions, standardInput.reading.rawValue, 0)
      unsafe posix_spawn_file_actions_adddup2(&actions, standardOutput.writing.rawValue, 1)
      unsafe posix_spawn_file_actions_adddup2(&actions, standardError.writing.rawValue, 2)
      given = [standardInput.reading, standardOutput.writing, standardError.writing]
      (input, output, errors) = (standardInput.writing, standardOutput.reading, standardError.reading)
    }
    for (number, descriptor) in inherited {
      let copy = try Self.high(descriptor)
      given.append(copy)
      unsafe posix_spawn_file_actions_adddup2(&actions, copy.rawValue, number)
    }
    pid = try unsafe Self.spawn(arguments, environment, &actions)
    withExtendedLifetime(given) {}
    process = try Descriptor.process(pid)
    for descriptor in [output, errors].compactMap({ $0 }) {
      try KernelError.check("fcntl", "O_NONBLOCK") { fcntl(descriptor.rawValue, F_SETFL, O_NONBLOCK) }
    }
  }

  deinit {
    if ending == nil {
      try? process.signalProcess(SIGKILL)
      var status: Int32 = 0
      _ = unsafe waitpid(pid, &status, 0)
    }
  }

  var outputText: String { String(decoding: outputBytes, as: UTF8.self) }
  var errorText: String { String(decoding: errorBytes, as: UTF8.self) }

  /// The next line of its output; nil when there is none in time, or none any more.
  func readLine(within patience: Duration = Program.patience) throws -> String? {
    let end = ContinuousClock.now + patience
    while true {
      if let newline = outputBytes[taken...].firstIndex(of: 10) {
        defer { taken = newline + 1 }
        return String(decoding: outputBytes[taken..<newline], as: UTF8.self)
      }
      if output == nil || ContinuousClock.now >= end { return nil }
      try wait(until: end)
    }
  }

  /// How much it has written so far, in bytes.
  var written: Int { outputBytes.count }

  /// Waits until one of some texts appears in its output after a place, and returns the first one that does; nil when none comes.
  func see(_ texts: [String], after place: Int = 0, within patience: Duration = Program.patience) throws -> String? {
    let end = ContinuousClock.now + patience
    while true {
      let text = String(decoding: outputBytes[min(place, outputBytes.count)...], as: UTF8.self)
      if let found = texts.first(where: text.contains) { return found }
      if output == nil || ContinuousClock.now >= end { return nil }
      try wait(until: end)
    }
  }

  /// Its output after a place.
  func text(after place: Int) -> String {
    String(decoding: outputBytes[min(place, outputBytes.count)...], as: UTF8.self)
  }

  /// Presses keys on its terminal.
  func type(_ keys: String) throws(KernelError) {
    guard let input else { return }
    try input.writeAll(Array(keys.utf8))
  }

  /// Waits until it has ended and its output has been read.
  func finish(within patience: Duration = Program.patience) throws -> Ending {
    guard try hasEnded(within: patience), let ending else {
      throw BatteryError("\(arguments.joined(separator: " ")): has not ended for \(patience). \(said)")
    }
    return ending
  }

  /// Waits for its end, if it comes in time.
  func hasEnded(within patience: Duration) throws -> Bool {
    let end = ContinuousClock.now + patience
    while true {
      reap()
      if ending != nil {
        drain()
        return true
      }
      if ContinuousClock.now >= end { return false }
      try wait(until: end)
    }
  }

  /// Waits until no process has its output open any more: neither it nor any process that it left behind.
  func isSilent(within patience: Duration) throws -> Bool {
    let end = ContinuousClock.now + patience
    while output != nil, ContinuousClock.now < end { try wait(until: end) }
    return output == nil
  }

  /// Lets it see the end of its input and come to its own end; also when the user has interrupted the battery.
  func release() {
    closeInput()
    for _ in 0..<500 {
      reap()
      if ending != nil { return }
      usleep(10_000)
    }
  }

  /// Lets it see the end of its input.
  func closeInput() { input = nil }

  /// SIGKILL to this process alone.
  func kill() { try? process.signalProcess(SIGKILL) }

  /// Ends every process that still has this one's output open: processes that a sandbox has left behind and that nothing else would
  /// end.
  func killHolders() {
    guard let output else { return }
    let files = FileManager.default
    guard let pipe = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(output.rawValue)") else { return }
    for name in (try? files.contentsOfDirectory(atPath: "/proc")) ?? [] {
      guard let holder = pid_t(name), holder != getpid() else { continue }
      for number in (try? files.contentsOfDirectory(atPath: "/proc/\(holder)/fd")) ?? []
      where (try? files.destinationOfSymbolicLink(atPath: "/proc/\(holder)/fd/\(number)")) == pipe {
        _ = Glibc.kill(holder, SIGKILL)
      }
    }
  }

  /// Its last words, for a message.
  var said: String {
    drain()
    let text = (errorText.isEmpty ? outputText : errorText).trimmingCharacters(in: .whitespacesAndNewlines)
    return text.isEmpty ? "It said nothing." : "It said: \(text.suffix(400))"
  }

  // MARK: Waiting

  private func wait(until end: ContinuousClock.Instant) throws {
    if let signal = Interruption.signal { throw Interrupted(signal: signal) }
    var entries = [output, errors].compactMap { $0 }.map { PollEntry($0, .read) }
    if ending == nil { entries.append(PollEntry(process, .read)) }
    let left = min(end - .now, .milliseconds(200))
    try Poll.wait(&entries, timeout: max(left, .zero))
    drain()
    reap()
  }

  private func reap() {
    guard ending == nil else { return }
    var status: Int32 = 0
    guard unsafe waitpid(pid, &status, WNOHANG) == pid else { return }
    ending = status & 0x7f == 0 ? .exit((status >> 8) & 0xff) : .signal(status & 0x7f)
  }

  private func drain() {
    Self.drain(&output, into: &outputBytes)
    Self.drain(&errors, into: &errorBytes)
  }

  /// More than this of a stream is not kept.
  private static let most = 4 << 20

  private static func drain(_ stream: inout Descriptor?, into bytes: inout [UInt8]) {
    guard let descriptor = stream else { return }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(descriptor.rawValue, &buffer, buffer.count)
      if count > 0 {
        if bytes.count < most { bytes += buffer[..<count] }
      } else if count == -1, errno == EINTR {
        continue
      } else {
        // A terminal answers EIO when its other side has been closed; that is its end.
        if count == 0 || errno != EAGAIN { stream = nil }
        return
      }
    }
  }

  // MARK: Starting

  /// Above the numbers that inherited descriptors get.
  private static func high(_ descriptor: Descriptor) throws(KernelError) -> Descriptor {
    Descriptor(
      owning: try KernelError.check("fcntl", "F_DUPFD_CLOEXEC") { fcntl(descriptor.rawValue, F_DUPFD_CLOEXEC, 20) })
  }

  private static func pipe() throws(KernelError) -> (reading: Descriptor, writing: Descriptor) {
    var ends: [Int32] = [-1, -1]
    try KernelError.check("pipe") { unsafe Glibc.pipe(&ends) }
    let (reading, writing) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    return (try high(reading), try high(writing))
  }

  private static func spawn(
    _ arguments: [String], _ environment: [String: String],
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>
  ) throws(KernelError) -> pid_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    for signal in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    // 0x80 is POSIX_SPAWN_SETSID, which the headers show only to GNU sources.
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | 0x80))
    var pid = pid_t()
    let status = unsafe withCStrings(arguments) { arguments in
      unsafe withCStrings(environment.map { "\($0.key)=\($0.value)" }.sorted()) { environment in
        guard let program = unsafe arguments[0] else { return EINVAL }
        return unsafe posix_spawnp(&pid, program, actions, &attributes, arguments, environment)
      }
    }
    guard status == 0 else {
      throw KernelError("posix_spawn", arguments.first ?? "", errno: Errno(rawValue: status))
    }
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
