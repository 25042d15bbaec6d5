internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// Stops and continues the processes of one sandbox.
///
/// A control group of version 2 freezes them as a whole. Without one each process gets SIGSTOP, again and again until none runs: a
/// process may fork before its own signal arrives, and may wake another one. The sandbox's init goes on then. It reports the app's
/// end, and dies with its launcher.
package struct SandboxSuspension: Sendable {
  /// The sandbox's own `/proc`: it lists all of its processes and no others.
  private let processes: Descriptor
  private let group: GroupFreezer?

  /// - Parameters:
  ///   - processes: the sandbox's own `/proc`.
  ///   - group: the control group of the whole sandbox, if it has one.
  package init(_ processes: Descriptor, group: GroupFreezer? = nil) {
    (self.processes, self.group) = (processes, group)
  }

  /// Stops every process. A thread that waits for a disk stops before its next instruction; it counts as stopped after a moment.
  ///
  /// - Parameter goesOn: asked before each look; `false` ends the attempt.
  /// - Returns: the number of stopped processes; `nil`: some still run, and none was left stopped.
  package func suspend(while goesOn: () -> Bool) throws(KernelError) -> Int? {
    do throws(KernelError) {
      if let count = try group == nil ? stop(while: goesOn) : freeze(while: goesOn) { return count }
    } catch {
      try? resume()
      throw error
    }
    try resume()
    return nil
  }

  /// Lets every process go on, also one that a signal had stopped before.
  ///
  /// The latest process comes first: a shell in the sandbox then finds its jobs running, and reports none as stopped.
  package func resume() throws(KernelError) {
    try group?.set(frozen: false)
    for process in try listed().reversed() { try send(SIGCONT, to: process) }
  }

  /// Whether no process runs. Without a process the answer is no.
  package var isSuspended: Bool {
    if let group { return group.isFrozen }
    guard let all = try? listed() else { return false }
    let found = all.compactMap { look(at: $0, acceptsWaiting: true) }.filter { !$0.switches.isEmpty }
    return !found.isEmpty && found.allSatisfy(\.isStopped)
  }

  /// Bytes that the processes use; shared pages count once. The kernel looks at every page. Files in memory count as far as the
  /// descriptors can be looked at.
  package var memory: Int { ProcessUsage(processes).exactMemory().bytes }

  /// Ends the sandbox's init, and with it every process, also suspended ones.
  package func end() throws(KernelError) { try send(SIGKILL, to: 1) }

  // MARK: With a control group

  private func freeze(while goesOn: () -> Bool) throws(KernelError) -> Int? {
    guard let group else { return nil }
    try group.set(frozen: true)
    while !group.isFrozen {
      guard goesOn() else { return nil }
      usleep(Self.pause)
    }
    return try listed().count
  }

  // MARK: With signals

  /// One process at one look.
  private struct Look: Equatable {
    let process: Int32
    /// Of each living thread: its number, and how often it has given a processor up. Empty: it has ended, and its parent has not
    /// taken note.
    var switches: [Int32: Int] = [:]
    var isStopped = true
  }

  /// Two looks in a row have to show the same stopped processes, and none may have run or ended in between. One look is not enough:
  /// a running process can wake one that the look has passed, and stop itself before its own turn. And one that forks and ends is
  /// gone before it is looked at, while its child is not listed yet.
  private func stop(while goesOn: () -> Bool) throws(KernelError) -> Int? {
    let begin = Clock.monotonic()
    var before: [Look] = []
    var wasStill = false
    while goesOn() {
      let acceptsWaiting = Clock.monotonic() - begin > Self.waitingPatience
      let processes = try listed()
      // A new process may have little time left.
      let known = Set(before.map(\.process))
      for process in processes where !known.contains(process) { try send(SIGSTOP, to: process) }
      var looks: [Look] = []
      for process in processes {
        guard let found = look(at: process, acceptsWaiting: acceptsWaiting) else { continue }
        if !found.isStopped { try send(SIGSTOP, to: process) }
        looks.append(found)
      }
      let living = looks.count { !$0.switches.isEmpty }
      // Without a process the app is about to start, or has just ended.
      let isStill = living > 0 && looks.count == processes.count && looks.allSatisfy(\.isStopped)
      if isStill, wasStill, before == looks { return living }
      if !isStill, looks.count == processes.count { usleep(Self.pause) }
      (before, wasStill) = (looks, isStill)
    }
    return nil
  }

  /// - Parameter acceptsWaiting: a thread that waits for a device counts as stopped once its process has a stop to obey.
  /// - Returns: `nil` if it is gone.
  private func look(at process: Int32, acceptsWaiting: Bool) -> Look? {
    var look = Look(process: process)
    let threads = numbers(in: "\(process)/task")
    var (waiting, seen) = (0, 0)
    var obeys = false
    for thread in threads {
      guard let status = ThreadStatus(content("\(process)/task/\(thread)/status")) else { continue }
      seen += 1
      switch status.state {
      case .ended: continue
      case .stopped: obeys = true
      case .waitingForDevice: waiting += 1
      case .running, .sleeping: look.isStopped = false
      }
      if status.hasPendingStop { obeys = true }
      look.switches[thread] = status.switches
    }
    if waiting > 0, !(obeys && acceptsWaiting) { look.isStopped = false }
    // A thread that has ended meanwhile has run.
    if seen < threads.count { look.isStopped = false }
    return seen == 0 ? nil : look
  }

  private func send(_ signal: Int32, to process: Int32) throws(KernelError) {
    // The folder of a process in /proc serves as a pidfd: no other process can get its number meanwhile.
    guard let folder = try? Descriptor.open("\(process)", below: processes, flags: [.read, .directory]) else { return }
    do throws(KernelError) { try folder.signalProcess(signal) } catch {
      if error.errno != .noSuchProcess { throw error }
    }
  }

  // MARK: Reading

  /// All but the init, by their numbers in the sandbox.
  private func listed() throws(KernelError) -> [Int32] {
    Self.numbers(try DirectoryReader.entries(of: processes)).filter { $0 != 1 }
  }

  private func numbers(in path: String) -> [Int32] {
    guard let folder = try? Descriptor.open(path, below: processes, flags: [.read, .directory]) else { return [] }
    return Self.numbers((try? DirectoryReader.entries(of: folder)) ?? [])
  }

  private static func numbers(_ entries: [DirectoryReader.Entry]) -> [Int32] {
    entries.compactMap { Int32($0.name) }.sorted()
  }

  private func content(_ path: String) -> [UInt8] {
    (try? Descriptor.open(path, below: processes, flags: .read).readAll(limit: 65536)) ?? []
  }

  /// Microseconds.
  private static let pause: UInt32 = 500
  /// Nanoseconds that a disk gets before a waiting thread counts as stopped.
  private static let waitingPatience: Int64 = 200_000_000
}

/// A thread's part of `/proc/PID/task/TID/status` (`proc_pid_status(5)`).
struct ThreadStatus: Equatable {
  var state: ProcessState
  /// SIGSTOP has been sent and not obeyed yet.
  var hasPendingStop = false
  /// How often it has given a processor up, or lost it.
  var switches = 0

  init?(_ text: [UInt8]) {
    var state: ProcessState?
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let words = line.split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
      guard words.count > 1 else { continue }
      let value = String(decoding: words[1], as: UTF8.self)
      switch String(decoding: words[0], as: UTF8.self) {
      case "State:": state = words[1].first.flatMap { ProcessState(letter: $0) }
      case "SigPnd:", "ShdPnd:":
        if let pending = UInt64(value, radix: 16), pending & (1 << UInt64(SIGSTOP - 1)) != 0 { hasPendingStop = true }
      case "voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:": switches += Int(value) ?? 0
      default: break
      }
    }
    guard let state else { return nil }
    self.state = state
  }
}
