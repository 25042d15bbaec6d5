internal import Audit
internal import Folders
internal import Foundation
internal import Kernel
internal import Wire

/// Launches that were there when this broker started and that nobody has handed over to it yet, and when they are looked at
/// again. Times are nanoseconds of CLOCK_MONOTONIC.
struct UnsettledLaunches {
  var records: [LauncherRecords.Record]
  private var due: Int64 = 0
  private var looks = 0

  init(_ all: LauncherRecords) {
    records = all.all()
    guard !records.isEmpty else { return }
    // Numbers of processes say something only where they were given. The others stay for a broker that is there.
    let own = (try? Namespaces.own("pid").status())?.inode
    records.removeAll { $0.namespace != own }
  }

  var instances: Set<String> { Set(records.map(\.instance)) }

  func record(of instance: String) -> LauncherRecords.Record? { records.first { $0.instance == instance } }

  /// For the first entry of a broker: no more than an entry has room for.
  var words: String? {
    records.isEmpty ? nil : records.prefix(500).map(\.instance).sorted().joined(separator: " ")
  }

  var nextDue: Int64? { records.isEmpty ? nil : due }

  /// A launch whose launcher has something to say of it yet, and no connection by which its end would be seen.
  mutating func expect(_ record: LauncherRecords.Record) {
    records.removeAll { $0.instance == record.instance }
    records.append(record)
    due = 0
  }

  /// Launchers that run hand their apps over at once, and what was ended is gone a moment later. One that is stopped may stay so.
  mutating func looked(now: Int64) {
    looks += 1
    due = now + (looks < 100 ? 50_000_000 : 1_000_000_000)
  }
}

extension Broker {
  /// Writes down the end of launches that ended while no broker was there, and whose launchers cannot say so any more.
  ///
  /// It takes the kernel's word that both the sandbox's init and the launcher are gone. However long a launcher takes: as long as it
  /// lives, it hands its app over, or says how that ended.
  func settleLaunches(now: Int64) {
    guard let due = unsettled.nextDue, due <= now else { return }
    let (records, waiting) = (LauncherRecords(folders), unsettled.records)
    unsettled.records = waiting.filter { record in
      // Its end will be written as any other's.
      if instances[record.instance] != nil { return false }
      if let instance = ended[record.instance] {
        guard instance.prompts == nil else { return false }
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
      return false
    }
    unsettled.looked(now: now)
  }

  /// Whether the launcher of an app that has just ended is there, and has handed the app over and nothing more: it says next how that
  /// ended.
  func awaitsLauncher(of instance: Instance) -> Bool {
    guard instance.awaitsPrompts, let record = UnsettledLaunches(LauncherRecords(folders)).record(of: instance.id),
      !record.launcher.hasEnded
    else { return false }
    unsettled.expect(record)
    return true
  }

  /// An app has ended that was never handed over to this broker; its launcher says how.
  func settle(_ report: LauncherInterface.EndedCall) throws {
    try recordExit(of: report.instance, pid: nil, report, "no broker was there when it ended")
    LauncherRecords(folders).remove(report.instance)
    unsettled.records.removeAll { $0.instance == report.instance }
  }

  /// - Parameter launch: is left alone if the log does not know of it, or has its end.
  private func recordExit(
    of launch: String, pid: Int32?, _ report: LauncherInterface.EndedCall?, _ reason: String
  ) throws {
    let reader = try AuditReader(path: folders.auditLog)
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
    try log.append([limit].compactMap(\.self) + [event(.exit, .allowed, reason, Self.outcome(report))])
    endLaunches([launch])
  }
}
