internal import Audit
internal import BrokerCore
internal import Folders
internal import Foundation
internal import Kernel
internal import ScopedAccess
internal import Wire

/// The end of launches: its scopes end, its slots come back, and its mounts go with its namespace. Also of launches that ended
/// while no broker was there.
@BrokerLoop
final class SessionEnder: LoopMember {
  private let host: BrokerHost
  private let grants: GrantStore
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let scopes: ActiveScopes
  private let leaks: LeakDetector
  private let revoker: GrantRevoker
  private let references: ReferenceFiles
  private let orphans: OrphanedGrants
  private let groups: OrphanedGroups
  private let sidecars: SidecarKeeper
  private let copies: PickedCopies
  /// Launches of a broker that died, which have not been handed over to this one yet.
  private var unsettled: UnsettledLaunches
  /// Instances that are over in every respect. Their descriptors are let go of when every request has been answered: the kernel
  /// takes its time to take a sandbox's mounts down, and closing the last descriptor waits for it.
  private var released: [Instance] = []
  /// When grants of launches that are over, and references of grants that have ended, are looked for: apps that still run are handed
  /// over first.
  private var looseDue: Int64?
  /// How long launchers take at most to find another broker, with room to spare.
  private static let settling: Int64 = 3_000_000_000

  /// - Parameter unsettled: launches that were there when this broker started.
  init(
    _ host: BrokerHost, _ grants: GrantStore, _ trail: AuditTrail, _ sessions: SessionTable, _ scopes: ActiveScopes,
    _ leaks: LeakDetector, _ revoker: GrantRevoker, _ references: ReferenceFiles, _ orphans: OrphanedGrants,
    _ groups: OrphanedGroups, _ sidecars: SidecarKeeper, _ copies: PickedCopies,
    _ unsettled: UnsettledLaunches
  ) {
    (self.host, self.grants, self.trail, self.sessions) = (host, grants, trail, sessions)
    (self.scopes, self.leaks, self.revoker, self.references) = (scopes, leaks, revoker, references)
    (self.orphans, self.groups, self.sidecars) = (orphans, groups, sidecars)
    (self.copies, self.unsettled) = (copies, unsettled)
    looseDue = host.clock.monotonic + Self.settling
    orphans.lookAtAll(at: host.clock.monotonic + Self.settling)
  }

  /// The launcher says how an app has ended.
  func ended(_ report: LauncherInterface.EndedCall) async throws -> LauncherInterface.EndedReply {
    if let instance = sessions.instances[report.instance] { end(instance) }
    let instance = sessions.ended[report.instance]
    if let instance { recordExit(of: instance, report) } else { try settle(report) }
    // When the launcher is answered, the app's databases are whole.
    try await sidecars.settled(owner: report.instance)
    return .init(leaks: instance?.ending.leaks ?? [], reason: instance?.ending.reason)
  }

  /// An app has ended: its scopes end, its slots come back, and its mounts go with its namespace (`TOK-11`, `LIM-4`). How it ended
  /// is for its launcher to say, if that is still there.
  func end(_ instance: Instance) {
    guard sessions.remove(instance) else { return }
    instance.requests.endAll()
    // What was given for the whole launch is no leak.
    instance.ending.leaks += scopes.describe(instance).filter { $0.process != 1 }
    #if AMBIT_MUTANTS
      Instance.leftSlots[instance.app.bundleIdentifier] = instance.ending.leaks.count
    #endif
    let (events, held) = scopes.endScopes(
      of: instance, how: AuditEvent.ScopeEnd.app, reason: "the app ended without stopping it")
    sidecars.clean(instance.id, instance.sandbox.staging.removeAll)
    cleanImports(of: instance.app.bundleIdentifier, after: instance.id)
    _ = try? trail.append(events)
    FaultPoint.ended.pass()
    // It may have sent its descriptors to another launch.
    let time = SearchTime()
    for (held, document, grant) in held { _ = leaks.outlived(held, document, grant, instance, within: time) }
    sessions.forgetWatches(of: instance.app.bundleIdentifier)
    try? grants.flushUses()
    revoker.endLaunches([instance.id], within: time)
    if instance.picker.prompts != nil || awaitsLauncher(of: instance) {
      sessions.ended[instance.id] = instance
    } else {
      recordExit(of: instance, nil)
    }
  }

  /// - Parameter report: `nil` if the launcher is gone without a word.
  func recordExit(of instance: Instance, _ report: LauncherInterface.EndedCall?) {
    sessions.ended[instance.id] = nil
    unsettled.records.removeAll { $0.instance == instance.id }
    released.append(instance)
    groups.add([instance.id])
    trail.tellRefusals(of: instance)
    if let excess = Self.excess(report) {
      trail.record(AuditEvent(.limit, .refused, instance, reason: "the app was ended", detail: excess))
    }
    let reason = instance.ending.reason.map { "the app was ended: \($0)" }
    trail.record(
      AuditEvent(
        .exit, .allowed, instance, reason: reason ?? (report == nil ? "its launcher was ended" : nil),
        detail: Self.outcome(report)))
    LauncherRecords(host.folders).remove(instance.id)
    SuspensionRecords(host.folders).remove(instance.id)
    orphans.note(instance.app.bundleIdentifier)
  }

