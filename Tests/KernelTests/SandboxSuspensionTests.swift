import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Kernel

@Suite struct `The state of a thread` {
  @Test func `is told with its pending stop and its switches`() {
    let text = """
      Name:\tT (stopped)
      State:\tD (disk sleep)
      SigPnd:\t0000000000000000
      ShdPnd:\t0000000000040000
      voluntary_ctxt_switches:\t20
      nonvoluntary_ctxt_switches:\t3

      """
    let status = ThreadStatus(Array(text.utf8))
    #expect(status?.state == .waitingForDevice && status?.hasPendingStop == true && status?.switches == 23)
    #expect(ThreadStatus(Array("State:\tT (stopped)\nShdPnd:\t0000000000000004\n".utf8))?.hasPendingStop == false)
    #expect(ThreadStatus([]) == nil)
  }
}

/// A sandbox whose processes are stopped and go on.
@Suite(.ownsMounts, .timeLimit(.minutes(20))) struct `A suspended sandbox` {
  /// Starts a sandbox, and ends it when the body has returned.
  private func with(_ box: Box, _ body: (_ launched: LaunchedInit, _ processes: Descriptor) throws -> Void) throws {
    let launched = try box.plan.start()
    defer {
      try? launched.process.signalProcess(SIGKILL)
      try? waitForEnd(launched.process)
      #expect(launched.reap())
    }
    guard case .ready(_, _, _, let processes, _, _, _) = try launched.receive() else {
      throw HarnessError("the sandbox does not stand")
    }
    try launched.go()
    guard case .started = try launched.receive() else { throw HarnessError("the program does not start") }
    try body(launched, processes)
  }

  /// Every living process but the init with its state and its processor time, as `ps` would tell them.
  private func activity(_ processes: Descriptor) throws -> [String] {
    let names = try DirectoryReader.entries(of: processes).map(\.name).filter { Int32($0) != nil && $0 != "1" }
    return names.sorted().compactMap { pid in
      guard let text = try? Descriptor.open("\(pid)/stat", below: processes, flags: .read).readAll() else { return nil }
      let fields = String(decoding: text, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
      // The init reaps zombies meanwhile.
      guard fields.count > 13, fields[0] != "Z", fields[0] != "X" else { return nil }
      return "\(pid) \(fields[0]) \(fields[11]) \(fields[12])"
    }
  }

  private func patience(_ seconds: Int64) -> () -> Bool {
    let due = Clock.monotonic() + seconds * 1_000_000_000
    return { Clock.monotonic() < due }
  }

  @Test(arguments: [
    "sleep 1000",
    "while :; do :; done & while :; do :; done",
    // Children without end.
    "f() { while :; do (:) ; done; }; f & f & f & f",
    // Each forks the next and ends: no process lives for long.
    "f() { f & }; f; sleep 1000",
    // They wake each other.
    "(while :; do kill -CONT $$; done) & while :; do kill -CONT $!; done",
    // A child that runs on after an orphan's stop.
    "(sh -c 'while :; do (:); done' &) ; sleep 1000",
  ])
  func `has no running process, whatever they do, until it is resumed`(script: String) throws {
    var box = try Box.shell(script)
    box.plan.limits = [(resource: 6, soft: 400, hard: 400)]
    try with(box) { _, processes in
      let suspension = SandboxSuspension(processes)
      for _ in 1...5 {
        let count = try suspension.suspend(while: patience(20))
        #expect((count ?? 0) >= 1 && suspension.isSuspended)
        let before = try activity(processes)
        usleep(100_000)
        #expect(try activity(processes) == before)
        // A shell that waits in vfork(2) for a stopped child runs as little as that (`D`).
        #expect(!before.isEmpty && before.allSatisfy { $0.contains(" T ") || $0.contains(" D ") }, "\(before)")
        #expect(before.contains { $0.contains(" T ") }, "\(before)")
        try suspension.resume()
        #expect(!suspension.isSuspended)
      }
    }
  }

  @Test func `goes on where it cannot be stopped in time`() throws {
    try with(try Box.shell("while :; do :; done")) { _, processes in
      let suspension = SandboxSuspension(processes)
      let count = try suspension.suspend { false }
      #expect(count == nil)
      #expect(!suspension.isSuspended)
    }
  }

  @Test func `ends by SIGKILL to its init`() throws {
    try with(try Box.shell("sleep 1000 & sleep 1000")) { launched, processes in
      let count = try SandboxSuspension(processes).suspend(while: patience(20))
      #expect((count ?? 0) >= 1)
      try launched.process.signalProcess(SIGKILL)
      try waitForEnd(launched.process)
    }
  }

  @Test func `resumes a shell that does not take its jobs for stopped`() throws {
    let script = "set -m; sleep 0.4 & wait $!; echo $? >/tmp/status; jobs; test \"$(cat /tmp/status)\" = 0"
    let launched = try Box.shell(script).plan.start()
    var status: Int32?
    while true {
      switch try launched.receive() {
      case .ready(_, _, _, let processes, _, _, _):
        try launched.go()
        usleep(150_000)
        let suspension = SandboxSuspension(processes)
        let count = try suspension.suspend(while: patience(20))
        #expect(count == 2)
        usleep(500_000)
        try suspension.resume()
      case .exited(let exit, _, _, _): status = exit
      case .ended:
        try waitForEnd(launched.process)
        #expect(launched.reap() && status == 0)
        return
      default: break
      }
    }
  }
}

/// The unified hierarchy freezes a sandbox whether or not controllers are bound to it.
@Suite(
  .ownsMounts, .timeLimit(.minutes(20)), .enabled(if: try Feature.cgroups.isHere(unifiedParent != nil), "needs cgroups")
)
struct `A sandbox in a group of version 2` {
  @Test func `is frozen as a whole, and can be ended`() throws {
    let parent = try #require(unifiedParent)
    let folder = try TemporaryFolder()
    let records = GroupRecords("\(folder.path)/groups")
    let place = ControlGroups.Place(controller: .pids, parent: parent, isUnified: true, preparation: .none)
    let name = "test-\(UInt32.random(in: 0 ... .max))"
    let group = try ControlGroup(
      name, .init(memory: nil, processes: nil, processors: nil), in: .init(places: [place], state: .delegated),
      records: records)
    defer { _ = group.remove() }
    #expect(GroupFreezer(of: "other", in: records) == nil)
    var box = try Box.shell("while :; do (:); done")
    box.plan.group = group
    let launched = try box.plan.start()
    guard case .ready(_, _, _, let processes, _, _, _) = try launched.receive() else {
      throw HarnessError("the sandbox does not stand")
    }
    try launched.go()
    let suspension = SandboxSuspension(processes, group: GroupFreezer(of: name, in: records))
    let due = Clock.monotonic() + 20_000_000_000
    for _ in 1...3 {
      let count = try suspension.suspend { Clock.monotonic() < due }
      #expect(count != nil && suspension.isSuspended)
      #expect(ControlGroups.words("\(parent)/ambit-\(name)/cgroup.freeze") == ["1"])
      try suspension.resume()
      try Deadline.wait(for: "it to go on") { !suspension.isSuspended }
    }
    _ = try suspension.suspend { true }
    try launched.process.signalProcess(SIGKILL)
    try waitForEnd(launched.process)
    #expect(launched.reap())
  }
}
