internal import Kernel

/// The barriers between an app and the kernel besides its namespaces.
extension Facts {
  var seccompCheck: Check {
    guard let failed = [seccompErrno, seccompKill].first(where: { !$0.isPresent }) else {
      return .full("seccomp", required: true, "filters")
    }
    return .missing(
      "seccomp", required: true, failed.answer, cost: "System calls could not be filtered, so no app is run.",
      remedy: "Boot a kernel with CONFIG_SECCOMP_FILTER; distributions' own have it.")
  }

  var seccompNotifyCheck: Check {
    guard let failed = [seccompNotify, seccompListener].first(where: { !$0.isPresent }) else {
      return .full("seccomp-notify", required: true, "listeners")
    }
    // Only one listener may be installed in a tree of filters; a surrounding sandbox may hold it.
    return .missing(
      "seccomp-notify", required: true, failed.answer,
      cost:
        "An app's connections could not be made in its place, so that the sockets in a granted folder would be open to "
        + "it: no app is run.",
      remedy: "Boot a kernel of 5.5 or later. In a container or another sandbox, start it without a notifying filter.")
  }

  var socketTakingCheck: Check {
    if pidfdGetfd.isPresent { return .full("pidfd-getfd", "present") }
    return .missing(
      "pidfd-getfd", pidfdGetfd.answer, cost: "Inside a sandbox nothing can be connected to, not the broker either.",
      remedy: "Boot a kernel of 5.6 or later. In a container, let its profile allow pidfd_getfd and process_vm_readv; "
        + "kernel.yama.ptrace_scope must be below 3.")
  }

  var seccompSyncCheck: Check {
    if seccompSyncWakeUp.isPresent { return .full("seccomp-sync", "FD_SYNC_WAKE_UP") }
    return .partial(
      "seccomp-sync", seccompSyncWakeUp.answer, cost: "A connection, and an observed call, takes about 30 µs longer.",
      remedy: "Boot a kernel of 6.6 or later.")
  }

  var libseccompCheck: Check {
    let numbers = libseccomp.split(separator: ".").compactMap { Int($0) }
    if numbers.count >= 2, (numbers[0], numbers[1]) >= (2, 5) { return .full("libseccomp", libseccomp) }
    return .partial(
      "libseccomp", libseccomp, cost: "It does not know the newer system calls, so a filter cannot name them.",
      remedy: "Install libseccomp 2.5 or later and build Ambit again.")
  }

  var landlockCheck: Check {
    let cost = "There is no second wall behind the mount namespace."
    switch landlock {
    case .present(let version):
      let asked = LandlockRules([], denied: [.refer, .truncate, .deviceControl], network: false)
      let lacking = asked.lacking(onABI: version).map(\.what)
      if lacking.isEmpty { return .full("landlock", "ABI \(version)") }
      return .partial(
        "landlock", "ABI \(version)", cost: "The second wall does not cover \(lacking.joined(separator: ", ")).",
        remedy: "Boot a kernel of 6.12 or later.")
    case .refused(let answer) where answer.contains("EOPNOTSUPP"):
      return .missing(
        "landlock", "built in, not switched on", cost: cost,
        remedy: "Add landlock to the list in lsm= on the kernel's command line.")
    case .refused(let answer):
      return .missing(
        "landlock", answer, cost: cost,
        remedy: "Something in between forbids the call. In a container: --security-opt seccomp=unconfined.")
    case .absent(let answer):
      return .missing(
        "landlock", answer, cost: cost, remedy: "Boot a kernel of 5.13 or later with CONFIG_SECURITY_LANDLOCK.")
    }
  }
}
