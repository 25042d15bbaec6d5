internal import BrokerCore
internal import Folders
internal import Kernel

/// Control groups that only this broker is left to remove, and until when it tries to: a killed process takes a moment to be gone.
/// One that still runs after that has an owner.
@BrokerLoop
final class OrphanedGroups: LoopMember {
  private let groups: GroupRecords
  private let sessions: SessionTable
  private let clock: any LoopClock
  private var deadlines: [String: Int64] = [:]

  /// Begins with those of apps that ended with their launchers and their broker. Groups with a running process keep their own.
  init(_ host: BrokerHost, _ sessions: SessionTable) {
    groups = GroupRecords(host.folders.groups)
    self.sessions = sessions
    clock = host.clock
    add(groups.names)
  }

  func add(_ names: [String]) {
    let deadline = clock.monotonic + 10_000_000_000
    for name in names { deadlines[name] = deadline }
  }

  func prepare(now: Int64) {
    if deadlines.isEmpty { return }
    deadlines = deadlines.filter { name, deadline in
      sessions.instances[name] == nil && !groups.remove(name) && now < deadline
    }
  }

  func nextDue(now: Int64) -> Int64? { deadlines.isEmpty ? nil : now + 50_000_000 }
}
