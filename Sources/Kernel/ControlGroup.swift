internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The control group of one sandbox: a folder in the unified hierarchy, or one for each controller of version 1.
///
/// Before a folder is made its path is written down, in a file that stays until the folder is gone. The living process then
/// removes it: the launcher; the broker, if the launcher was killed; or the next broker, if that was as well.
package struct ControlGroup: Sendable {
  /// The limits that a group enforces; `nil`: nothing of the kind.
  package struct Limits: Equatable, Sendable {
    /// Bytes.
    package var memory: Int?
    package var processes: Int?
    /// Thousandths of one.
    package var processors: Int?

    package init(memory: Int?, processes: Int?, processors: Int?) {
      self.memory = memory
      self.processes = processes
      self.processors = processors
    }

    package var controllers: [GroupController] {
      [(memory, GroupController.memory), (processes, .pids), (processors, .cpu)].compactMap { $0 == nil ? nil : $1 }
    }
  }

  private let folders: [(path: String, isUnified: Bool)]
  private let record: GroupRecords
  private let name: String
  /// The controllers that are in force.
  package let controllers: Set<GroupController>
  /// The descriptor of the group in which the kernel starts the sandbox's first process (`CLONE_INTO_CGROUP`); version 2 alone.
  package let unified: Descriptor?

  /// Makes a group.
  ///
  /// - Parameter name: a name of this group alone.
  package init(_ name: String, _ limits: Limits, in places: ControlGroups, records: GroupRecords) throws(KernelError) {
    self.name = name
    record = records
    var folders: [(path: String, isUnified: Bool)] = []
    for place in places.places where !folders.contains(where: { $0.path == "\(place.parent)/\(Self.prefix)\(name)" }) {
      folders.append(("\(place.parent)/\(Self.prefix)\(name)", place.isUnified))
    }
    self.folders = folders
    controllers = Set(places.places.map(\.controller))
    try records.add(name, folders.map(\.path))
    do throws(KernelError) {
      try Self.prepare(places.places.filter(\.isUnified))
      for folder in folders { try KernelError.check("mkdir", folder.path) { unsafe mkdir(folder.path, 0o755) } }
      for place in places.places {
        try Self.set(limits, place.controller, in: "\(place.parent)/\(Self.prefix)\(name)", unified: place.isUnified)
      }
      if let folder = folders.first(where: \.isUnified) {
        unified = try Descriptor.open(folder.path, flags: [.read, .directory])
      } else {
        unified = nil
      }
    } catch {
      records.remove(name)
      throw error
    }
  }

  /// The common beginning of all their names.
  static let prefix = "ambit-"

  /// Moves a process into the groups of version 1. The kernel waits for every processor to have come by (some milliseconds).
  package func add(_ process: Int32) throws(KernelError) {
    for folder in folders where !folder.isUnified { try Self.write("\(process)", to: "\(folder.path)/cgroup.procs") }
  }

  package var hasToBeJoined: Bool { folders.contains { !$0.isUnified } }

  /// How many processes the kernel has ended because the group had no memory left.
  package var outOfMemoryKills: Int {
    for folder in folders {
      let file = folder.isUnified ? "memory.events" : "memory.oom_control"
      let words = ControlGroups.words("\(folder.path)/\(file)")
      if let index = words.firstIndex(of: "oom_kill"), index + 1 < words.count { return Int(words[index + 1]) ?? 0 }
    }
    return 0
  }

  /// Removes the group, once nothing runs in it any more; if something does, the next process that tries removes it.
  ///
  /// - Returns: whether it is gone.
  package func remove() -> Bool { record.remove(name) }

  // MARK: Setting up

  private static func set(
    _ limits: Limits, _ controller: GroupController, in folder: String, unified: Bool
  ) throws(KernelError) {
    switch controller {
    case .memory:
      guard let bytes = limits.memory else { return }
      try write("\(bytes)", to: "\(folder)/\(unified ? "memory.max" : "memory.limit_in_bytes")")
      // Where the kernel counts swap: else the memory above the limit would go there.
      if unified {
        try? write("0", to: "\(folder)/memory.swap.max")
        // The sandbox ends as a whole, and not in some part that it may not notice.
        try write("1", to: "\(folder)/memory.oom.group")
      } else {
        try? write("\(bytes)", to: "\(folder)/memory.memsw.limit_in_bytes")
      }
    case .pids:
      // The init is one more.
      if let count = limits.processes { try write("\(count + 1)", to: "\(folder)/pids.max") }
    case .cpu:
      guard let thousandths = limits.processors else { return }
      let period = 100_000
      let quota = max(1000, thousandths * period / 1000)
      if unified { return try write("\(quota) \(period)", to: "\(folder)/cpu.max") }
      try write("\(period)", to: "\(folder)/cpu.cfs_period_us")
      try write("\(quota)", to: "\(folder)/cpu.cfs_quota_us")
    }
  }

  /// Has the parent hand down the controllers; there is one of version 2.
  private static func prepare(_ places: [ControlGroups.Place]) throws(KernelError) {
    guard let place = places.first, place.preparation != .none else { return }
    let names = places.map { "+\($0.controller.rawValue)" }.joined(separator: " ")
    // A process that starts another one meanwhile can have it start in the group that is being emptied.
    for _ in 1..<10 {
      if place.preparation == .moveProcesses { try moveProcesses(of: place.parent) }
      do throws(KernelError) {
        return try write(names, to: "\(place.parent)/cgroup.subtree_control")
      } catch { if error.errno != .resourceBusy { throw error } }
    }
    try write(names, to: "\(place.parent)/cgroup.subtree_control")
  }

  /// Moves all processes of a group into one below it.
  private static func moveProcesses(of group: String) throws(KernelError) {
    let below = "\(group)/ambit"
    if unsafe mkdir(below, 0o755) == -1, Glibc.errno != EEXIST { throw KernelError.last("mkdir", below) }
    for process in ControlGroups.words("\(group)/cgroup.procs") {
      // It may have ended by now.
      try? write(process, to: "\(below)/cgroup.procs")
    }
  }

  private static func write(_ text: String, to path: String) throws(KernelError) {
    do throws(KernelError) {
      try Descriptor.open(path, flags: .write).writeAll(Array(text.utf8))
    } catch { throw KernelError("write", path, errno: error.errno) }
  }
}

