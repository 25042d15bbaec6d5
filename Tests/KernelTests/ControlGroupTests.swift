import Foundation
import Glibc
import TestSupport
import Testing

@testable import Kernel

@Suite struct ControlGroupTableTests {
  @Test func `the unified hierarchy of a session is found with this process's own group`() {
    let table = ControlGroupTable(
      mounts: """
        24 30 0:22 / /proc rw,nosuid shared:5 - proc proc rw
        29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate
        """, groups: "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope\n")
    #expect(table.hierarchies.count == 1)
    #expect(
      table.unified?.own == "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope")
    #expect(table.legacy("memory") == nil)
  }

  @Test func `of version 1 each controller has its place, and of a hybrid the unified one has none`() {
    let table = ControlGroupTable(
      mounts: """
        31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:1 - cgroup cgroup rw,cpu,cpuacct
        32 30 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
        33 30 0:30 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
        34 30 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
        """, groups: "9:name=systemd:/init\n4:memory:/a/b\n1:cpu,cpuacct:/\n0::/c\n")
    #expect(table.legacy("memory")?.own == "/sys/fs/cgroup/memory/a/b")
    #expect(table.legacy("cpu")?.own == "/sys/fs/cgroup/cpu,cpuacct")
    #expect(table.legacy("pids") == nil)
    #expect(table.unified?.own == "/sys/fs/cgroup/unified/c")
  }

  @Test func `what a container sees of its own group is found, and what lies outside is not`() {
    func own(root: String, path: String) -> String? {
      ControlGroupTable(
        mounts: "1 0 0:1 \(root) /a\\040b ro - cgroup2 none rw", groups: "0::\(path)"
      ).unified?.own
    }
    #expect(own(root: "/", path: "/") == "/a b")
    #expect(own(root: "/", path: "/x") == "/a b/x")
    #expect(own(root: "/docker/1", path: "/docker/1") == "/a b")
    #expect(own(root: "/docker/1", path: "/docker/1/x") == "/a b/x")
    #expect(own(root: "/docker/1", path: "/docker/12") == nil)
    #expect(own(root: "/docker/1", path: "/") == nil)
    #expect(own(root: "/", path: "/../x") == nil)
  }

  @Test(arguments: ["", "x", "1 2 3", "1 0 0:1 / /a rw - cgroup2", "0::", "\n\n", "a:b:c:d:e"])
  func `text that is no table is no hierarchy`(text: String) {
    #expect(ControlGroupTable(mounts: text, groups: text).hierarchies.isEmpty)
  }
}

/// Where root may make groups in the unified hierarchy, if it is there.
let unifiedParent: String? = {
  guard geteuid() == 0, let own = ControlGroupTable.current.unified?.own,
    unsafe access("\(own)/cgroup.procs", W_OK) == 0
  else { return nil }
  return own
}()

/// The unified hierarchy is there on many machines whose controllers are bound to version 1; entering it works without any.
@Suite(
  .ownsMounts, .timeLimit(.minutes(20)), .enabled(if: try Feature.cgroups.isHere(unifiedParent != nil), "needs cgroups")
)
struct UnifiedGroupTests {
  @Test func `a sandbox is born in its group, and sees nothing of it`() throws {
    let parent = try #require(unifiedParent)
    let folder = try TemporaryFolder()
    let records = GroupRecords("\(folder.path)/groups")
    let place = ControlGroups.Place(controller: .pids, parent: parent, isUnified: true, preparation: .none)
    let name = "test-\(UInt32.random(in: 0 ... .max))"
    let group = try ControlGroup(
      name, .init(memory: nil, processes: nil, processors: nil), in: .init(places: [place], state: .delegated),
      records: records)
    defer { _ = group.remove() }
    #expect(!group.hasToBeJoined)
    var box = try Box.shell("cat /proc/self/cgroup")
    box.plan.group = group
    var members: [String] = []
    let outcome = try box.run(ready: { _, _ in
      members = ControlGroups.words("\(parent)/ambit-\(name)/cgroup.procs")
      // Nobody removes what somebody is in.
      #expect(!group.remove())
    })
    // The init, and perhaps the app's process already, which waits for its word.
    #expect((1...2).contains(members.count), "\(members)")
    #expect(outcome.status == 0)
    #expect(outcome.lines.contains("0::/"), "\(outcome)")
    #expect(group.remove())
    #expect(!FileManager.default.fileExists(atPath: "\(parent)/ambit-\(name)"))
    #expect(records.names.isEmpty)
  }

