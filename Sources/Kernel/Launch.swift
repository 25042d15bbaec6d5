internal import CLinux
package import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// One entry of a sandbox's root, built in order. Paths are relative to the new root.
package enum RootStep: Sendable {
  case directory(String, mode: UInt32 = 0o755)
  case symlink(String, to: String)
  case file(String, content: String, mode: UInt32 = 0o444)
  /// A detached tree; the mount point is made where it is missing.
  case tree(String, DetachedTree, isDirectory: Bool)
  /// - size, inodes: as in tmpfs's mount options, for example `64m`, `10k`.
  case temporary(String, mode: UInt32, size: String, inodes: String, MountAttributes)
  /// The folder that granted documents appear in: read-only for the app, written by the broker.
  case documents(String)
  case processes(String)
  case terminals(String)
  /// A listening Unix stream socket that the launcher receives.
  case listener(String)
  /// The hidden paths in `/proc`: something empty lies over each that no process may open. Paths that this kernel
  /// does not have need none.
  case mask(String)
  /// The read-only paths in `/proc`, independent of their permissions.
  case readOnly(String)
}

/// Everything between clone and exec, prepared.
package struct LaunchPlan: Sendable {
  package var namespaces: NamespaceKinds
  package var insideID: UInt32
  package var outsideID: UInt32
  /// The launcher is privileged and writes the identity maps itself.
  package var parentMaps: Bool
  package var hostname: String
  package var title: String
  package var root: [RootStep]
  /// Descriptors for 0, 1 and 2; `nil` is the sandbox's own terminal.
  package var standardStreams: [Descriptor?]
  package var bringUpLoopback: Bool
  package var limits: [(resource: Int32, soft: UInt64, hard: UInt64)]
  package var directory: String
  package var program: String
  /// The program's stamp when it was looked at: another file is not executed (`ESTALE`). `nil`: any is.
  package var executable: FileStatus?
  package var arguments: [String]
  package var environment: [String]
  /// `nil`: none at all, which is for tests of the layers below it.
  package var filter: SeccompProgram?
  /// Hold besides ``filter``: of all of them the strictest decides. Loaded in this order, so only the last may refuse seccomp(2).
  package var profiles: [SeccompProgram]
  /// The filter notifies, and the launcher listens (``InitMessage/started(_:)``).
  package var listen: Bool
  /// `nil`: Landlock is not used.
  package var landlock: LandlockRules?
  /// The control group that all of it is to be in; of version 1 the launcher sees to that (``ControlGroup/add(_:)``).
  package var group: ControlGroup?

  package init(
    namespaces: NamespaceKinds, insideID: UInt32, outsideID: UInt32, parentMaps: Bool, hostname: String,
    title: String, root: [RootStep], standardStreams: [Descriptor?], bringUpLoopback: Bool,
    limits: [(resource: Int32, soft: UInt64, hard: UInt64)], directory: String, program: String,
    executable: FileStatus? = nil, arguments: [String], environment: [String], filter: SeccompProgram?,
    profiles: [SeccompProgram] = [],
    listen: Bool = false, landlock: LandlockRules? = nil, group: ControlGroup? = nil
  ) {
    self.namespaces = namespaces
    self.insideID = insideID
    self.outsideID = outsideID
    self.parentMaps = parentMaps
    self.hostname = hostname
    self.title = title
    self.root = root
    self.standardStreams = standardStreams
    self.bringUpLoopback = bringUpLoopback
    self.limits = limits
    self.directory = directory
    self.program = program
    self.executable = executable
    self.arguments = arguments
    self.environment = environment
    self.filter = filter
    self.profiles = profiles
    self.listen = listen
    self.landlock = landlock
    self.group = group
  }
}

/// Where a launch failed.
package enum LaunchStage: Int32, Sendable {
  case clone = 1
  case identity, `private`, root, steps, pivot, hostname, terminal, handover, fork, streams, limits, privileges, filter
  case directory, exec, landlock
}

/// A message of a sandbox's init to its launcher.
package enum InitMessage: Sendable {
  /// Set up, and waiting. `processes` is the sandbox's own `/proc`, and `sockets` asks about its network (``SocketMemory``). The
  /// terminal is there only if a stream asked for it;
  /// `keyring` says why the session's key ring is still the launcher's (`ENOSYS`: there are none on this kernel), and is
  /// `nil` if the sandbox has its own.
  case ready(
    mountNamespace: Descriptor, documents: Descriptor, listener: Descriptor, processes: Descriptor,
    sockets: Descriptor?, terminal: Descriptor?, keyring: Errno?)
  /// The app is about to be executed. With a descriptor, its filter notifies there.
  case started(Descriptor?)
  case failed(LaunchStage, Errno, step: Int)
  case stopped(signal: Int32)
  /// status is -1 when a signal ended the app. Processes that it has left behind end with the init. cpuTime: seconds that it and
  /// the processes that it had waited for have used.
  case exited(status: Int32, signal: Int32, leftSomebody: Bool, cpuTime: Int)
  /// The init is gone.
  case ended
}

