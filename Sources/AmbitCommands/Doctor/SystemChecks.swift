internal import Kernel

/// The features that make more possible, and are not needed to run an app.
extension Facts {
  /// Where there are none, or not for this user, limits hold by other means; `cgroup = true` in a policy asks for more.
  var controlGroupsCheck: Check {
    let cost =
      "Limits on memory hold for each process, and the whole of an app is looked at from time to time; "
      + "processors cannot be limited."
    let delegate = "Run ambit in a scope of your own: systemd-run --user --scope -p Delegate=yes ambit run …"
    let all = Set(GroupController.allCases)
    func words(_ controllers: Set<GroupController>) -> String {
      GroupController.allCases.filter(controllers.contains).map(\.rawValue).joined(separator: " ")
    }
    switch controlGroups {
    case .unified(all): return .full("cgroups", "version 2, delegated: \(words(all))")
    case .unified([]): return .partial("cgroups", "version 2, not delegated", cost: cost, remedy: delegate)
    case .unified(let some):
      return .partial(
        "cgroups", "version 2, delegated: \(words(some))",
        cost: "No group limits \(words(all.subtracting(some))).",
        remedy: "\(delegate), with these controllers in the Delegate= of user@.service.")
    case .legacy([]):
      return .partial(
        "cgroups", "version 1, for root alone", cost: cost,
        remedy: "Boot with systemd.unified_cgroup_hierarchy=1, or run ambit as root.")
    case .legacy(let some):
      let lack = all.subtracting(some)
      return .partial(
        "cgroups", "version 1: \(words(some))",
        cost: "Entering a group takes some milliseconds of a launch that asks for one."
          + (lack.isEmpty ? "" : " No group limits \(words(lack))."),
        remedy: "Boot with systemd.unified_cgroup_hierarchy=1.")
    case .none:
      return .missing("cgroups", "none", cost: cost, remedy: "sudo mount -t cgroup2 none /sys/fs/cgroup")
    }
  }

  var fuseCheck: Check {
    switch fuse {
    case .present: return .full("fuse", "/dev/fuse")
    case .refused(let answer):
      return .partial(
        "fuse", answer, cost: "Providers cannot show documents that are still on their way.",
        remedy: "sudo chmod 666 /dev/fuse, as most distributions have it.")
    case .absent(let answer):
      return .missing(
        "fuse", answer, cost: "Providers cannot show documents that are still on their way.",
        remedy: "sudo modprobe fuse; in a container: --device /dev/fuse.")
    }
  }

  /// Programs that know nothing of Ambit wait for the changes of an app that presents a document.
  var leasesCheck: Check {
    guard lease.isPresent else {
      return .missing(
        "leases", lease.answer,
        cost: "Other programs read a document without the unsaved changes of an app that presents it.",
        remedy: "Boot with a kernel that has CONFIG_FILE_LOCKING; distributions' own have it.")
    }
    let owners = leasesOfOthers ? "files of all owners (CAP_LEASE)" : "your own files"
    let time = leaseBreakTime.map { "an opener waits up to \($0) s" } ?? "an opener waits without end"
    var check = Check.full("leases", "\(owners); \(time)")
    check.limits =
      "A rename over a document breaks no lease. stat sees the state before the save. Openers with O_NONBLOCK get "
      + "EAGAIN. Readers wait only if no other program has the document open when the app changes it."
    return check
  }

  /// Peers that `make bench` sets Ambit beside; nothing else uses them.
  var peerChecks: [Check] {
    func peer(_ name: String, _ found: String?, package: String) -> Check {
      if let found { return .full(name, found) }
      return .partial(
        name, "not installed", cost: "make bench leaves its column out; nothing else misses it.",
        remedy: "sudo apt-get install \(package)")
    }
    return [
      peer("bubblewrap", bubblewrap, package: "bubblewrap"),
      peer("document-portal", documentPortal, package: "xdg-desktop-portal dbus fuse3"),
    ]
  }

  /// Every check, in the order in which they are shown.
  package var checks: [Check] {
    [kernelCheck, architectureCheck, namespacesCheck, apparmorCheck, namespaceLimitCheck]
      + processChecks
      + [seccompCheck, seccompNotifyCheck, seccompSyncCheck, socketTakingCheck, libseccompCheck, landlockCheck]
      + mountChecks
      + [idMappedMountCheck] + documentChecks + [fileHandleCheck, openByHandleCheck, birthTimeCheck]
      + [stateFolderCheck, runtimeFolderCheck, pseudoTerminalCheck, controlGroupsCheck, fuseCheck, leasesCheck]
      + peerChecks
  }
}