  @Test func `a group that cannot be set up leaves neither folder nor record`() throws {
    let parent = try #require(unifiedParent)
    let folder = try TemporaryFolder()
    let records = GroupRecords("\(folder.path)/groups")
    let place = ControlGroups.Place(
      controller: .memory, parent: "\(parent)/there-is-none", isUnified: true, preparation: .none)
    #expect(throws: KernelError.self) {
      try ControlGroup(
        "test", .init(memory: 1 << 30, processes: nil, processors: nil), in: .init(places: [place], state: .delegated),
        records: records)
    }
    #expect(records.names.isEmpty)
  }
}

/// Whether the unified hierarchy enforces something here: its controllers are not bound to version 1, and root may use them.
private let isEnforced: Bool = {
  let found = ControlGroups()
  return geteuid() == 0 && found.places.count == GroupController.allCases.count && found.places.allSatisfy(\.isUnified)
}()

/// What the kernel does to a sandbox that goes beyond what its group may use, with no other limit there.
@Suite(.ownsMounts, .timeLimit(.minutes(20)), .enabled(if: try Feature.cgroups.isHere(isEnforced), "needs cgroups"))
struct EnforcedGroupTests {
  /// Runs a script in a group, and answers how it ended and where the group is.
  private func run(
    _ script: String, _ limits: ControlGroup.Limits, check: (Box.Outcome, ControlGroup, _ path: String) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let places = ControlGroups(limits.controllers)
    let name = "test-\(UInt32.random(in: 0 ... .max))"
    let group = try ControlGroup(name, limits, in: places, records: GroupRecords("\(folder.path)/groups"))
    defer { _ = group.remove() }
    var box = try Box.shell(script)
    box.plan.group = group
    try check(try box.run(), group, "\(try #require(places.places.first?.parent))/ambit-\(name)")
    #expect(group.remove())
  }

  private func counter(_ name: String, in path: String) -> Int? {
    let words = ControlGroups.words(path)
    return words.firstIndex(of: name).flatMap { Int(words[$0 + 1]) }
  }

  @Test func `a group without memory ends as a whole, its init as well`() throws {
    try run(
      "sleep 60 & text=0123456789; while :; do text=$text$text; done; echo survived",
      .init(memory: 32 << 20, processes: nil, processors: nil)
    ) { outcome, group, path in
      #expect(outcome.started && outcome.status == nil && outcome.signal == nil, "\(outcome)")
      #expect(!outcome.output.contains("survived"))
      #expect(group.outOfMemoryKills >= 3)
      #expect(ControlGroups.words("\(path)/cgroup.events").starts(with: ["populated", "0"]))
    }
  }