/// A sandbox that has been started: its init, and the way to talk to it.
package final class LaunchedInit: Sendable {
  package let pid: Int32
  package let process: Descriptor
  package let control: Descriptor

  fileprivate init(pid: Int32, process: Descriptor, control: Descriptor) {
    self.pid = pid
    self.process = process
    self.control = control
  }

  /// Waits for the init's next message.
  package func receive() throws(KernelError) -> InitMessage {
    var message = ambit_message()
    var raw = [Int32](repeating: -1, count: 6)
    var count: Int32 = 0
    let result = try KernelError.checkNegative("recvmsg", "from the sandbox's init") {
      unsafe ambit_control_receive(control.rawValue, &message, &raw, &count)
    }
    let descriptors = raw.prefix(Int(count)).map { Descriptor(owning: $0) }
    if result == 0 { return .ended }
    switch UInt32(bitPattern: message.kind) {
    case AMBIT_READY.rawValue where descriptors.count >= 4:
      let others = descriptors.dropFirst(4)
      let hasSockets = message.second == 1
      return .ready(
        mountNamespace: descriptors[0], documents: descriptors[1], listener: descriptors[2],
        processes: descriptors[3], sockets: hasSockets ? others.first : nil,
        terminal: others.dropFirst(hasSockets ? 1 : 0).first,
        keyring: message.first == 0 ? nil : Errno(rawValue: message.first))
    case AMBIT_STARTED.rawValue: return .started(descriptors.first)
    case AMBIT_FAILED.rawValue:
      return .failed(
        LaunchStage(rawValue: message.first) ?? .clone, Errno(rawValue: message.second), step: Int(message.third))
    case AMBIT_STOPPED.rawValue: return .stopped(signal: message.first)
    case AMBIT_EXITED.rawValue:
      return .exited(
        status: message.first, signal: message.second, leftSomebody: message.third == 0, cpuTime: Int(message.fourth))
    default: throw KernelError("recvmsg", "from the sandbox's init", errno: Errno(rawValue: EPROTO))
    }
  }

  /// Lets the app start. An init that has ended meanwhile has said why.
  package func go() throws(KernelError) {
    do throws(KernelError) { try send(AMBIT_GO.rawValue) } catch { if error.errno != .brokenPipe { throw error } }
  }

  /// The init is in the control group that it waits for (``ControlGroup/add(_:)``).
  package func entered() throws(KernelError) { try send(AMBIT_ENTERED.rawValue) }

  fileprivate func identityMapsWritten() throws(KernelError) { try send(AMBIT_MAPPED.rawValue) }

  /// Passes a signal to the app, or to its whole process group.
  package func signal(_ signal: Int32, group: Bool) throws(KernelError) {
    try send(AMBIT_SIGNAL.rawValue, signal, group ? 1 : 0)
  }

  private func send(_ kind: UInt32, _ first: Int32 = 0, _ second: Int32 = 0) throws(KernelError) {
    var message = ambit_message(kind: Int32(bitPattern: kind), first: first, second: second, third: 0, fourth: 0)
    try KernelError.checkNegative("send", "to the sandbox's init") {
      unsafe ambit_control_send(control.rawValue, &message)
    }
  }

  /// How the init has ended, which frees its pid: with a status, or by a signal and status -1; `nil` while it has not.
  package func end() -> (status: Int32, signal: Int32)? {
    var status: Int32 = 0
    guard unsafe ambit_wait(pid, &status) > 0 else { return nil }
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8 & 0xff, 0) : (-1, signal)
  }

  /// Collects the init's exit, which frees its pid. `true` once it has ended.
  package func reap() -> Bool {
    var status: Int32 = 0
    return unsafe ambit_wait(pid, &status) != 0
  }
}

