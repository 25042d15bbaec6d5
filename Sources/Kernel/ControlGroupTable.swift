internal import Paths

/// The control group hierarchies that a process sees, and its own place in them (`cgroups(7)`): read from
/// `/proc/self/mountinfo` and `/proc/self/cgroup`, as text and nothing else.
package struct ControlGroupTable: Equatable, Sendable {
  package struct Hierarchy: Equatable, Sendable {
    /// Version 2, of which there is one; of version 1 there can be one for each controller.
    package var isUnified: Bool
    /// Those that are bound to it; of version 2 its files say which there are.
    package var controllers: [String]
    package var mountPoint: String
    /// The folder of the process's own group; `nil` if it lies outside of the mounted part.
    package var own: String?
  }

  package var hierarchies: [Hierarchy]

  package init(mounts: String, groups: String) {
    // `4:memory:/a/b`, `0::/a/b`: the path is as the control group namespace has it.
    var paths: [(isUnified: Bool, controllers: [String], path: String)] = []
    for line in groups.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      paths.append((fields[1].isEmpty, fields[1].split(separator: ",").map(String.init), String(fields[2])))
    }
    hierarchies = []
    for line in mounts.split(separator: "\n") {
      // Id, parent, device, root, mount point, options, optional fields, a dash, type, source, options of the file system.
      let fields = line.split(separator: " ").map(String.init)
      guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 3 else { continue }
      let type = fields[dash + 1]
      guard type == "cgroup2" || type == "cgroup" else { continue }
      let options = fields[dash + 3].split(separator: ",").map(String.init)
      let isUnified = type == "cgroup2"
      let found = paths.first { path in
        isUnified ? path.isUnified : !path.isUnified && path.controllers.allSatisfy(options.contains)
      }
      let mountPoint = MountTable.unescape(Array(fields[4].utf8)[...])
      hierarchies.append(
        Hierarchy(
          isUnified: isUnified, controllers: isUnified ? [] : found?.controllers ?? [], mountPoint: mountPoint,
          own: found.flatMap { Self.folder($0.path, root: fields[3], mountPoint: mountPoint) }))
    }
  }

  private static func folder(_ path: String, root: String, mountPoint: String) -> String? {
    if path.pathNames.first == ".." { return nil }
    if root == "/" { return path == "/" ? mountPoint : mountPoint + path }
    if path == root { return mountPoint }
    return path.path(within: root).map { "\(mountPoint)/\($0)" }
  }

  /// Of this process, now.
  package static var current: ControlGroupTable {
    func text(_ path: String) -> String {
      String(decoding: (try? Descriptor.open(path, flags: .read).readAll()) ?? [], as: UTF8.self)
    }
    return ControlGroupTable(mounts: text("/proc/self/mountinfo"), groups: text("/proc/self/cgroup"))
  }

  package var unified: Hierarchy? { hierarchies.first { $0.isUnified } }
  package func legacy(_ controller: String) -> Hierarchy? {
    hierarchies.first { !$0.isUnified && $0.controllers.contains(controller) }
  }
}
