internal import Foundation

/// Runs one command in the foreground, as a shell does: its terminal, its signals, its exit status.
struct ChildProcess {
  /// The command's signal mask: the one before ours.
  private let mask: sigset_t
  /// The signals that would end this process, and the end of the child.
  private static let held = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD]

  /// Holds back the signals that would end this process. They wait until `run` passes them on.
  static func holdingSignals() throws -> ChildProcess {
    // A parent that ignores SIGCHLD would make the child's status unavailable.
    signal(SIGCHLD, SIG_DFL)
    var before = sigset_t()
    var blocked = heldSet()
    guard unsafe pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0 else { throw POSIXError(.EINVAL) }
    return ChildProcess(mask: before)
  }

  private static func heldSet() -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in held { unsafe sigaddset(&set, signal) }
    return set
  }

  /// Runs a command to its end.
  ///
  /// - Returns: its exit status as shells have it: 128+n for a signal, 127 not found, 126 not executable.
  func run(_ arguments: [String]) -> Int32 {
    var pid: pid_t = 0
    let code = spawn(arguments, &pid)
    guard code == 0 else {
      Console.complain("\(arguments[0]): \(unsafe String(cString: strerror(code)))")
      return code == ENOENT ? 127 : 126
    }
    var set = Self.heldSet()
    var info = unsafe siginfo_t()
    while true {
      let signal = unsafe sigwaitinfo(&set, &info)
      if signal == SIGCHLD {
        var status: Int32 = 0
        if unsafe waitpid(pid, &status, WNOHANG) == pid { return Self.exitStatus(status) }
      } else if signal > 0, unsafe info.si_code <= 0 {
        // Sent by a process, to this one. The terminal sends its signals to the child as well.
        kill(pid, signal)
      }
    }
  }

  private func spawn(_ arguments: [String], _ pid: inout pid_t) -> Int32 {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var mask = self.mask
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var argv: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe argv.forEach { unsafe free($0) } }
    return unsafe posix_spawnp(&pid, arguments[0], nil, &attributes, &argv, environ)
  }

  private static func exitStatus(_ status: Int32) -> Int32 {
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }
}
