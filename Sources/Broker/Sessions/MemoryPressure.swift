internal import Audit
internal import BrokerCore
internal import Foundation
internal import Kernel
internal import Wire

/// Plays a system that runs short of memory (`RST-1`): it ends suspended apps, which are not told, as iOS does.
@BrokerLoop
final class MemoryPressure {
  private let trail: AuditTrail
  private let sessions: SessionTable
  private let suspensions: SuspensionService
  private let jobs: Jobs

  init(_ trail: AuditTrail, _ sessions: SessionTable, _ suspensions: SuspensionService, _ jobs: Jobs) {
    (self.trail, self.sessions, self.suspensions, self.jobs) = (trail, sessions, suspensions, jobs)
  }

  func press(_ call: LauncherInterface.PressMemoryCall) async throws -> LauncherInterface.PressMemoryReply {
    let meant = try call.app.map(suspensions.chosen) ?? Array(sessions.instances.values)
    guard call.app == nil || meant.contains(where: \.isSuspended) else {
      throw LauncherInterface.Failure.notRunning(
        "\(call.app ?? "") is not suspended, and only suspended apps are ended: first “ambit suspend \(call.app ?? "")”."
      )
    }
    let sizes = try await measure()
    let order = PressureRule.order(
      meant.filter(\.isSuspended).map { (id: $0.id, memory: sizes[$0.id] ?? 0) }, all: sizes.values.reduce(0, +),
      until: call.until)
    var left = sizes.values.reduce(0, +)
    var pressed: [LauncherInterface.Pressed] = []
    for each in order {
      // While memory was measured it may have gone on, or ended.
      guard let instance = sessions.instances[each.id], instance.isSuspended else { continue }
      if each.isEnded {
        instance.ending.reason = "the system was short of memory, and the app was suspended"
        try trail.decide([
          AuditEvent(
            .suspend, .allowed, instance, how: "memory pressure", reason: "it is ended",
            detail: [AuditEvent.Fact.memory: "\(each.memory)"])
        ])
        try instance.sandbox.suspension?.end()
        left -= each.memory
      }
      pressed.append(
        .init(
          instance: instance.id, bundleIdentifier: instance.app.bundleIdentifier, name: instance.app.name,
          memory: each.memory, ended: each.isEnded))
    }
    return .init(instances: pressed, memory: max(0, left))
  }

  /// Bytes of each running instance.
  private func measure() async throws -> [String: Int] {
    let looks = sessions.instances.values.compactMap { instance in instance.sandbox.suspension.map { (instance.id, $0) }
    }
    let sizes = try await jobs.run(owner: "memory pressure", subject: "all") { heartbeat in
      var sizes: [String: Int] = [:]
      for (id, look) in looks where heartbeat.beat() { sizes[id] = look.memory }
      return sizes
    }
    guard let sizes else { throw LauncherInterface.Failure.failed("the memory of the apps cannot be measured") }
    return sizes
  }
}

/// Which suspended apps are ended. Values alone.
enum PressureRule {
  /// - Parameters:
  ///   - all: bytes of all running apps.
  ///   - until: bytes that they may use together; `nil`: every one that is meant is ended.
  /// - Returns: the apps, the largest first.
  static func order(
    _ suspended: [(id: String, memory: Int)], all: Int, until: Int?
  ) -> [(id: String, memory: Int, isEnded: Bool)] {
    var left = all
    return suspended.sorted { ($1.memory, $0.id) < ($0.memory, $1.id) }.map { each in
      let isEnded = until.map { left > $0 } ?? true
      if isEnded { left -= each.memory }
      return (each.id, each.memory, isEnded)
    }
  }
}
