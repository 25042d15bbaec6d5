#if canImport(Glibc)
  internal import Glibc
#endif

extension SeccompProfile {
  /// Calls by which an app reaches for something by its name.
  private static let reaching: Set<String> = ["open", "openat", "creat", "connect"]

  /// The same profile for an app with refusals that are to be seen. It asks about calls that it denies with `EPERM`, about sockets
  /// of other families, and about every file that is opened by name, since the mount namespace denies those without a word.
  ///
  /// The plain profile's answers that make programs take another way stay as they are: libc asks for `ENOSYS` all the time, and
  /// does without. So do refusals by an argument of a call that opens (``modeRules``): even if the observer has no objection to the
  /// path, such a call must not go on.
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
