#if canImport(Glibc)
  internal import Glibc
#endif

package enum Clock {
  /// Nanoseconds of a clock that does not go back.
  package static func monotonic() -> Int64 { read(CLOCK_MONOTONIC) }
  /// Nanoseconds since 1970.
  package static func realtime() -> Int64 { read(CLOCK_REALTIME) }

  /// Nanoseconds for which the calling thread has had a processor.
  package static func worked() -> Int64 { read(CLOCK_THREAD_CPUTIME_ID) }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// How much work a thread may put into something that others wait for. Only its own time on a processor counts, so that on a busy
/// machine as much is done as on an idle one; and it does not go on for more than ten times as long.
struct Effort {
  private let work: Int64
  private let end: Int64

  /// - Parameter nanoseconds: of work, from now on.
  init(_ nanoseconds: Int64) {
    work = Clock.worked() + nanoseconds
    end = Clock.monotonic() + 10 * nanoseconds
  }

  var isSpent: Bool { Clock.worked() >= work || Clock.monotonic() >= end }
}
