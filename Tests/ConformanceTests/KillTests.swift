import Foundation
import Kernel
import TestSupport
import Testing

/// SIGKILL for launcher, broker or init, at random moments of a launch and after it.
///
/// Everything happens in a process that is the parent of whatever loses its own: who survives is among its children.
@Suite(.waiting) struct KillTests {
  /// Two hundred of each user; AMBIT_KILL_ROUNDS says otherwise, as `make races` does: a thousand.
  private static let kills = ProcessInfo.processInfo.environment["AMBIT_KILL_ROUNDS"].flatMap(Int.init) ?? 200

  @Test(arguments: TestUser.all)
  func `kills at random moments leave nothing behind within a second, of whatever kind, however many`(
    user: TestUser
  ) async {
    await #expect(processExitsWith: .success) { [name = user.rawValue as String] in
      // What is thrown out of here would end this process without a word.
      do { try Self.killAgainAndAgain(try #require(TestUser(rawValue: name))) } catch { Issue.record(error) }
    }
  }

  private static func killAgainAndAgain(_ user: TestUser) throws {
    try ProcessTable.adoptOrphans()
    try OwnGroups.with(user) { groups in
      try Workspace.with(user) { world in
        var rounds = try KillRounds(world, groups, rounds: kills)
        try rounds.warmUp()
        for number in 0..<kills { try rounds.run(number) }
        try rounds.conclude()
      }
    }
  }

  @Test func `a namespace that nobody is in any more is still counted, as long as anything holds it`() throws {
    var watch = try NamespaceWatch()
    try Workspace.with(.root) { world in
      let script = "echo in; read line"
      let program = try world.start([
        "/usr/bin/unshare", "--user", "--map-root-user", "--uts", "--mount", "/bin/sh", "-c", script,
      ])
      #expect(try program.readLine() == "in")
      watch.look(at: ProcessTable.tree(below: program.pid))
      #expect(watch.count == 3)
      let names = watch.left(beside: [])
      try #require(names.count == (watch.isExact ? 3 : 0))
      if watch.isExact, let all = NamespaceWatch.mountNamespaces() {
        #expect(names[0].hasPrefix("mnt:") && all.contains(names[0]))
        #expect(NamespaceWatch.mountNamespacesInUse(except: []).contains(names[0]))
      }
      // It holds the user namespace that owns it.
      // Closed when another test starts a program just then: that would have it as well.
      var held: Descriptor? = try Descriptor.open("/proc/\(program.pid)/ns/uts", flags: .read)
      #expect(held != nil)
      #expect(NamespaceWatch.held(by: getpid())["uts"] ?? 0 >= 1)
      program.kill()
      if watch.isExact {
        try Deadline.wait(for: "the first to go") { watch.left(beside: []) == Array(names.dropFirst()) }
      }
      held = nil
      var left: [String] = []
      try Deadline.wait(for: "the end of \(left), which has \(NamespaceWatch.holders(of: left))") {
        left = watch.left(beside: [])
        return left.isEmpty
      }
    }
  }
}
