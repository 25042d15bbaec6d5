internal import Sandbox
internal import Wire

/// Decides which refusals are reported, and with which count: an app that is refused in a loop must not fill the user's log, and
/// omitted refusals are counted (`SBX-16`).
///
/// A value without a clock: the caller gives the time.
struct DenialLog {
  /// The same operation on the same path within this time is one refusal, nanoseconds.
  static let sameFor: Int64 = 1_000_000_000
  static let burst = 64
  static let perSecond = 20

  private var bucket: TokenBucket
  /// When each was reported last. Forgotten when there are many: then some are reported twice.
  private var reported: [Refusal: Int64] = [:]
  /// Left out since the last report.
  private(set) var suppressed = 0

  struct Refusal: Hashable {
    let operation: String
    let subject: String
  }

  init(now: Int64) { bucket = TokenBucket(burst: Self.burst, perSecond: Self.perSecond, now: now) }

  /// Whether this refusal is to be reported.
  ///
  /// - Returns: how many were left out before it; `nil` if it is left out itself.
  mutating func take(_ refusal: Refusal, now: Int64) -> Int? {
    if let last = reported[refusal], now - last < Self.sameFor {
      suppressed += 1
      return nil
    }
    guard bucket.take(now: now) else {
      suppressed += 1
      return nil
    }
    if reported.count >= 1024 { reported.removeAll() }
    reported[refusal] = now
    defer { suppressed = 0 }
    return suppressed
  }
}
