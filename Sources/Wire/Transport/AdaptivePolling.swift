/// How long it pays to stay awake for the next message, by how soon the last ones came.
///
/// Waking costs more time than many an answer takes. A waiter that has just been answered within microseconds is likely to be so
/// again; any other sleeps at once. A pure value: times are nanoseconds, and no clock is read.
package struct AdaptivePolling: Equatable, Sendable {
  /// Never awake for longer.
  package let most: Int64
  /// Of the last messages, whether each came within ``most``: the newest is the lowest bit.
  private var history: UInt8 = 0

  /// So many of the last eight have to have come soon.
  private static let needed = 6

  /// - Parameter processors: those that this process may use. With one alone the answering process would
  ///   wait for the polling one.
  package init(most: Int64, processors: Int) { self.most = processors > 1 ? max(0, most) : 0 }

  /// How long to stay awake now before going to sleep; 0: not at all.
  package var patience: Int64 { history.nonzeroBitCount >= Self.needed ? most : 0 }

  /// Notes how long there was nothing, whether awake or asleep.
  package mutating func waited(_ time: Int64) { history = history << 1 | (time <= most && most > 0 ? 1 : 0) }
}