extension LaunchPlan {
  /// Starts the sandbox's init and returns when it runs; its messages tell how it fares.
  package func start() throws(KernelError) -> LaunchedInit {
    // The C code takes an empty filter for none, and the kernel's structure counts in 16 bits: a filter that is cut short
    // would be another one.
    for program in [filter].compactMap({ $0 }) + profiles where !program.isLoadable {
      throw KernelError("seccomp", "a filter of \(program.bytes.count) bytes", errno: .invalidArgument)
    }
    var launcherEnd: Int32 = -1
    var initEnd: Int32 = -1
    try KernelError.checkNegative("socketpair") { unsafe ambit_control_pair(&launcherEnd, &initEnd) }
    let control = Descriptor(owning: launcherEnd)
    let theirs = Descriptor(owning: initEnd)

    let memory = LaunchMemory()
    let steps = unsafe root.map { unsafe $0.lowered(memory) }
    let rawLimits = limits.map { ambit_limit(resource: $0.resource, unused: 0, soft: $0.soft, hard: $0.hard) }

    var launch = unsafe ambit_launch()
    unsafe launch.namespaces = namespaces.rawValue
    unsafe launch.control = theirs.rawValue
    unsafe launch.launcher_end = control.rawValue
    unsafe launch.parent_maps = parentMaps ? 1 : 0
    unsafe launch.inside_id = insideID
    unsafe launch.outside_id = outsideID
    unsafe launch.hostname = UnsafePointer(memory.string(hostname))
    unsafe launch.title = UnsafePointer(memory.string(title))
    unsafe launch.steps = UnsafePointer(memory.array(steps))
    unsafe launch.step_count = steps.count
    let streams = (0..<3).map { index in index < standardStreams.count ? standardStreams[index]?.rawValue ?? -1 : -1 }
    unsafe launch.stdio = (streams[0], streams[1], streams[2])
    unsafe launch.bring_up_loopback = bringUpLoopback ? 1 : 0
    unsafe launch.limits = UnsafePointer(memory.array(rawLimits))
    unsafe launch.limit_count = rawLimits.count
    unsafe launch.directory = UnsafePointer(memory.string(directory))
    unsafe launch.program = UnsafePointer(memory.string(program))
    if let executable {
      unsafe launch.expected = ambit_expected(
        device: executable.device, inode: executable.inode, size: executable.size, modified: executable.modified,
        is_set: 1)
    }
    unsafe launch.arguments = memory.argv(arguments)
    unsafe launch.environment = memory.argv(environment)
    if let filter {
      unsafe launch.filter = UnsafeRawPointer(memory.array(filter.bytes))
      unsafe launch.filter_count = filter.instructionCount
    }
    let rawProfiles = unsafe profiles.map { profile in
      unsafe ambit_profile(
        instructions: UnsafeRawPointer(memory.array(profile.bytes)), count: profile.instructionCount)
    }
    unsafe launch.profiles = UnsafePointer(memory.array(rawProfiles))
    unsafe launch.profile_count = profiles.count
    unsafe launch.listen = listen ? 1 : 0
    unsafe launch.group = group?.unified?.rawValue ?? -1
    unsafe launch.awaits_group = group?.hasToBeJoined == true ? 1 : 0
    unsafe launch.cgroup_namespace_last = group != nil && namespaces.contains(.cgroup) ? 1 : 0
    if let landlock { unsafe launch.landlock = landlock.lowered(memory, abi: Landlock.abi) }

    var rawProcess: Int32 = -1
    let pid = try KernelError.checkNegative("clone3", namespaces.names.joined(separator: ",")) {
      unsafe ambit_launch_start(&launch, &rawProcess)
    }
    withExtendedLifetime((memory, theirs, self)) {}
    let launched = LaunchedInit(pid: pid, process: Descriptor(owning: rawProcess), control: control)
    if parentMaps {
      do throws(KernelError) {
        for name in ["uid_map", "gid_map"] {
          try Namespaces.write("\(insideID) \(outsideID) 1\n", to: "/proc/\(pid)/\(name)")
        }
        try launched.identityMapsWritten()
      } catch {
        // No message will ever come from this init again.
        try? launched.process.signalProcess(SIGKILL)
        while !launched.reap() { usleep(1000) }
        throw error
      }
    }
    return launched
  }
}

extension RootStep {
  fileprivate func lowered(_ memory: LaunchMemory) -> ambit_step {
    var step = unsafe ambit_step()
    unsafe step.tree = -1
    func set(_ kind: ambit_step_kind, _ path: String) {
      unsafe step.kind = Int32(bitPattern: kind.rawValue)
      unsafe step.path = UnsafePointer(memory.string(path))
    }
    func text(_ content: String) {
      unsafe step.text = UnsafePointer(memory.string(content))
      unsafe step.text_length = content.utf8.count
    }
    switch self {
    case .directory(let path, let mode):
      set(AMBIT_STEP_DIRECTORY, path)
      unsafe step.mode = mode
    case .symlink(let path, let target):
      set(AMBIT_STEP_SYMLINK, path)
      text(target)
    case .file(let path, let content, let mode):
      set(AMBIT_STEP_FILE, path)
      text(content)
      unsafe step.mode = mode
    case .tree(let path, let tree, let isDirectory):
      set(AMBIT_STEP_TREE, path)
      unsafe step.tree = tree.descriptor.rawValue
      unsafe step.directory = isDirectory ? 1 : 0
    case .temporary(let path, let mode, let size, let inodes, let attributes):
      set(AMBIT_STEP_TMPFS, path)
      unsafe step.mode = mode
      unsafe step.size = UnsafePointer(memory.string(size))
      unsafe step.inodes = UnsafePointer(memory.string(inodes))
      unsafe step.attributes = attributes.rawValue
    case .documents(let path):
      set(AMBIT_STEP_DOCUMENTS, path)
      unsafe step.size = UnsafePointer(memory.string("4m"))
      unsafe step.inodes = UnsafePointer(memory.string("64k"))
    case .processes(let path): set(AMBIT_STEP_PROC, path)
    case .terminals(let path): set(AMBIT_STEP_DEVPTS, path)
    case .listener(let path): set(AMBIT_STEP_SOCKET, path)
    case .mask(let path): set(AMBIT_STEP_MASK, path)
    case .readOnly(let path): set(AMBIT_STEP_READ_ONLY, path)
    }
    return unsafe step
  }
}
