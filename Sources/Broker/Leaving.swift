internal import Kernel
internal import Wire

/// How a broker leaves that was told to: it begins no more launches, and lets those go on that have begun. A launcher is not to
/// find itself with a sandbox that nobody knows.
struct Leaving {
  /// When it goes at the latest, in nanoseconds of CLOCK_MONOTONIC; `nil`: it stays.
  private(set) var by: Int64?

  /// A launcher that is stopped, or waits for a disk, keeps nobody waiting for longer.
  private static let patience: Int64 = 5_000_000_000

  mutating func begin(now: Int64) { by = by ?? now + Self.patience }
}

extension Broker {
  /// Whether it was told to leave and nobody is in the middle of something that the next one could not go on with.
  func mayLeave(now: Int64) -> Bool {
    guard let by = leaving.by else { return false }
    return now >= by || (prepared.isEmpty && !owesAnswers)
  }

  /// Whether a call of the user's side has been read and is not answered. Who takes questions for the user waits all the time.
  private var owesAnswers: Bool {
    let askers = (Array(instances.values) + Array(ended.values)).compactMap { $0.prompts?.id }
    return user.connections.values.contains { $0.isAwaitingReply && !askers.contains($0.id) }
  }
}
