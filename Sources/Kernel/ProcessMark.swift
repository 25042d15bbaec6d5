internal import SystemPackage

/// A process by its number and by when it began: another one that has got its number since is not taken for it.
package struct ProcessMark: Equatable, Sendable, CustomStringConvertible {
  package let pid: Int32
  /// Clock ticks since the machine was started.
  package let started: UInt64

  package init(pid: Int32, started: UInt64) {
    self.pid = pid
    self.started = started
  }

  /// Of a process that runs; `nil` where there is none, or where `/proc` does not tell.
  package init?(of pid: Int32) {
    guard pid > 0, let text = try? Descriptor.open("/proc/\(pid)/stat", flags: .read).readAll(limit: 4096),
      let status = SandboxProcesses.Status(text)
    else { return nil }
    self.init(pid: pid, started: status.started)
  }

  /// The number of a process's parent; `nil` where there is no such process.
  package static func parent(of pid: Int32) -> Int32? {
    (try? Descriptor.open("/proc/\(pid)/stat", flags: .read).readAll(limit: 4096))
      .flatMap { SandboxProcesses.Status($0)?.parent }
  }

  /// As ``description`` writes it.
  package init?(_ text: some StringProtocol) {
    let fields = text.split(separator: ":", omittingEmptySubsequences: false)
    guard fields.count == 2, let pid = Int32(fields[0]), pid > 0, let started = UInt64(fields[1]) else { return nil }
    self.init(pid: pid, started: started)
  }

  package var description: String { "\(pid):\(started)" }

  /// Sends it a signal, and no other process that has its number by now (`pidfd_send_signal(2)`).
  package func signal(_ number: Int32) throws(KernelError) {
    let process = try Descriptor.process(pid)
    guard ProcessMark(of: pid) == self else { throw KernelError("pidfd_open", "\(pid)", errno: .noSuchProcess) }
    try process.signalProcess(number)
  }

  /// The kernel says that it has ended, whether or not its parent has taken note yet. A state that cannot be found out is no
  /// end; one that is stopped has not ended.
  package var hasEnded: Bool {
    let process: Descriptor
    do throws(KernelError) { process = try .process(pid) } catch {
      // The number is free, or by now that of a thread of another process.
      return error.errno == .noSuchProcess || error.errno == .invalidArgument || error.errno == .noSuchFileOrDirectory
    }
    if process.processHasEnded { return true }
    guard let now = ProcessMark(of: pid) else { return process.processHasEnded }
    return now.started != started
  }
}