/// The records of Ambit's control groups, for the process that has to remove those of the dead: a file for
/// each, with a folder a line.
package struct GroupRecords: Sendable {
  private let folder: String

  /// - Parameter folder: only this user may write in it.
  package init(_ folder: String) { self.folder = folder }

  fileprivate func add(_ name: String, _ paths: [String]) throws(KernelError) {
    if unsafe mkdir(folder, 0o700) == -1, Glibc.errno != EEXIST { throw KernelError.last("mkdir", folder) }
    let file = try Descriptor.open("\(folder)/\(name)", flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
    try file.writeAll(Array(paths.map { $0 + "\n" }.joined().utf8))
  }

  /// Removes a group's folders and then its record, if nothing runs in it any more.
  ///
  /// - Returns: whether it is gone.
  @discardableResult
  package func remove(_ name: String) -> Bool {
    guard let folders = recorded(name) else { return true }
    var isGone = true
    // A group that has processes, or groups below it, is not removed by this.
    for path in folders where unsafe rmdir(path) == -1 && Glibc.errno != ENOENT { isGone = false }
    if isGone { unsafe unlink("\(folder)/\(name)") }
    return isGone
  }

  /// The folders of a group.
  package func folders(of name: String) -> [String] { recorded(name) ?? [] }

  /// - Returns: `nil` without a record.
  private func recorded(_ name: String) -> [String]? {
    guard !name.hasSlash, let file = try? Descriptor.open("\(folder)/\(name)", flags: [.read, .noFollow]),
      let text = try? file.readAll(limit: 65536)
    else { return nil }
    return text.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
      .filter { $0.lastPathName == "\(ControlGroup.prefix)\(name)" }
  }

  /// The groups that have a record.
  package var names: [String] {
    guard let records = try? Descriptor.open(folder, flags: [.read, .directory, .noFollow]) else { return [] }
    return ((try? DirectoryReader.entries(of: records)) ?? []).map(\.name)
  }
}