  @Test func `a group starts no more processes than it may have`() throws {
    try run(
      "for i in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; echo survived", .init(memory: nil, processes: 8, processors: nil)
    ) { outcome, _, path in
      #expect(outcome.status != 0 && !outcome.output.contains("survived"), "\(outcome)")
      #expect(counter("max", in: "\(path)/pids.events") == 1)
    }
    try run(
      "for i in 1 2 3 4 5 6 7; do sleep 60 & done; echo survived", .init(memory: nil, processes: 8, processors: nil)
    ) { outcome, _, _ in #expect(outcome.status == 0 && outcome.output == "survived\n", "\(outcome)") }
  }

  @Test func `a group has its part of a processor and waits for the rest`() throws {
    try run(
      "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done", .init(memory: nil, processes: nil, processors: 200)
    ) { outcome, _, path in
      #expect(outcome.status == 0)
      #expect(ControlGroups.words("\(path)/cpu.max") == ["20000", "100000"])
      #expect((counter("nr_throttled", in: "\(path)/cpu.stat") ?? 0) > 0)
    }
  }

  @Test func `a group that was given to a session is emptied, and hands down what is asked for by and by`() throws {
    let folder = try TemporaryFolder()
    let all = ControlGroup.Limits(memory: 1 << 30, processes: 100, processors: 1000)
    let records = GroupRecords("\(folder.path)/groups")
    // Has this process's own hand everything down.
    let first = try ControlGroup("test-\(UInt32.random(in: 0 ... .max))", all, in: ControlGroups(), records: records)
    #expect(first.remove())
    let parent = try #require(ControlGroups().places.first?.parent)
    let scope = "\(parent)/test-\(UInt32.random(in: 0 ... .max)).scope"
    try FileManager.default.createDirectory(atPath: scope, withIntermediateDirectories: false)
    let session = Process()
    session.executableURL = URL(fileURLWithPath: "/bin/sleep")
    session.arguments = ["60"]
    try session.run()
    defer {
      session.terminate()
      session.waitUntilExit()
      for path in ["\(scope)/ambit", scope] { unsafe rmdir(path) }
    }
    try Descriptor.open("\(scope)/cgroup.procs", flags: .write).writeAll(Array("\(session.processIdentifier)".utf8))

    func group(
      _ name: String, _ controllers: [GroupController], _ preparation: UnifiedParent.Preparation
    ) throws -> ControlGroup {
      let places = controllers.map {
        ControlGroups.Place(controller: $0, parent: scope, isUnified: true, preparation: preparation)
      }
      return try ControlGroup(name, all, in: .init(places: places, state: .delegated), records: records)
    }
    let one = try group("one", [.pids], .moveProcesses)
    #expect(ControlGroups.words("\(scope)/cgroup.procs").isEmpty)
    #expect(ControlGroups.words("\(scope)/ambit/cgroup.procs") == ["\(session.processIdentifier)"])
    #expect(ControlGroups.words("\(scope)/cgroup.subtree_control") == ["pids"])
    let two = try group("two", GroupController.allCases, .handDown)
    #expect(Set(ControlGroups.words("\(scope)/cgroup.subtree_control")) == ["cpu", "memory", "pids"])
    #expect(ControlGroups.words("\(scope)/ambit-two/memory.max") == ["\(1 << 30)"])
    #expect(one.remove() && two.remove())
  }
}

@Suite struct UnifiedParentTests {
  private func parent(
    _ path: String, _ offered: String, hands handed: String = "", mayHandDown: Bool = true, isOccupied: Bool = false,
    isOwn: Bool = false
  ) -> UnifiedParent {
    UnifiedParent(
      path: path, offered: offered.split(separator: " ").map(String.init),
      handedDown: handed.split(separator: " ").map(String.init), mayHandDown: mayHandDown, isOccupied: isOccupied,
      isOwn: isOwn)
  }

  private func choice(_ wanted: [GroupController], _ parents: UnifiedParent...) -> String {
    guard let choice = UnifiedParent.choice(for: wanted, among: parents) else { return "none" }
    return "\(choice.parent.path): \(choice.controllers.map(\.rawValue).joined(separator: " ")), \(choice.preparation)"
  }

  @Test func `a group that hands everything down is taken before one that would have to be emptied`() {
    let own = parent("/s/own", "memory pids", isOccupied: true, isOwn: true)
    #expect(
      choice([.memory, .pids], own, parent("/s", "memory pids", hands: "memory pids"), parent("/", "memory pids"))
        == "/s: memory pids, none")
    #expect(choice([.memory, .pids], own) == "/s/own: memory pids, moveProcesses")
    #expect(choice([.cpu], own) == "none")
    #expect(choice([.memory]) == "none")
  }

  @Test func `a group that Ambit has emptied hands down what a later launch asks for`() {
    let own = parent("/s/ambit", "memory pids", isOccupied: true, isOwn: true)
    let emptied = parent("/s", "cpu memory pids", hands: "memory pids")
    #expect(choice([.memory, .pids], own, emptied) == "/s: memory pids, none")
    #expect(choice([.memory, .pids, .cpu], own, emptied) == "/s: memory pids cpu, handDown")
    // Who owns it has not given it away: as much as there is, and nobody is moved for the same.
    var others = emptied
    others.mayHandDown = false
    #expect(choice([.memory, .pids, .cpu], own, others) == "/s: memory pids, none")
  }

