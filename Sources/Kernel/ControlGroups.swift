internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Controllers that Ambit asks for.
package enum GroupController: String, CaseIterable, Sendable {
  case memory, pids, cpu
}

/// Where this process may make control groups, by the present permissions of the kernel and of their owners.
package struct ControlGroups: Equatable, Sendable {
  package enum State: String, Sendable {
    /// The unified hierarchy, with a place where this user may make groups that enforce something.
    case delegated
    /// The unified hierarchy, and nothing in it that this user may use.
    case notDelegated
    /// Version 1, and this user may make groups.
    case legacy
    /// Version 1, and only others may.
    case legacyForOthers
    case none
  }

  package struct Place: Equatable, Sendable {
    package var controller: GroupController
    /// The group in which one can be made.
    package var parent: String
    package var isUnified: Bool
    package var preparation: UnifiedParent.Preparation
  }

  /// One for each controller that can be had.
  package let places: [Place]
  package let state: State

  init(places: [Place], state: State) {
    self.places = places
    self.state = state
  }

  /// - Parameter wanted: the controllers that one group has to have. Of version 2 one place has to offer all of them.
  package init(_ wanted: [GroupController] = GroupController.allCases, in table: ControlGroupTable = .current) {
    var places: [Place] = []
    var missing: [GroupController] = []
    for controller in wanted {
      guard let hierarchy = table.legacy(controller.rawValue) else {
        missing.append(controller)
        continue
      }
      guard let own = hierarchy.own, Self.mayMake(in: own) else { continue }
      places.append(Place(controller: controller, parent: own, isUnified: false, preparation: .none))
    }
    let unified = Self.unified(missing, table)
    self.places = places + unified
    state =
      if !unified.isEmpty { .delegated } else if !places.isEmpty {
        .legacy
      } else if table.hierarchies.contains(where: {
        !$0.isUnified && !Set($0.controllers).isDisjoint(with: GroupController.allCases.map(\.rawValue))
      }) { .legacyForOthers } else if table.unified != nil { .notDelegated } else { .none }
  }

  package subscript(_ controller: GroupController) -> Place? { places.first { $0.controller == controller } }

  // MARK: Version 2

  private static func unified(_ wanted: [GroupController], _ table: ControlGroupTable) -> [Place] {
    guard !wanted.isEmpty, let hierarchy = table.unified, let own = hierarchy.own else { return [] }
    var parents: [UnifiedParent] = []
    var path = own
    while path.lies(within: hierarchy.mountPoint) {
      if mayMake(in: path) { parents.append(UnifiedParent(path, isOwn: path == own)) }
      if path == hierarchy.mountPoint { break }
      path = path.parentPath ?? ""
    }
    guard let choice = UnifiedParent.choice(for: wanted, among: parents) else { return [] }
    return choice.controllers.map {
      Place(controller: $0, parent: choice.parent.path, isUnified: true, preparation: choice.preparation)
    }
  }

  /// Making a group takes writing into its parent, and entering it writing into `cgroup.procs` of the
  /// common parent of both groups.
  private static func mayMake(in folder: String) -> Bool {
    unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0
      && faccessat(AT_FDCWD, "\(folder)/cgroup.procs", W_OK, AT_EACCESS) == 0
  }

  static func words(_ path: String) -> [String] {
    guard let text = try? Descriptor.open(path, flags: .read).readAll(limit: 65536) else { return [] }
    return text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
      .map { String(decoding: $0, as: UTF8.self) }
  }
}
