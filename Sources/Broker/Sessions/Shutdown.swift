internal import BrokerCore
internal import Kernel

/// How a broker goes that was told to: it begins no more launches, and lets those go on that have begun. A launcher is not to
/// find itself with a sandbox that no broker knows.
@BrokerLoop
final class Shutdown {
  private let clock: any LoopClock
  /// When it goes at the latest, in nanoseconds of CLOCK_MONOTONIC; `nil`: it stays.
  private(set) var deadline: Int64?
  /// A launcher that is stopped, or waits for a disk, keeps the broker for no longer.
  private static let patience: Int64 = 5_000_000_000

  init(_ clock: any LoopClock) { self.clock = clock }

  var hasBegun: Bool { deadline != nil }
  func begin() { deadline = deadline ?? clock.monotonic + Self.patience }
}
