internal import Paths
internal import Policy
internal import Sandbox

extension Rules {
  var files: [Entry] {
    readable + [
      Entry(Ability(.writePath), .no, by: [.ambit(rule: "SBX-1")]),
      Entry(Ability(.writeContainer), Extent(ceiling: settings.limits.container), by: decided("limits.container")),
      Entry(
        Ability(.containerFiles), Extent(ceiling: settings.limits.containerFiles),
        by: decided("limits.container_files")),
      Entry(
        Ability(.largestFile), Extent(ceiling: settings.limits.fileSize), by: decided("limits.file_size")),
      Entry(Ability(.runOwn), Extent(settings.execute), by: decided("files.execute")),
    ]
  }

  /// The system's folders as the plan shows them, and those that the policy adds.
  private var readable: [Entry] {
    let added = Set(settings.readOnlyPaths.map { PathKey($0) })
    let system = plan.root.compactMap { entry -> Entry? in
      switch entry {
      case .bind(let path, let source, _, _)
      where path.isSamePath(as: source) && !added.contains(PathKey(path)) && !path.lies(below: "/dev"):
        Entry(Ability(.readPath, path), .yes, by: [.ambit(rule: "SBX-1")])
      case .link(let path, let target) where target.hasPrefix("usr/"):
        Entry(Ability(.readPath, path), .yes, by: [.ambit(rule: "SBX-1")])
      default: nil
      }
    }
    return system
      + settings.readOnlyPaths.map { path in
        Entry(Ability(.readPath, path), .yes, by: decided("system.read_only", path))
      }
  }
}
