internal import CLinux
internal import SystemPackage

/// The running kernel's answer when one of its features was tried.
package enum Support: Equatable, Sendable {
  /// It is there; the number is the result of the call (a version, a type, or 0).
  case present(Int)
  /// The kernel does not know it, or the file system or build does not have it. The text is the kernel's answer.
  case absent(String)
  /// It is there, and this process may not use it. The text is the kernel's answer.
  case refused(String)

  package var isPresent: Bool {
    if case .present = self { return true }
    return false
  }
}

/// Tries features of the kernel, harmlessly: each probe undoes its act, or does it in a child that then ends.
package enum Probe {
  /// Makes these namespaces (names as in `/proc/self/ns`) in a user namespace and begins a sandbox in them: own
  /// identity mapped, propagation cut, a tmpfs and, in a pid namespace, a fresh `/proc` mounted.
  package static func sandbox(_ namespaces: [String]) -> Support {
    var flags: UInt64 = 0
    for name in ["user"] + namespaces {
      let flag = unsafe cprobe_namespace_flag(name)
      if flag == 0 { return .absent("no namespace is called \(name)") }
      flags |= flag
    }
    var stage: CInt = 0
    let result = unsafe cprobe_sandbox(flags, &stage)
    let call =
      switch stage {
      case 1: "write /proc/self/uid_map"
      case 2: "mount / private"
      case 3: "mount tmpfs"
      case 4: "mount proc"
      default: "clone"
      }
    // Here EINVAL means that the kernel was built without one of the namespaces.
    return support(call, Int(result), absent: [.noFunction, .invalidArgument])
  }

  package static func clone3() -> Support { support("clone3", Int(cprobe_clone3())) }
  package static func clonePidfd() -> Support { support("clone CLONE_PIDFD", Int(cprobe_clone_pidfd())) }
  package static func pidfdOpen() -> Support { support("pidfd_open", Int(cprobe_pidfd_open())) }
  /// Takes a descriptor of a child's (`pidfd_getfd(2)`).
  package static func pidfdGetfd() -> Support { support("pidfd_getfd", Int(cprobe_pidfd_getfd())) }
  package static func closeRange() -> Support { support("close_range", Int(cprobe_close_range())) }
  package static func openat2() -> Support { support("openat2", Int(cprobe_openat2())) }
  package static func openTree() -> Support { support("open_tree", Int(cprobe_open_tree())) }
  package static func moveMount() -> Support { support("move_mount", Int(cprobe_move_mount())) }
  package static func mountSetattr() -> Support { support("mount_setattr", Int(cprobe_mount_setattr())) }

  /// Makes an id-mapped copy of the mount that `path` is on, attached nowhere. Only root may, outside a sandbox.
  package static func idMappedMount(at path: String) -> Support {
    unsafe support(
      "mount_setattr MOUNT_ATTR_IDMAP \(path)", Int(cprobe_idmapped_mount(path)),
      absent: [.noFunction, .invalidArgument])
  }

  package static func seccompErrno() -> Support { action("SECCOMP_RET_ERRNO", cprobe_seccomp_ret_errno()) }
  package static func seccompKill() -> Support { action("SECCOMP_RET_KILL_PROCESS", cprobe_seccomp_ret_kill_process()) }
  package static func seccompNotify() -> Support { action("SECCOMP_RET_USER_NOTIF", cprobe_seccomp_ret_user_notif()) }

  /// Makes a notification listener.
  package static func seccompListener() -> Support { support("seccomp NEW_LISTENER", Int(cprobe_seccomp_listener(0))) }

  /// Makes a notification listener that wakes its observer synchronously (Linux 6.6).
  package static func seccompSyncWakeUp() -> Support {
    support(
      "ioctl SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP", Int(cprobe_seccomp_listener(1)),
      absent: [.noFunction, .invalidArgument])
  }

  /// The version of Landlock's interface. Refused when it was built in and not switched on at boot.
  package static func landlock() -> Support {
    let result = Int(cprobe_landlock_abi())
    if result == -Int(Errno.notSupportedOnSocket.rawValue) {
      return .refused(KernelError("landlock_create_ruleset", errno: .notSupportedOnSocket).description)
    }
    return support("landlock_create_ruleset", result)
  }

  /// The type of the file handle of `path` (`name_to_handle_at(2)`).
  package static func fileHandle(of path: String) -> Support {
    unsafe support("name_to_handle_at \(path)", Int(cprobe_file_handle(path, 0)))
  }

  /// Opens `path` again by its file handle, which takes `CAP_DAC_READ_SEARCH`.
  package static func openByHandle(_ path: String) -> Support {
    unsafe support("open_by_handle_at \(path)", Int(cprobe_file_handle(path, 1)))
  }

  /// 1 when the file system keeps a birth time for `path`, 0 when it does not.
  package static func birthTime(of path: String) -> Support {
    unsafe support("statx \(path)", Int(cprobe_birth_time(path)))
  }

  /// Opens `path` for reading and writing, and closes it.
  package static func open(_ path: String) -> Support {
    unsafe support(
      "open \(path)", Int(cprobe_open(path)), absent: [.noFunction, .noSuchFileOrDirectory, .noSuchAddressOrDevice])
  }

  /// Takes a lease on a file in memory, and gives it back (`fcntl(2)`).
  package static func lease() -> Support { support("fcntl F_SETLEASE", Int(ambit_try_lease())) }

  /// Makes a pseudo-terminal, and drops it.
  package static func pseudoTerminal() -> Support {
    support("open /dev/ptmx", Int(cprobe_pty()), absent: [.noFunction, .noSuchFileOrDirectory])
  }

  /// The magic number of the file system that `path` is on (`statfs(2)`), or nil when there is no such path.
  package static func fileSystem(of path: String) -> Int? {
    let magic = unsafe cprobe_filesystem(path)
    return magic < 0 ? nil : Int(magic)
  }

  private static func action(_ name: String, _ value: UInt32) -> Support {
    support("seccomp \(name)", Int(cprobe_seccomp_action(value)))
  }

  private static func support(
    _ call: String, _ result: Int, absent: [Errno] = [.noFunction, .notSupportedOnSocket, .invalidArgument]
  ) -> Support {
    if result >= 0 { return .present(result) }
    let error = KernelError(call, errno: Errno(rawValue: CInt(-result)))
    return absent.contains(error.errno) ? .absent(error.description) : .refused(error.description)
  }
}
