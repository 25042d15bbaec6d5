#if canImport(Glibc)
  internal import Glibc
#endif

/// A group of the unified hierarchy in which this user may make others: this process's own, or one above it. A group has
/// processes or hands controllers down to those in it, and not both, but for the hierarchy's root (`cgroups(7)`).
package struct UnifiedParent: Equatable, Sendable {
  /// The steps that are needed before the groups in it have the controllers.
  package enum Preparation: Int, Sendable {
    case none
    /// It has to be told to hand them down.
    case handDown
    /// The same, when its processes have moved into a group in it.
    case moveProcesses
  }

  package var path: String
  /// The controllers that it has, and those that it hands down.
  package var offered: [String]
  package var handedDown: [String]
  /// This user may choose the controllers that it hands down.
  package var mayHandDown: Bool
  /// There are processes in it that keep it from handing anything down.
  package var isOccupied: Bool
  /// This process is in it: others' processes are not for Ambit to move.
  package var isOwn: Bool

  package init(
    path: String, offered: [String], handedDown: [String], mayHandDown: Bool, isOccupied: Bool, isOwn: Bool
  ) {
    self.path = path
    self.offered = offered
    self.handedDown = handedDown
    self.mayHandDown = mayHandDown
    self.isOccupied = isOccupied
    self.isOwn = isOwn
  }

  init(_ path: String, isOwn: Bool) {
    // The root has no such file, and a container's root has one.
    let isRoot = unsafe access("\(path)/cgroup.events", F_OK) == -1
    self.init(
      path: path, offered: ControlGroups.words("\(path)/cgroup.controllers"),
      handedDown: ControlGroups.words("\(path)/cgroup.subtree_control"),
      mayHandDown: unsafe faccessat(AT_FDCWD, "\(path)/cgroup.subtree_control", W_OK, AT_EACCESS) == 0,
      isOccupied: !isRoot && !ControlGroups.words("\(path)/cgroup.procs").isEmpty, isOwn: isOwn)
  }

  package typealias Choice = (parent: UnifiedParent, controllers: [GroupController], preparation: Preparation)

  /// The parent that can have the most of these controllers in its groups; of several the one that needs the least done to it,
  /// and of those the nearest.
  ///
  /// - Parameter parents: the nearest first.
  package static func choice(for wanted: [GroupController], among parents: [UnifiedParent]) -> Choice? {
    var best: Choice?
    for parent in parents {
      let (controllers, preparation) = parent.possible(wanted)
      let isBetter =
        best.map { best in
          (controllers.count, -preparation.rawValue) > (best.controllers.count, -best.preparation.rawValue)
        } ?? !controllers.isEmpty
      if isBetter { best = (parent, controllers, preparation) }
    }
    return best
  }

  private func possible(_ wanted: [GroupController]) -> ([GroupController], Preparation) {
    let now = wanted.filter { handedDown.contains($0.rawValue) }
    let all = wanted.filter { offered.contains($0.rawValue) }
    if now.count >= all.count || !mayHandDown { return (now, .none) }
    if !isOccupied { return (all, .handDown) }
    return isOwn ? (all, .moveProcesses) : (now, .none)
  }
}
