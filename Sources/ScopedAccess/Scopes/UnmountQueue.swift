/// The places to which documents are moved when their scopes end, and when all that waits there is unmounted: together, since the
/// kernel waits for every processor each time.
///
/// A pure value. No process has the waiting mounts open, and no process inside comes to them.
package struct UnmountQueue: Equatable {
  package static let places = 8
  /// Nanoseconds for which the first may wait for others.
  package static let patience: Int64 = 1_000_000

  package private(set) var waiting = 0
  private var since: Int64 = 0

  package init() {}

  package var isFull: Bool { waiting >= Self.places }

  /// When the waiting mounts have to go, on the clock of ``enter(now:)``; `nil` while nothing waits.
  package var due: Int64? {
    if waiting == 0 { return nil }
    return isFull ? since : since + Self.patience
  }

  /// - Returns: a place that is free; `nil` if there is none before the others have gone.
  package mutating func enter(now: Int64) -> Int? {
    guard !isFull else { return nil }
    if waiting == 0 { since = now }
    waiting += 1
    return waiting - 1
  }

  /// All have gone.
  package mutating func empty() { waiting = 0 }

  /// They could not be unmounted now.
  package mutating func retry(at time: Int64) { since = time }
}
