#if canImport(Glibc)
  internal import Glibc
#endif

extension SeccompProfile {
  /// Ambit's own profile.
  ///
  /// Denied calls fail as programs expect: `ENOSYS` where libc has an older way to fall back to, `EAFNOSUPPORT` for
  /// socket families, `EPERM` for everything else; a foreign architecture ends the process.
  /// - Parameters:
  ///   - network: whether the app may use the internet.
  ///   - execute: whether it may run programs that it has written. A file in memory lies on no mount that could forbid
  ///     it, so otherwise one can be made only sealed against execution; programs that ask for another kind are told
  ///     that there is none, and fall back to a file in `/dev/shm`.
  package static func standard(network: Bool, execute: Bool = false) -> SeccompProfile {
    SeccompProfile(
      groups: [
        Group(
          name: "fall-back",
          reason: "newer calls whose absence every libc copes with; a filter cannot look into their structures",
          rules: fallBack),
        Group(
          name: "files", reason: "files by path and descriptor; the mount namespace decides which there are",
          rules: allow(files)),
        Group(
          name: "modes",
          reason:
            "no file with the set-user-ID or set-group-ID bit: in a granted folder it would be a program that runs with its owner's "
            + "rights on the host",
          rules: modeRules),
        Group(
          name: "pages",
          reason:
            "a file's pages in a pipe show what the host writes to the file after the document was taken away; programs fall back "
            + "to reading and writing",
          rules: pageRules),
        Group(
          name: "control",
          reason: "no leases: the host's programs would wait for the app before they may open its document",
          rules: controlRules),
        Group(
          name: "memory", reason: "a program's own memory", rules: allow(memory) + memoryFileRules(execute: execute)),
        Group(name: "processes", reason: "a program's own processes and threads", rules: allow(processes)),
        Group(name: "signals", reason: "signals reach no further than the pid namespace", rules: allow(signals)),
        Group(name: "time", reason: "reading clocks and sleeping, not setting", rules: allow(time)),
        Group(name: "waiting", reason: "waiting for descriptors", rules: allow(waiting)),
        Group(name: "ipc", reason: "inside an ipc namespace of its own", rules: allow(ipc)),
        Group(
          name: "namespaces",
          reason: "a new user namespace would bring back capabilities and most of the kernel's attack surface",
          rules: cloneRules),
        Group(
          name: "requests",
          reason:
            "no typing into the user's terminal from inside (TIOCSTI, TIOCLINUX); no subvolumes: a snapshot has what no "
            + "mount shows, and what is made read-only so nobody can remove",
          rules: requestRules),
        Group(
          name: "personality", reason: "address-space tricks; the plain values are harmless", rules: personalityRules),
        Group(
          name: "connecting",
          reason:
            "the connection is made in the app's place, and to no socket file but the sandbox's own: a mount alone "
            + "does not keep an app from the sockets in a granted folder",
          rules: [SeccompRule("connect", .notify)]),
        Group(
          name: "renaming",
          reason:
            "a document stands on a mount of its own, which the kernel lets nobody rename over: what an app saves so is put in "
            + "its place on the host; every other rename goes on",
          rules: ["rename", "renameat", "renameat2"].map { SeccompRule($0, .notify) }),
        Group(
          name: "watching",
          reason:
            "a watch goes on telling of a document without anything open of it: of apps that can have one it is looked for "
            + "when a scope ends; the call goes on",
          rules: ["inotify_init", "inotify_init1"].map { SeccompRule($0, .notify) }),
        Group(
          name: "sockets", reason: network ? "Unix sockets and the internet" : "Unix sockets only",
          rules: socketRules(network: network)),
      ], otherwise: .fail(EPERM))
  }

  private static func allow(_ calls: String) -> [SeccompRule] {
    calls.split(whereSeparator: \.isWhitespace).map { SeccompRule(String($0), .allow) }
  }

  private static let fallBack: [SeccompRule] = [
    "clone3", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "io_uring_setup",
    "io_uring_enter", "io_uring_register", "openat2",
  ].map { SeccompRule($0, .fail(ENOSYS)) }

  private static let files = """
    access chdir chown close close_range copy_file_range dup dup2 dup3 faccessat faccessat2 fadvise64
    fallocate fchdir fchown fchownat fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr
    fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 getxattr inotify_add_watch
    inotify_rm_watch lchown lgetxattr link linkat listxattr llistxattr lremovexattr lseek lsetxattr lstat
    newfstatat pipe pipe2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead
    readlink readlinkat readv removexattr rmdir setxattr stat statfs statx
    symlink symlinkat sync sync_file_range syncfs truncate umask unlink unlinkat utime utimensat utimes
    write writev name_to_handle_at
    """

  private static let memory = """
    brk madvise membarrier mincore mlock mlock2 mlockall mmap mprotect mremap msync munlock munlockall
    munmap pkey_alloc pkey_free pkey_mprotect process_mrelease remap_file_pages
    """

  /// `MFD_NOEXEC_SEAL` of memfd_create(2).
  private static let sealedAgainstExecution: UInt32 = 8

  private static func memoryFileRules(execute: Bool) -> [SeccompRule] {
    if execute { return allow("memfd_create") }
    let bit = sealedAgainstExecution
    return [
      SeccompRule("memfd_create", .allow, [SeccompCondition(argument: 1, .masked(mask: bit, value: bit))]),
      SeccompRule("memfd_create", .fail(ENOSYS), [SeccompCondition(argument: 1, .masked(mask: bit, value: 0))]),
    ]
  }

