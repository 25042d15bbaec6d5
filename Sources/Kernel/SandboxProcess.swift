internal import CLinux

/// A process of a sandbox, held by its pidfd: while that says that it runs, no other process has its number.
package struct SandboxProcess: Sendable {
  /// As this process's pid namespace has it.
  package let pid: Int32
  /// As its sandbox has it; the init is 1.
  package let inside: Int32
  /// Its pidfd: readable once it has ended, all of its threads.
  package let descriptor: Descriptor

  /// - Parameter descriptor: its pidfd.
  package init(pid: Int32, inside: Int32, descriptor: Descriptor) {
    (self.pid, self.inside, self.descriptor) = (pid, inside, descriptor)
  }

  package var hasEnded: Bool { descriptor.processHasEnded }
}

extension Descriptor {
  /// Whether the process of a pidfd has ended, also where its parent has not taken note yet (`pidfd_open(2)`).
  package var processHasEnded: Bool { ambit_pidfd_ended(rawValue) != 0 }

  /// The numbers of a pidfd's process: in the pid namespace of `/proc`, and in each one further in. Empty when it is gone.
  package func processNumbers() -> [Int32] {
    guard let file = try? Descriptor.open("/proc/self/fdinfo/\(rawValue)", flags: .read),
      let text = try? file.readAll(limit: 4096)
    else { return [] }
    for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: "NSpid:".utf8) {
      return line.dropFirst(6).split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
        .compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }
    return []
  }
}

/// Tells which processes are of one sandbox, by its pid namespace.
package struct SandboxProcesses: Sendable {
  /// The sandbox's own `/proc`.
  private let table: Descriptor
  /// Where the sandbox's number stands among the numbers of one of its processes.
  private let level: Int

  /// - Parameters:
  ///   - initProcess: the pidfd of its init, which is number 1 there. `nil` is answered where that is not so.
  package init?(init initProcess: Descriptor, table: Descriptor) {
    let numbers = initProcess.processNumbers()
    guard numbers.count > 1, numbers.last == 1 else { return nil }
    self.table = table
    level = numbers.count - 1
  }

  /// The process that sent something, if it runs and is of this sandbox.
  ///
  /// Without a pidfd from the kernel the number is looked up: if the sender has ended since, and another process of this sandbox has
  /// got its number, that is the one that is found. No other sandbox's and none of the host's ever is.
  package func process(_ sender: UnixSocket.Sender) -> SandboxProcess? {
    if let known = sender.process, !known.processHasEnded { return process(sender.pid, known) }
    guard let opened = try? Descriptor.process(sender.pid) else { return nil }
    return process(sender.pid, opened)
  }

  /// The parent of a process of this sandbox, as the kernel has it now. Not the init: a process with that parent has
  /// lost its own, or is the app itself.
  package func parent(of process: SandboxProcess) -> SandboxProcess? {
    guard let number = Self.status(of: process)?.parent, number > 1, let opened = try? Descriptor.process(number),
      let parent = self.process(number, opened), parent.inside != 1,
      // Else it has ended meanwhile, and its number may be another's.
      Self.status(of: process)?.parent == number, !process.hasEnded
    else { return nil }
    return parent
  }

  private func process(_ pid: Int32, _ descriptor: Descriptor) -> SandboxProcess? {
    let numbers = descriptor.processNumbers()
    guard numbers.count > level, numbers[0] == pid, isSame(numbers[0], numbers[level]), !descriptor.processHasEnded
    else { return nil }
    return SandboxProcess(pid: pid, inside: numbers[level], descriptor: descriptor)
  }

  /// Whether the process that has one number here is the one that has the other number in the sandbox.
  private func isSame(_ pid: Int32, _ inside: Int32) -> Bool {
    if let here = Self.namespace("/proc/\(pid)/ns/pid", nil), let there = Self.namespace("\(inside)/ns/pid", table) {
      return here == there
    }
    // Of a program that its user may run and not read, the kernel does not tell every process its namespaces.
    let here = Self.status(try? Descriptor.open("/proc/\(pid)/stat", flags: .read))
    let there = Self.status(try? Descriptor.open("\(inside)/stat", below: table, flags: .read))
    return here != nil && here?.started == there?.started
  }

  private static func namespace(_ path: String, _ folder: Descriptor?) -> [UInt64]? {
    var found = ambit_place()
    // AT_FDCWD
    guard unsafe ambit_stat_mount(folder?.rawValue ?? -100, path, &found) == 0 else { return nil }
    return [found.device, found.inode]
  }

  /// From `/proc/PID/stat` (`proc_pid_stat(5)`), which every process may read.
  struct Status: Equatable {
    let parent: Int32
    /// Clock ticks since the machine was started.
    let started: UInt64

    init?(_ text: [UInt8]) {
      // The second field is the program's name in brackets, and may hold anything.
      guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
      let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "))
      guard fields.count > 19, let parent = Int32(String(decoding: fields[1], as: UTF8.self)),
        let started = UInt64(String(decoding: fields[19], as: UTF8.self))
      else { return nil }
      self.parent = parent
      self.started = started
    }
  }

  private static func status(of process: SandboxProcess) -> Status? {
    status(try? Descriptor.open("/proc/\(process.pid)/stat", flags: .read))
  }

  private static func status(_ file: Descriptor?) -> Status? {
    (try? file?.readAll(limit: 4096)).flatMap { Status($0) }
  }
}
