#if AMBIT_MUTANTS
  internal import Kernel
#endif

#if canImport(Glibc)
  internal import Glibc
#endif

/// Calls on files that are let through with some of their arguments only.
extension SeccompProfile {
  /// `S_ISUID` and `S_ISGID` (`inode(7)`).
  static let setIDBits: UInt32 = 0o6000
  /// `O_CREAT` and `__O_TMPFILE`: with one of them open(2) looks at its mode, and makes a file.
  static let makingFlags: (create: UInt32, temporary: UInt32) = (0o100, 0o20_000_000)

  /// A file that runs with its owner's rights, made in a granted folder, would be a program of root's on the host where root has
  /// launched the app. So no mode has these bits (systemd's `RestrictSUIDSGID=`).
  ///
  /// Calls that only take a mode are left to the profile's default where it has one of the bits. Those that open are
  /// refused in so many words: an observed profile asks about calls that the default denies, and an opening that its
  /// observer has no objection to goes on.
  static let modeRules: [SeccompRule] = {
    #if AMBIT_MUTANTS
      if Mutant.setUserID.isActive {
        let calls = ["chmod", "fchmod", "fchmodat", "fchmodat2", "mkdir", "mkdirat", "creat", "open", "openat"]
        return calls.map { SeccompRule($0, .allow) }
      }
    #endif
    let withMode: [(call: String, mode: UInt32)] = [
      ("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2), ("mkdir", 1), ("mkdirat", 2), ("mknod", 1),
      ("mknodat", 2),
    ]
    var rules = withMode.map { SeccompRule($0.call, .allow, [condition($0.mode, setIDBits, 0)]) }
    rules += modeRules("creat", mode: 1)
    for (call, flags) in [("open", UInt32(1)), ("openat", 2)] {
      let (create, temporary) = makingFlags
      rules.append(SeccompRule(call, .allow, [condition(flags, create | temporary, 0)]))
      // Each number of flags once: libseccomp promises nothing of rules that overlap.
      rules += modeRules(call, mode: flags + 1, if: condition(flags, create, create))
      rules += modeRules(call, mode: flags + 1, if: condition(flags, create | temporary, temporary))
    }
    return rules
  }()

  private static func modeRules(_ call: String, mode: UInt32, if first: SeccompCondition? = nil) -> [SeccompRule] {
    let before = first.map { [$0] } ?? []
    return [
      SeccompRule(call, .allow, before + [condition(mode, setIDBits, 0)]),
      SeccompRule(call, .fail(EPERM), before + [condition(mode, 0o4000, 0o4000)]),
      SeccompRule(call, .fail(EPERM), before + [condition(mode, setIDBits, 0o2000)]),
    ]
  }

  /// These move pages of a file into a pipe or a socket without copying them: later writes of the host to the file, also after the
  /// document was taken away, are read from there. `EINVAL` is their answer where a file system or a device cannot do it, so
  /// programs have another way.
  ///
  /// sendfile(2) between regular files moves no pages, and Foundation copies files with nothing else: the launcher does it.
  static let pageRules =
    ["splice", "tee", "vmsplice"].map { SeccompRule($0, .fail(EINVAL)) } + [SeccompRule("sendfile", .notify)]

  /// fcntl(2) but for leases and delegations (`F_SETLEASE`, `F_SETDELEG`), which make a process that opens the file on the host
  /// wait for up to 45 seconds, also where the app may only read; and for `F_NOTIFY`, which is inotify without a descriptor of its
  /// own. Numbers from 1024 on are Linux's own and are let through one by one, so that a new one is not let through unseen.
  static let controlRules: [SeccompRule] = {
    // F_GETLEASE; F_CREATED_QUERY; F_DUPFD_CLOEXEC, pipe sizes, seals and hints (1030 to 1038).
    let known: [(mask: UInt32, value: UInt32)] = [
      (.max, 1025), (.max, 1028), (~1, 1030), (~3, 1032), (~1, 1036), (.max, 1038),
    ]
    return ([(~63, 0)] + known).map { SeccompRule("fcntl", .allow, [condition(1, $0.mask, $0.value)]) }
  }()

  private static let socketLevel: UInt32 = 1
  private static let zeroCopy: UInt32 = 60

  /// setsockopt(2) but for `SO_ZEROCOPY`: with it a sender's pages are not copied before they leave (`MSG_ZEROCOPY`), and those may
  /// be a document's, as with splice(2). A socket of another family answers the same.
  static let socketOptionRules: [SeccompRule] =
    ioctlExcept([socketLevel]).map { SeccompRule("setsockopt", .allow, $0.conditions) }
    + ioctlExcept([zeroCopy]).map {
      SeccompRule(
        "setsockopt", .allow,
        [SeccompCondition(argument: 1, .equal(socketLevel))]
          + $0.conditions.map { SeccompCondition(argument: 2, $0.test) })
    } + [
      SeccompRule(
        "setsockopt", .fail(EOPNOTSUPP),
        [SeccompCondition(argument: 1, .equal(socketLevel)), SeccompCondition(argument: 2, .equal(zeroCopy))])
    ]

  private static func condition(_ argument: UInt32, _ mask: UInt32, _ value: UInt32) -> SeccompCondition {
    SeccompCondition(argument: argument, .masked(mask: mask, value: value))
  }
}
