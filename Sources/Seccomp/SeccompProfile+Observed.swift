#if canImport(Glibc)
  internal import Glibc
#endif

extension SeccompProfile {
  /// Calls by which an app reaches for something by its name.
  private static let reaching: Set<String> = ["open", "openat", "creat", "connect"]

  /// The same profile for an app whose refusals are to be seen: what it denies with `EPERM`, and sockets of other families, it
  /// asks about; and it asks about every file that is opened by name, since the mount namespace denies those without a word.
  ///
  /// What the plain profile answers so that programs take another way stays as it is: libc asks for `ENOSYS` all the time, and does
  /// without. So does what is refused by an argument of a call that opens (``modeRules``): whatever the observer thinks of the path,
  /// such a call must not go on.
  package var observed: SeccompProfile {
    SeccompProfile(
      groups: groups.map { group in
        Group(
          name: group.name, reason: group.reason,
          rules: group.rules.map { rule in
            let asks =
              switch rule.action {
              case .allow: Self.reaching.contains(rule.call)
              case .fail(let errno):
                ![ENOSYS, EINVAL, EOPNOTSUPP].contains(errno) && !Self.reaching.contains(rule.call)
              case .kill, .notify, .killThread, .trap, .trace, .log: false
              }
            return asks ? SeccompRule(rule.call, .notify, rule.conditions) : rule
          })
      }, otherwise: otherwise == .kill ? .kill : .notify)
  }
}
