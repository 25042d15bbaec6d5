internal import Audit
internal import BrokerCore
internal import Kernel
internal import ScopedAccess
internal import Wire

/// The sender of a call, and for which of the two it counts.
struct Caller {
  let sender: UnixSocket.Sender?
  var counted = CountedProcess.own
  /// It counts for the sandbox's init, which lives as long as the launch.
  var isSandbox = false

  /// The user's decision starts it, and it lasts until the launch ends.
  static let sandbox = Caller()

  private init() { (sender, isSandbox) = (nil, true) }

  init(_ call: CheckedCall, for counted: CountedProcess?) {
    sender = call.call.sender
    self.counted = counted ?? .own
  }
}

/// The processes of an instance as owners of scopes: by the kernel's word of which one sent a call, not by the call's
/// own content or its connection.
@BrokerLoop
final class ScopeOwnership {
  private let scopes: ActiveScopes
  private let trail: AuditTrail

  init(_ scopes: ActiveScopes, _ trail: AuditTrail) {
    (self.scopes, self.trail) = (scopes, trail)
  }

  /// The process that a start counts for. The first time it is looked up and held from then on.
  func owner(_ caller: Caller, _ instance: Instance) throws -> SandboxProcess {
    if caller.isSandbox {
      return hold(SandboxProcess(pid: instance.pid, inside: 1, descriptor: instance.process), instance)
    }
    guard let sender = caller.sender, let sandbox = instance.sandbox.table.processes else {
      throw unknown("the kernel does not say which process asks", instance)
    }
    let process: SandboxProcess
    if let known = known(sender.pid, instance) {
      process = known
    } else {
      guard let found = sandbox.process(sender) else {
        throw unknown("process \(sender.pid) has ended, or is not of this sandbox", instance)
      }
      process = found
    }
    #if AMBIT_MUTANTS
      if Mutant.countsForApp.isActive, let first = Self.first(instance) { return first }
    #endif
    guard caller.counted == .parent, let parent = sandbox.parent(of: process) else { return hold(process, instance) }
    return hold(known(parent.pid, instance) ?? parent, instance)
  }

  #if AMBIT_MUTANTS
    private static func first(_ instance: Instance) -> SandboxProcess? {
      instance.scopes.processes.min { $0.key < $1.key }?.value
    }
  #endif
  /// The process that a stop or a question counts for, if it can have started anything.
  func knownOwner(_ caller: Caller, _ instance: Instance) -> SandboxProcess? {
    #if AMBIT_MUTANTS
      if Mutant.countsForApp.isActive, let first = Self.first(instance) { return first }
    #endif
    guard let sender = caller.sender else { return nil }
    if caller.counted == .own { return known(sender.pid, instance) }
    guard let sandbox = instance.sandbox.table.processes,
      let process = known(sender.pid, instance) ?? sandbox.process(sender)
    else {
      return nil
    }
    return known(sandbox.parent(of: process)?.pid ?? sender.pid, instance)
  }

  /// The process of that number which is held, if it still runs. Else the number may be another's by now.
  private func known(_ pid: Int32, _ instance: Instance) -> SandboxProcess? {
    guard let known = instance.scopes.processes[pid] else { return nil }
    guard known.hasEnded else { return known }
    scopes.ended(pid, of: instance, within: SearchTime())
    return nil
  }

  /// Holds a process until it ends; with as many as there may be, those that have nothing started make room.
  private func hold(_ process: SandboxProcess, _ instance: Instance) -> SandboxProcess {
    guard instance.scopes.processes[process.pid] == nil else { return process }
    if instance.scopes.processes.count >= ScopeOwners.mostProcesses {
      instance.scopes.processes = instance.scopes.processes.filter { instance.scopes.owners.used(by: $0.key) > 0 }
    }
    if instance.scopes.processes.count < ScopeOwners.mostProcesses { instance.scopes.processes[process.pid] = process }
    return process
  }

  private func unknown(_ reason: String, _ instance: Instance) -> ErrorReply {
    trail.record(AuditEvent(.refuse, .refused, instance, rule: "TOK-4", reason: reason))
    return AccessInterface.Failure.unavailable("it is not known which process of this app asks")
  }
}

extension Instance {
  /// How many holders an answer names, and a refusal in the log: the oldest. An app that has thousands, and goes on starting or
  /// asking, would else fill both.
  static let mostNamed = 256

  /// A process's scopes, as it or its user reads of them.
  func holders(of process: SandboxProcess?, most: Int) -> [HolderMessage] {
    guard let process else { return [] }
    return scopes.owners.holders(of: process.pid).prefix(most).map { holder in
      let name = scopes.exposed[holder.grant]?.name ?? ""
      return HolderMessage(
        grant: holder.grant, path: ScopeMounts.path(grant: holder.grant, name: name), name: name, count: holder.count,
        since: Instance.rfc3339(holder.since), caller: holder.caller)
    }
  }

  /// As the sandbox numbers it.
  func number(of process: Int32) -> Int32 { scopes.processes[process]?.inside ?? 0 }

  /// The broker describes the same to the app's user.
  func leave(_ scope: LauncherInterface.Scope) {
    if ending.leaks.count < InstanceEnding.mostLeaks { ending.leaks.append(scope) }
  }
}
