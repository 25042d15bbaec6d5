#if canImport(Glibc)
  internal import Glibc
#endif

/// Waits for conditions to become true while it reads the output of every child.
package struct Waiting {
  /// Told now and then during a wait: the awaited condition, and the number of seconds so far.
  package var progress: (String, Double) -> Void

  package init(progress: @escaping (String, Double) -> Void) { self.progress = progress }

  /// How often a wait looks for ended children, which nothing on a stream announces. Milliseconds.
  private static let interval: Int32 = 20

  /// Repeats `check` until it answers.
  ///
  /// - Parameter limit: seconds; nil: no limit.
  /// - Parameter isInterruptible: false while cleaning up after an interruption.
  /// - Returns: nil: the time is over.
  /// - Throws: ``Interrupted``, or an error of `check`.
  package func wait<Value>(
    for what: String, limit: Double?, children: [Child], isInterruptible: Bool = true,
    _ check: () throws -> Value?
  ) throws -> Value? {
    let clock = ContinuousClock()
    let start = clock.now
    while true {
      for child in children {
        // Ended first, read second: the last output of a program is then always read.
        child.reap()
        child.drain()
      }
      if let value = try check() { return value }
      if isInterruptible, let signal = Interruption.signal { throw Interrupted(signal: signal) }
      let elapsed = start.duration(to: clock.now) / .seconds(1)
      if let limit, elapsed >= limit { return nil }
      progress(what, elapsed)
      var descriptors = children.filter { $0.ending == nil }.flatMap(\.readable)
        .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      _ = unsafe poll(&descriptors, nfds_t(descriptors.count), Self.interval)
    }
  }
}
