import Foundation
import Glibc
import Kernel
import TestSupport
import Testing

/// A group of the unified hierarchy that root has given to a user, as systemd does for `Delegate=yes`, and the programs in it.
private final class Delegation {
  let path: String
  private let world: Workspace

  init(for world: Workspace) throws {
    self.world = world
    // Whoever owns the group above has it hand everything down.
    let records = GroupRecords("\(world.folder)/groups")
    let limits = ControlGroup.Limits(memory: 1 << 30, processes: 1000, processors: 1000)
    let name = "test-\(UInt32.random(in: 0 ... .max))"
    _ = try ControlGroup(name, limits, in: ControlGroups(), records: records).remove()
    path = "\(try #require(ControlGroups().places.first?.parent))/\(name).scope"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    for file in ["", "/cgroup.procs", "/cgroup.subtree_control", "/cgroup.threads"] { try world.user.own(path + file) }
  }

  /// Starts a program of the user's in the group, or in the one that its processes have been moved to.
  func start(_ arguments: [String]) throws -> ChildProcess {
    let process = try world.start(["/bin/sh", "-c", "read go; exec \"$@\"", "sh"] + arguments)
    let place = isThere("\(path)/ambit") ? "\(path)/ambit" : path
    try Descriptor.open("\(place)/cgroup.procs", flags: .write).writeAll(Array("\(process.pid)".utf8))
    try process.send("go\n")
    return process
  }

  /// Runs `ambit` in it to its end.
  func ambit(_ arguments: String...) throws -> Outcome {
    let process = try start([try Products.path("ambit")] + arguments)
    process.closeInput()
    let exit = try process.waitForExit(patience: .seconds(30))
    return Outcome(exit: exit, output: process.allOutput, errors: process.allErrors)
  }

  /// The groups of sandboxes that are there now.
  var groups: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { $0.hasPrefix("ambit-") }
  }

  func read(_ name: String) throws -> String { try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }

  private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// Ends whatever is left in it, and removes it.
  deinit {
    try? Data("1".utf8).write(to: URL(fileURLWithPath: "\(path)/cgroup.kill"))
    try? Deadline.wait(for: "\(path) to be removed") {
      for group in groups + ["ambit"] { unsafe rmdir("\(path)/\(group)") }
      return unsafe rmdir(path) == 0
    }
  }
}

/// Control groups of version 2 for who is not root: in a scope that was given to them.
@Suite(.serialized, .waiting)
struct DelegatedGroupTests {
  static let available: Bool = {
    let places = ControlGroups().places
    return geteuid() == 0 && places.count == GroupController.allCases.count && places.allSatisfy(\.isUnified)
  }()

  @Test(
    "H2: in a scope of the user's the group ends an app with too much memory",
    .enabled(if: try Feature.cgroups.isHere(available), "needs cgroups"))
  func memory() throws {
    try Workspace.with(.ordinary) { world in
      let scope = try Delegation(for: world)
      for what in UsageTests.takers {
        let outcome = try scope.ambit(
          "run", "--limit", "cgroup=true", "--limit", "memory=64MiB", try Products.path("battery"), "take",
          "what=\(what)", "amount=\(192 << 20)", "hold=25", "container=/home/user")
        #expect(outcome.exit == .status(137), "\(outcome)")
        #expect(outcome.errors.contains("64 MiB of 64 MiB; memory in the policy's [limits]"), "\(outcome)")
        #expect(scope.groups.isEmpty)
      }
    }
  }

  @Test(
    "a scope of the user's is enough for a policy that requires a group",
    .enabled(if: try Feature.cgroups.isHere(available), "needs cgroups"))
  func required() throws {
    try Workspace.with(.ordinary) { world in
      let scope = try Delegation(for: world)
      let policy = "\(world.home)/p.toml"
      let layers = "[require]\nlayers = [\"cgroup\", \"memory\", \"processes\"]\n"
      try world.write("inherits = \"default\"\n[limits]\ncgroup = true\n\(layers)", to: policy)
      let first = try scope.ambit("run", "--policy", policy, "/bin/cat", "/proc/self/cgroup")
      #expect(first.exit == .status(0) && first.errors.isEmpty, "\(first)")
      // Of the groups above its own an app sees nothing.
      #expect(first.output.split(separator: "\n").contains("0::/"), "\(first)")
      #expect(!first.output.contains("ambit") && !first.output.contains("scope"), "\(first)")
      #expect(try scope.read("cgroup.procs").isEmpty)
      let handed = Set(try scope.read("cgroup.subtree_control").split { $0 == " " || $0 == "\n" })
      #expect(handed.isSuperset(of: ["memory", "pids"]) && !handed.contains("cpu"), "\(handed)")

      // What the next one wants besides, the same scope hands down as well.
      try world.write(
        "inherits = \"default\"\n[limits]\ncgroup = true\nprocessors = 0.5\n\(layers)", to: policy)
      let app = try scope.start([
        try Products.path("ambit"), "run", "--policy", policy, "/bin/sh", "-c", "echo ready; read word",
      ])
      #expect(try app.readLine(patience: .seconds(30)) == "ready")
      let group = try #require(scope.groups.first)
      #expect(try scope.read("\(group)/cpu.max") == "50000 100000\n")
      #expect(try scope.read("\(group)/pids.max") == "1025\n")
      app.closeInput()
      _ = try app.waitForExit(patience: .seconds(30))
      #expect(scope.groups.isEmpty)
    }
  }

  @Test(
    "no group of a user's stays behind when its launcher is killed",
    .enabled(if: try Feature.cgroups.isHere(available), "needs cgroups"))
  func removal() throws {
    try Workspace.with(.ordinary) { world in
      let scope = try Delegation(for: world)
      let app = try scope.start([
        try Products.path("ambit"), "run", "--limit", "cgroup=true", "/bin/sh", "-c", "echo ready; sleep 60",
      ])
      #expect(try app.readLine(patience: .seconds(30)) == "ready")
      #expect(scope.groups.count == 1)
      app.kill()
      try Deadline.wait(for: "the group to be removed") { scope.groups.isEmpty }
    }
  }

  @Test(
    "outside of such a scope a user has no group, and hears of it",
    .enabled(if: try Feature.cgroups.isHere(available), "needs cgroups"))
  func outside() throws {
    try Workspace.with(.ordinary) { world in
      let outcome = try world.ambit("run", "--limit", "cgroup=true", "/bin/echo", "ran")
      #expect(outcome.output == "ran\n", "\(outcome)")
      #expect(outcome.errors.contains("there is none to be had here for memory, pids"), "\(outcome)")
    }
  }
}
