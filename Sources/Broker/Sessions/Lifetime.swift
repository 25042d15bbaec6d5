internal import BrokerCore
internal import Folders
internal import Kernel
internal import ScopedAccess

/// How long the broker stays: until it is told to go, or has been idle for a while.
@BrokerLoop
final class Lifetime: LoopMember {
  private let signals: SignalQueue?
  private let sessions: SessionTable
  private let user: UserServer
  private let shutdown: Shutdown
  /// Whether something has to be done yet, although no app runs and no client is connected.
  private let isBusy: () -> Bool
  /// `nil` keeps the broker running without anything to do.
  private let idleLimit: Duration?
  private var idleSince: Int64?
  /// The host's own mounts, where the broker is in a namespace of its own; `nil`: it is not, or a launcher has started it there.
  private var hostMounts: HostMounts?
  /// Mounts that the host has unmounted and this namespace still has.
  private var stale: [String] = []
  private var looked: Int64 = 0
  private var isOver = false
  /// Nanoseconds between two looks at the host's mounts.
  private static let pause: Int64 = 500_000_000
  /// How long no request has to come before the broker goes for a medium's sake: launches that follow each other keep it.
  private static let mediumPause = Duration.seconds(3)

  init(
    _ signals: SignalQueue?, _ sessions: SessionTable, _ user: UserServer, _ shutdown: Shutdown, idleLimit: Duration?,
    hostMounts: HostMounts?, isBusy: @escaping () -> Bool
  ) {
    (self.signals, self.sessions, self.user, self.shutdown) = (signals, sessions, user, shutdown)
    (self.idleLimit, self.hostMounts, self.isBusy) = (idleLimit, hostMounts, isBusy)
  }

  /// Whether the broker stays, as it was before the last wait.
  var goesOn: Bool { !isOver }

  func prepare(now: Int64) {
    isOver = isIdleTooLong(now: now) || mayLeave(now: now)
    if !isOver { noteUnmounted(now: now) }
  }

  func appendEntries(to entries: inout [PollEntry], now: Int64) {
    if let signals { entries.append(PollEntry(signals.descriptor, .read)) }
  }
  func nextDue(now: Int64) -> Int64? { shutdown.deadline }

  func handle(_ entries: ArraySlice<PollEntry>, now: Int64) {
    guard entries.contains(where: \.hasHappened) else { return }
    while let signals, (try? signals.next()) ?? nil != nil { shutdown.begin() }
  }

  /// Whether it was told to go and nothing is under way that the next one could not go on with.
  private func mayLeave(now: Int64) -> Bool {
    guard let deadline = shutdown.deadline else { return false }
    return now >= deadline || (sessions.prepared.isEmpty && !user.owesAnswers)
  }

  private func isIdleTooLong(now: Int64) -> Bool {
    guard sessions.instances.isEmpty, !user.hasConnections, !isBusy() else {
      idleSince = nil
      return false
    }
    let since = idleSince ?? now
    idleSince = since
    let idle = Duration.nanoseconds(now - since)
    // The medium is free when this namespace is gone; the next broker begins with the mounts that there are then.
    if !stale.isEmpty, sessions.prepared.isEmpty, idle > Self.mediumPause { return true }
    return idleLimit.map { idle > $0 } ?? false
  }

  /// Looks whether the host has unmounted a volume that this namespace keeps mounted. Nothing of it can be unmounted here by
  /// itself, so the broker goes as soon as no app runs.
  private func noteUnmounted(now: Int64) {
    guard hostMounts != nil, now - looked >= Self.pause else { return }
    looked = now
    hostMounts?.refresh()
    let kept = hostMounts?.kept ?? []
    guard kept != stale else { return }
    stale = kept
    guard !kept.isEmpty, !sessions.instances.isEmpty else { return }
    let points = kept.map { $0.shown }.joined(separator: ", ")
    complain(
      "\(points): unmounted outside, and still in use by the mount namespace of the apps that run; end them to free the medium"
    )
  }
}
