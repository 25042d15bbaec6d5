package import Kernel

/// The features of the running kernel that plans ask for and some kernels lack.
package struct SystemFeatures: Equatable, Sendable {
  /// `nil`: no Landlock, or switched off (`landlock(7)`).
  package var landlockABI: Int?
  package var keyrings: Keyrings.Support
  /// `RLIMIT_NPROC` is counted for each user namespace by itself (Linux 5.14), and not for the user's every process.
  package var countsProcessesByNamespace: Bool
  /// The controllers that this user can have a group with; `nil`: not asked for.
  package var groups: Set<GroupController>?

  package init(
    landlockABI: Int?, keyrings: Keyrings.Support, countsProcessesByNamespace: Bool,
    groups: Set<GroupController>? = nil
  ) {
    self.groups = groups
    self.landlockABI = landlockABI
    self.keyrings = keyrings
    self.countsProcessesByNamespace = countsProcessesByNamespace
  }

  /// Asks the kernel: two system calls, and some more if the plan asks for a control group.
  ///
  /// - Parameter groups: the controllers of the group that there is, where one has been made already.
  package static func current(for plan: SandboxPlan, groups: Set<GroupController>? = nil) -> SystemFeatures {
    SystemFeatures(
      landlockABI: Landlock.abi, keyrings: Keyrings.support,
      countsProcessesByNamespace: KernelVersion.current >= KernelVersion(5, 14),
      groups: groups
        ?? (plan.usage.wantsGroup
          ? Set(ControlGroups(plan.usage.ofGroup.controllers).places.map(\.controller)) : nil))
  }
}