  @Test func `the root of the hierarchy hands down although there are processes in it`() {
    #expect(choice([.memory], parent("/", "memory", isOwn: true)) == "/: memory, handDown")
  }

  @Test func `nobody else's processes are moved`() {
    let own = parent("/a/own", "", isOccupied: true, isOwn: true)
    #expect(choice([.memory], own, parent("/a", "memory", isOccupied: true)) == "none")
  }
}

@Suite struct GroupRecordTests {
  @Test func `a record goes with its group, and leads to nothing that is not one`() throws {
    let folder = try TemporaryFolder()
    let records = GroupRecords("\(folder.path)/groups")
    #expect(records.names.isEmpty)
    // Nothing was written down: nothing is there.
    #expect(records.remove("one"))
    for name in ["ambit-two", "other", "ambit-three"] {
      try FileManager.default.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: false)
    }
    try FileManager.default.createDirectory(atPath: "\(folder.path)/groups", withIntermediateDirectories: false)
    try Data("\(folder.path)/ambit-two\n\(folder.path)/other\n/\n".utf8).write(
      to: URL(fileURLWithPath: "\(folder.path)/groups/two"))
    try Data("\(folder.path)/ambit-three\n".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/groups/three"))
    try Data().write(to: URL(fileURLWithPath: "\(folder.path)/ambit-three/busy"))
    #expect(Set(records.names) == ["two", "three"])
    #expect(records.remove("two"))
    #expect(!records.remove("three"))
    #expect(records.names == ["three"])
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(left == ["ambit-three", "groups", "other"])
    try FileManager.default.removeItem(atPath: "\(folder.path)/ambit-three/busy")
    #expect(records.remove("three"))
    #expect(records.names.isEmpty)
  }
}

@Suite struct FolderMeasurementTests {
  private func measure(_ path: String, inParts: Bool = false) throws -> (bytes: Int, files: Int, isTooDeep: Bool) {
    let measurement = try FolderMeasurement(of: [Descriptor.open(path, flags: [.path, .directory])])
    var parts = 0
    while !measurement.proceed(until: inParts ? 0 : .max) { parts += 1 }
    if inParts { #expect(parts > 0) }
    return (measurement.bytes, measurement.files, measurement.isTooDeep)
  }

  @Test func `files, folders and links count once each, whatever their names and however it is measured`() throws {
    let folder = try TemporaryFolder()
    var random = SystemRandomNumberGenerator()
    var (files, folders) = (0, [folder.path])
    for index in 0..<300 {
      let place = folders.randomElement(using: &random) ?? folder.path
      switch index % 5 {
      case 0:
        let path = "\(place)/d \(index)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        folders.append(path)
      case 1: try FileManager.default.createSymbolicLink(atPath: "\(place)/l\(index)", withDestinationPath: "/")
      default:
        try Data(count: Int.random(in: 0...9000, using: &random)).write(to: URL(fileURLWithPath: "\(place)/.\(index)"))
      }
      files += 1
    }
    let whole = try measure(folder.path)
    #expect(whole.files == files)
    let parts = try measure(folder.path, inParts: true)
    #expect(parts.files == whole.files && parts.bytes == whole.bytes)

    // A second name takes no more space.
    try Data(count: 1 << 20).write(to: URL(fileURLWithPath: "\(folder.path)/big"))
    let withBig = try measure(folder.path)
    #expect(withBig.bytes >= whole.bytes + 1 << 20)
    for index in 0..<10 {
      try FileManager.default.linkItem(atPath: "\(folder.path)/big", toPath: "\(folder.path)/b\(index)")
    }
    let linked = try measure(folder.path)
    #expect(linked.files == withBig.files)
    #expect(linked.bytes < withBig.bytes + 1 << 19)
  }

  @Test func `folders that nobody could count are told of`() throws {
    let folder = try TemporaryFolder()
    var place = try Descriptor.open(folder.path, flags: [.read, .directory])
    for _ in 0..<FolderMeasurement.deepest + 2 {
      try place.makeDirectory("d", mode: 0o700)
      place = try Descriptor.open("d", below: place, flags: [.read, .directory])
    }
    #expect(try measure(folder.path).isTooDeep)
  }
}
