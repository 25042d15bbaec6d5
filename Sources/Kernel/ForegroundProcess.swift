internal import CLinux
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Runs one command in the foreground, as a shell does: its terminal, its signals, its exit status.
package struct ForegroundProcess {
  /// The command's signal mask: the one before ours.
  private let mask: sigset_t
  /// The signals that would end this process, and the end of the child.
  private static let held = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD]

  /// Holds back the signals that would end this process. They wait until ``run(_:environment:)`` passes them on.
  package static func holdingSignals() throws(KernelError) -> ForegroundProcess {
    // A parent that ignores SIGCHLD would make the child's status unavailable.
    StandardDescriptors.keepChildren()
    var before = sigset_t()
    var blocked = heldSet()
    let code = unsafe pthread_sigmask(SIG_BLOCK, &blocked, &before)
    guard code == 0 else { throw KernelError("pthread_sigmask", errno: Errno(rawValue: code)) }
    return ForegroundProcess(mask: before)
  }

  private static func heldSet() -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in held { unsafe sigaddset(&set, signal) }
    return set
  }

  /// Runs a command to its end. Its program is looked for in `PATH`.
  ///
  /// - Parameter environment: variables that it has besides this process's own.
  /// - Returns: its exit status as shells have it: 128+n for a signal.
  /// - Throws: where it cannot be started; ``status(of:)`` says the exit status that shells have for that.
  package func run(_ arguments: [String], environment: [String: String] = [:]) throws(KernelError) -> Int32 {
    let pid = try spawn(arguments, environment)
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

  /// Signals end this process again, those that have come meanwhile too.
  package func releaseSignals() {
    var mask = self.mask
    unsafe _ = pthread_sigmask(SIG_SETMASK, &mask, nil)
  }

  /// 127: there is no such program; 126: it cannot be run.
  package static func status(of error: KernelError) -> Int32 { error.errno == .noSuchFileOrDirectory ? 127 : 126 }

  private func spawn(_ arguments: [String], _ environment: [String: String]) throws(KernelError) -> pid_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var mask = self.mask
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    for (name, value) in environment { unsafe setenv(name, value.kernel, 1) }
    let memory = LaunchMemory()
    var pid: pid_t = 0
    let code = unsafe posix_spawnp(
      &pid, arguments[0].kernel, nil, &attributes, memory.mutableArgv(arguments), ambit_environment())
    withExtendedLifetime(memory) {}
    guard code == 0 else { throw KernelError("posix_spawnp", arguments[0], errno: Errno(rawValue: code)) }
    return pid
  }

  private static func exitStatus(_ status: Int32) -> Int32 {
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }
}
