internal import Audit
internal import Kernel
internal import ScopedAccess
internal import Wire

/// Who a call was sent by, and for which of the two it counts.
struct Caller {
  let sender: UnixSocket.Sender?
  var counted = CountedProcess.own

  init(_ call: CheckedCall, for counted: CountedProcess?) {
    sender = call.call.sender
    self.counted = counted ?? .own
  }
}

/// The processes of an instance as owners of scopes: by the kernel's word of who sent a call, whatever the call says and over
/// whichever connection it came.
extension Broker {
  /// The process that a start counts for. The first time it is looked up and held from then on.
  func owner(_ caller: Caller, _ instance: Instance) throws -> SandboxProcess {
    guard let sender = caller.sender, let sandbox = instance.sandbox else {
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
    guard caller.counted == .parent, let parent = sandbox.parent(of: process) else { return hold(process, instance) }
    return hold(known(parent.pid, instance) ?? parent, instance)
  }

  /// The process that a stop or a question counts for, if it can have started anything.
  func knownOwner(_ caller: Caller, _ instance: Instance) -> SandboxProcess? {
    guard let sender = caller.sender else { return nil }
    if caller.counted == .own { return known(sender.pid, instance) }
    guard let sandbox = instance.sandbox, let process = known(sender.pid, instance) ?? sandbox.process(sender) else {
      return nil
    }
    return known(sandbox.parent(of: process)?.pid ?? sender.pid, instance)
  }

  /// The process of that number which is held, if it still runs. Else the number may be another's by now.
  private func known(_ pid: Int32, _ instance: Instance) -> SandboxProcess? {
    guard let known = instance.processes[pid] else { return nil }
    guard known.hasEnded else { return known }
    ended(pid, of: instance)
    return nil
  }

  /// Holds a process until it ends; with as many as there may be, those that have nothing started make room.
  private func hold(_ process: SandboxProcess, _ instance: Instance) -> SandboxProcess {
    guard instance.processes[process.pid] == nil else { return process }
    if instance.processes.count >= ScopeOwners.mostProcesses {
      instance.processes = instance.processes.filter { instance.owners.used(by: $0.key) > 0 }
    }
    if instance.processes.count < ScopeOwners.mostProcesses { instance.processes[process.pid] = process }
    return process
  }

  private func unknown(_ reason: String, _ instance: Instance) -> ErrorReply {
    record(event(.refuse, .refused, instance, rule: "TOK-4", reason: reason))
    return AccessInterface.Failure.unavailable("it is not known which process of this app asks")
  }

  // MARK: The end of one

  /// A process has ended, and others of its sandbox go on: its scopes end, and its slots come back (`TOK-11`).
  func ended(_ pid: Int32, of instance: Instance) {
    guard let process = instance.processes.removeValue(forKey: pid) else { return }
    for holder in instance.owners.holders(of: pid) {
      let document = instance.shown[holder.grant]
      let grant = (try? grants.grant(holder.grant)) ?? nil
      instance.leave(describe(holder, process.inside, instance))
      var held = Held()
      var failure: KernelError?
      if instance.owners.end(holder.grant, of: pid) {
        grants.noteUse(holder.grant, at: Clock.realtime())
        do throws(KernelError) { held = try hide(holder.grant, instance) } catch { failure = error }
      }
      record(
        event(
          .scopeEnded, .allowed, instance, grant: grant, how: AuditEvent.ScopeEnd.process, rule: "TOK-11",
          reason: "process \(process.inside) ended without stopping it", detail: facts(of: holder, process.inside)))
      // With the sandbox its mounts go, and cannot be taken away any more.
      if let failure, !instance.process.processHasEnded { cannotHide(grant, instance, .scopeEnded, failure) }
      _ = outlived(held, document, grant, instance)
    }
  }

  /// The app would go on using what the books say it no longer has. Nothing weaker than ending it is safe.
  func cannotHide(_ grant: Grant?, _ instance: Instance, _ kind: AuditEvent.Kind, _ error: any Error) {
    record(event(kind, .failed, instance, grant: grant, rule: "TOK-3", reason: "\(error); the app is ended"))
    instance.endedBecause = "the document \(grant?.name ?? "") could not be taken away from it"
    try? instance.process.signalProcess(9)
  }

  func facts(of holder: ScopeLedger.Holder, _ inside: Int32) -> [String: String] {
    var detail = [
      AuditEvent.Fact.count: "\(holder.count)", AuditEvent.Fact.since: Instance.rfc3339(holder.since),
      AuditEvent.Fact.process: "\(inside)",
    ]
    detail[AuditEvent.Fact.caller] = holder.caller
    return detail
  }
}

extension Instance {
  /// How many holders a refusal names, in the answer and in the log: the oldest. An app that has thousands, and goes on starting,
  /// would else fill both.
  static let mostNamed = 256

  /// What a process holds, as it or its user reads of it.
  func holders(of process: SandboxProcess?, most: Int = .max) -> [HolderMessage] {
    guard let process else { return [] }
    return owners.holders(of: process.pid).prefix(most).map { holder in
      let name = exposed[holder.grant]?.name ?? ""
      return HolderMessage(
        grant: holder.grant, path: ScopeMounts.path(grant: holder.grant, name: name), name: name, count: holder.count,
        since: Instance.rfc3339(holder.since), caller: holder.caller)
    }
  }

  /// As the sandbox numbers it.
  func number(of process: Int32) -> Int32 { processes[process]?.inside ?? 0 }

  /// The broker describes the same to the app's user.
  func leave(_ scope: LauncherInterface.Scope) {
    if leaks.count < Self.mostLeaks { leaks.append(scope) }
  }
}

extension Broker {
  func describe(
    _ holder: ScopeLedger.Holder, _ inside: Int32, _ instance: Instance
  ) -> LauncherInterface.Scope {
    let name = instance.exposed[holder.grant]?.name ?? ""
    return LauncherInterface.Scope(
      grant: holder.grant, path: ScopeMounts.path(grant: holder.grant, name: name),
      host: instance.shown[holder.grant]?.descriptor.currentPath ?? "", process: Int(inside), count: holder.count,
      since: Instance.rfc3339(holder.since), caller: holder.caller)
  }
}
