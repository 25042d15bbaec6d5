internal import Kernel

/// The requirements for putting an app into a sandbox at all.
extension Facts {
  /// The kernel that has every mount call that scopes are made of (`mount_setattr(2)`).
  static let oldestKernel = (major: 5, minor: 12)

  var kernelCheck: Check {
    let numbers = kernelRelease.split(whereSeparator: { !$0.isNumber }).prefix(2).compactMap { Int($0) }
    let oldest = Facts.oldestKernel
    if numbers.count == 2, (numbers[0], numbers[1]) >= oldest { return .full("kernel", required: true, kernelRelease) }
    return .missing(
      "kernel", required: true, kernelRelease,
      cost: "The calls that put a document into a running sandbox came with Linux \(oldest.major).\(oldest.minor).",
      remedy: "Boot a newer kernel; any distribution since 2022 has one.")
  }

  var architectureCheck: Check {
    if ["x86_64", "aarch64"].contains(architecture) { return .full("architecture", architecture) }
    return .partial(
      "architecture", architecture, cost: "The system call filter has never been tried on it.",
      remedy: "Use an x86_64 or aarch64 machine, or run the tests on this one and report what they say.")
  }

  var namespacesCheck: Check {
    let name = "user-namespaces"
    let made = namespaces.filter { $0.support.isPresent }.map(\.name)
    let lacking = namespaces.filter { !$0.support.isPresent }
    if sandbox.isPresent, lacking.isEmpty { return .full(name, required: true, made.joined(separator: " ")) }

    let answer =
      switch lacking.first?.support ?? sandbox {
      case .absent(let answer), .refused(let answer): answer
      case .present: ""
      }
    return .missing(
      name, required: true, answer, cost: "No app can be confined, so none is run.", remedy: namespaceRemedy(answer))
  }

  /// The likeliest cause first. Each of these settings makes the same call fail in nearly the same way.
  private func namespaceRemedy(_ answer: String) -> String {
    if namespaceLimit == 0 {
      return "User namespaces are switched off: sudo sysctl user.max_user_namespaces=15000 "
        + "(to keep it, write that into /etc/sysctl.d/50-ambit.conf)."
    }
    if user != 0, unprivilegedNamespaces == 0 {
      return "Ordinary users are shut out: sudo sysctl kernel.unprivileged_userns_clone=1 "
        + "(to keep it, write that into /etc/sysctl.d/50-ambit.conf)."
    }
    if user != 0, let apparmorRestriction, apparmorRestriction != 0 { return Facts.apparmorRemedy }
    if answer.hasPrefix("mount proc") {
      return "This is a container that hides parts of /proc, and then nobody in it may mount another: run it with "
        + "--security-opt systempaths=unconfined (Docker) or --security-opt unmask=ALL (Podman)."
    }
    if lackingNames != [] && lackingNames != ["user"] && namespaces.first?.support.isPresent == true {
      return "This kernel is built without these namespaces: \(lackingNames.joined(separator: " ")). "
        + "Boot your distribution's own."
    }
    return "In a container, allow the calls: --security-opt seccomp=unconfined (Docker), or run Ambit outside of it. "
      + "Otherwise this kernel lacks CONFIG_USER_NS; boot your distribution's own."
  }

  private var lackingNames: [String] { namespaces.filter { !$0.support.isPresent }.map(\.name) }

  static let apparmorRemedy =
    "Give ambit a profile: write “abi <abi/4.0>, include <tunables/global> profile ambit /usr/local/bin/ambit "
    + "flags=(unconfined) { userns, }” to /etc/apparmor.d/ambit and run sudo apparmor_parser -r /etc/apparmor.d/ambit. "
    + "Or, for the whole system: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0."

  /// Ubuntu's restriction lets the namespace be made and then takes every capability in it away.
  var apparmorCheck: Check {
    let name = "apparmor"
    switch apparmorRestriction {
    case nil, 0: return .full(name, "user namespaces are not restricted")
    // With a profile for it (or for root) the restriction is there and does not bite.
    case _ where sandbox.isPresent: return .full(name, "user namespaces are restricted, and this program is allowed")
    default:
      return .missing(
        name, required: true, "user namespaces are restricted",
        cost: "Ordinary users get user namespaces in which they may do nothing.", remedy: Facts.apparmorRemedy)
    }
  }

  var namespaceLimitCheck: Check {
    let name = "namespace-limit"
    guard let namespaceLimit else { return .full(name, "no limit is set") }
    // The broker has one of its own, and each app one.
    if namespaceLimit >= 64 { return .full(name, "\(namespaceLimit) user namespaces") }
    let remedy = "sudo sysctl user.max_user_namespaces=15000 (to keep it, write that into /etc/sysctl.d/50-ambit.conf)."
    if namespaceLimit == 0 {
      return .missing(name, required: true, "0 user namespaces", cost: "No app can be confined.", remedy: remedy)
    }
    return .partial(
      name, "\(namespaceLimit) user namespaces", cost: "Each running app takes one; further launches fail (ENOSPC).",
      remedy: remedy)
  }

  /// One row for the calls that processes are made and held with.
  var processChecks: [Check] {
    func check(_ name: String, _ supports: [Support], _ found: String, cost: String) -> Check {
      guard let failed = supports.first(where: { !$0.isPresent }) else { return .full(name, required: true, found) }
      return .missing(name, required: true, failed.answer, cost: cost, remedy: failed.callRemedy)
    }
    return [
      check("clone3", [clone3], "present", cost: "Sandboxes are made by this call."),
      check(
        "pidfd", [clonePidfd, pidfdOpen], "CLONE_PIDFD, pidfd_open",
        cost: "An app could not be held and killed without a chance of hitting another process."),
      check(
        "close-range", [closeRange], "present",
        cost: "Descriptors of the launcher could not be kept from an app in one step."),
    ]
  }

  var pseudoTerminalCheck: Check {
    if pseudoTerminal.isPresent { return .full("pty", required: true, "/dev/ptmx") }
    return .missing(
      "pty", required: true, pseudoTerminal.answer,
      cost: "An app on a terminal gets one of its own, so that it cannot type into yours.",
      remedy: "Mount devpts: sudo mount -t devpts devpts /dev/pts -o ptmxmode=0666,newinstance, "
        + "and link /dev/ptmx to pts/ptmx.")
  }
}

extension Support {
  /// The kernel's answer in words.
  var answer: String {
    switch self {
    case .present(let value): "\(value)"
    case .absent(let answer), .refused(let answer): answer
    }
  }

  /// How to come by a system call that is not there.
  var callRemedy: String {
    switch self {
    case .present, .absent: "Boot a kernel of 5.12 or later."
    case .refused:
      "The kernel has it and something in between forbids it. In a container: --security-opt seccomp=unconfined."
    }
  }
}