  /// The broker ends before the app: no document stays shown that no process could take away.
  func leave(_ instance: Instance) {
    #if AMBIT_MUTANTS
      if Mutant.brokerLeavesMounts.isActive { return }
    #endif
    _ = sessions.remove(instance)
    instance.requests.endAll()
    _ = try? trail.append(
      scopes.endScopes(of: instance, how: AuditEvent.ScopeEnd.broker, reason: "the broker ended").events)
    // No other process would, before the next broker.
    try? instance.sandbox.mounts.emptyExit()
    sidecars.clean(instance.id, instance.sandbox.staging.removeAll)
  }

  private func cleanImports(of app: String, after launch: String) {
    let running = Set(sessions.running(app).map(\.id)).union(unsettled.instances).subtracting([launch])
    copies.clean(app, keeping: running)
  }

  // MARK: Launches of a broker that died

  /// Writes down the end of launches that ended while no broker was there, and whose launchers cannot say so any more.
  ///
  /// It takes the kernel's word that both the sandbox's init and the launcher are gone. However long a launcher takes: as long as it
  /// lives, it hands its app over, or says how that ended.
  private func settleLaunches(now: Int64) {
    guard let due = unsettled.nextDue, due <= now else { return }
    let (records, waiting) = (LauncherRecords(host.folders), unsettled.records)
    unsettled.records = waiting.filter { record in
      // Its end will be written as any other's.
      if sessions.instances[record.instance] != nil { return false }
      if let instance = sessions.ended[record.instance] {
        guard instance.picker.prompts == nil else { return false }
        guard record.launcher.hasEnded else { return true }
        recordExit(of: instance, nil)
        return false
      }
      guard record.initProcess.hasEnded, record.launcher.hasEnded else { return true }
      do {
        let process = record.initProcess.pid
        try recordExit(
          of: record.instance, pid: process, nil,
          "it and its launcher ended while no broker was there: process \(process), its init, is gone")
      } catch {
        complain("the end of a launch cannot be written down: \(error)")
        return true
      }
      records.remove(record.instance)
      SuspensionRecords(host.folders).remove(record.instance)
      return false
    }
    unsettled.looked(now: now)
  }

  /// Whether the launcher of an app that has just ended is there, and has handed the app over and nothing more: it says next how that
  /// ended.
  private func awaitsLauncher(of instance: Instance) -> Bool {
    guard instance.picker.awaitsPrompts,
      let record = UnsettledLaunches(LauncherRecords(host.folders)).record(of: instance.id),
      !record.launcher.hasEnded
    else { return false }
    unsettled.expect(record)
    return true
  }

  /// An app has ended that was never handed over to this broker; its launcher says how.
  private func settle(_ report: LauncherInterface.EndedCall) throws {
    try recordExit(of: report.instance, pid: nil, report, "no broker was there when it ended")
    LauncherRecords(host.folders).remove(report.instance)
    SuspensionRecords(host.folders).remove(report.instance)
    unsettled.records.removeAll { $0.instance == report.instance }
  }

  /// - Parameter launch: is left alone if the log does not know of it, or has its end.
  private func recordExit(
    of launch: String, pid: Int32?, _ report: LauncherInterface.EndedCall?, _ reason: String
  ) throws {
    let reader = try AuditReader(path: host.folders.auditLog)
    func latest(_ kind: AuditEvent.Kind) throws -> AuditEvent? {
      try reader.latest(1, matching: AuditQuery(instance: launch, kind: kind, result: .allowed)).first
    }
    // Carried on, where the log does not go back further.
    guard try latest(.exit) == nil, let known = try latest(.launch) ?? latest(.attach) ?? latest(.carried) else {
      return
    }
    func event(_ kind: AuditEvent.Kind, _ result: AuditEvent.Result, _ reason: String, _ detail: [String: String])
      -> AuditEvent
    {
      AuditEvent(
        kind, result, app: known.app, instance: launch, pid: pid ?? known.pid, how: AuditEvent.recovery, reason: reason,
        detail: detail)
    }
    let limit = Self.excess(report).map { event(.limit, .refused, "the app was ended", $0) }
    try trail.append([limit].compactMap(\.self) + [event(.exit, .allowed, reason, Self.outcome(report))])
    revoker.endLaunches([launch])
    if let app = known.app { cleanImports(of: app, after: launch) }
  }

  /// Launches that may still be handed over.
  var unsettledLaunches: Set<String> { unsettled.instances }

  /// How an app ended, as its launcher says it.
  private static func outcome(_ report: LauncherInterface.EndedCall?) -> [String: String] {
    guard let report else { return [:] }
    return report.signal == 0
      ? [AuditEvent.Fact.status: "\(report.status)"] : [AuditEvent.Fact.signal: "\(report.signal)"]
  }

  /// The limit that it went beyond.
  private static func excess(_ report: LauncherInterface.EndedCall?) -> [String: String]? {
    report?.limit.map { hit in
      [
        AuditEvent.Fact.exceeded: hit.limit.rawValue, AuditEvent.Fact.value: "\(hit.value)",
        AuditEvent.Fact.ceiling: "\(hit.ceiling)",
      ]
    }
  }

  // MARK: LoopMember

  func prepare(now: Int64) {
    settleLaunches(now: now)
    if let due = looseDue, due < now {
      looseDue = nil
      revoker.endLaunches(besides: unsettled.instances)
      references.removeLeft()
    }
  }

  func nextDue(now: Int64) -> Int64? { [unsettled.nextDue, looseDue].compactMap(\.self).min() }

  func finishTurn(now: Int64) { released = [] }
}