  private static let processes = """
    arch_prctl capget capset execve execveat exit exit_group fork futex futex_waitv get_robust_list
    get_thread_area getcpu getegid geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority getrandom
    getresgid getresuid getrlimit getrusage getsid gettid getuid ioprio_get ioprio_set landlock_add_rule
    landlock_create_ruleset landlock_restrict_self prctl prlimit64 rseq sched_get_priority_max
    sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
    sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp set_robust_list
    set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setpgid setpriority setregid setresgid
    setresuid setreuid setrlimit setsid setuid sysinfo times uname vfork wait4 waitid pidfd_open
    pidfd_send_signal
    """

  private static let signals = """
    alarm getitimer kill pause restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn
    rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo setitimer sigaltstack signalfd signalfd4 tgkill tkill
    """

  private static let time = """
    clock_getres clock_gettime clock_nanosleep gettimeofday nanosleep time timer_create timer_delete timer_getoverrun
    timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime
    """

  private static let waiting = """
    epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 poll ppoll pselect6 select
    io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit
    """

  private static let ipc = """
    mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd semctl semget
    semop semtimedop shmat shmctl shmdt shmget
    """

  /// Bits of clone(2) that make namespaces.
  private static let namespaceBits: UInt32 = 0x7e02_0000

  private static let cloneRules = [
    SeccompRule("clone", .allow, [SeccompCondition(argument: 0, .masked(mask: namespaceBits, value: 0))])
  ]

  /// TIOCSTI and TIOCLINUX. Of btrfs the requests that name a subvolume (`struct btrfs_ioctl_vol_args`, also the second one) and
  /// BTRFS_IOC_SUBVOL_SETFLAGS: before Linux 6.7 the owner of one file could make a snapshot of all the subvolume that it is in.
  private static let requestRules = ioctlExcept([0x5412, 0x541c, 0x4008_941a], noneOf: [0x5000_9400])

  /// Allows ioctl for every 32-bit request but these. An allow rule for "anything else" cannot be said in 32 bits at once: each
  /// forbidden number is cut out by allowing, for every bit, the numbers that agree with it above that bit and differ in it.
  ///
  /// - Parameter families: requests that are forbidden with any lowest byte.
  static func ioctlExcept(_ forbidden: [UInt32], noneOf families: [UInt32] = []) -> [SeccompRule] {
    var rules: [SeccompRule] = []
    func cut(prefix: UInt32, depth: Int) {
      let mask: UInt32 = depth == 0 ? 0 : ~UInt32(0) << UInt32(32 - depth)
      if depth == 24, families.contains(prefix) { return }
      if !(forbidden + families).contains(where: { $0 & mask == prefix }) {
        rules.append(SeccompRule("ioctl", .allow, [SeccompCondition(argument: 1, .masked(mask: mask, value: prefix))]))
      } else if depth < 32 {
        let bit = UInt32(1) << UInt32(31 - depth)
        cut(prefix: prefix, depth: depth + 1)
        cut(prefix: prefix | bit, depth: depth + 1)
      }
    }
    cut(prefix: 0, depth: 0)
    return rules
  }

  private static let personalityRules = [0, 0x0008, 0x20000, 0x20008, 0xffff_ffff].map {
    SeccompRule("personality", .allow, [SeccompCondition(argument: 0, .equal($0))])
  }

  private static func socketRules(network: Bool) -> [SeccompRule] {
    var families: [UInt32] = [UInt32(AF_UNIX)]
    if network { families += [UInt32(AF_INET), UInt32(AF_INET6)] }
    var rules =
      allow(
        """
        accept accept4 bind getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendmmsg sendmsg
        sendto shutdown
        """) + socketOptionRules
    // socketpair too: the kernel makes both sockets, of any family, before it finds that they cannot be paired.
    for call in ["socket", "socketpair"] {
      for family in families where family != UInt32(AF_UNIX) {
        rules.append(SeccompRule(call, .allow, [SeccompCondition(argument: 0, .equal(family))]))
      }
      rules += unixRules(call)
      // The rest of the families: every value that differs from the allowed ones in some bit.
      rules += SeccompProfile.ioctlExcept(families).map {
        SeccompRule(call, .fail(EAFNOSUPPORT), $0.conditions.map { SeccompCondition(argument: 0, $0.test) })
      }
    }
    return rules
  }

  /// Streams and sequenced packets (1 and 5, beside flags in the upper bits). A datagram (the kernel makes one of SOCK_RAW as well)
  /// carries the path of its receiver in a structure that no filter sees; it is refused as a kernel would that does not have it.
  private static func unixRules(_ call: String) -> [SeccompRule] {
    func rule(_ action: SeccompAction, _ mask: UInt32, _ value: UInt32) -> SeccompRule {
      SeccompRule(
        call, action,
        [
          SeccompCondition(argument: 0, .equal(UInt32(AF_UNIX))),
          SeccompCondition(argument: 1, .masked(mask: mask, value: value)),
        ])
    }
    // 0b0001 and 0b0101; then all numbers that differ in some bit, each number once.
    return [
      rule(.allow, 0b1011, 0b0001), rule(.fail(ESOCKTNOSUPPORT), 0b0001, 0),
      rule(.fail(ESOCKTNOSUPPORT), 0b0011, 0b0011), rule(.fail(ESOCKTNOSUPPORT), 0b1011, 0b1001),
    ]
  }
}
