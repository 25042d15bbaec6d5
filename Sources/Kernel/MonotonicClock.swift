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
    self.init(work: nanoseconds, time: 10 * nanoseconds)
  }

  /// - Parameters:
  ///   - work: nanoseconds of it, from now on.
  ///   - time: nanoseconds that it may take.
  fileprivate init(work: Int64, time: Int64) {
    self.work = Clock.worked() + work
    end = Clock.monotonic() + time
  }

  var isSpent: Bool { Clock.worked() >= work || Clock.monotonic() >= end }
}

/// The work that several searches of one thread may take together: an app decides how many of them its end asks for. Only the
/// searches take of it, not the work between them.
package final class SearchTime {
  private var work: Int64
  private var time: Int64

  /// - Parameter nanoseconds: of work, for all of them.
  package init(_ nanoseconds: Int64 = HeldFiles.patience) {
    work = nanoseconds
    time = 10 * nanoseconds
  }

  func search<Result>(_ body: (Effort) -> Result) -> Result {
    let (worked, began) = (Clock.worked(), Clock.monotonic())
    defer {
      work -= Clock.worked() - worked
      time -= Clock.monotonic() - began
    }
    return body(Effort(work: work, time: time))
  }
}
