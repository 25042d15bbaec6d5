internal import Kernel
import Synchronization
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Starts a program in a folder, with pipes for its standard streams.
enum Spawn {
  struct Started {
    var pid: pid_t
    var input: Descriptor
    var output: Descriptor
    var errors: Descriptor
  }

  /// - Parameter directory: its working directory.
  /// - Parameter keepsTerminal: whether the program stays in this session, with its controlling terminal and in the
  ///   foreground. Otherwise it gets a session of its own, so that nothing it does can reach the terminal and it
  ///   behaves the same under CI as by hand.
  static func start(
    _ executable: String, _ arguments: [String], environment: [String: String], directory: String, keepsTerminal: Bool
  ) throws(KernelError) -> Started {
    // A shell changes the folder and gives its place, and its number, to the program.
    let command = ["-c", #"cd "$0" && exec "$@""#, directory, executable] + arguments
    return try lock.withLock { (_) throws(KernelError) in
      try startAlone("/bin/sh", command, environment, keepsTerminal)
    }
  }

  /// Between making a pipe and marking its ends close-on-exec, no other child of this runner may start: it would
  /// keep the ends open, and the end of a stream would never be seen.
  private static let lock = Mutex<Void>(())

  private static func startAlone(
    _ executable: String, _ arguments: [String], _ environment: [String: String], _ keepsTerminal: Bool
  ) throws(KernelError) -> Started {
    let input = try pipe()
    let output = try pipe()
    let errors = try pipe()

    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // Every descriptor here is above 2 and close-on-exec, so no copy can overwrite the source of the next.
    unsafe posix_spawn_file_actions_adddup2(&actions, input.reading.rawValue, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output.writing.rawValue, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, errors.writing.rawValue, 2)

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    // The runner ignores SIGPIPE, and an ignored signal stays ignored across exec.
    for signal in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    if !keepsTerminal { flags |= setSession }
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

    var pid = pid_t()
    let status = unsafe withCStrings([executable] + arguments) { arguments in
      unsafe withCStrings(environment.map { "\($0.key)=\($0.value)" }.sorted()) { environment in
        unsafe posix_spawn(&pid, executable, &actions, &attributes, arguments, environment)
      }
    }
    guard status == 0 else { throw KernelError("posix_spawn", executable, errno: Errno(rawValue: status)) }
    return Started(pid: pid, input: input.writing, output: output.reading, errors: errors.reading)
  }

  /// Starts a program on this process's own standard streams, in the foreground of its terminal.
  static func startHere(
    _ executable: String, _ arguments: [String], environment: [String: String], directory: String
  ) throws(KernelError) -> pid_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    for signal in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var pid = pid_t()
    let command = ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, directory, executable] + arguments
    let status = unsafe withCStrings(command) { arguments in
      unsafe withCStrings(environment.map { "\($0.key)=\($0.value)" }.sorted()) { environment in
        unsafe posix_spawn(&pid, "/bin/sh", nil, &attributes, arguments, environment)
      }
    }
    guard status == 0 else { throw KernelError("posix_spawn", executable, errno: Errno(rawValue: status)) }
    return pid
  }

  /// `POSIX_SPAWN_SETSID`, which the headers show only to GNU sources.
  private static let setSession: Int32 = 0x80

  /// Both ends above 2: a runner started with a standard stream closed would get that number for a pipe.
  private static func pipe() throws(KernelError) -> (reading: Descriptor, writing: Descriptor) {
    var ends: [Int32] = [-1, -1]
    try KernelError.check("pipe") { unsafe Glibc.pipe(&ends) }
    let (reading, writing) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    return (try reading.duplicate(), try writing.duplicate())
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
